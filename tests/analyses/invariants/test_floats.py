"""Verdicts about floating-point numbers are those of `floats.c`, and hold on real runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import load
from kleene.analyses.invariants import Verdict
from kleene.ir import Program

from .test_checks import wrong_verdicts
from .test_truth import N_RUNS, defined, watched
from .test_whole_truth import watched as whole_watched

FLOATS = Path(__file__).with_name("floats.c")


@pytest.fixture(scope="module")
def program() -> Program:
    return load(FLOATS)


def test_verdicts_are_as_expected(program: Program) -> None:
    assert not wrong_verdicts(program.invariants(), FLOATS)


def test_runs(program: Program) -> None:
    failed: set[str] = set()
    for function in defined(program):
        oracle = watched(program, function, range(5 * N_RUNS))
        failed |= {oracle.code.sites[one].kind.value for one in oracle.failed}
    assert {"conversion", "assert"} <= failed


def test_whole_programs(program: Program) -> None:
    """Conversions are decided by the comparisons that dominate them; other checks are as ever."""
    by_function = {(one.instruction, one.kind): one for one in program.invariants().check_results()}
    oracle = whole_watched(program, range(2 * N_RUNS))
    assert "conversion" in {kind for kind, _ in oracle.failed}
    found = program.invariants(whole_program=True).check_results(["conversion"])
    proved = {one.function for one in found if one.is_proved}
    assert {"index_of_a_number", "ends_of_a_conversion", "scaled_safely", "integers"} <= proved
    for one in found:
        if one.verdict in (Verdict.SAFE, Verdict.FAILS):
            assert one.verdict is by_function[one.instruction, one.kind].verdict


FAST = """
#include <assert.h>
double sums(int i, int j) {
  double a = i & 255, b = j & 255;
  double x = a + b;
  assert(x <= 510.0);
  return x;
}
double products(int i, int j) {
  double a = i & 255, b = j & 255;
  double x = a * b;
  assert(x <= 65025.0);
  x = x * 1e308;
  assert(x >= 0.0);
  return x;
}
double given(double x) {
  if (x >= 0.0) assert(x > -1.0);
  return x;
}
"""


@pytest.mark.parametrize(
    ("flags", "proved"),
    [
        ((), [True, True, True, True]),
        (("-ffp-contract=fast",), [True, True, True, True]),
        # What may be infinite or NaN is any value then; all else is as it is.
        (("-ffinite-math-only",), [True, True, False, False]),
        # Sums may be made in another order, products from others: nothing is known of them.
        (("-ffast-math",), [False, False, False, False]),
    ],
)
def test_flags_of_fast_arithmetic(
    tmp_path: Path, flags: tuple[str, ...], proved: list[bool]
) -> None:
    file = tmp_path / "fast.c"
    file.write_text(FAST)
    result = load(file, flags=flags).invariants()
    assert [one.is_proved for one in result.check_results(["assert"])] == proved


def test_functions_that_are_called_with_other_types(tmp_path: Path) -> None:
    """C lets a function without a prototype be called with anything; nothing is known then."""
    file = tmp_path / "called.c"
    file.write_text("""
#include <assert.h>
int half();
int called(void) { return half(3.0); }
int half(x) long x; { assert(x != 3); return (int)(x / 2); }
""")
    result = load(file, flags=("-std=c89",)).invariants(functions=("called",))
    assert not any(one.is_proved for one in result.check_results(["assert"]))


def test_what_is_known_is_printed_as_c(program: Program) -> None:
    result = program.invariants(functions=("clamped", "add_up"))
    lines = FLOATS.read_text().splitlines()
    at = next(k for k, line in enumerate(lines, 1) if "table[(int)x] = 1;" in line)
    assert str(result.at(f"floats.c:{at}")[0]) == "!(x < 0.0) && !(x > 9.0)"
    found = result.annotations()
    text = found.asserts(str(FLOATS))
    assert "assert(100.0 <= x && x <= 100.5); assert(x >= 100.0)" in text
    assert "/*@ assert 0x1.9000000000000p+6 <= x" in found.acsl(str(FLOATS))
    assert '"100.0 <= x && x <= 100.5"' in found.witness("2026-01-01T00:00:00Z", "1")


def test_assumptions_name_floats(program: Program, tmp_path: Path) -> None:
    assert any("floating-point" in one for one in program.invariants(functions=("zeros",)).assumed)
    file = tmp_path / "whole.c"
    file.write_text("int f(int x) { return x / 2; }")
    assert not any("floating-point" in one for one in load(file).invariants().assumed)
