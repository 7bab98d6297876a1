"""How many of 147 small C tasks, and of sixty held-out loops, are proved, and how fast?

Each of the 147 has one assertion or more, nearly all of them true; only these are asked. The
held-out loops of `tests/programs/loops_held_out` were written before any domain was tried on them:
all checks are asked, and of their false twins none may be proved. Frama-C's Eva, if it is
installed, gets the same files in the configuration that proved most, ten seconds each; its time has
its parsing in it, and ours is given with compiling C, too. The verdicts go to
`results/invariants_tasks.md`, with the domain that proved each task; the classes of those that are
not proved were found by reading.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import eva
from harness import Measurement, Table, measure

import kleene
from kleene.analyses.invariants import InvariantsResult
from kleene.analyses.invariants.plan import DOMAINS
from kleene.ir import Program

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("KLEENE_DATA") or ROOT.parent / "shared" / "data")
HELD_OUT = ROOT / "tests" / "programs" / "loops_held_out"
TASKS = Path(__file__).parent / "results" / "invariants_tasks.md"
WHY = {
    "cav__20": "uninitialised variables: each use may have another value",
    "count_by_k": "not linear: i is a multiple of k",
    "benchmark40_polynomial": "not linear: x * y >= 0",
    "vnew2": "a global that unknown functions may write to is read again",
}


@dataclass
class Task:
    """A file, and what both say of it."""

    file: Path
    program: Program
    compile_s: float
    measured: Measurement
    domain: str | None
    theirs: eva.Report | None


def answer(program: Program, checks: tuple[str, ...]) -> InvariantsResult:
    """Return the verdicts on the checks that are asked; all if none is named."""
    return program.invariants(checks=checks) if checks else program.invariants()


def domain_of(result: InvariantsResult) -> str | None:
    """Return the last domain that was needed, None if some check is not proved."""
    if not all(one.is_proved for one in result.checks):
        return None
    used = [DOMAINS.index(one.proved_by.split(",")[0]) for one in result.checks if one.proved_by]
    return DOMAINS[max(used, default=0)]


def tasks(folder: Path, checks: tuple[str, ...]) -> list[Task]:
    """Return all tasks of a folder with both answers."""
    found = []
    for file in sorted(folder.glob("*.c")):
        begin = time.perf_counter()
        program = kleene.load(file, cache=False)
        compile_s = time.perf_counter() - begin
        measured = measure(partial(answer, program, checks), repeat=3 if checks else 1)
        theirs = eva.run([file]) if eva.version() else None
        domain = domain_of(measured.result)
        found.append(Task(file, program, compile_s, measured, domain, theirs))
    return found


def is_theirs(task: Task, checks: tuple[str, ...]) -> bool:
    """Return whether Eva proves a task."""
    return task.theirs is not None and task.theirs.is_proved(checks or None)


def refuted(found: list[Task], checks: tuple[str, ...]) -> int:
    """Return how many tasks Eva has no alarm on, of which we say that a check always fails.

    An alarm of another kind ends its runs: `x` without a value is read, and no assertion behind it.
    """
    return sum(
        is_theirs(one, ())
        and any(check.verdict.value == "fails always" for check in one.measured.result.checks)
        for one in found
    )


def row(table: Table, name: str, found: list[Task], checks: tuple[str, ...], **extra: int) -> None:
    """Add one row: our times of a loaded task, and with compiling C, beside Eva's."""
    times = [one.measured.median_s for one in found]
    whole = median([one.measured.median_s + one.compile_s for one in found])
    ours = Measurement(found[0].measured.first_s, median(times), min(times), max(times))
    counts = Counter(one.domain for one in found)
    theirs = None
    if eva.version():
        seconds = [one.theirs.seconds for one in found if one.theirs is not None]
        theirs = Measurement(seconds[0], median(seconds), min(seconds), max(seconds))
        extra["proved_by_eva"] = sum(is_theirs(one, checks) for one in found)
        extra["eva_gave_up"] = sum(
            one.theirs is not None and one.theirs.alarms is None for one in found
        )
    table.row(
        input=name,
        size=f"{len(found)} tasks",
        ours=ours,
        rival=f"Frama-C {eva.version()}" if theirs else None,
        theirs=theirs,
        agree=not refuted(found, checks) if theirs else None,
        proved=len(found) - counts[None],
        by=", ".join(f"{counts[domain]} {domain}" for domain in DOMAINS),
        with_compiling_ms=round(whole * 1000),
        **extra,
    )


def main() -> None:
    """Analyse all tasks, write the list, and print the numbers."""
    table = Table("invariants", __doc__.partition("\n")[0])
    loops = tasks(DATA / "loops", ("assert",))
    row(table, "loops", loops, ("assert",))
    held_out = tasks(HELD_OUT, ())
    for one in held_out:
        twin = kleene.load(one.file, defines=("TWIN",)).invariants()
        assert domain_of(twin) is None, f"the false twin of {one.file.stem} is proved"
    row(table, "held-out loops", held_out, ())
    write(loops, held_out)
    table.save()


def write(loops: list[Task], held_out: list[Task]) -> None:
    """Write the list of tasks."""
    lines = [
        "# Tasks, the domain that proved each, and Eva's verdict",
        "",
        "`python benchmarks/invariants.py`",
    ]
    for title, found, checks in (
        ("Loop tasks", loops, ("assert",)),
        ("Held-out loops", held_out, ()),
    ):
        lines += ["", f"## {title}", "", "| task | proved by, or why not | Eva |", "|---|---|---|"]
        for one in found:
            name = one.file.stem
            why = next((text for part, text in WHY.items() if part in name), "")
            verdict = "-"
            if one.theirs is not None:
                verdict = "proved" if is_theirs(one, checks) else "**not proved**"
                verdict = "gave up" if one.theirs.alarms is None else verdict
            missed = "**not proved**" + (f": {why}" if why else "")
            lines.append(f"| {name} | {one.domain or missed} | {verdict} |")
    TASKS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
