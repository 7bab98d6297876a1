"""Integers are read as signed or unsigned: on both sides of calls, edges and memory alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kleene import load
from kleene.analyses.invariants.expressions import Form, Key
from kleene.analyses.invariants.lower import lower
from kleene.analyses.invariants.operations import Assign
from kleene.ir import Program

from .generator import generated
from .test_checks import wrong_verdicts

HERE = Path(__file__).parent
WIDTHS = {"char": 8, "short": 16, "int": 32, "long": 64, "__int128": 128}

# Constants with the highest bit set, given in every way to variables that are read as unsigned.
CONSTANTS = """
static unsigned KIND returned_KIND_ID(void) { return (unsigned KIND)-1; }
static unsigned KIND chosen_KIND_ID(int c) { return c ? (unsigned KIND)-2 : (unsigned KIND)7; }
static unsigned KIND passed_KIND_ID(unsigned KIND n) { return n / 3u; }
static void written_KIND_ID(unsigned KIND *to) { *to = (unsigned KIND)-1; }
static unsigned KIND global_KIND_ID = (unsigned KIND)-1;
void result_KIND_ID(void) {
  check(returned_KIND_ID() / 2u == 5);  // expect: fails always assert
}
void choice_KIND_ID(int c) {
  check(chosen_KIND_ID(c) / 2u == 3);  // expect: may fail assert
}
void memory_KIND_ID(int c) {
  unsigned KIND x;
  written_KIND_ID(&x);
  check(x / 2u == 5);  // expect: fails always assert
}
void edge_KIND_ID(int c) {
  unsigned KIND x = 1;
  while (c-- > 0) x = (unsigned KIND)-1;
  check(x / 2u <= 1);  // expect: may fail assert
}
void argument_KIND_ID(void) {
  check(passed_KIND_ID((unsigned KIND)-1) == 5);  // expect: fails always assert
}
void select_KIND_ID(int c) {
  global_KIND_ID = c ? (unsigned KIND)-1 : 0;
  check(global_KIND_ID / 2u == 0);  // expect: may fail assert
}
"""
NAMED_TWICE = """
static unsigned long below(unsigned long n) { return n - 1; }
extern unsigned long named(unsigned long) __attribute__((alias("below")));
void by_another_name(void) {
  unsigned long x = named(0);
  check(x / 2 == 3);  // expect: may fail assert
}
"""


def assigned(program: Program, function: int) -> Iterator[tuple[Key, Form, tuple[int, int]]]:
    """Yield what variables of a function with its callees are assigned, and their bounds."""
    flat = lower(program, function)
    for block in flat.blocks:
        pairs = [(one.target, one.form) for one in block.operations if isinstance(one, Assign)]
        for edge in block.edges:
            pairs += [(key, one) for key, one in edge.assignments if isinstance(one, Form)]
        for key, form in pairs:
            yield key, form, (flat.kinds[key].low, flat.kinds[key].high)


@pytest.fixture(scope="module")
def constants(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("kinds") / "kinds.c"
    texts = [CONSTANTS.replace("KIND_ID", f"of_{bits}").replace("KIND", name)
             for name, bits in WIDTHS.items()]  # fmt: skip
    file.write_text('#include "kleene.h"\n#define check kleene_check\n' + "".join(texts))
    return file


def test_verdicts_are_as_expected(constants: Path) -> None:
    with constants.open("a") as file:
        file.write(NAMED_TWICE)
    assert not wrong_verdicts(load(constants).invariants(), constants)


def test_constants_are_in_the_range_of_what_they_are_assigned_to(
    constants: Path, tmp_path: Path
) -> None:
    """Else no run would seem to come there."""
    many = tmp_path / "many.c"
    many.write_text(generated(range(12), seed=7))
    n_seen = 0
    for file in (constants, many, *HERE.glob("*.c")):
        program = load(file)
        for function in range(len(program.function_table)):
            if not program.functions[function].blocks:
                continue
            for key, form, (low, high) in assigned(program, function):
                if not form.terms:
                    n_seen += 1
                    assert low <= form.constant <= high, (file.name, key, form)
    assert n_seen > 200
