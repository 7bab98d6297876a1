"""A writer of bitstreams: blocks, records and abbreviations to bytes, for tests of the reader.

`edited` takes a file apart, has its records changed, and writes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kleene.frontends.c.reader import bitcodes
from kleene.frontends.c.reader.bitstream import ENTER, LEAVE, parse_bitstream

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"
FIXED, VBR, ARRAY, CHAR6, BLOB = 1, 2, 3, 4, 5
Part = tuple[int, int]  # encoding (0: literal), and its width or value


@dataclass
class Record:
    """A record; with an abbreviation it is written by that."""

    code: int
    operands: list[int]
    shape: tuple[Part, ...] | None = None
    blob: bytes = b""  # if the abbreviation ends in one


@dataclass
class Definition:
    """An abbreviation that is only defined."""

    shape: tuple[Part, ...]


@dataclass
class Block:
    """A block; what it holds comes in order, and `given` are abbreviations known from elsewhere."""

    number: int
    width: int = 4
    inside: list[Block | Record | Definition] = field(default_factory=list)
    given: tuple[tuple[Part, ...], ...] = ()


class Bits:
    """Bits, written from the low one up."""

    def __init__(self) -> None:
        self.value, self.n_bits = 0, 0

    def write(self, number: int, width: int) -> None:
        """Append `width` bits."""
        assert 0 <= number < 1 << width
        self.value |= number << self.n_bits
        self.n_bits += width

    def variable(self, number: int, width: int) -> None:
        """Append a number in chunks."""
        top = 1 << (width - 1)
        while number >= top:
            self.write(number % top + top, width)
            number //= top
        self.write(number, width)

    def align(self) -> None:
        """Append zeros up to a word."""
        self.n_bits += -self.n_bits % 32

    def scalar(self, part: Part, number: int) -> None:
        """Append an operand as a part of an abbreviation says."""
        encoding, width = part
        if encoding == FIXED:
            self.write(number, width)
        elif encoding == VBR:
            self.variable(number, width)
        elif encoding == CHAR6:
            self.write(LETTERS.index(chr(number)), 6)

    def bytes(self) -> bytes:
        """Return all of it."""
        return self.value.to_bytes((self.n_bits + 7) // 8, "little")


def written(blocks: Sequence[Block]) -> bytes:
    """Return the file that holds these blocks."""
    bits = Bits()
    bits.write(0xDEC04342, 32)
    for block in blocks:
        _block(bits, block, 2)
    return bits.bytes()


def _block(bits: Bits, block: Block, width: int) -> None:
    bits.write(1, width)
    bits.variable(block.number, 8)
    bits.variable(block.width, 4)
    bits.align()
    inside = Bits()
    known = list(block.given)
    for thing in block.inside:
        if isinstance(thing, Block):
            _block(inside, thing, block.width)
        elif isinstance(thing, Definition):
            _define(inside, thing.shape, block.width)
        else:
            _record(inside, thing, block.width, known)
    inside.write(0, block.width)
    inside.align()
    bits.write(inside.n_bits // 32, 32)
    bits.write(inside.value, inside.n_bits)


def _record(bits: Bits, record: Record, width: int, known: list[tuple[Part, ...]]) -> None:
    if record.shape is None:
        bits.write(3, width)
        for number in (record.code, len(record.operands), *record.operands):
            bits.variable(number, 6)
        return
    if record.shape not in known:
        known.append(record.shape)
        _define(bits, record.shape, width)
    bits.write(4 + known.index(record.shape), width)
    numbers = [record.code, *record.operands]
    for place, part in enumerate(record.shape):
        if part[0] == BLOB:
            bits.variable(len(record.blob), 6)
            bits.align()
            bits.write(int.from_bytes(record.blob, "little"), 8 * len(record.blob))
            bits.align()
            return
        if part[0] == ARRAY:
            bits.variable(len(numbers) - place, 6)
            for number in numbers[place:]:
                bits.scalar(record.shape[place + 1], number)
            return
        bits.scalar(part, numbers[place])


def _define(bits: Bits, shape: tuple[Part, ...], width: int) -> None:
    bits.write(2, width)
    bits.variable(len(shape), 5)
    for encoding, argument in shape:
        bits.write(int(encoding == 0), 1)
        if encoding == 0:
            bits.variable(argument, 8)
            continue
        bits.write(encoding, 3)
        if encoding in (FIXED, VBR):
            bits.variable(argument, 5)


_BLOB_AFTER = {  # how many operands come before the blob, by block and code
    (bitcodes.STRTAB, bitcodes.STRTAB_BLOB): 0,
    (bitcodes.METADATA, bitcodes.MD_STRINGS): 2,
}


def edited(raw: bytes, change: Callable[[list[tuple[int, Record]]], None]) -> bytes:
    """Return a file after `change` has had its records, each with the block it is in."""
    stream = parse_bitstream(raw)
    assert stream is not None
    records: list[tuple[int, Record]] = []
    top = Block(-1)
    open_blocks = [top]
    for block, code, first, end in stream.records.tolist():
        if code == ENTER:
            inner = Block(block, 6)
            open_blocks[-1].inside.append(inner)
            open_blocks.append(inner)
        elif code == LEAVE:
            open_blocks.pop()
        elif block != bitcodes.BLOCKINFO:
            operands = [cell & (1 << 64) - 1 for cell in stream.cells[first:end].tolist()]
            record = _with_blob(raw, block, code, operands)
            open_blocks[-1].inside.append(record)
            records.append((block, record))
    change(records)
    return written([block for block in top.inside if isinstance(block, Block)])


def _with_blob(raw: bytes, block: int, code: int, operands: list[int]) -> Record:
    n_before = _BLOB_AFTER.get((block, code))
    if n_before is None:
        return Record(code, operands)
    start, size = operands[n_before:]
    shape = ((0, code), *[(VBR, 6)] * n_before, (BLOB, 0))
    return Record(code, operands[:n_before], shape, raw[start : start + size])
