"""The values of constant tables, as the compiler computes them; none where that is not sure."""

from __future__ import annotations

from pathlib import Path

from kleene.frontends.c.loops import read
from kleene.frontends.c.source import Source
from kleene.ir.loops import tree

CODE = """
enum { THREE = 3 };
static const short rows[2][4] = {{1, -2, THREE}, {'a'}};
const float singles[] = {0.1, 1, -2.5f, (float)7};
static const unsigned char bytes[3] = {255, 0x10};
static const int one = -(4);
static const double none[4] = {[2] = 0.5};
static const int whole = (int)2.75;
int changing[2] = {1, 2};
const char *const words[2] = {"a", "b"};
static const char text[4] = "abc";
static const int sum = 2 + 3;
static const int far_away[1 << 20] = {1};
extern const int elsewhere[2];
const volatile int port = 3;
int f(int i) {
  static const long kept[2] = {1L << 3, 5};
  static const long mine[2] = {6, 5};
  return rows[0][i] + singles[i] + bytes[i] + one + none[i] + whole + changing[i] + *words[i]
    + text[i] + sum + far_away[i] + elsewhere[i] + port + kept[i] + mine[i];
}
"""


def test_tables_have_the_values_of_their_initialisers(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(CODE)
    ((function,),) = (unit.functions for unit in read([Source(str(file), "c")]))
    symbols = (one.symbol for one in tree.walk(function.body) if isinstance(one, tree.Variable))
    found = {one.name: one.initial for one in symbols if one.storage in ("global", "static")}
    assert found == {
        "rows": (1, -2, 3, 0, 97, 0, 0, 0),
        "singles": (0.10000000149011612, 1.0, -2.5, 7.0),
        "bytes": (255, 16, 0),
        "one": (-4,),
        "none": (0, 0, 0.5, 0),
        "whole": (2,),
        "mine": (6, 5),
        # Computed, strings, pointers, too large, of another file, or not constant:
        **dict.fromkeys(["changing", "words", "text", "sum", "far_away"], ()),
        **dict.fromkeys(["elsewhere", "port", "kept"], ()),
    }
