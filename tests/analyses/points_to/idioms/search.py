"""The search: programs of idioms compiled, run, and compared with the answer.

    python -m tests.analyses.points_to.idioms.search --cases 2000 --level=-O2 --out misses.jsonl

writes a line of JSON for each case that showed something outside of its sets.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kleene import SourceError
from kleene.frontends.c.compiler import Options
from tests.analyses.points_to.covering import Coverage
from tests.analyses.points_to.idioms.program import (
    Case,
    case_of,
    layout_case,
    program,
    template_cases,
)
from tests.analyses.points_to.observing import answer, load, observe
from tests.frontends.c.pipeline import zig

LEVELS = ("-O0", "-O1", "-O2", "bitcode")  # the last: -O0, given as bitcode, which stays as it is
TEMPLATES: dict[str, tuple[str, ...]] = {"templates": (), "conversions": ("conversions.c.txt",)}
KINDS = ("layouts", "outside", *TEMPLATES)
_PLACE = re.compile(r"idioms\.c:(\d+)")
_NAME = re.compile(r" in (?:case_(\d+)|[a-z_]+?(\d+)(?:_\d+)?):")
_GIVEN = ("-g", "-fno-sanitize=undefined", "-fno-stack-protector", "-emit-llvm", "-w")


@dataclass(frozen=True)
class Outcome:
    """What one program showed."""

    status: int
    n_facts: int
    misses: tuple[str, ...]
    complaints: str = ""


def compared(text: str, folder: Path, *, level: str = "-O0") -> Outcome:
    """Return what a run of a C program shows that the answer does not cover."""
    source = folder / "idioms.c"
    source.write_text(text)
    options = Options(flags=(level,))
    if level == "bitcode":
        flags = ("-target", "x86_64-linux-gnu", "-O0", *_GIVEN)
        source, options = zig(source, folder / "idioms.bc", *flags), Options()
    loaded = load(source, options=options)
    system, solution = answer(loaded.program)
    run = observe(loaded, system, folder)
    found = Coverage(loaded.program, system, solution).misses(run)
    return Outcome(run.status, len(run.facts), tuple(found), run.complaints.decode()[-500:])


def missed_cases(text: str, misses: Sequence[str]) -> dict[int, list[str]]:
    """Return the misses of each case, by the line or the function where they were seen."""
    found: dict[int, list[str]] = {}
    for miss in misses:
        place, name = _PLACE.search(miss), _NAME.search(miss)
        number = case_of(text, int(place[1])) if place else -1
        if number < 0 and name:
            number = int(name[1] or name[2])
        found.setdefault(number, []).append(miss)
    return found


def searched(cases: Sequence[Case], *, level: str = "-O0") -> Iterator[tuple[Case, list[str]]]:
    """Yield the cases, run in one program, that showed a miss, and what they showed.

    A program that does not compile or run to its end is split until a single case is left, which
    is yielded with the reason.
    """
    text = program(cases)
    with tempfile.TemporaryDirectory(prefix="kleene-") as folder:
        try:
            outcome = compared(text, Path(folder), level=level)
            trouble = f"status {outcome.status}: {outcome.complaints}" if outcome.status else ""
        except (SourceError, AssertionError, subprocess.SubprocessError) as error:
            trouble = f"{type(error).__name__}: {str(error)[-400:]}"
    if trouble and len(cases) > 1:
        half = len(cases) // 2
        yield from searched(cases[:half], level=level)
        yield from searched(cases[half:], level=level)
    elif trouble:
        yield cases[0], [trouble]
    else:
        by_number = {case.number: case for case in cases}
        for number, misses in missed_cases(text, outcome.misses).items():
            yield by_number.get(number, cases[0]), misses


def main() -> None:
    """Search, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--size", type=int, default=200, help="cases in one program")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--level", choices=LEVELS, default="-O0")
    parser.add_argument("--kind", choices=KINDS, default="layouts")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if given.kind in TEMPLATES:
        cases = list(template_cases(given.seed, given.cases, *TEMPLATES[given.kind]))
    else:
        is_outside = given.kind == "outside"
        cases = [layout_case(n, given.seed, outside=is_outside) for n in range(given.cases)]
    with given.out.open("w") as out:
        for start in range(0, len(cases), given.size):
            for case, misses in searched(cases[start : start + given.size], level=given.level):
                row = {"case": case.number, "label": case.label, "misses": misses[:5]}
                out.write(json.dumps(row | {"n_misses": len(misses)}) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
