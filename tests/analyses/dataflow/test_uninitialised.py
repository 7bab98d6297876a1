"""Uses of variables that have no value yet, and words of which parts are assigned."""

from __future__ import annotations

from pathlib import Path

import pytest

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


PATTERN = "-ftrivial-auto-var-init=pattern"


@pytest.mark.parametrize("flags", [[], [PATTERN]])
def test_assigning_a_part_is_no_use_of_the_rest(flags: list[str], tmp_path: Path) -> None:
    file = tmp_path / "parts.c"
    file.write_text(PARTS)
    assert list(load(file, flags=flags).dataflow("uninitialised", library=True).findings()) == []


def test_arithmetic_with_no_value_is_a_use(tmp_path: Path) -> None:
    file = tmp_path / "used.c"
    file.write_text("int f(int c) {\n int x;\n if (c) x = 1;\n return x + 1;\n}\n")
    result = load(file, flags=[PATTERN]).dataflow("uninitialised", library=True)
    (found,) = result.findings()
    assert found.span is not None
    assert found.span.line == 4
