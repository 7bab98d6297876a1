"""Bits of a stream: numbers of fixed and of variable width."""

from __future__ import annotations

from kleene.frontends.c.reader.bits.compiled import Cells, Words, no_refcount
from kleene.kernels.bits import funnel

PLACE, LIMIT, FAULT = range(3)  # the first cells of the reading's state `b`
MOST_BITS = 64


@no_refcount
def take(words: Words, b: Cells, width: int) -> int:
    """Return the next `width` bits, at most 64; past the end it is a fault."""
    place = b[PLACE]
    if width > b[LIMIT] - place:
        b[FAULT] = 1
        return 0
    if width == 0:
        return 0
    b[PLACE] = place + width
    word, shift = place >> 6, place & 63
    value = funnel(words[word], words[word + 1], shift)
    return value if width == 64 else value & ((1 << width) - 1)


@no_refcount
def variable(words: Words, b: Cells, width: int) -> int:
    """Return the next variable-width number: chunks whose top bit says that more follow."""
    if width < 2 or width > 32:
        b[FAULT] = 1
        return 0
    top = 1 << (width - 1)
    chunk = take(words, b, width)
    value, shift = chunk & (top - 1), width - 1
    while chunk & top:
        if shift >= MOST_BITS:
            b[FAULT] = 1
            return 0
        chunk = take(words, b, width)
        value |= (chunk & (top - 1)) << shift
        shift += width - 1
    return value


@no_refcount
def align(b: Cells) -> None:
    """Move to the next multiple of 32 bits."""
    b[PLACE] = (b[PLACE] + 31) & ~31
    if b[PLACE] > b[LIMIT]:
        b[FAULT] = 1
        b[PLACE] = b[LIMIT]


@no_refcount
def peek(words: Words, place: int) -> int:
    """Return the 64 bits from `place` on; what lies past the last word is not asked for."""
    word, shift = place >> 6, place & 63
    return funnel(words[word], words[word + 1], shift)
