"""Ranges of small programs, by the names of the source; what is decided, and why."""

from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.analyses.dataflow.context import Context
from kleene.base.errors import SourceError
from kleene.ir import parse
from kleene.ir.codes import ValueKind
from kleene.solvers.dataflow.codes import LOW


def load(tmp_path: Path, text: str, **options: object) -> kleene.Program:
    file = tmp_path / "program.c"
    file.write_text(text)
    return kleene.load(str(file), cache=False, **options)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Return one program with a function for each question: loading it once is enough."""
    text = """
#include <stdlib.h>
extern int outside(void);
extern void take(int *p);
static int never_set, counter, only_small = 3;
static unsigned char mask_table[4] = {1, 2, 4, 8};
struct item { int kind; struct item *next; };
static struct item first = {2, 0};
static int escaped;

static int loop(void) {                    /* i = 0..100 */
  int i = 0, s = 0;
  while (i < 100) { i = i + 1; s = s + i; }
  return i;
}
static int clamp(int x) {
  if (x < 0) x = 0;
  if (x > 9) x = 9;
  return x;
}
static int both(int low, int high) {       /* a test says something about both operands */
  if (low >= 10 && high <= 20 && low < high) { int d = high - low; return d; }
  return 0;
}
static int through(unsigned char c, int m) {
  int r = 0;
  if ((m & 12) == 8) r = m & 8;            /* 8 */
  if (c + 5 < 10) r += c;                  /* c is 0..4 */
  return r;
}
static int of_both(unsigned x, unsigned y, int mask) {
  int none = 1, masked = 1;
  if ((x | y) == 0) none = x + y;          /* both are 0 */
  if ((x & mask) == 0) masked = x & 6;     /* mask is 6 */
  return none + masked;
}
static int constant_argument(int x) { if (x == 7) return 1; return 2; }
static int by_cases(int x) {
  switch (x) { case 0: case 1: case 2: return x; default: break; }
  return 5;
}
static int null_check(struct item *p) {
  int kind = p->kind;
  if (p == 0) return -1;
  return kind;
}
static unsigned wrapping(unsigned x) { unsigned y = x | 1; return y * 2 + 4000000000u; }
static int divided(int a, int b) { int q = a / b; if (b == 0) return 1; return q; }
static int recursive(int n) { return n <= 0 ? 0 : 1 + recursive(n - 1); }
static int memory(void) {
  int bit = mask_table[counter & 3];
  if (never_set) return 99;
  only_small = only_small == 3 ? 4 : 3;
  counter++;
  take(&escaped);
  return bit + only_small + escaped;
}
static void fail(int code) { for (;;) take(&escaped); }
static int checked(struct item *p, int n) {
  if (!p) fail(1);
  if (n < 0 || n > 7) fail(2);
  int m = n;
  return (p ? m : 8) + 1;
}
static int (*operation)(int) = clamp;
int main(int argc, char **argv) {
  int local = outside(), held = 6;
  take(&held);
  struct item *made = malloc(sizeof *made);
  if (made) made->kind = 5;
  int r = loop() + both(outside(), outside()) + through(argc, outside());
  r += constant_argument(7) + by_cases(outside()) + null_check(argc > 1 ? &first : made);
  r += wrapping(argc) + divided(argc, outside()) + recursive(argc) + memory() + operation(local);
  r += of_both(outside(), outside(), 6);
  return r + held + checked(made, outside());
}
"""
    return load(tmp_path_factory.mktemp("ranges"), text)


@pytest.fixture(scope="module")
def found(program):
    return program.dataflow()


def facts_of(found, variable):
    return {str(fact) for _, _, fact in found.at(variable)}


def test_a_loop_counts_up_to_its_bound(found):
    """The card's fifth example: i is 0 before, 0..100 at the test, 0..99 in the body."""
    assert {"0..100", "0..99", "1..100"} <= facts_of(found, "loop.i")
    assert str(found.of("loop.s")) == "0..2147483647"
    assert found.returns("loop").constant == 100


def test_tests_bound_values_in_both_directions(found):
    assert str(found.returns("clamp")) == "0..9"
    assert {"10..19", "11..20"} <= facts_of(found, "both.low") | facts_of(found, "both.high")
    assert "-8..10" in facts_of(found, "both.d")


def test_conditions_are_looked_through(found):
    assert "0..4" in facts_of(found, "through.c")
    assert any(fact.ones & 8 and fact.zeros & 4 for _, _, fact in found.at("through.m"))


