"""Words and symbols: text by number.

The scanning state `s` is one array: four counters, then a hash table of symbols, then their rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kleene.frontends.c.reader.compiled import Cells, Text, no_refcount, noinline
from kleene.frontends.c.reader.words import (
    FNV_PRIME,
    FNV_START,
    TABLE_BITS,
    TABLE_HASH,
    TABLE_WORD,
)
from kleene.kernels.bits import mix

N_TOKENS, N_SYMBOLS, TABLE_SIZE, TABLE_FULL, START = range(5)
S_FIRST, S_END, S_ESCAPED, S_WIDTH = range(4)
_START = np.uint64(FNV_START)
_PRIME = np.uint64(FNV_PRIME)
_MASK = (1 << TABLE_BITS) - 1


def _classes() -> NDArray[np.uint8]:
    """Return, by byte: 1 = may stand in a name, 2 = in a word, 4 = digit, 8 = no digit."""
    table = np.zeros(256, np.uint8)
    for byte in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.":
        table[byte] = 1 + 2 + 8
    for byte in b"-$":
        table[byte] = 1 + 8
    for byte in b"0123456789":
        table[byte] = 1 + 2 + 4
    return table


CLASS = _classes()


@no_refcount
def word_number(text: Text, start: int, end: int) -> int:
    """Return the number of the word text[start:end], 0 if it is none of ours."""
    noinline()
    value = _START
    for i in range(start, end):
        value = (value ^ np.uint64(text[i])) * _PRIME
    place = np.int64(value & np.uint64(_MASK))
    while TABLE_WORD[place] != 0:
        if TABLE_HASH[place] == value:
            return TABLE_WORD[place]
        place = (place + 1) & _MASK
    return 0


@no_refcount
def name_end(text: Text, i: int) -> int:
    """Return the end of the name that starts at i, quoted or not; it lies in the same line."""
    noinline()
    if text[i] == 34:
        i += 1
        while text[i] != 34 and text[i] != 10 and text[i] != 0:
            i += 1
        return i + 1 if text[i] == 34 else i
    while CLASS[text[i]] & 1:
        i += 1
    return i


@no_refcount
def symbol(text: Text, s: Cells, start: int, end: int, escaped: bool) -> int:
    """Return the symbol of text[start:end]; `escaped`: backslashes in it are escapes."""
    noinline()
    if start >= end:
        return 0
    value = 0
    backslash = False
    for i in range(start, end):
        backslash = backslash or text[i] == 92
        value = mix(value, text[i])
    is_escaped = int(escaped and backslash)
    mask = s[TABLE_SIZE] - 1
    rows = START + s[TABLE_SIZE]
    place = value & mask
    size = end - start
    while s[START + place] != 0:
        found = s[START + place]
        row = rows + found * S_WIDTH
        first = s[row + S_FIRST]
        if s[row + S_END] - first == size and s[row + S_ESCAPED] == is_escaped:
            j = 0
            while j < size and text[first + j] == text[start + j]:
                j += 1
            if j == size:
                return found
        place = (place + 1) & mask
    new = s[N_SYMBOLS]
    if (new + 2) * 10 > s[TABLE_SIZE] * 7:
        s[TABLE_FULL] = 1
        return 0
    row = rows + new * S_WIDTH
    s[row + S_FIRST], s[row + S_END], s[row + S_ESCAPED] = start, end, is_escaped
    s[START + place] = new
    s[N_SYMBOLS] = new + 1
    return new
