"""Idioms of C, run: what pointers held lies in the sets, but for the misses that are listed.

`misses.txt` names each idiom that is known to be missed. A mend makes a name vanish there, and
`--update-golden` writes the list anew; it may only ever get shorter.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.analyses.points_to.idioms.program import (
    Case,
    layout_case,
    program,
    template_case,
    templates,
    way_cases,
)
from tests.analyses.points_to.idioms.search import LEVELS, missed_cases, searched

GOLDEN = Path(__file__).parent / "misses.txt"
KNOWN = tuple(GOLDEN.read_text().splitlines())
KNOWN_WAYS = {name.partition(": ")[2] for name in KNOWN}
OF_THE_MACHINE = {  # what runs, and so what is missed, depends on the rights of the user
    "file of one's own memory",
    "getpass",
    "mounted file systems",
    "semaphores by name",
    "shared memory attached twice",
    "struct: message queue",
}
WALKS = {"longs", "vectors"}  # of an object that begins with an array: an index stays in it
N_PROGRAMS = 20 if os.environ.get("KLEENE_DEEP") else 1


def missed(cases: list[Case], level: str = "-O0") -> dict[str, str]:
    """Return the first miss of each case that has one, by its label."""
    return {case.label[0]: found[0] for case, found in searched(cases, level=level)}


def template_programs() -> list[list[Case]]:
    """Return two programs: of the idioms that are followed, and of the others.

    Apart, because what is unknown in one case can cover what another one misses.
    """
    cases = [template_case(n, "ci", *one) for n, one in enumerate(templates().items())]
    return [[c for c in cases if (c.label[0] in KNOWN) == is_known] for is_known in (False, True)]


def test_idioms_that_are_not_followed_are_listed(update_golden: bool):
    found = missed(way_cases())
    for cases in template_programs():
        found |= missed(cases)
    if update_golden:
        GOLDEN.write_text("".join(f"{name}\n" for name in sorted(found)))
    else:
        new = {name: miss for name, miss in found.items() if name not in KNOWN}
        assert not new, "these idioms were followed before"
        mended = set(KNOWN) - set(found) - OF_THE_MACHINE
        assert not mended, "write the list anew with --update-golden"


@pytest.mark.parametrize("level", LEVELS)
def test_random_structs_copied_in_ways_that_are_followed(level: str):
    for first in range(0, 120 * N_PROGRAMS, 120):
        numbers = range(first, first + 120)
        cases = [layout_case(n, "ci", without=KNOWN_WAYS | WALKS) for n in numbers]
        assert missed(cases, level) == {}


def test_a_seed_decides_the_program():
    assert program([layout_case(3, 7)]) == program([layout_case(3, 7)])
    assert len({layout_case(n, 7).text.replace(str(n), "") for n in range(200)}) > 190


def test_a_miss_is_told_of_its_case():
    text = program(way_cases()[:3])
    line = text.split("\n").index("static void case_1(void) {") + 2
    misses = [f"/idioms.c:{line}:3 in case_1: value", " in take_value2_1: value"]
    assert missed_cases(text, misses) == {1: misses[:1], 2: misses[1:]}
