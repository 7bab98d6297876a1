"""Checks on what was written and freed, and what is known of arrays, are those of `storage.c`."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import load
from kleene.ir import Program

from .test_checks import wrong_verdicts
from .test_truth import N_RUNS, defined, watched

STORAGE = Path(__file__).with_name("storage.c")


@pytest.fixture(scope="module")
def program() -> Program:
    return load(STORAGE)


def test_verdicts_are_as_expected(program: Program) -> None:
    assert not wrong_verdicts(program.invariants(), STORAGE)


def test_runs(program: Program) -> None:
    failed: set[str] = set()
    for function in defined(program):
        oracle = watched(program, function, range(2 * N_RUNS))
        failed |= {oracle.code.sites[one].kind.value for one in oracle.failed}
    assert {"uninitialised", "freed"} <= failed


def test_an_assertion_may_fail_behind_a_read_of_nothing(program: Program) -> None:
    """A variable without a value has any: nothing is proved by it."""
    result = program.invariants(functions=("never_written",))
    (check,) = result.check_results(["uninitialised"])
    assert not check.is_proved
