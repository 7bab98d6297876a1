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


@pytest.mark.parametrize("whole", [False, True], ids=["functions", "whole program"])
def test_parts_of_words_have_values_of_their_own(tmp_path: Path, whole: bool) -> None:
    """Bit-fields, and members of structs that are passed and returned in registers."""
    source = tmp_path / "parts.c"
    text = """struct pair { char a, b; int n; };
struct fields { unsigned a : 3, b : 5; int c : 7; };
static int first(struct pair x) { return x.a + x.n; }
static int second(struct pair x) { return x.b + x.n; }  // lacks
static struct pair made(int k) { struct pair v; v.a = k; v.n = 2; return v; }
int passed(void) { struct pair v = made(1); return first(v); }
int not_passed(void) { struct pair v; v.a = 1; v.n = 2; return second(v); }
int returned(void) { struct pair v = made(1); return v.a; }
int not_returned(void) { struct pair v = made(1); return v.b; }  // lacks
int set(void) { struct fields v; v.c = 1; v.a = 2; return v.c + v.a; }
int not_set(void) { struct fields v; v.c = 1; v.a = 2; return v.b + 1; }  // lacks
int set_before(int k) { struct fields v; v.b = 1; while (k--) v.a = 1; return v.b + 1; }
int set_perhaps(int k) { struct fields v; v.b = 1; while (k--) v.a = 1; return v.a + 1; }  // lacks
int moved(int k) { struct fields v, w; v.b = k; w = v; v.c = w.b; return v.c / 2 + w.b; }
int negative(int k) { struct fields v; v.c = k; return v.c >> 1; }
"""
    source.write_text(text)
    checks = load(source).invariants(whole_program=whole).check_results(["uninitialised"])
    open_lines = [one.span.line for one in checks if one.span and not one.is_proved]
    lines = enumerate(text.splitlines(), 1)
    assert sorted(open_lines) == [number for number, line in lines if line.endswith("// lacks")]


@pytest.mark.parametrize("whole", [False, True], ids=["functions", "whole program"])
def test_parts_without_a_value_are_copied_as_such(tmp_path: Path, whole: bool) -> None:
    """By stores of words, in pairs of words, in vectors, by copies of structs and of arrays."""
    source = tmp_path / "copied.c"
    text = """#include <string.h>
struct pair { int a, b; };
struct longs { long a; double b; };
struct floats { float x, y; };
struct large { int a, b; long c[4]; };
static struct pair pair(int k) { struct pair v; v.a = k; return v; }
static struct longs longs(int k) { struct longs v; v.a = k; return v; }
static struct floats floats(int k) { struct floats v; v.x = k; return v; }
static void large(struct large *p, int k) { p->a = k; p->c[1] = k; }
static int first(int *p) { return p[0] + 1; }  // has
static int second(int *p) { return p[1] + 1; }  // lacks
int stored(void) { struct pair v = pair(1); return first(&v.a); }
int not_stored(void) { struct pair v = pair(1); return second(&v.a); }
long word(void) { struct longs v = longs(1); return v.a + 1; }  // has
double no_word(void) { struct longs v = longs(1); return v.b + 1; }  // lacks
float element(void) { struct floats v = floats(1); return v.x + 1; }  // has
float no_element(void) { struct floats v = floats(1); return v.y + 1; }  // lacks
static int a_of(struct large *p) { return p->a + 1; }  // has
static int b_of(struct large *p) { return p->b + 1; }  // lacks
static int over(struct large *p) { return p->b + 1; }  // lacks
int copied(int k) { struct large v, w; large(&v, k); w = v; return a_of(&w) + b_of(&w); }
int copied_over(int k) { struct large v, w; large(&v, k);
  memset(&w, 0, sizeof w); w = v; return over(&w); }
int array(int k) { int a[8], b[8]; for (int i = 0; i < 4; i++) a[i] = k;
  memcpy(b, a, sizeof a);
  return b[k & 3]; }  // has
int not_array(int k) { int a[8], b[8]; for (int i = 0; i < 4; i++) a[i] = b[i] = b[i + 4] = k;
  memcpy(b, a, sizeof a);
  return b[k & 7]; }  // lacks
"""
    source.write_text(text)
    checks = load(source).invariants(whole_program=whole).check_results(["uninitialised"])
    open_lines = {one.span.line for one in checks if one.span and not one.is_proved}
    for number, line in enumerate(text.splitlines(), 1):
        if line.endswith("// lacks"):
            assert number in open_lines, line
        elif line.endswith("// has") and not (whole and "b[k" in line):  # loops are not followed
            assert number not in open_lines, line
