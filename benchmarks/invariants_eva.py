"""How many planted defects does each find, and how many safe twins does each prove, beside Eva?

The programs are `tests/programs/defects` and `defects_held_out`: functions `bad_CWE_shape`, where a
comment marks the line of the defect, and twins `good_CWE_shape` without it. Both tools enter each
function by itself, with any arguments and globals. A defect counts as found if a check of its
family (476 null, 369 division, 457 uninitialised) is open on its line; a twin as proved if no check
of the family is open in the twin. What Eva calls an invalid pointer is null or out of bounds: a
null twin counts as proved for Eva if it has no such alarm. A defect that Eva alone finds is a fault
of ours, and no row is written then, but for those that are explained.

`python benchmarks/invariants_eva.py FILE.c...` compares programs with a `main` instead: open checks
by kind, and the lines that have some, of both.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import eva
from harness import Measurement, Table, measure

import kleene
from kleene.analyses.invariants import InvariantsResult
from kleene.ir import Program

PROGRAMS = Path(__file__).parents[1] / "tests" / "programs"
FAMILIES = {
    "476": ({"null"}, {"bounds"}),
    "369": ({"division"}, {"division"}),
    "457": ({"uninitialised"}, {"uninitialised"}),
}
# Lines that are marked, and cannot fail: Eva warns there, and our "safe" is right.
EXPLAINED = {"bad_476_or": "the pointer is null only where k is 0, and is not read there"}
_SHAPE = re.compile(r"\b((bad|good)_(\d+)_\w+)\(")
_SHARED = ("assert", "overflow", "division", "shift", "bounds", "null", "uninitialised")


class Shape(NamedTuple):
    """A function of a planted program: its family, lines, and the line of its defect."""

    name: str
    family: str
    file: str
    lines: range
    defect: int | None


def shapes(folder: Path) -> Iterator[Shape]:
    """Yield the functions of a folder's C files, one a line or more, of the families."""
    for file in sorted(folder.glob("*.c")):
        text = file.read_text().splitlines()
        starts = [
            (number, found)
            for number, line in enumerate(text, 1)
            if (found := _SHAPE.search(line)) and not line[0].isspace() and not line.endswith(";")
        ]
        ends = [*(number for number, _ in starts), len(text) + 1][1:]
        for (number, found), end in zip(starts, ends, strict=True):
            name, which, family = found.groups()
            if family in FAMILIES:
                marked = [n for n in range(number, end) if f"BAD {family}" in text[n - 1]]
                defect = marked[0] if which == "bad" and marked else None
                if which == "good" or defect is not None:
                    yield Shape(name, family, file.name, range(number, end), defect)


def open_checks(result: InvariantsResult) -> set[tuple[str, str, int]]:
    """Return the kind, file and line of the checks that are not proved."""
    return {
        (one.kind.value, Path(one.span.file).name, one.span.line)
        for one in result.checks
        if one.span is not None and not one.is_proved
    }


def is_right(shape: Shape, found: set[tuple[str, str, int]], kinds: set[str]) -> bool:
    """Return whether a defect is found, or a twin has no open check of the kinds."""
    lines = {line for kind, file, line in found if kind in kinds and file == shape.file}
    if shape.defect is not None:
        return shape.defect in lines
    return lines.isdisjoint(shape.lines)


def planted(table: Table, folder: Path) -> None:
    """Add a row for the defects, and one for the twins, of a planted program."""
    files = sorted(folder.glob("*.c"))
    program = kleene.load(files)
    for which in ("defects", "twins"):
        times: dict[str, list[Measurement]] = {"ours": [], "theirs": []}
        right: Counter[str] = Counter()
        only: list[str] = []
        chosen = [one for one in shapes(folder) if (one.defect is None) == (which == "twins")]
        for shape in chosen:
            mine, theirs = FAMILIES[shape.family]
            ours = measure(partial(entered, program, shape.name), repeat=1)
            is_mine = is_right(shape, open_checks(ours.result), mine)
            report = eva.run(files, eva.QUICK, entry=shape.name)
            is_theirs = report.alarms is not None and is_right(shape, set(report.alarms), theirs)
            times["ours"].append(ours)
            times["theirs"].append(Measurement(*(report.seconds,) * 4))
            right.update({"ours": is_mine, "theirs": is_theirs})
            if is_theirs and not is_mine and shape.name not in EXPLAINED:
                only.append(shape.name)
        print(f"{folder.name}, {which}: only Eva is right on {only or 'none'}", file=sys.stderr)
        table.row(
            input=f"{folder.name}: {which}",
            size=f"{len(chosen)} functions",
            ours=_merged(times["ours"]),
            rival=f"Frama-C {eva.version()}",
            theirs=_merged(times["theirs"]),
            agree=which == "twins" or not only,
            right=right["ours"],
            right_by_eva=right["theirs"],
            only_eva=len(only),
        )


def entered(program: Program, name: str) -> InvariantsResult:
    """Return the answer for one function, entered with anything."""
    return program.invariants(functions=(name,), whole_program=False)


def _merged(times: list[Measurement]) -> Measurement:
    ordered = sorted(one.median_s for one in times)
    return Measurement(times[0].first_s, ordered[len(ordered) // 2], ordered[0], ordered[-1])


def compared(table: Table, file: Path) -> None:
    """Add a row for a program with a `main`: open checks of both, and lines that have some."""
    program = kleene.load(file)
    ours = measure(partial(program.invariants), repeat=1)
    mine = {one for one in open_checks(ours.result) if one[0] in _SHARED}
    report = eva.run([file], eva.QUICK, limit_s=600)
    theirs = set(report.alarms or ())
    lines, other = ({(file, line) for _, file, line in found} for found in (mine, theirs))
    table.row(
        input=file.name,
        size=f"{len(ours.result.checks)} checks",
        ours=ours,
        rival=f"Frama-C {eva.version()}",
        theirs=Measurement(*(report.seconds,) * 4),
        agree=True,
        open=", ".join(f"{n} {kind}" for kind, n in Counter(k for k, _, _ in mine).most_common()),
        eva=", ".join(f"{n} {kind}" for kind, n in Counter(k for k, _, _ in theirs).most_common())
        if report.alarms is not None
        else "gave up",
        lines_only_ours=len(lines - other),
        lines_only_eva=len(other - lines),
        lines_both=len(lines & other),
    )


def main() -> None:
    """Compare on the planted programs, or on those named; print the numbers."""
    if eva.version() is None:
        sys.exit("this compares with Frama-C, which is not on the PATH (Debian: frama-c-base)")
    table = Table("invariants_eva", __doc__.partition("\n")[0])
    if files := sys.argv[1:]:
        table.name = "invariants_eva_programs"
        for name in files:
            compared(table, Path(name))
    else:
        for name in ("defects", "defects_held_out"):
            planted(table, PROGRAMS / name)
    table.save()


if __name__ == "__main__":
    main()
