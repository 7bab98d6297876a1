"""A program that shows a fault comes out small, and still shows it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from kleene import SourceError
from tests.analyses.points_to.idioms.reducing import fewest, reduced, same_miss
from tests.analyses.points_to.observing import answer, load


def test_fewest_leaves_what_is_needed():
    assert fewest(range(100), lambda some: {3, 41, 97} <= set(some)) == [3, 41, 97]
    assert fewest("abc", lambda some: True) == []
    asked = []
    assert fewest([1, 2], lambda some: asked.append(some) or False) == [1, 2]
    assert len(asked) == 2


def test_statements_and_loops_go():
    text = "int a; int b;\nstruct s { int x; int y; };\nfor (;;) { if (a) { hit(); } b = 1; }\n"
    assert reduced(text, lambda some: "hit();" in some).split() == ["hit();"]


def _reaches_a_function_by_pointer(text: str) -> bool:
    """Return whether an analysis with a planted fault, that resolves no such call, is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "planted.c")
        source.write_text(text)
        try:
            _, solution = answer(load(source).program)
        except SourceError:  # it does not compile
            return False
        return len(solution.call_edges) > 0


LARGE = """\
static int n;
static int once(int m) { n += m; return n; }
static int idle(int m) { return m; }
static int (*const table[])(int) = {once, once};
int main(void) {
  int sum = idle(3);
  for (int i = 0; i < 2; i++) sum += table[i](i);
  return sum < 0;
}
"""


def test_a_planted_fault_comes_as_a_few_lines():
    small = reduced(LARGE, _reaches_a_function_by_pointer)
    assert _reaches_a_function_by_pointer(small)
    assert len(small.splitlines()) <= 6, small
    assert "idle" not in small


def test_a_miss_of_another_kind_does_not_count():
    text = "int main(void) { int x = 1, *p = &x; return *p - 1; }"
    seen = "p.c:1 in main: value %1: observed stack main:x+0; the answer: {}"
    assert not same_miss(seen)(text)
    assert not same_miss(seen)("int main(void) { no C }")
