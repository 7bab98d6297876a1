"""Counts planted defects that are found, and alarms where there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "programs" / "defects"
HELD_OUT = PROGRAM.with_name("defects_held_out")
FAMILIES = {
    "476": "null pointers", "457": "uninitialised", "369": "division by zero",
    "78": "commands", "134": "formats", "190": "sizes", "561": "dead code",
    "563": "dead stores",
}  # fmt: skip
_BAD = re.compile(r"/\* BAD (\d+) \*/")
_TWIN = re.compile(r"^\w[\w *]*\b(good_(\d+)_\w+)\(")


@dataclass
class Score:
    """What was found of one family."""

    n_planted: int = 0
    n_good: int = 0
    found: set[tuple[str, int]] = field(default_factory=set)
    missed: list[tuple[str, int]] = field(default_factory=list)
    false: list[tuple[str, int]] = field(default_factory=list)


def scores(reported: Iterable[tuple[str, str, int]], program: Path = PROGRAM) -> dict[str, Score]:
    """Return the scores of reports (family, file, line) about a program, by family."""
    planted: dict[str, set[tuple[str, int]]] = {family: set() for family in FAMILIES}
    found = {family: Score() for family in FAMILIES}
    for file in sorted(program.glob("*.c*")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            for family in _BAD.findall(line):
                planted[family].add((file.name, number))
            if file.name != "main.c":
                for _, family in _TWIN.findall(line):
                    found[family].n_good += 1
    told: dict[str, set[tuple[str, int]]] = {family: set() for family in FAMILIES}
    for family, file, line in reported:
        told[family].add((Path(file).name, line))
    for family, score in found.items():
        score.n_planted = len(planted[family])
        score.found = planted[family] & told[family]
        score.missed = sorted(planted[family] - told[family])
        score.false = sorted(told[family] - planted[family])
    return found
