"""Sequential loops become parallel under the changes that are said, which running them shows."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.offload.kernels.loop_programs import PROGRAMS, unit

pytest.importorskip("islpy", reason="verdicts need the package islpy")

from kleene.base.expression import of
from kleene.offload.kernels.transformations import Transformation
from kleene.offload.kernels.verdicts import LoopVerdict, Verdict, verdicts_of
from kleene.transforms.loops import tables
from tests.offload.kernels.interpreter import UndefinedError
from tests.offload.kernels.transformed import check_change

FILE = PROGRAMS / "loops" / "transformed.c"
RUNS = [({"n": n, "m": m}, None) for n, m in [(7, 5), (1, 4), (9, 0), (6, 11), (12, 3)]]
_KIND = re.compile(r"// (?:SEQ|MAY)(?:, after (\w+))?")


@pytest.fixture(scope="module")
def loops() -> list[LoopVerdict]:
    return [one for table in tables(unit(FILE)) for one in verdicts_of(table)]


def test_every_change_is_found(loops: list[LoopVerdict]) -> None:
    lines = FILE.read_text().splitlines()
    for one in loops:
        if one.verdict in (Verdict.SEQ, Verdict.MAY):
            match = _KIND.search(lines[one.place.line - 1])
            assert match is not None
            wanted = [match[1]] if match[1] else []
            assert [found.kind for found in one.transformations] == wanted, one.place


def test_transformed_loops_compute_the_same(loops: list[LoopVerdict]) -> None:
    functions = {one.name: one for one in unit(FILE).functions}
    n_checked = 0
    for one in loops:
        for change in one.transformations:
            assert check_change(functions, one, change, loops, RUNS) >= 4
            n_checked += 1
    assert n_checked >= 15


def test_changes_are_said_in_the_programs_words(loops: list[LoopVerdict]) -> None:
    details = {
        (one.function, one.depth): one.transformations[0].detail
        for one in loops
        if one.transformations
    }
    assert details["rows", 0] == "with the loop j of line 7 outside, which is parallel"
    assert "equal 2*i + j" in details["in_place_stencil", 0]
    assert "with line 146 in the first iteration of j" in details["borders_first", 0]
    assert details["one_is_used", 0].startswith("i split at m and at m + 1")
    assert details["mirrored", 0].startswith("i split at n - floor((n) / 2)")
    assert details["in_steps", 0].startswith("i split at 8")
    assert "with an element of t for each iteration" in details["two_statements", 0]


def test_wrong_changes_are_caught(loops: list[LoopVerdict]) -> None:
    functions = {one.name: one for one in unit(FILE).functions}
    by_name = {(one.function, one.depth): one for one in loops}
    inner = by_name["wavefront", 1].place
    of_parts = by_name["two_statements", 0].transformations[0]
    wrong = [
        ("wavefront", Transformation("interchange", "", inner)),
        (
            "in_place_stencil",
            Transformation("skewing", "", by_name["in_place_stencil", 1].place, 1),
        ),
        (
            "borders_first",
            replace(by_name["borders_first", 0].transformations[0], sunk=()),
        ),
        (
            "corners_first",
            replace(by_name["corners_first", 0].transformations[0], factor=1),
        ),
        ("mirrored", Transformation("splitting", "", points=(of(2),))),
        ("one_is_used", Transformation("splitting", "", points=(of("m"),))),
        (
            "two_statements",
            replace(of_parts, parts=tuple(replace(p, is_parallel=True) for p in of_parts.parts)),
        ),
        ("two_statements", replace(of_parts, parts=of_parts.parts[::-1])),
    ]
    for name, change in wrong:
        with pytest.raises((AssertionError, UndefinedError)):
            check_change(functions, by_name[name, 0], change, loops, RUNS)
