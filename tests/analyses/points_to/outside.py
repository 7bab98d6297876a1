"""Programs nobody here wrote, built as their users build them, run, and compared with the answer.

`make CC=… CXX=…` with compilers that note their commands gives a log, one JSON line `[folder,
arguments]` for each; the units of one executable are those its link names. Then, with one run per
`--`:

    python -m tests.analyses.points_to.outside LOG sed/sed -- s/a/b/ README -- -n '/x/{h;G;p}' NEWS

The report counts executed calls through pointers by what the answer says of them, and the pointers
that ran; what the answer does not cover is listed. It exits with 1 if there is any of that.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.ir.codes import ValueKind
from kleene.runtime import pointer_trace
from kleene.runtime.pointer_trace import About, Run
from tests.analyses.points_to.covering import Coverage
from tests.analyses.points_to.cpp_calls import with_own_copies
from tests.analyses.points_to.observing import answer, instrumented, load


@dataclass(frozen=True, slots=True)
class Command:
    """A call of the compiler."""

    folder: Path
    arguments: list[str]

    @property
    def output(self) -> Path | None:
        """The file after `-o`, or the object that compiling makes without it."""
        if "-o" in self.arguments:
            return (self.folder / self.arguments[self.arguments.index("-o") + 1]).resolve()
        source = self.source
        return (self.folder / f"{source.stem}.o").resolve() if source else None

    @property
    def is_cxx(self) -> bool:
        """Whether it compiles C++."""
        return self.source is not None and self.source.suffix != ".c"

    @property
    def source(self) -> Path | None:
        """The C or C++ file of a call that compiles one."""
        found = [word for word in self.arguments if word.endswith((".c", ".cc", ".cpp", ".cxx"))]
        return (self.folder / found[-1]).resolve() if "-c" in self.arguments and found else None


def commands_of(log: Path) -> list[Command]:
    """Return the calls that a log has noted."""
    lines = (json.loads(line) for line in log.read_text().splitlines())
    return [Command(Path(folder), arguments) for folder, arguments in lines]


def units_of(commands: list[Command], executable: Path) -> Iterator[Command]:
    """Yield the calls whose objects an executable is linked from, members of archives too."""
    made = {command.output: command for command in commands if command.source}
    link = [c for c in commands if c.output == executable.resolve() and not c.source][-1]
    with tempfile.NamedTemporaryFile("r") as file:  # the linker tells which members it took
        needs_cxx = any(command.is_cxx for command in commands)
        words = ["g++" if needs_cxx else "gcc", *link.arguments, f"-Wl,-Map={file.name}"]
        subprocess.run(words, cwd=link.folder, check=True, capture_output=True)
        members = re.findall(r"^(\S+\.a)\((\S+\.o)\)", file.read(), re.MULTILINE)
    for word in link.arguments:
        if word.endswith(".o"):
            yield made[(link.folder / word).resolve()]
    for archive, name in sorted(set(members)):
        folder = (link.folder / archive).resolve().parent
        for output, command in made.items():
            if output and output.name == name and folder in output.parents:
                yield command


def libraries_of(commands: list[Command], executable: Path) -> list[str]:
    """Return words that link what an executable is linked with: shared libraries as files."""
    link = [c for c in commands if c.output == executable.resolve() and not c.source][-1]
    folders = [link.folder / word[2:] for word in link.arguments if word.startswith("-L")]
    own = {f"-l{path.stem[3:]}" for folder in folders for path in folder.glob("lib*.a")}
    asked = [word for word in link.arguments if word.startswith("-l") and word not in own]
    found = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    named = {f"-l{n}": p for n, p in re.findall(r"lib(\S+?)\.so\S* .* => (\S+)", found)}
    known = {"-lm", "-ldl", "-lpthread", "-lrt", "-lc"}  # what every compiler finds by itself
    target = f"{platform.machine()}-linux-gnu.{platform.libc_ver()[1]}"  # theirs, not the oldest
    return ["-target", target, *(w if w in known else named.get(w, w) for w in asked)]


def main(words: list[str]) -> int:
    """Build, run and compare; return the exit code."""
    log, executable, *rest = words
    runs: list[list[str]] = []
    for word in rest:
        if word == "--":
            runs.append([])
        else:
            runs[-1].append(word)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        libraries = libraries_of(commands_of(Path(log)), Path(executable))
        linked = units_of(commands_of(Path(log)), Path(executable))
        units = list({command.source: command for command in linked}.values())
        database = folder / "compile_commands.json"
        entries = [
            {
                "directory": str(c.folder),
                "file": str(c.source),
                "arguments": ["c++" if c.is_cxx else "cc", *c.arguments],
            }
            for c in units
        ]
        database.write_text(json.dumps(entries))
        loaded = load(database)
        if any(command.is_cxx for command in units):
            loaded = replace(loaded, needs_cxx=True)
        system, solution = answer(loaded.program)
        coverage = Coverage(loaded.program, system, solution)
        own = replace(loaded, text=with_own_copies(loaded.text))
        program = instrumented(own, system, folder, flags=tuple(libraries))
        missed: list[str] = []
        found = Counter[str]()
        for arguments in runs:
            run = pointer_trace.run(program, *arguments)
            print(f"{' '.join(arguments)}: exit {run.status}, {len(run.facts)} facts")
            missed += [line for line in coverage.misses(run) if line not in missed]
            found += calls_of(coverage, run)
            values = np.unique(run.facts["value"][run.facts["what"] == About.VALUE])
            found["pointers"] += len(values)
            found["unknown pointers"] += int(solution.unknown[values].sum())
        n_instructions = len(loaded.program.instructions)
        print(f"{len(units)} units, {n_instructions} instructions: {dict(found)}")
        print("\n".join(missed) or "nothing missed")
    return int(bool(missed))


def calls_of(coverage: Coverage, run: Run) -> Counter[str]:
    """Return how many executed (call, function) pairs are listed, open to unknown code, or lost."""
    base = coverage.program.bases[ValueKind.INSTRUCTION]
    found = Counter[str]()
    for fact in run.facts[run.facts["what"] == About.CALL]:
        kind, site, _ = fact["at"].tolist()
        if kind != AllocationKind.FUNCTION:
            continue
        rules = np.flatnonzero(coverage.system.origins.call == int(fact["value"]) - base)
        if site in coverage.targets(rules):
            found["listed"] += 1
            found["targets listed there"] += len(coverage.targets(rules))
        else:
            is_open = bool(coverage.solution.calls_outside[rules].any())
            found["open" if is_open else "lost"] += 1
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
