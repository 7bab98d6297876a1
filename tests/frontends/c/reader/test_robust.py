"""Damaged bitcode gives a valid program or none: no crash, no hang, no stray write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kleene.frontends.c.reader import state
from kleene.frontends.c.reader.attributes import skip_range
from tests.frontends.c.pipeline import bitcode
from tests.frontends.c.reader.reading import KNOWN, Child, Guard
from tests.frontends.c.reader.test_against_llvm import MUSEUM
from tests.frontends.c.reader.writing import Record, edited

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
SMALL = st.one_of(st.integers(0, 40), st.integers(0, 600), st.integers(0, (1 << 64) - 1))


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
    return Bitcode(bitcode(MUSEUM.read_text()))


@pytest.fixture(scope="module")
def child(tmp_path_factory: pytest.TempPathFactory, museum: bytes) -> Iterator[Child]:
    """Bounds checks cost a minute of compiling: only where time is given for depth."""
    checked = bool(os.environ.get("CI"))
    folder = tmp_path_factory.mktemp("checked")
    child = Child(folder, checked=checked, first=museum)
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


CHANGE = st.tuples(PLACE, PLACE, st.sampled_from(["code", "operand", "drop", "add", "swap"]), SMALL)
Change = tuple[float, float, str, int]


def changed(raw: bytes, changes: list[Change]) -> bytes:
    """Return a file whose records are written well and say something else."""

    def change(records: list[tuple[int, Record]]) -> None:
        for which, where, kind, number in changes:
            record = records[int(which * len(records))][1]
            place = int(where * len(record.operands))
            if kind == "code":
                record.code = number & 127
                record.shape = None if not record.blob else ((0, record.code), *record.shape[1:])
            elif kind == "add":
                record.operands.insert(place, number)
            elif record.operands and kind == "swap":
                other = records[number % len(records)][1]
                if not other.blob and not record.blob:
                    record.operands, other.operands = other.operands, record.operands
            elif record.operands and kind == "drop" and not record.blob:
                del record.operands[place]
            elif record.operands:
                record.operands[place] = number
            if record.blob:
                record.operands = [*record.operands, 0, 0][: len(record.shape) - 2]

    return edited(raw, change)


@given(many=st.lists(st.lists(CHANGE, min_size=1, max_size=3), min_size=1, max_size=4))
@FILE
def test_records_that_say_something_else(
    child: Child, museum: bytes, many: list[list[Change]]
) -> None:
    for changes in many:
        check(child, changed(museum, changes))


def test_records_written_again_say_the_same(child: Child, museum: bytes, made: Path) -> None:
    for raw in (museum, (made / "square.bc").read_bytes()):
        assert child.read(edited(raw, lambda records: None)) == child.read(raw)


def test_guard_sees_a_stray_write() -> None:
    known = state.allocate(dict.fromkeys(KNOWN, 8))
    guard = Guard(known, KNOWN)
    assert guard.is_whole()
    known[known[state.VALUES] + 8] = 1  # the first cell behind the table
    assert not guard.is_whole()


@pytest.mark.parametrize("lengths", [-(1 << 40), (1 << 40) + 5])
def test_a_range_of_impossible_length_is_not_followed(lengths: int) -> None:
    """An attribute's range of many bits says how many words its bounds have."""
    cells, reading = [lengths, 7], [0] * state.N_CELLS
    reading[state.END] = len(cells)
    skip_range(cells, reading, width=128)
    assert reading[state.FAULT]
    assert 0 <= reading[state.AT] <= len(cells)
