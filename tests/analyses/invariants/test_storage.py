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


@pytest.mark.parametrize("whole", [False, True], ids=["functions", "whole program"])
@pytest.mark.parametrize("has_main", [False, True], ids=["library", "program"])
def test_a_linker_may_take_another_definition(tmp_path: Path, has_main: bool, whole: bool) -> None:
    source = tmp_path / "weak.c"
    source.write_text(
        "#include <assert.h>\n#define WEAK __attribute__((weak))\n"
        "const int WEAK limit = 5;\nint WEAK start = 3;\nint WEAK size(void) { return 4; }\n"
        f"int {'main' if has_main else 'f'}(void) {{\n"
        "  assert(limit == 5);\n  assert(start == 3);\n  assert(size() == 4);\n  return 0;\n}\n"
    )
    result = load(source).invariants(whole_program=whole)
    assert [one.is_proved for one in result.check_results(["assert"])] == [False] * 3


@pytest.mark.parametrize("whole", [False, True], ids=["functions", "whole program"])
def test_long_doubles_fill_ten_bytes_of_sixteen(tmp_path: Path, whole: bool) -> None:
    source = tmp_path / "real.c"
    source.write_text(
        """#include <stdlib.h>
int main(int n, char **words) {
  char *p = malloc(10);
  if (!p) return 0;
  *(long double *)p = n;
  *(long double *)(p + 1) = n;
  free(p);
  return 0;
}
"""
    )
    result = load(source).invariants(whole_program=whole)
    found = {one.span.line: one.verdict.value for one in result.check_results(["bounds"])}
    assert found == {5: "safe", 6: "fails always"}


@pytest.mark.parametrize("whole", [False, True], ids=["functions", "whole program"])
@pytest.mark.parametrize(
    ("members", "expected"), [("char c; int", "safe"), ("char c, d; int", "may fail")]
)
def test_padding_needs_no_value(tmp_path: Path, members: str, expected: str, whole: bool) -> None:
    source = tmp_path / "padding.c"
    source.write_text(
        f"struct s {{ {members} n; }};\n"
        """static void set(int *n) { *n = 4; }
extern int passed(struct s);
int f(void) {
  struct s s;
  s.c = 1;
  set(&s.n);
  return passed(s);
}
"""
    )
    result = load(source).invariants(whole_program=whole)
    found = [one.verdict.value for one in result.check_results(["uninitialised"])]
    assert found == [expected]
