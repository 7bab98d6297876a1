"""A bitstream comes apart into the records that were written, and damage into nothing."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from kleene.frontends.c.reader.bitstream import ENTER, LEAVE, Stream, parse_bitstream
from tests.frontends.c.reader.writing import (
    ARRAY,
    CHAR6,
    FIXED,
    LETTERS,
    VBR,
    Block,
    Definition,
    Part,
    Record,
    written,
)

LARGE = (1 << 64) - 1
NUMBER = st.one_of(st.integers(0, 40), st.integers(0, LARGE))
Row = tuple[int, int, list[int]]


@st.composite
def scalars(draw: st.DrawFn) -> tuple[Part, int]:
    """Return a part of an abbreviation, and a number that it can hold."""
    encoding = draw(st.sampled_from([0, FIXED, VBR, CHAR6]))
    if encoding == CHAR6:
        return (CHAR6, 0), ord(draw(st.sampled_from(LETTERS)))
    if encoding == 0:
        literal = draw(NUMBER)
        return (0, literal), literal
    width = draw(st.integers(1 if encoding == FIXED else 2, 32))
    return (encoding, width), draw(st.integers(0, (1 << width) - 1))


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Return a record, with an abbreviation or without."""
    code = draw(st.integers(0, 100))
    if draw(st.booleans()):
        return Record(code, draw(st.lists(NUMBER, max_size=6)))
    parts = draw(st.lists(scalars(), max_size=4))
    shape = [(0, code), *(part for part, _ in parts)]
    operands = [number for _, number in parts]
    if draw(st.booleans()):
        part, number = draw(scalars())
        shape += [(ARRAY, 0), part]
        operands += [number] * draw(st.integers(0, 5))
    return Record(code, operands, tuple(shape))


BLOCKS = st.recursive(
    st.builds(Block, st.integers(27, 60), st.integers(6, 9), st.lists(records(), max_size=5)),
    lambda inner: st.builds(
        Block,
        st.integers(27, 60),
        st.integers(6, 9),
        st.lists(st.one_of(records(), inner), max_size=5),
    ),
    max_leaves=6,
)


def expected(block: Block) -> Iterator[Row]:
    """Yield the rows that a block becomes."""
    yield block.number, ENTER, []
    for thing in block.inside:
        if isinstance(thing, Block):
            yield from expected(thing)
        elif isinstance(thing, Record):
            yield block.number, thing.code, thing.operands
    yield block.number, LEAVE, []


def rows(stream: Stream) -> list[Row]:
    """Return the rows of a stream with their operands."""
    return [
        (block, code, [number & LARGE for number in stream.cells[first:end].tolist()])
        for block, code, first, end in stream.records.tolist()
    ]


@given(blocks=st.lists(BLOCKS, min_size=1, max_size=3))
def test_what_was_written_is_read(blocks: list[Block]) -> None:
    raw = written(blocks) + bytes(64)  # room for records that are all literals
    stream = parse_bitstream(raw[: len(raw) - 64])
    wanted = [row for block in blocks for row in expected(block)]
    if stream is not None:  # shorter than any compiler writes: not for us
        assert rows(stream) == wanted
    else:
        n_operands = sum(len(operands) for *_, operands in wanted)
        n_bits = 8 * len(raw) - 512
        assert len(wanted) > n_bits // 2 or n_operands > n_bits


def test_one_block_defines_abbreviations_for_others() -> None:
    first, second = ((0, 7), (FIXED, 3)), ((0, 8), (ARRAY, 0), (VBR, 4))
    about = [Record(1, [30]), Definition(first), Definition(second), Record(1, [31])]
    own = ((0, 9), (VBR, 6))
    known = [Record(7, [5], first), Record(9, [100], own), Record(8, [1, 2, 300], second)]
    blocks = [Block(0, 2, [*about, Definition(own)]), Block(30, 5, known[:1] + known[2:])]
    blocks[1].given = (first, second)
    blocks.append(Block(31, 4, known[1:2], given=(own,)))
    blocks.append(Block(30, 4, known, given=(first, second)))
    stream = parse_bitstream(written(blocks))
    assert stream is not None
    assert rows(stream) == [row for block in blocks for row in expected(block)]


def test_blocks_that_say_nothing_are_passed_over() -> None:
    uses = Block(18, 4, [Record(1, [1, 2, 3])])
    stream = parse_bitstream(written([Block(30, 4, [uses, Record(1, [9])])]))
    assert stream is not None
    assert rows(stream) == [(30, ENTER, []), (30, 1, [9]), (30, LEAVE, [])]


def test_records_may_be_dense() -> None:
    short = ((0, 1), (FIXED, 1), (FIXED, 1))  # six bits each
    block = Block(30, 4, [Record(1, [1, 0], short)] * 500)
    stream = parse_bitstream(written([block, Block(31, 4, [Record(1, [7] * 40)])]))
    assert stream is not None
    assert rows(stream)[: len([*expected(block)])] == [*expected(block)]


def test_elements_without_bits_are_none() -> None:
    endless = Record(1, [7] * 1000, ((0, 1), (ARRAY, 0), (0, 7)))
    assert parse_bitstream(written([Block(30, 4, [endless])])) is None


@given(block=BLOCKS, place=st.floats(0, 1, exclude_max=True))
def test_a_cut_stream_is_nothing(block: Block, place: float) -> None:
    raw = written([block])
    cut = raw[: 4 + 4 * int(place * (len(raw) // 4 - 1))]
    assert parse_bitstream(cut) is None or len(cut) == 4


def test_no_record_passes_for_the_end_of_a_block() -> None:
    assert parse_bitstream(written([Block(30, 4, [Record(ENTER & LARGE, [])])])) is None
    assert parse_bitstream(written([Block(30, 4, [Record(1, [ENTER & LARGE])])])) is not None
