"""Defects planted in programs: runs with sanitizers find them, and no answer denies them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from .mutated import Change, Mutants
from .sanitized import sanitizers

PROGRAM = """
static int table[4];
static int filled(int n) {
  int i, s = 0;
  for (i = 0; i < n; i++)
    table[i] = i;
  for (i = 0; i < n; i++)
    s = s + table[i];
  return s;
}
int main(int argc, char **argv) {
  return filled(4) / (filled(4) + 1);
}
"""


@pytest.fixture
def mutants(sanitized: Path) -> Mutants:
    root = sanitized / "source"
    root.mkdir()
    (root / "filled.c").write_text(PROGRAM)
    words = ["cc", "-c", "filled.c", "-o", "filled.o"]
    entry = {"directory": str(root), "file": "filled.c", "arguments": words}
    (sanitized / "compile_commands.json").write_text(json.dumps([entry]))
    copy = sanitized / "copy"
    copy.mkdir()
    return Mutants(sanitized / "compile_commands.json", [["x"]], copy)


@pytest.mark.tools
def test_a_planted_defect_is_found_and_not_called_safe(mutants: Mutants) -> None:
    assert mutants.build(None)
    assert mutants.failure() is None
    (file,) = mutants.files
    line = PROGRAM.split("\n")[4]
    mutants.write(Change(file, 5, line, ""), line.replace("<", "<="))
    assert mutants.build(file)
    found = mutants.failure()
    assert found is not None
    name, failure = found
    assert (name, failure.line) == ("filled.c", 6)
    assert "bounds" in failure.kinds
    assert not list(mutants.wrong(name, failure))


@pytest.mark.tools
def test_a_denied_failure_is_wrong_in_both_looks(mutants: Mutants) -> None:
    """What never fails is called safe: said to have failed, it contradicts both looks."""
    assert mutants.build(None)
    (file,) = mutants.files
    broken = PROGRAM.split("\n")[4]
    mutants.write(Change(file, 5, broken, ""), broken.replace("<", "<="))
    assert mutants.build(file)
    found = mutants.failure()
    assert found is not None
    mutants.write(Change(file, 5, broken, ""), broken)
    assert list(mutants.wrong(*found)) == ["whole", "second look"]


@pytest.mark.tools
def test_what_was_never_written_is_noticed(mutants: Mutants) -> None:
    if "clang" not in (sanitizers() or ""):
        pytest.skip("clang is not installed: nothing sees reads of what was never written")
    assert not mutants.reads_unwritten()
    (file,) = mutants.files
    line = PROGRAM.split("\n")[3]
    mutants.write(Change(file, 4, line, ""), "  int i, s; if (n == 4) i = 0;")
    line = PROGRAM.split("\n")[6]
    mutants.write(Change(file, 7, line, ""), line.replace("i = 0; ", "; "))
    assert mutants.reads_unwritten()


def test_changes_are_in_bodies_of_functions(mutants: Mutants) -> None:
    source = random.Random(1)
    made = [one for _ in range(300) if (one := mutants.change(source)) is not None]
    assert len({one.after for one in made}) > 5
    for one in made:
        assert one.before == PROGRAM.split("\n")[one.line - 1]
        assert one.before != one.after
        assert one.before.startswith(" ")
