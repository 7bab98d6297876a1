"""How many of 147 small C tasks are proved, by which domain, and how long does a loaded task take?

Each task has one assertion or more, nearly all of them true. Frama-C Eva 25 proves 43 of these with
its octagons and 55 at its best, in 0.30 to 0.43 s a task with its own parsing (recorded).
The list of tasks goes to `results/invariants_tasks.md`, with the domain that proved each; the
classes of those that are not proved were found by reading them.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from pathlib import Path
from statistics import median

from harness import Measurement, Table, measure

import kleene
from kleene.analyses.invariants import InvariantsResult
from kleene.analyses.invariants.plan import DOMAINS
from kleene.ir import Program

DATA = Path(os.environ.get("KLEENE_DATA") or Path(__file__).parents[2] / "shared" / "data")
TASKS = Path(__file__).parent / "results" / "invariants_tasks.md"
EVA_PROVED = 55
WHY = {
    "cav__20": "uninitialised variables: each use may have another value",
    "linear-inequality-inv-a": "needs s <= 255 * i, a bound that no condition of the program has",
    "count_by_k": "not linear: i is a multiple of k",
    "benchmark40_polynomial": "not linear: x * y >= 0",
    "benchmark52_polynomial": "not linear: i * i < 100",
    "vnew2": "a global that unknown functions may write to is read again",
}


def asserts(program: Program) -> InvariantsResult:
    """Return the verdicts on the assertions of a task."""
    return program.invariants(checks=("assert",))


def domain_of(result: InvariantsResult) -> str | None:
    """Return the last domain that was needed, None if some assertion is not proved."""
    if not all(one.is_proved for one in result.checks):
        return None
    used = [DOMAINS.index(one.proved_by.split(",")[0]) for one in result.checks if one.proved_by]
    return DOMAINS[max(used, default=0)]


def main() -> None:
    """Analyse all tasks, write the list, and print the numbers."""
    files = sorted((DATA / "loops").glob("*.c"))
    programs = {file.stem: kleene.load(file) for file in files}
    first_s = measure(partial(asserts, next(iter(programs.values()))), repeat=1).first_s
    proved: dict[str, str | None] = {}
    times: list[float] = []
    for name, program in programs.items():
        measured = measure(partial(asserts, program), repeat=3)
        proved[name] = domain_of(measured.result)
        times.append(measured.median_s)
    write(proved)
    counts = Counter(proved.values())
    n_proved = len(proved) - counts[None]
    table = Table("invariants", __doc__.partition("\n")[0])
    table.row(
        input="loops",
        size=f"{len(files)} tasks",
        ours=Measurement(first_s, median(times), min(times), max(times)),
        proved=n_proved,
        by=", ".join(f"{counts[domain]} {domain}" for domain in DOMAINS),
        proved_by_eva=EVA_PROVED,
    )
    table.save()


def write(proved: dict[str, str | None]) -> None:
    """Write the list of tasks."""
    lines = [
        "# Tasks and the domain that proved each",
        "",
        "`python benchmarks/invariants.py`",
        "",
        "| task | proved by, or why not |",
        "|---|---|",
    ]
    for name, domain in sorted(proved.items()):
        why = next((text for part, text in WHY.items() if part in name), "not looked at")
        lines.append(f"| {name} | {domain or f'**not proved**: {why}'} |")
    TASKS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
