"""What is stored and never read, and what only seems so."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import kleene
from tests.analyses.dataflow.outside import load, spoil
from tests.seeds import seeds

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


HEAD = """
#include <stdio.h>
#include <string.h>
struct s { long a, b, c, d; int e[4]; };
static struct s kept;
static long by_value(struct s x) { x.b += 3; return x.a + x.b; }
static long last_by_value(struct s x, int k) { return k > 2 ? x.d : x.e[k & 3]; }
static long by_pointer(const struct s *p) { return p->c - p->a; }
static void change(struct s *p, int k) { p->d = k; if (k & 1) p->e[k & 3] = 5; }
static struct s made(int k) { struct s x; memset(&x, k & 7, sizeof x); x.c = k; return x; }
static long (*chosen)(struct s) = by_value;
"""
_FIELDS = ("a", "b", "c", "d", "e[1]", "e[k & 3]")


def case(number: int, chance: random.Random) -> str:
    """Return a function that writes local structs, and reads and passes them in all manners."""

    def number_of() -> str:
        return chance.choice(
            ["k", "k * 3", "7", f"{chance.choice('xyz')}.{chance.choice(_FIELDS)}"]
        )

    lines = [
        f"static void case_{number}(int k) {{",
        "  struct s x, y, z, *p = &x;",
        "  long sum = 0;",
    ]
    lines += [f"  memset(&{name}, {chance.randint(0, 3)}, sizeof {name});" for name in "xyz"]
    for _ in range(chance.randint(4, 14)):
        one, two = chance.choice("xyz"), chance.choice("xyz")
        field = chance.choice(_FIELDS)
        text = chance.choice([
            f"{one}.{field} = {number_of()};", f"{one}.{field} = {number_of()};",
            f"{one} = {two};", f"{one} = made(k);", f"p = &{one};", f"p->{field} = {number_of()};",
            f"memset(&{one}, 2, sizeof {one});", f"memset({one}.e, 1, sizeof {one}.e);",
            f"sum += by_value({one});", f"sum += last_by_value({one}, k);",
            f"sum += chosen({one});", f"sum += by_pointer(&{one});", f"change(&{one}, k);",
            f"sum += {one}.{field};", f"sum += p->{field};", f"memcpy(&{one}.a, &{two}.c, 16);",
            f"kept = {one};", f"for (int i = 0; i < (k & 3); i++) {one}.e[i] = (int)sum;",
        ])  # fmt: skip
        lines.append(f"  if (k & {chance.choice([1, 2, 4])}) {{ {text} }}" if chance.random() < 0.3
                     else f"  {text}")  # fmt: skip
    return "\n".join([*lines, '  printf("%ld\\n", sum);', "}"])


@pytest.mark.parametrize("seed", seeds(1, deep=20))
def test_a_run_is_the_same_if_dead_stores_store_something_else(seed: int, tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    chance = random.Random(seed)
    cases = [case(number, chance) for number in range(60)]
    calls = "".join(f"  case_{number}(argc);\n" for number in range(60))
    end = '  printf("%ld %d\\n", kept.a, kept.e[2]);\n'
    source = tmp_path / "program.c"
    main = f"int main(int argc, char **argv) {{\n{calls}{end}  return 0;\n}}"
    source.write_text("\n".join([HEAD, *cases, main]))
    runs = [["x"] * n for n in range(5)]
    n_dead, changed = spoil(*load(source), runs, tmp_path)
    assert n_dead > 10
    assert not changed
