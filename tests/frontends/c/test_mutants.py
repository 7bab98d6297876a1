"""Mutated bitcode and assembly give a module or an error: never a crash, never a hang."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kleene.base.errors import SourceError
from kleene.frontends.c import reader
from kleene.frontends.c.exchange import Unit
from kleene.frontends.c.linking import link
from kleene.ir.verifier import problems
from tests.frontends.c.conftest import X86
from tests.frontends.c.pipeline import text_of, zig

N_MUTANTS = 25  # each costs a process

PROGRAM = """\
struct list { int value; struct list *next; };
typedef int (*step)(int);
static int twice(int x) { return 2 * x; }
static int halve(int x) { return x / 2; }
static const step steps[] = {twice, halve};
const char *name = "program";
int walk(struct list *l, int which) {
  int sum = 0;
  for (; l; l = l->next)
    switch (l->value) {
      case 0: sum += 1; break;
      case 1: sum -= 1; break;
      default: sum += steps[which & 1](l->value);
    }
  return sum;
}
"""

# A cut or an insertion somewhere, or some bytes in their place; places are fractions of the length.
Edit = tuple[float, int, bytes]
EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 8), st.binary(max_size=8)), min_size=1, max_size=4
)


def mutant(raw: bytes, edits: list[Edit]) -> bytes:
    for fraction, n_removed, added in edits:
        place = int(fraction * len(raw))
        raw = raw[:place] + added + raw[place + n_removed :]
    return raw


def check(unit: Unit) -> None:
    try:
        program = reader.read(link([unit]))
    except SourceError as error:
        allowed = {"c/bad-bitcode", "c/bad-assembly", "c/empty-module", "c/reader-crashed"}
        assert {one.id for one in error} <= allowed  # noqa: PT017 - an end without error is fine too
        return
    assert not problems(program)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mutants")
    (folder / "program.c").write_text(PROGRAM)
    zig(folder / "program.c", folder / "program.bc", *X86, "-O1", "-g", "-emit-llvm")
    (folder / "program.ll").write_text(text_of(folder / "program.bc"))
    return folder


@given(edits=EDITS)
@example(edits=[(0.5, 0, b"\xff\xfe")])
@settings(max_examples=N_MUTANTS, suppress_health_check=[HealthCheck.too_slow])
def test_bitcode(program: Path, edits: list[Edit]) -> None:
    raw = (program / "program.bc").read_bytes()
    check(Unit("mutant.bc", "bitcode", True, mutant(raw, edits)))


@given(edits=EDITS)
@settings(max_examples=N_MUTANTS, suppress_health_check=[HealthCheck.too_slow])
def test_assembly(program: Path, edits: list[Edit]) -> None:
    raw = (program / "program.ll").read_bytes()
    check(Unit("mutant.ll", "assembly", True, mutant(raw, edits)))


WORDS = ("i32", "ptr", "0", "-1", "null", "undef", "poison", "%0", "@walk", "label", "{", "(", "!0")
PLACES = st.integers(0, 10**6)


@given(swaps=st.lists(st.tuples(PLACES, PLACES, st.sampled_from(WORDS)), min_size=1, max_size=3))
@settings(max_examples=N_MUTANTS, suppress_health_check=[HealthCheck.too_slow])
def test_assembly_with_exchanged_words(program: Path, swaps: list[tuple[int, int, str]]) -> None:
    words = (program / "program.ll").read_text().split(" ")
    for target, source, word in swaps:
        words[target % len(words)] = word if source % 2 else words[source % len(words)]
    check(Unit("mutant.ll", "assembly", True, " ".join(words).encode()))
