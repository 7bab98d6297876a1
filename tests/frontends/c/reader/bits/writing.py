"""A writer of bitstreams: blocks, records and abbreviations to bytes, for tests of the reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"
FIXED, VBR, ARRAY, CHAR6 = 1, 2, 3, 4
Part = tuple[int, int]  # encoding (0: literal), and its width or value


@dataclass
class Record:
    """A record; with an abbreviation it is written by that."""

    code: int
    operands: list[int]
    shape: tuple[Part, ...] | None = None


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
