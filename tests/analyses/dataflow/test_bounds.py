"""Accesses that need no check of their bounds, by intervals and by the inequality graph."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene
from kleene.analyses.dataflow.clients.bounds import Inequalities

PROGRAM = """
#include <stdlib.h>
static int table[10];
static int sum(int n) {
  int *a = malloc(n * sizeof *a), s = 0;
  if (!a) return 0;
  for (int i = 0; i < n; i++)
    a[i] = i; // inequalities
  for (int i = n - 1; i >= 0; i--)
    s += a[i]; // inequalities
  for (int i = 1; i < n; i++)
    s += a[i - 1]; // inequalities
  for (int i = 0; i < n - 1; i++)
    s += a[i + 1]; // inequalities
  for (int i = 0; i <= n; i++)
    s += a[i]; // none
  for (int i = 0; i < n; i++)
    s += a[i + 1]; // none
  return s;
}
/* The extent is another one in each round: what held of the last one says nothing. */
static int shrinking(int n) {
  int i = 0, s = 0;
  while (n > 0) {
    int *a = malloc(n * sizeof *a);
    if (!a) return 0;
    if (i > 0)
      a[i - 1] = 1; // none
    while (i < n) {
      a[i] = i; // inequalities
      i++;
    }
    n /= 2;
  }
  return s;
}
static int clamped(int n, int k) {
  int *a = calloc(n, sizeof *a);
  if (!a || k < 0) return 0;
  if (k >= n) k = n - 1;
  return a[k]; // inequalities
}
int main(int argc, char **argv) {
  int s = sum(argc) + shrinking(argc) + clamped(argc, rand());
  for (int i = 0; i < 10; i++)
    s += table[i]; // interval
  s += table[argc & 7]; // interval
  s += table[argc]; // none
  return s;
}
"""


def test_accesses_are_proved_as_the_program_says(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    expected = {
        number: line.split("// ")[1].replace("none", "")
        for number, line in enumerate(PROGRAM.splitlines(), 1)
        if "// " in line
    }
    rows = list(kleene.load(source).dataflow("bounds", device="cpu").tables()["bounds"].rows())
    assert {row[1]: row[4] for row in rows} == expected


def test_a_proof_is_its_inequalities(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    rows = kleene.load(source).dataflow("bounds", device="cpu").tables()["bounds"].rows()
    proofs = {row[1]: row[5] for row in rows}
    assert "i < n" in proofs[8]
    assert "i = n + -1" in proofs[10]


def test_ways_through_many_joins_are_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of 20 joins has two operands that lead to the join before: a million ways."""
    steps = "\n".join("  if (rand() & 1) i--;" for _ in range(20))
    source = tmp_path / "joins.c"
    source.write_text(
        "#include <stdlib.h>\nint pick(int n) {\n  int *a = malloc(n * sizeof *a), i = n - 1;\n"
        f"  if (!a) return 0;\n{steps}\n  return a[i] + a[i + 1];\n}}\n"
    )
    asked: list[int] = []
    plain = Inequalities._by_operands

    def counted(self: Inequalities, name: int, *rest: object) -> object:
        asked.append(name)
        return plain(self, name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Inequalities, "_by_operands", counted)
    table = kleene.load(source).dataflow("bounds", library=True).tables()["bounds"]
    assert [row[4] for row in table.rows()] == ["inequalities", ""]
    assert len(asked) < 500
