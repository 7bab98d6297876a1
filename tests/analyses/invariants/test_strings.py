"""Verdicts about lengths of strings are those of `strings.c`, and hold on real runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import load
from kleene.analyses.invariants.expressions import Form, Kind, Relation
from kleene.analyses.invariants.layout import Layout
from kleene.analyses.invariants.numbers import Numbers
from kleene.analyses.invariants.transfer import assume
from kleene.ir import Program

from .test_checks import wrong_verdicts
from .test_truth import N_RUNS, defined, watched

STRINGS = Path(__file__).with_name("strings.c")


@pytest.fixture(scope="module")
def program() -> Program:
    return load(STRINGS)


def test_verdicts_are_as_expected(program: Program) -> None:
    assert not wrong_verdicts(program.invariants(), STRINGS)


def test_runs(program: Program) -> None:
    failed: set[str] = set()
    for function in defined(program):
        oracle = watched(program, function, range(N_RUNS))
        failed |= {oracle.code.sites[one].kind.value for one in oracle.failed}
    assert "bounds" in failed


def test_lengths_have_names(program: Program) -> None:
    result = program.invariants(functions=("copied_later",))
    (check,) = [one for one in result.check_results(["bounds"]) if one.verdict.value == "may fail"]
    assert "length(s)" in check.lost


def test_a_difference_that_is_excluded_and_cannot_move_ends() -> None:
    """Of x - y != 0 with x - y >= 0, intervals alone do not tell more: nothing moves."""
    kind = Kind(32, False)
    numbers = Numbers(Layout([kind, kind], ["x", "y"]))
    difference = Form(((0, 1), (1, -1)))
    numbers = assume(numbers, Relation(difference, "ne"))
    for form in (Form(((0, -1),), 5), Form(((1, 1),), -5), Form(((0, 1),), -9)):
        numbers = assume(numbers, Relation(form, "le"))
    assert numbers.bounds(difference) == (0, 9 + (1 << 31))
    assert not assume(numbers, Relation(difference.scaled(-1), "le")).is_empty