def test_conditions_of_two_values_tell_of_both(found):
    assert "0" in facts_of(found, "of_both.x") & facts_of(found, "of_both.y")
    assert any(fact.zeros & 6 == 6 for _, _, fact in found.at("of_both.x"))
    assert found.returns("of_both").high == 2


def test_arguments_and_results_are_followed(found):
    assert found.of("constant_argument.x").constant == 7
    assert found.returns("constant_argument").constant == 1
    assert found.of("recursive.n").high == 2**31 - 1


def test_switches(found):
    texts = facts_of(found, "by_cases.x")
    assert {"0", "1", "2"} & texts


def test_what_was_used_is_not_zero(found):
    decided = {finding.function for finding in found.findings()}
    assert {"null_check", "divided"} <= decided


def test_memory_whose_writes_are_known(found):
    assert found.memory("never_set").constant == 0
    assert str(found.memory("only_small")) == "3..4"
    assert found.of("memory.bit").high == 8
    assert found.memory("escaped") is None
    assert "memory" in {finding.function for finding in found.findings()}


def test_behind_a_call_that_never_returns_its_condition_holds_no_more(found):
    assert str(found.returns("checked")) == "1..8"
    assert found.returns("fail") is None


def test_unsigned_numbers_wrap(found):
    assert found.of("wrapping.y").ones == 1


def test_decided_branches_are_findings_with_ranges(found):
    texts = [str(one) for one in found.findings()]
    assert any("the condition is always true: x is 7" in text for text in texts)
    assert all("dataflow/decided-condition" in text for text in texts)


def test_every_function_alone_knows_less(program, found):
    alone = program.dataflow(whole_program=False)
    assert alone.of("constant_argument.x").is_any
    assert str(alone.returns("clamp")) == "0..9"
    assert alone.memory("never_set") is None
    less = np.flatnonzero(~alone.context.facts.has_value[: program.n_values])
    assert not found.context.facts.has_value[less].any()


def test_a_chain_explains_a_bound(found):
    told = found.explain("loop.i", "high")
    assert told.object == "at most 100"
    assert len(told.steps) >= 2
    assert "100" in told.steps[0].text
    with pytest.raises(SourceError, match="no bound 'width'"):
        found.explain("loop.i", "width")


def test_unknown_names_and_clients(program, found):
    with pytest.raises(SourceError, match="did you mean ranges"):
        program.dataflow(client="range")
    with pytest.raises(SourceError, match=r"there is no variable 'loop\.j'"):
        found.of("loop.j")
    with pytest.raises(IndexError):
        found.of(program.n_values)


def test_a_library_may_be_given_anything(tmp_path):
    text = "int flag; int twice(int x) { if (x > 5) return 5; return flag ? x : 0; }"
    program = load(tmp_path, text)
    found = program.dataflow(library=True)
    assert found.of("twice.x").low == -(2**31)
    assert found.decided() == []
    with pytest.raises(SourceError, match="main"):
        program.dataflow()


def test_filling_a_part_of_a_variable_leaves_the_rest(tmp_path):
    text = """
#include <string.h>
extern int outside(void);
static struct { int a; int b; int c[4]; int d; } s, whole;
static int x = 0x12345678;
int main(void) {
  memset(&s.a, 0, 6); /* and half of b */
  memset(&x, 1, 2);
  memset(&whole, 0, sizeof whole);
  whole.a = 3; whole.c[outside() & 3] = 2;
  int b = s.b, y = x, z = whole.a, w = whole.c[outside() & 3], v = whole.d, u = s.a;
  return b + y + z + w + v + u;
}
"""
    found = load(tmp_path, text).dataflow()
    ranges = {name: str(found.of(f"main.{name}")) for name in "byzwvu"}
    assert ranges == {
        "b": "any", "y": "any", "z": "0..3", "w": "0..2, multiple of 2", "v": "0", "u": "0",
    }  # fmt: skip


def test_signed_overflow_wraps_if_asked_to(tmp_path):
    text = "int f(int x) { if (x > 0) { int y = x + 1; return y; } return 1; }"
    program = load(tmp_path, text)
    assert program.dataflow(library=True).of("f.y").low == 2
    assert program.dataflow(library=True, wraps=True).of("f.y").low == -(2**31)


def test_json_and_tables(found):
    table = found.tables()["ranges"]
    rows = {(f, v, r) for f, v, _, _, r, *_ in table.rows()}
    assert ("loop", "i", "0..99") in rows
    assert found.as_json()["statistics"]["branches"] > 5
    assert found.to_json()


