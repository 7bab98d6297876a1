"""Bits of a stream: numbers of fixed and of variable width."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.frontends.c.reader.bits.compiled import Cells, Words, no_refcount

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
    value = words[word] >> np.uint64(shift)
    if shift + width > 64:
        value |= words[word + 1] << np.uint64(64 - shift)
    if width < 64:
        value &= (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    bits: Any = np.int64(value)
    return bits


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
    value = words[word] >> np.uint64(shift)
    if shift:
        value |= words[word + 1] << np.uint64(64 - shift)
    bits: Any = np.int64(value)
    return bits
