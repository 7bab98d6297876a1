"""What is stored and never read, and what only seems so."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene

# The lines with a comment are reported; no others are.
PROGRAMS = {
    "a struct is passed by value: the call reads it": """
struct s { long a, b, c, d; };
static long f(struct s x) { return x.a + x.d; }
static long g(struct s x) { return x.b; }
int main(int k, char **v) {
  long (*h)(struct s) = k > 3 ? f : g;
  struct s x;
  x.a = k;
  x.b = k + 1;
  x.c = x.d = k + 2;
  long sum = f(x);
  x.d = k + 3;
  return (int)(sum + h(x));
}""",
    "a struct that is passed by value is written behind the call": """
struct s { long a, b, c, d; };
static long f(struct s x) { return x.a + x.d; }
static void clear(struct s *p) { p->a = p->b = p->c = p->d = 0; }
int main(int k, char **v) {
  struct s x;
  clear(&x);
  x.a = k;
  long sum = f(x);
  x.d = k + 3; /* dead */
  return (int)sum;
}""",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_what_is_reported(text: str, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(text)
    dead = [n for n, line in enumerate(text.splitlines(), 1) if "/* dead" in line]
    found = kleene.load(source).dataflow("dead-stores", device="cpu").findings()
    assert [one.span.line for one in found if one.span] == dead
