"""Programs as their users build them tell all their values, and every fact holds of them.

`python -m tests.analyses.dataflow.outside` does the same with programs that nobody here wrote; what
was found with these is here, in small.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analyses.dataflow.outside import OPTIONS, check, load

# A bit-field is set by reading its word, which has no value yet.
BIT_FIELDS = """
#include <stdio.h>
struct token { unsigned type : 8; unsigned flag : 1; unsigned n : 3; int *p; };
static int kind(struct token *t) { return t->type; }
static void set(struct token *t, int k) { t->type = 3; t->flag = k; }
int main(int argc, char **argv) {
  struct token t, u, v;
  set(&t, argc > 1);
  if (kind(&t) == 3) puts("three");
  u.type = argc;
  u.n = 7;
  u.n++;
  if (u.type == 1 && u.n == 0) puts("one");
  if (argc > 1) v = t; else v.flag = 1;
  v.flag ^= 1;
  if (v.flag) puts("flag");
  return t.flag;
}
"""


@pytest.mark.parametrize("text", [BIT_FIELDS], ids=["bit-fields"])
def test_every_fact_holds_of_what_was_seen(text: str, tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    source = tmp_path / "program.c"
    source.write_text(text)
    loaded = load(source)
    wrong = [
        line for options in OPTIONS for line in check(*loaded, options, [[], ["x"]], tmp_path).wrong
    ]
    assert not wrong
