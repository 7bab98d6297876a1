"""Texts that records spell out a letter an operand, brought together as bytes.

Afterwards such a text is one number, `first byte * 2^24 + length`, in the place of its letters: for
records that are nothing but a text, in the place of their first operand's address.
"""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader.bits import blocks
from kleene.frontends.c.reader.bits.compiled import Cells, Text, entry_point, no_refcount, noinline
from kleene.frontends.c.reader.bits.plan import Records
from kleene.frontends.c.reader.bits.state import TEXT_MASK, TEXT_SHIFT
from kleene.frontends.c.reader.bits.stream import R_BLOCK, R_CODE, R_END, R_FIRST, R_WIDTH
from kleene.frontends.c.reader.symbols import symbol

_NONE, _WHOLE, _WHOLE_WITH_NUL, _NAMED, _ASSEMBLY = range(5)
_SPELLED = np.zeros((32, 64), np.int64)  # by block and code
_SPELLED[blocks.TYPES, blocks.TYPE_STRUCT_NAME] = _WHOLE
_SPELLED[blocks.BUNDLE_TAGS, 1] = _WHOLE
_SPELLED[blocks.CONSTANTS, blocks.CONSTANT_STRING] = _WHOLE
_SPELLED[blocks.CONSTANTS, blocks.CONSTANT_CSTRING] = _WHOLE_WITH_NUL
_SPELLED[blocks.CONSTANTS, blocks.CONSTANT_ASSEMBLY] = _ASSEMBLY
_SPELLED[blocks.SYMBOLS, blocks.SYMBOL_VALUE] = _NAMED
_SPELLED[blocks.SYMBOLS, blocks.SYMBOL_BLOCK] = _NAMED


def room_for(records: Records) -> int:
    """Return how many bytes `spell` may need for these records."""
    found = [records.of(int(block), int(code)) for block, code in np.argwhere(_SPELLED)]
    return sum(int(records.n_operands(some).sum()) + len(some) for some in found)


@no_refcount
def letters_of(letters: Text, c: Cells, first: int, end: int, place: int) -> int:
    """Write operands as bytes from `place` on; return the text as a number, -1 if too long."""
    noinline()
    if end - first > TEXT_MASK - 1:
        return -1
    for i in range(first, end):
        letters[place + i - first] = c[i] & 255
    return (place << TEXT_SHIFT) + end - first


@entry_point
def spell(letters: Text, c: Cells, n_records: int, place: int) -> int:
    """Write all texts from `place` on; return where they end, -1 if one is not well formed."""
    for record in range(n_records):
        row = record * R_WIDTH
        if c[row + R_CODE] < 0 or c[row + R_CODE] >= 64 or c[row + R_BLOCK] >= 32:
            continue
        sort = _SPELLED[c[row + R_BLOCK], c[row + R_CODE]]
        if sort == _NONE:
            continue
        first, end = c[row + R_FIRST], c[row + R_END]
        text = 0
        if sort == _WHOLE or sort == _WHOLE_WITH_NUL:
            text = letters_of(letters, c, first, end, place)
            place += end - first
            if sort == _WHOLE_WITH_NUL:
                letters[place] = 0
                place += 1
                text += 1
            c[row + R_FIRST] = text
        elif sort == _NAMED:
            if end - first < 2:
                return -1
            text = letters_of(letters, c, first + 1, end, place)
            place += end - first - 1
            c[first + 1] = text
        else:  # type, flags, length, code, length, constraints
            if end - first < 4:
                return -1
            length = c[first + 2]
            if length < 0 or length > end - first - 4:
                return -1
            others = first + 3 + length
            if c[others] != end - others - 1:
                return -1
            text = letters_of(letters, c, first + 3, others, place)
            place += length
            constraints = letters_of(letters, c, others + 1, end, place)
            place += end - others - 1
            c[first + 2], c[first + 3] = text, constraints
            text = min(text, constraints)
        if text < 0:
            return -1
    return place


@no_refcount
def symbol_of(text: Text, s: Cells, packed: int) -> int:
    """Return the symbol of a text that is one number."""
    first = packed >> TEXT_SHIFT
    return symbol(text, s, first, first + (packed & TEXT_MASK), False)
