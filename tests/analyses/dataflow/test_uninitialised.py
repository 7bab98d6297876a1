"""Uses of variables that have no value yet, and words of which parts are assigned."""

from __future__ import annotations

from pathlib import Path

from kleene import load

PARTS = """
struct flags { unsigned a : 3; int b : 4; };
union word { int whole; unsigned char byte[4]; };
int bit_field(int n) { struct flags x; x.a = n; x.b = 7; x.b++; return x.a + x.b; }
int one_byte(int n) { int x = n; ((char *)&x)[0] = 9; return x; }
int all_bytes(void) {
  union word w; w.byte[0] = 1; w.byte[1] = 2; w.byte[2] = 3; w.byte[3] = 4; return w.whole;
}
int half(short low, short high) { struct { short low, high; } x; x.low = low; x.high = high;
  return *(int *)&x; }
"""


def test_assigning_a_part_is_no_use_of_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "parts.c"
    file.write_text(PARTS)
    assert list(load(file).dataflow("uninitialised", library=True).findings()) == []


def test_arithmetic_with_no_value_is_a_use(tmp_path: Path) -> None:
    file = tmp_path / "used.c"
    file.write_text("int f(int c) {\n int x;\n if (c) x = 1;\n return x + 1;\n}\n")
    result = load(file).dataflow("uninitialised", library=True)
    (found,) = result.findings()
    assert found.span is not None
    assert found.span.line == 4


WAYS = """
#include <stdlib.h>
struct holder { int *kept; };
extern int outside(void);
static struct holder *global;
static void keep(int *p) { global->kept = p; }
static int read_kept(void) { return global->kept ? *global->kept : 0; }
static int read_it(int *p) { return *p; }

int stored(int k) {
  int local;
  keep(&local);
  if (k) local = 1;
  return read_kept() + read_kept();          /* by way of memory: not reported */
}
int passed(int k) {
  int local;
  if (k) local = 1;
  return read_it(&local);                    /* BAD */
}
int cases(unsigned c) {
  switch (c) { case 0xAAAAAAAAu: return outside(); case 3: return 2; default: return 7; }
}
int main(int argc, char **argv) {
  global = malloc(sizeof *global);
  if (!global) return 1;
  return stored(argc) + passed(argc) + cases((unsigned)outside());
}
"""


def test_an_address_in_memory_and_a_case_are_no_uses(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(WAYS)
    found = load(source).dataflow("uninitialised").findings()
    bad = [number for number, line in enumerate(WAYS.splitlines(), 1) if "BAD" in line]
    assert [one.span.line for one in found if one.span] == bad


def test_a_part_of_a_variable_is_named(tmp_path: Path) -> None:
    file = tmp_path / "part.c"
    file.write_text("""struct s { int a, b[9]; };
void fill(struct s *p, int k) { if (k) p->b[k & 7] = k; }
int f(int k) {
 struct s x;
 fill(&x, k);
 return x.a;
}
""")
    found = load(file).dataflow("uninitialised", library=True).findings()
    assert [one.message for one in found] == ["a part of 'x' may be used before it has a value"]
