"""From bytes to tokens: one pass of Numba over the text, which also reads the debug metadata.

A token is two cells: `kind * 2^40 + value`, and where it starts. Names, literals and strings are
*symbols*, numbered as they are met: a symbol is a place in the text, for what LLVM prints twice it
prints alike. Metadata lines make no tokens: `metadata.node` keeps those that carry places and
names. The text ends in NUL bytes, which no printed module contains, so every scan stops by itself.

No token goes over a line's end, and none is made of less than a byte: `measure` bounds them all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.frontends.c.reader.compiled import (
    Cells,
    Nodes,
    Text,
    entry_point,
    no_refcount,
    noinline,
)
from kleene.frontends.c.reader.decode import unescape
from kleene.frontends.c.reader.metadata import node
from kleene.frontends.c.reader.state import Sizes
from kleene.frontends.c.reader.symbols import (
    CLASS,
    N_TOKENS,
    S_WIDTH,
    START,
    TABLE_FULL,
    name_end,
    symbol,
    word_number,
)
from kleene.frontends.c.reader.words import WORDS

# Kinds of token; a single character of punctuation is its own kind.
FINISH = 0
NEWLINE = 10
WORD = 256  # value = word number
OTHER_WORD = 257  # value = symbol
INT_TYPE = 258  # i32: value = 32
NUMBERED = 259  # %12: value = 12, as for all numbers at most LARGEST
NAMED = 260  # %x: value = symbol, as for the next
GLOBAL = 261  # @x
COMDAT = 262  # $x
QUOTED = 263  # "…"
BYTES = 264  # c"…"
NOTE = 265  # !"…"
REAL = 266
WIDE = 267  # an integer beyond ±2^39
INTEGER = 268  # value = itself + BIAS
NODE = 269  # !12: value = 12
TAG = 270  # !dbg: value = word number, or symbol + 1 past the last word
GROUP = 271  # #3: value = 3
RECORD = 272  # #dbg_value: value = word number or 0
NUMBER_LABEL = 273  # 12: at the start of a line; value = 12
NAME_LABEL = 274  # value = symbol
ELLIPSIS = 275

SHIFT = 40
MASK = (1 << SHIFT) - 1
BIAS = 1 << (SHIFT - 1)
LARGEST = 1 << (SHIFT - 2)  # leaves room for `state.MAYBE` and `state.FOREIGN_NUMBER`
_DIGITS_THAT_FIT = 11
_HEADS, _GROUPS, _LOCALS = (ELLIPSIS + i for i in (1, 2, 3))
_N_WORDS = len(WORDS) + 1
W_DEFINE, W_DECLARE = WORDS["define"], WORDS["declare"]


class Tokens(NamedTuple):
    """A text taken apart."""

    cells: NDArray[np.int64]  # two a token
    n_tokens: int
    symbols: NDArray[np.int64]  # first byte, end, whether escapes are to be undone
    nodes: NDArray[np.int64]

    def texts(self, raw: bytes) -> list[bytes]:
        """Return the text of each symbol."""
        return [
            unescape(raw[first:end]) if escaped else raw[first:end]
            for first, end, escaped in self.symbols.tolist()
        ]

    def sizes(self) -> Sizes:
        """Return what bounds the tables that these tokens can fill."""
        kinds = np.zeros(ELLIPSIS + 4, np.int64)
        count_kinds(self.cells, kinds, self.n_tokens)
        return Sizes(
            tokens=self.n_tokens,
            lines=int(kinds[NEWLINE]),
            heads=int(kinds[_HEADS]),
            commas=int(kinds[ord(",")]),
            brackets=int(kinds[[ord(c) for c in "([{<"]].sum()) + int(kinds[WORD]),
            quotes=int(kinds[QUOTED]),
            groups=min(int(kinds[_GROUPS]), self.n_tokens),
            locals=min(int(kinds[_LOCALS]), self.n_tokens),
            symbols=len(self.symbols),
        )


@entry_point
def count_kinds(cells: Cells, s: Cells, count: int) -> None:
    """Add to s[kind] for every token; the last cells: heads, and one past the largest numbers."""
    for i in range(count):
        kind, value = cells[2 * i] >> SHIFT, cells[2 * i] & MASK
        s[kind] += 1
        if kind == WORD and (value == W_DEFINE or value == W_DECLARE):
            s[_HEADS] += 1
        elif kind == GROUP:
            s[_GROUPS] = max(s[_GROUPS], value + 1)
        elif kind == NUMBERED:
            s[_LOCALS] = max(s[_LOCALS], value + 1)


@no_refcount
def emit(cells: Cells, s: Cells, kind: int, value: int, start: int) -> None:
    """Append a token."""
    place = 2 * s[N_TOKENS]
    cells[place] = (kind << SHIFT) | value
    cells[place + 1] = start
    s[N_TOKENS] += 1


@no_refcount
def quoted(text: Text, cells: Cells, s: Cells, kind: int, start: int, first: int) -> int:
    """Append a token for the name or quoted text that begins at `first`; return its end."""
    noinline()
    end = name_end(text, first)
    if text[first] == 34:
        closed = text[end - 1] == 34
        emit(cells, s, kind, symbol(text, s, first + 1, end - closed, True), start)
    else:
        emit(cells, s, kind, symbol(text, s, first, end, False), start)
    return end


@no_refcount
def counted(text: Text, cells: Cells, s: Cells, kind: int, start: int, first: int) -> int:
    """Append a token for the digits at `first`; return their end."""
    noinline()
    value, i = 0, first
    while CLASS[text[i]] & 4:
        value = min(value * 10 + (text[i] - 48), LARGEST)
        i += 1
    emit(cells, s, kind, value, start)
    return i


@no_refcount
def number(text: Text, cells: Cells, s: Cells, start: int) -> int:
    """Append a token for the integer or real at `start`; return its end."""
    noinline()
    i = start
    negative = text[i] == 45
    if negative:
        i += 1
    first, value = i, 0
    while CLASS[text[i]] & 4:
        value = value * 10 + (text[i] - 48)
        i += 1
    if CLASS[text[i]] & 1 or text[i] == 43:  # a point, an exponent, or 0x…
        while CLASS[text[i]] & 1 or text[i] == 43:
            i += 1
        emit(cells, s, REAL, symbol(text, s, start, i, False), start)
    elif i - first > _DIGITS_THAT_FIT:
        emit(cells, s, WIDE, symbol(text, s, start, i, False), start)
    else:
        emit(cells, s, INTEGER, (-value if negative else value) + BIAS, start)
    return i


@no_refcount
def word(text: Text, cells: Cells, s: Cells, start: int) -> int:
    """Append a token for the word at `start`; return its end."""
    noinline()
    i = start
    while CLASS[text[i]] & 2:
        i += 1
    known = word_number(text, start, i)
    if known:
        emit(cells, s, WORD, known, start)
        return i
    width = 0
    if text[start] == 105 and 2 <= i - start <= 9:
        for j in range(start + 1, i):
            if not CLASS[text[j]] & 4:
                width = 0
                break
            width = width * 10 + (text[j] - 48)
    if width:
        emit(cells, s, INT_TYPE, width, start)
    else:
        emit(cells, s, OTHER_WORD, symbol(text, s, start, i, False), start)
    return i


@no_refcount
def label(text: Text, cells: Cells, s: Cells, start: int) -> int:
    """Append a token if a label stands at `start`; return its end, or `start` if none does."""
    noinline()
    end = name_end(text, start)
    if end == start or text[end] != 58:
        return start
    i = start
    while CLASS[text[i]] & 4:
        i += 1
    if i == end:
        counted(text, cells, s, NUMBER_LABEL, start, start)
    else:
        quoted(text, cells, s, NAME_LABEL, start, start)
    return end + 1


@no_refcount
def hashed(text: Text, cells: Cells, s: Cells, start: int) -> int:
    """Append a token for what begins with `#`; return its end."""
    noinline()
    if CLASS[text[start + 1]] & 4:
        return counted(text, cells, s, GROUP, start, start + 1)
    end = name_end(text, start + 1)
    emit(cells, s, RECORD, word_number(text, start + 1, end), start)
    return end


@no_refcount
def noted(text: Text, cells: Cells, s: Cells, start: int) -> int:
    """Append a token for what begins with `!`; return its end."""
    noinline()
    following = text[start + 1]
    if CLASS[following] & 4:
        return counted(text, cells, s, NODE, start, start + 1)
    if following == 34:
        return quoted(text, cells, s, NOTE, start, start + 1)
    if CLASS[following] & 1:
        end = name_end(text, start + 1)
        known = word_number(text, start + 1, end)
        value = known if known else _N_WORDS + symbol(text, s, start + 1, end, False)
        emit(cells, s, TAG, value, start)
        return end
    emit(cells, s, 33, 0, start)
    return start + 1


@no_refcount
def line_start(text: Text, cells: Cells, s: Cells, nodes: Nodes, i: int) -> int:
    """Skip metadata lines from the line start i, then append a label's token; return the place."""
    noinline()
    while text[i] == 33:
        i = node(text, s, nodes, i)
        while text[i] != 10 and text[i] != 0:
            i += 1
        if text[i] == 10:
            i += 1
    return label(text, cells, s, i)


