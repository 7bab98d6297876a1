"""Programs nobody here wrote, built as their users build them, run, and compared with all facts.

    python -m tests.analyses.dataflow.outside LOG sed/sed -- s/a/b/ README -- -n '/x/{h;G;p}' NEWS

The log is that of `tests.analyses.points_to.outside`; `-` and a file of C are taken too. Every
value that was seen has to be in its range, every block that ran has to be reachable. What is wrong
is listed, and the exit code is then 1.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kleene.analyses.dataflow.clients.dead_stores import unread
from kleene.analyses.dataflow.context import Context
from kleene.frontends.c import reader, worker
from kleene.frontends.c.compiler import Options
from kleene.frontends.c.inputs import discover
from kleene.frontends.c.units import gather
from kleene.ir import Program
from tests.analyses.dataflow.observing import Observed, build, compiled, result_of, run, spoiled
from tests.analyses.points_to.outside import commands_of, libraries_of, units_of
from tests.frontends.c.pipeline import NO_CACHE, printed

OPTIONS: tuple[dict[str, bool], ...] = ({}, {"wraps": True}, {"whole_program": False})


def load(database: Path) -> tuple[str, Program]:
    """Return a program's text and tables."""
    units = gather(
        discover([str(database)]), options=Options(), cc=None, cache=NO_CACHE, jobs=None,
        normalise=True,
    )  # fmt: skip
    raw, *_ = worker.build(units)
    return printed(raw), reader.read(raw)


def database_of(log: Path, executable: Path, folder: Path) -> tuple[Path, list[str], bool]:
    """Return a database of the units of an executable, its libraries, and whether it is C++."""
    commands = commands_of(log)
    units = list({c.source: c for c in units_of(commands, executable)}.values())
    libraries = libraries_of(commands, executable)
    # What gcc inlines is not taken from archives, and is missing here.
    link = [c for c in commands if c.output == executable.resolve() and not c.source][-1]
    archives = [(link.folder / word).resolve() for word in link.arguments if word.endswith(".a")]
    libraries += [str(archive) for archive in archives if archive.exists()]
    entries = [
        {"directory": str(c.folder), "file": str(c.source),
         "arguments": ["c++" if c.is_cxx else "cc", *libraries[:2], *c.arguments]}
        for c in units
    ]  # fmt: skip
    database = folder / "compile_commands.json"
    database.write_text(json.dumps(entries))
    return database, libraries, any(c.is_cxx for c in units)


@dataclass(frozen=True)
class Checked:
    """What runs with one set of options showed."""

    statuses: list[int]
    n_names: int
    n_blocks: int
    n_reachable: int
    wrong: list[str]


def check(
    text: str,
    program: Program,
    options: dict[str, bool],
    runs: list[list[str]],
    folder: Path,
    *,
    libraries: Sequence[str] = (),
    cxx: bool = False,
) -> Checked:
    """Return what runs of a program show; an argument `<FILE` at the end is its input."""
    context = Context(program, device="cpu", **options)
    observed = Observed(context)
    binary, seen = folder / "observed", folder / "seen"
    seen.unlink(missing_ok=True)
    build(observed.instrumented(text), binary, libraries, cxx=cxx)
    statuses = []
    for words in runs:
        given, arguments = b"", words
        if words and words[-1].startswith("<"):
            given, arguments = Path(words[-1][1:]).read_bytes(), words[:-1]
        status, rows = run(binary, seen, *arguments, given=given)
        statuses.append(status)
    is_seen = rows["n_seen"] > 0
    return Checked(
        statuses, int(is_seen.sum()), int(is_seen[observed.first_block_slot :].sum()),
        int(context.block_is_reached.sum()), list(observed.wrong(rows)),
    )  # fmt: skip


def spoil(
    text: str, program: Program, runs: list[list[str]], folder: Path, *,
    libraries: Sequence[str] = (), cxx: bool = False,
) -> tuple[int, list[str]]:  # fmt: skip
    """Return how many stores are said to be dead, and the runs that change if these store else.

    Of a run that tells addresses or the time, and so is another one each time, nothing is said.
    """
    context = Context(program, device="cpu")
    rows = {row for row, _, _ in unread(context)}
    other, n_spoiled = spoiled(text, rows)
    outputs = []
    binary = folder / "program"  # both by one name: programs tell it
    for made, n_times in ((spoiled(text, set())[0], 2), (other, 1)):
        compiled(made, binary, libraries, cxx=cxx)
        for _ in range(n_times):
            outputs.append([result_of(binary, *words) for words in runs])
    changed = [
        " ".join(words)
        for words, one, again, two in zip(runs, *outputs, strict=True)
        if one == again != two
    ]
    return n_spoiled, changed


def main(words: list[str]) -> int:
    """Build, run and compare; return the exit code."""
    log, executable, *rest = words
    runs: list[list[str]] = []
    for word in rest:
        if word == "--":
            runs.append([])
        else:
            runs[-1].append(word)
    n_wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        libraries, cxx, database = [], False, Path(executable)
        if log != "-":
            database, libraries, cxx = database_of(Path(log), Path(executable), folder)
        text, program = load(database)
        for options in OPTIONS:
            found = check(text, program, options, runs, folder, libraries=libraries, cxx=cxx)
            n_wrong += len(found.wrong)
            print(
                f"{executable} {options}: {len(program.instructions)} instructions, exits"
                f" {found.statuses}, {found.n_names} names seen, {found.n_blocks} of"
                f" {found.n_reachable} reachable blocks ran, {len(found.wrong)} wrong", flush=True
            )  # fmt: skip
            print("\n".join(found.wrong[:40]))
        n_dead, changed = spoil(text, program, runs, folder, libraries=libraries, cxx=cxx)
        print(f"{n_dead} dead stores spoiled: {len(changed)} runs changed {changed}", flush=True)
        n_wrong += len(changed)
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
