"""Damaged bitcode gives a valid program or none: no crash, no hang, no stray write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kleene.frontends.c.reader.bits import state
from tests.frontends.c.reader.bits.exhibits import bitcode, readable
from tests.frontends.c.reader.reading import KNOWN, Child, Guard

FILE = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
N_AT_ONCE = 10  # damaged files an example: each is read in milliseconds
PLACE = st.floats(0, 1, exclude_max=True)
EDIT = st.one_of(
    st.tuples(st.just("flip"), PLACE, st.integers(0, 7)),
    st.tuples(st.just("byte"), PLACE, st.integers(0, 255)),
    st.tuples(st.just("word"), PLACE, st.integers(0, (1 << 32) - 1)),
    st.tuples(st.sampled_from(["cut", "drop", "double"]), PLACE, st.integers(1, 16)),
)
Edit = tuple[str, float, int]


def mutant(raw: bytes, edits: list[Edit]) -> bytes:
    """Return the bitcode after some edits; drops and doubles keep the words in their places."""
    data = bytearray(raw)
    for kind, fraction, number in edits:
        if not data:
            break
        place = int(fraction * len(data))
        word = place & ~3
        if kind == "flip":
            data[place] ^= 1 << number
        elif kind == "byte":
            data[place] = number
        elif kind == "word":
            data[word : word + 4] = number.to_bytes(4, "little")
        elif kind == "cut":
            del data[max(word, 4) :]
        elif kind == "drop":
            del data[word : word + 4 * number]
        else:
            data[word:word] = data[word : word + 4 * number]
    return bytes(data)


class Bitcode(bytes):
    """Bitcode that is not printed whole beside every failing example."""

    def __repr__(self) -> str:
        return f"<{len(self)} bytes>"


@pytest.fixture(scope="module")
def museum() -> Bitcode:
    return Bitcode(bitcode(readable()))


@pytest.fixture(scope="module")
def child(tmp_path_factory: pytest.TempPathFactory, museum: bytes) -> Iterator[Child]:
    """Bounds checks cost a minute of compiling: only where time is given for depth."""
    checked = bool(os.environ.get("CI"))
    folder = tmp_path_factory.mktemp("checked")
    child = Child(folder, checked=checked, form="bits", first=museum)
    yield child
    child.close()


def check(child: Child, raw: bytes) -> None:
    answer = child.read(raw)
    assert answer == "none" or answer.startswith("ok ")


@given(many=st.lists(st.lists(EDIT, min_size=1, max_size=4), min_size=1, max_size=N_AT_ONCE))
@FILE
def test_damaged(child: Child, museum: bytes, many: list[list[Edit]]) -> None:
    for edits in many:
        check(child, mutant(museum, edits))


@given(many=st.lists(EDIT, min_size=1, max_size=N_AT_ONCE))
@FILE
def test_damaged_a_little(child: Child, made: Path, many: list[Edit]) -> None:
    raw = (made / "square.bc").read_bytes()
    for edit in many:
        check(child, mutant(raw, [edit]))


def test_guard_sees_a_stray_write() -> None:
    known = state.allocate(dict.fromkeys(KNOWN, 8))
    guard = Guard(known, KNOWN)
    assert guard.is_whole()
    known[known[state.VALUES] + 8] = 1  # the first cell behind the table
    assert not guard.is_whole()