def test_functions_without_bodies_and_empty_programs():
    from kleene.ir import Builder, parse

    empty = Builder("empty").finish()
    assert empty.dataflow(library=True).findings() == []
    declared = parse("declare @f(%0: i32) -> i32")
    assert declared.dataflow(library=True).decided() == []


def test_values_that_are_not_followed_are_any(tmp_path):
    text = """
typedef int four __attribute__((vector_size(16)));
double d; __int128 wide;
int f(four *p, double x, int n) {
  four v = *p + *p; d = x * 2; wide = (__int128)n * n;
  __asm__ volatile("" : "+r"(n));
  return v[0] + (int)d + (int)wide + n;
}
"""
    found = load(tmp_path, text).dataflow(library=True)
    program = found.context.program
    first = program.bases[ValueKind.INSTRUCTION]
    assert found.context.facts.has_value[first:].all()


ASSUMED = """
#include <assert.h>
extern int outside(void);
static int assumed(int x, int y) {
  __builtin_assume(x > 3 && x < 10);
  __builtin_assume(y != 0);
  int before = y == 0;                     /* the second assumption decides it */
  return before ? 99 : x;
}
static int promised(int x) {
  if (x < 5 || x > 8) __builtin_unreachable();
  return x;
}
static int asserted(int x) {
  assert(x >= 20 && x <= 21);
  return x;
}
int main(void) { return assumed(outside(), outside()) + promised(outside()) + asserted(outside()); }
"""


def test_what_is_assumed_promised_or_asserted_holds(tmp_path):
    found = load(tmp_path, ASSUMED).dataflow()
    facts = [found.returns(name) for name in ("assumed", "promised", "asserted")]
    assert [(fact.low, fact.high) for fact in facts] == [(4, 9), (5, 8), (20, 21)]


def test_what_is_assumed_does_not_count_where_undefined_results_do(tmp_path):
    found = load(tmp_path, ASSUMED).dataflow(wraps=True)
    fact = found.returns("assumed")
    assert fact is not None
    assert fact.is_any


BY_CALL = """
extern int outside(void);
static int state;
static int clamp(int x, int high) { if (x < 0) return 0; if (x > high) return high; return x; }
static int never_back(int x) { if (x) for (;;) ; return 3; }
static int count(int n) { if (n <= 0) return 0; return 1 + count(n - 1); }
static int put(int x) { int old = state; state = x; return old; }
int main(void) {
  int small = clamp(outside(), 9), large = clamp(outside(), 1000), none = clamp(-5, 7);
  int a = put(3), b = put(outside());
  int once = count(0), many = count(5);
  if (outside()) return never_back(0) + a + b + once + many;
  never_back(1);
  if (outside()) return small;             /* not reached: the call before does not come back */
  return large + none;
}
"""


def test_calls_have_results_of_their_own_with_a_context(tmp_path):
    program = load(tmp_path, BY_CALL)
    without, by_call = program.dataflow(), program.dataflow(context=1)
    assert [str(without.of(f"main.{name}")) for name in ("small", "large")] == ["0..1000"] * 2
    bounds = [str(by_call.of(f"main.{name}")) for name in ("small", "large", "none")]
    assert bounds == ["0..9", "0..1000", "0"]
    # Memory is what all calls write, and a function that calls itself has one result.
    assert by_call.of("main.a").is_any
    assert by_call.of("main.once").holds(5)
    assert by_call.of("main.once") == without.of("main.once")
    function = next(f for f in program.functions if f.name == "main")
    reached = [
        [result.is_reachable(block) for block in function.blocks] for result in (without, by_call)
    ]
    assert sum(reached[1]) < sum(reached[0])
    with pytest.raises(SourceError, match="dataflow/context"):
        program.dataflow(context=2)


def test_definitions_that_a_linker_may_replace_start_as_anything() -> None:
    program = parse("""
@kept = internal global i32 0 align 4
@replaced = weak global i32 0 align 4
define @main() -> i32 {
^entry:
  %a: i32 = load @kept
  %b: i32 = load @replaced
  %c: i32 = add %a, %b
  ret %c
}
""")
    facts = Context(program).facts
    loads = program.bases[ValueKind.INSTRUCTION] + np.arange(2)
    assert facts.rows[loads, LOW].tolist() == [0, -(2**31)]
