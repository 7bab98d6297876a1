"""Conditional constants: what only branches that are never taken would change."""

from pathlib import Path

import kleene

PROGRAM = """
extern int outside(void);
static int never_set;
static int unused(int mode) {
  int x = 1;
  for (int i = 0; i < outside(); i++) {
    if (x != 1) x = 2;                       /* never: x is 1 around the loop */
    if (mode == 4) x = outside();            /* never: mode is 3 */
  }
  int y = x + never_set;
  return y;
}
static int varies(int n) { int z = n + 1; return z; }
int main(void) { return unused(3) + varies(outside()); }
"""


def test_a_constant_decides_branches_and_branches_constants(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    result = kleene.load(source, cache=False).dataflow("constants")
    rows = [tuple(row) for row in result.tables()["constants"].rows()]
    found = {(function, variable, number) for function, variable, _, _, number in rows}
    assert {("unused", "mode", 3), ("unused", "x", 1), ("unused", "y", 1)} <= found
    assert not {name for name, *_ in found} & {"varies", "main"}
    lines = {one.span.line for one in result.findings() if one.span}
    assert lines == {n for n, line in enumerate(PROGRAM.splitlines(), 1) if "never:" in line}