@entry_point
def tokenize(text: Text, cells: Cells, s: Cells, nodes: Nodes) -> None:
    """Fill `cells` with the tokens of the text, and `nodes` with its debug metadata."""
    i = line_start(text, cells, s, nodes, 0)
    while text[i] != 0 and not s[TABLE_FULL]:
        c = text[i]
        if c == 32 or c == 9:
            i += 1
        elif c == 10:
            emit(cells, s, NEWLINE, 0, i)
            i = line_start(text, cells, s, nodes, i + 1)
        elif c == 37:  # %
            if CLASS[text[i + 1]] & 4 and not CLASS[text[name_end(text, i + 1) - 1]] & 8:
                i = counted(text, cells, s, NUMBERED, i, i + 1)
            else:
                i = quoted(text, cells, s, NAMED, i, i + 1)
        elif c == 64:  # @
            i = quoted(text, cells, s, GLOBAL, i, i + 1)
        elif c == 99 and text[i + 1] == 34:  # c"
            i = quoted(text, cells, s, BYTES, i, i + 1)
        elif c == 45 or CLASS[c] & 4:
            i = number(text, cells, s, i)
        elif c == 46 and text[i + 1] == 46 and text[i + 2] == 46:
            emit(cells, s, ELLIPSIS, 0, i)
            i += 3
        elif CLASS[c] & 2:
            i = word(text, cells, s, i)
        elif c == 33:
            i = noted(text, cells, s, i)
        elif c == 35:
            i = hashed(text, cells, s, i)
        elif c == 34:
            i = quoted(text, cells, s, QUOTED, i, i)
        elif c == 36:
            i = quoted(text, cells, s, COMDAT, i, i + 1)
        elif c == 59:  # a comment
            while text[i] != 10 and text[i] != 0:
                i += 1
        else:
            emit(cells, s, c, 0, i)
            i += 1
    for _ in range(4):
        emit(cells, s, FINISH, 0, i)


