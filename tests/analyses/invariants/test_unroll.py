"""Unrolled loops: what no relation holds is found iteration by iteration, and runs agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import SourceError, load
from kleene.analyses.invariants import InvariantsResult, Verdict
from kleene.analyses.invariants.compile import compile_function
from kleene.analyses.invariants.lower import lower
from kleene.analyses.invariants.plan import DOMAINS, plan_of
from kleene.analyses.invariants.solve import Run
from kleene.ir import Program
from tests.seeds import seeds

from .generator import generated
from .truth import Oracle

SOURCE = """\
#include <assert.h>
int squares(void) {
  int sum = 0;
  for (int i = 0; i < 4; i++) sum += i * i;
  assert(sum == 14);
  return sum;
}
int nested(void) {
  int sum = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j <= i; j++) sum += i * j;
  assert(sum == 7);
  return sum;
}
int first_two(int n) {
  int sum = 0, state;
  for (int i = 0; i < n; i++) {
    state = i == 0 ? 5 : i == 1 ? 7 : 9;
    if (i < 2) sum += state;
  }
  assert(sum <= 12);
  assert(sum <= 11);
  return sum;
}
int endless(int n, char c) {
  int x = 1;
  if (c == ' ' || c == 9 || c == 'x' || c == 34 || c == '{' || c == 64) n++;
  while (n-- > 0) if (x < 1000) x = 3 * x + 1;
  assert(x <= 3000);
  assert(x < 121);
  return x;
}
int swapped(int n) {
  int a = 3, b = 8;
  for (int i = 0; i < n; i++) { int t = a; a = b; b = t; }
  assert(a >= 3 && b >= 3);
  assert(a != 8);
  return a;
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    file = tmp_path / "loops.c"
    file.write_text(SOURCE)
    return load(file)


def asserts(result: InvariantsResult) -> list[tuple[str, Verdict]]:
    return [(one.function, one.verdict) for one in result.check_results(["assert"])]


ROLLED = [
    ("squares", Verdict.MAY_FAIL),
    ("nested", Verdict.MAY_FAIL),
    ("first_two", Verdict.MAY_FAIL),
    ("first_two", Verdict.MAY_FAIL),
    ("endless", Verdict.SAFE),
    ("endless", Verdict.MAY_FAIL),
    ("swapped", Verdict.SAFE),
    ("swapped", Verdict.MAY_FAIL),
]
UNROLLED = [("squares", Verdict.SAFE), ("nested", Verdict.SAFE), ("first_two", Verdict.SAFE)]


@pytest.mark.parametrize("whole_program", [False, True])
def test_iterations_are_told_apart_by_intervals_alone(
    program: Program, whole_program: bool
) -> None:
    rolled = program.invariants(domain="interval", whole_program=False)
    assert asserts(rolled) == ROLLED
    result = program.invariants(domain="interval", unroll=4, whole_program=whole_program)
    assert asserts(result) == UNROLLED + ROLLED[3:]


@pytest.mark.parametrize("unroll", [1, 3, 12])
def test_any_number_of_iterations_is_sound(program: Program, unroll: int) -> None:
    """After five iterations `x` is 364, and after one `a` is 8."""
    found = asserts(program.invariants(unroll=unroll, whole_program=False))
    assert found[5] == ("endless", Verdict.MAY_FAIL)
    assert found[7] == ("swapped", Verdict.MAY_FAIL)


def test_runs_agree_with_unrolled_loops(tmp_path: Path) -> None:
    file = tmp_path / "generated.c"
    numbers = seeds(5, deep=100)
    file.write_text(generated(numbers, seed=2))
    generated_program = load(file)
    n_entered = 0
    for row in range(len(generated_program.function_table)):
        if generated_program.functions[row].blocks:
            code = compile_function(generated_program, lower(generated_program, row))
            plans = [
                plan_of(code, domain, unroll=unroll)
                for domain, unroll in zip(DOMAINS[:3], (3, 2, 1), strict=True)
            ]
            oracle = Oracle(generated_program, row, code, [Run(code, plan) for plan in plans])
            for seed in range(4):
                oracle.run(seed)
            n_entered += oracle.n_entered
    assert n_entered > 5 * len(numbers)


def test_a_negative_number_is_refused(program: Program) -> None:
    with pytest.raises(SourceError) as caught:
        program.invariants(unroll=-1)
    assert caught.value.id == "invariants/bad-unroll"
