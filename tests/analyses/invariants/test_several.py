"""Pointers into one of several objects: what is proved of all of them, and what changes in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import load
from kleene.ir import Program

from .test_checks import wrong_verdicts
from .test_truth import N_RUNS, defined, watched

SEVERAL = Path(__file__).with_name("several.c")


@pytest.fixture(scope="module")
def program() -> Program:
    return load(SEVERAL)


def test_verdicts_are_as_expected(program: Program) -> None:
    assert not wrong_verdicts(program.invariants(), SEVERAL)


def test_runs(program: Program) -> None:
    assert sum(watched(program, one, range(N_RUNS)).n_entered for one in defined(program)) > 100


def test_a_parameter_of_so_many_elements_or_a_local(tmp_path: Path) -> None:
    """What is supposed of a parameter is supposed of no other object."""
    file = tmp_path / "given.c"
    file.write_text(
        "int f(int *q, int n) { int own[2] = {1, 2}, s = 0; int *p = q ? q : own;\n"
        "for (int i = 0; i < n; i++) s ^= p[i];\n"
        "return s ^ q[n]; }\n"
    )
    found = [one for one in load(file).invariants(checks=("bounds",)).checks if one.span]
    assert [one.verdict.value for one in found if one.span and one.span.line == 2] == ["may fail"]


def test_a_check_names_all_objects(tmp_path: Path) -> None:
    file = tmp_path / "named.c"
    file.write_text("int f(int c, int i) { int a[4] = {0}, b[8] = {0}; return (c ? a : b)[i]; }")
    *_, check = load(file).invariants(checks=("bounds",)).checks
    assert check.message == "the access is inside of a, or of b"