def take_apart(text: NDArray[np.uint8]) -> Tokens:
    """Return the tokens, symbols and debug metadata of a text that ends in NUL bytes."""
    n_code, n_nodes = measure(text)
    bits = max(10, int(n_code // 64).bit_length())
    while True:
        cells = np.empty(2 * (n_code + 16), np.int64)
        nodes = np.zeros((n_nodes + 1, 12), np.int64)
        state = np.zeros(START + (1 << bits) * (1 + S_WIDTH), np.int64)
        state[1] = 1  # symbol 0 is empty
        state[2] = 1 << bits
        tokenize(text, cells, state, nodes)
        if not state[TABLE_FULL]:
            break
        bits += 2
    first = START + (1 << bits)
    symbols = state[first : first + int(state[1]) * S_WIDTH].reshape(-1, S_WIDTH).copy()
    return Tokens(cells, int(state[N_TOKENS]), symbols, nodes)


@entry_point
def measure(text: Text) -> tuple[int, int]:
    """Return how many bytes lie outside metadata lines, and how many numbered nodes there are."""
    i, code, nodes = 0, 0, 0
    while text[i] != 0:
        start = i
        while text[i] != 10 and text[i] != 0:
            i += 1
        if text[i] == 10:
            i += 1
        if text[start] != 33:
            code += i - start
        elif CLASS[text[start + 1]] & 4:
            nodes += 1
    return code, nodes
