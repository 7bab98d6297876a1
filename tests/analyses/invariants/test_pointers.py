"""What is read twice is one value, and bytes that were accessed are inside of unknown objects."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import load
from kleene.ir import Program

from .test_checks import wrong_verdicts
from .test_truth import N_RUNS, defined, watched

POINTERS = Path(__file__).with_name("pointers.c")


@pytest.fixture(scope="module")
def program() -> Program:
    return load(POINTERS)


def test_verdicts_are_as_expected(program: Program) -> None:
    assert not wrong_verdicts(program.invariants(), POINTERS)


def test_runs(program: Program) -> None:
    assert sum(watched(program, one, range(N_RUNS)).n_entered for one in defined(program)) > 50


def test_what_is_not_known_is_said(program: Program) -> None:
    result = program.invariants(functions=("once_inside",))
    lost = {one.lost for one in result.check_results(["bounds"]) if not one.is_proved}
    assert lost == {"it is not known which object 'n' points to"}


def test_threads_may_write_between_two_loads(tmp_path: Path) -> None:
    file = tmp_path / "threads.c"
    file.write_text(
        "#include <assert.h>\nextern int pthread_create(void); int *p;\n"
        "int main(void) { pthread_create(); int one = *p; assert(*p == one); return 0; }"
    )
    (check,) = load(file).invariants(checks=("assert",)).checks
    assert check.verdict.value == "may fail"


def test_names_of_cpp_are_those_of_the_source(tmp_path: Path) -> None:
    file = tmp_path / "deep.cpp"
    file.write_text("int deep(int n) { return n ? deep(n - 1) : 0; }")
    (answer,) = load(file).invariants().functions
    assert answer.notes == ["deep is recursive: its inner calls are taken to return any value"]
