"""Text to data as columns, in the order of the text: every datum before those inside it.

    (f 'x)   ->   kind   LIST  ATOM  LIST  ATOM  ATOM
                  token    -    f     -   quote   x
                  after    5    2     5     4     5    where the next that is not inside begins
                  n        2    -     2     -     -    how many are right inside

Each different atom is a *token* with a number; what it means is left to the reader's `parse`. Texts
with directives and faults are refused: the reader has them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kleene.base.arrays import I32, I64, U8
from kleene.frontends.scheme.bulk.compiled import device_function, entry_point
from kleene.kernels.pointers import as_pointers

ATOM, LIST, DOTTED, VECTOR, BYTES, LABELLED, LABEL = range(7)
N_NODES, N_TOKENS, DEPTH, TABLE_MASK = range(4)  # counts
QUOTE, QUASIQUOTE, UNQUOTE, SPLICING = range(4)  # the first tokens of every text

_LONG_TAIL = 1000  # data: `(a . (b . (c)))` moves the tails, and the reader has longer ones
_NO_DOT, _PREFIX, _COMMENT = -1, -2, -3  # instead of how many items stand before the dot
_TAB, _NEWLINE, _FEED, _RETURN, _SPACE = 9, 10, 12, 13, 32
_STRING, _HASH, _TICK, _OPEN, _CLOSE, _COMMA, _SEMICOLON = b"\"#'(),;"
_AT, _LEFT, _ESCAPE, _RIGHT, _BACKTICK, _BAR, _DOT, _EQUALS = b"@[\\]`|.="
_ZERO, _NINE, _PLUS, _MINUS, _SMALL_U, _EIGHT, _DELETE = b"09+-u8\x7f"


class Data(NamedTuple):
    """The data of a text, and its tokens."""

    kind: U8
    at: I32
    end: I32
    token: I32
    after: I32
    n: I32
    token_first: I32  # the place of its first use
    token_end: I32
    is_plain: U8  # whether a token is a symbol that means itself
    table: I32  # tokens by their hash, 0 for none, else one more
    open_node: I32  # the lists that are open
    open_items: I32
    open_dot: I32
    counts: I64


def room_for(n_bytes: int) -> Data:
    """Return tables for a text of so many bytes; memory that is not used is not touched."""
    n = n_bytes + n_bytes // 2 + 16  # a quote is two data in one byte, and a third is behind it
    size = 1 << max(4, n_bytes.bit_length())
    kind, is_plain = np.empty(n, np.uint8), np.empty(n, np.uint8)
    columns = [np.empty(n, np.int32) for _ in range(7)]
    table, counts = np.zeros(size, np.int32), np.array([0, 0, 0, size - 1], np.int64)
    stacks = [np.empty(n, np.int32) for _ in range(3)]
    made: list[Any] = [kind, *columns, is_plain, table, *stacks, counts]
    return Data(*made)


@device_function
def _is_stop(c: int) -> bool:
    """Return whether an atom ends before this byte."""
    if c > _BAR or (c > _SEMICOLON and c < _LEFT):
        return False
    if c <= _SPACE:
        return c in (_SPACE, _NEWLINE, _TAB, _RETURN, _FEED)
    if c in (_OPEN, _CLOSE, _LEFT, _RIGHT, _STRING):
        return True
    return c in (_SEMICOLON, _BAR, _TICK, _BACKTICK, _COMMA)


@device_function
def _token_at(d: Data, text: U8, first: int, end: int) -> int:
    """Return the number of the token between two bytes."""
    h = 0
    for i in range(first, end):
        h = (h * 1000003 + int(text[i])) & 0xFFFFFFFFFF
    h ^= h >> 17
    mask = int(d.counts[TABLE_MASK])
    slot = h & mask
    while d.table[slot]:
        token = int(d.table[slot]) - 1
        start = int(d.token_first[token])
        if int(d.token_end[token]) - start == end - first:
            same = True
            for i in range(end - first):
                if text[start + i] != text[first + i]:
                    same = False
                    break
            if same:
                return token
        slot = (slot + 1) & mask
    token = int(d.counts[N_TOKENS])
    d.counts[N_TOKENS] = token + 1
    d.table[slot] = token + 1
    d.token_first[token] = first
    d.token_end[token] = end
    c = int(text[first])
    plain = not (_ZERO <= c <= _NINE or c in (_PLUS, _MINUS, _DOT))
    plain = plain and c != _HASH and c != _STRING and c != _BAR
    for i in range(first, end):
        plain = plain and _SPACE < text[i] < _DELETE
    d.is_plain[token] = 1 if plain else 0
    return token


@device_function
def _add(d: Data, kind: int, at: int, end: int, token: int) -> int:
    node = int(d.counts[N_NODES])
    d.counts[N_NODES] = node + 1
    d.kind[node] = kind
    d.at[node] = at
    d.end[node] = end
    d.token[node] = token
    d.after[node] = node + 1
    d.n[node] = 0
    return node


@device_function
def _open(d: Data, node: int, dot: int) -> None:
    depth = int(d.counts[DEPTH])
    d.counts[DEPTH] = depth + 1
    d.open_node[depth] = node
    d.open_items[depth] = 0
    d.open_dot[depth] = dot


@device_function
def _complete(d: Data, node: int) -> None:
    """Put a datum, which is the last, into what is open around it."""
    while d.counts[DEPTH]:
        depth = int(d.counts[DEPTH]) - 1
        dot = d.open_dot[depth]
        if dot != _PREFIX and dot != _COMMENT:
            d.open_items[depth] += 1
            return
        around = int(d.open_node[depth])
        d.counts[DEPTH] = depth
        if dot == _COMMENT:
            d.counts[N_NODES] = around
            return
        d.n[around] = 2 if d.kind[around] == LIST else 1
        d.end[around] = d.end[node]
        d.after[around] = d.counts[N_NODES]
        node = around


@device_function
def _skip_comment(text: U8, n: int, i: int) -> int:
    """Return the byte behind a block comment, with those inside it; -1 if it has no end."""
    depth = 0
    while i + 1 < n:
        if text[i] == _HASH and text[i + 1] == _BAR:
            depth += 1
            i += 2
        elif text[i] == _BAR and text[i + 1] == _HASH:
            depth -= 1
            i += 2
            if depth == 0:
                return i
        else:
            i += 1
    return -1


@device_function
def _take_out(d: Data, node: int) -> None:
    """Take out a list that is last, but not the data inside it."""
    last = int(d.counts[N_NODES]) - 1
    for i in range(node, last):
        d.kind[i] = d.kind[i + 1]
        d.at[i] = d.at[i + 1]
        d.end[i] = d.end[i + 1]
        d.token[i] = d.token[i + 1]
        d.after[i] = d.after[i + 1] - 1
        d.n[i] = d.n[i + 1]
    d.counts[N_NODES] = last


@device_function
def _close(d: Data, text: U8, c: int, i: int, shift: int) -> bool:
    """Close the innermost list with the byte at i; return whether that is right."""
    if not d.counts[DEPTH]:
        return False
    depth = int(d.counts[DEPTH]) - 1
    node, dot, n = int(d.open_node[depth]), int(d.open_dot[depth]), int(d.open_items[depth])
    if dot in (_PREFIX, _COMMENT):
        return False
    if (text[d.at[node] - shift] == _LEFT) != (c == _RIGHT):
        return False
    if dot != _NO_DOT:
        if n != dot + 1:
            return False
        tail = node + 1
        for _ in range(dot):
            tail = int(d.after[tail])
        d.kind[node] = DOTTED
        if d.kind[tail] == LIST or d.kind[tail] == DOTTED:
            if d.counts[N_NODES] - tail > _LONG_TAIL:
                return False
            d.kind[node] = d.kind[tail]
            n += int(d.n[tail]) - 1
            _take_out(d, tail)
    d.counts[DEPTH] = depth
    d.n[node] = n
    d.end[node] = i + 1 + shift
    d.after[node] = d.counts[N_NODES]
    _complete(d, node)
    return True


@device_function
def _quoted_end(text: U8, n: int, i: int) -> int:
    """Return the byte behind a string or a symbol in bars that begins at i; -1 if it has no end."""
    mark = text[i]
    i += 1
    while i < n:
        if text[i] == mark:
            return i + 1
        i += 2 if text[i] == _ESCAPE else 1
    return -1


@device_function
def _atom_end(text: U8, n: int, i: int) -> int:
    """Return the byte behind an atom that begins at i."""
    end = i + 1
    if text[i] == _HASH and end < n and text[end] == _ESCAPE:
        end += 2 if end + 1 < n else 1
        while end < n and 0x80 <= text[end] < 0xC0:
            end += 1
    while end < n and not _is_stop(int(text[end])):
        end += 1
    return end


@device_function
def _label_end(text: U8, n: int, i: int) -> int:
    """Return the byte behind `#0=` or `#0#` at i, or i where there is none."""
    end = i + 1
    while end < n and _ZERO <= text[end] <= _NINE:
        end += 1
    is_label = end > i + 1 and end < n and (text[end] == _EQUALS or text[end] == _HASH)
    return end + 1 if is_label else i


@device_function
def _opened_by_hash(d: Data, text: U8, n: int, i: int, shift: int) -> int:
    """Return the byte behind `#(`, `#u8(`, `#;`, `#0=` or a block comment at i.

    It is i itself where an atom begins there, and -1 where a comment has no end.
    """
    c = int(text[i + 1]) if i + 1 < n else 0
    if c == _OPEN:
        _open(d, _add(d, VECTOR, i + shift, 0, 0), _NO_DOT)
        return i + 2
    if c == _SMALL_U and i + 3 < n and text[i + 2] == _EIGHT and text[i + 3] == _OPEN:
        _open(d, _add(d, BYTES, i + shift, 0, 0), _NO_DOT)
        return i + 4
    if c == _SEMICOLON:
        _open(d, int(d.counts[N_NODES]), _COMMENT)
        return i + 2
    if c == _BAR:
        return _skip_comment(text, n, i)
    end = _label_end(text, n, i)
    if end > i and text[end - 1] == _EQUALS:
        _open(d, _add(d, LABELLED, i + shift, 0, _token_at(d, text, i, end)), _PREFIX)
        return end
    return i


@entry_point
def scan(d: Data, text: U8, n: int, first: int, shift: int) -> bool:
    """Read the data of a text from byte `first` on; return whether that was possible.

    The bytes before are the tokens that must have the first numbers, a space behind each. Byte i
    of the n of the text has the place i + `shift`.
    """
    return _scan(as_pointers(d), as_pointers(text), n, first, shift)


@device_function
def _scan(d: Data, text: U8, n: int, first: int, shift: int) -> bool:
    i = 0
    while i < first:
        end = _atom_end(text, n, i)
        _token_at(d, text, i, end)
        i = end + 1
    while i < n:
        c = int(text[i])
        if c <= _SPACE and (c in (_SPACE, _NEWLINE, _TAB, _RETURN, _FEED)):
            i += 1
        elif c in (_OPEN, _LEFT):
            _open(d, _add(d, LIST, i + shift, 0, 0), _NO_DOT)
            i += 1
        elif c in (_CLOSE, _RIGHT):
            if not _close(d, text, c, i, shift):
                return False
            i += 1
        elif c == _SEMICOLON:
            while i < n and text[i] != _NEWLINE:
                i += 1
        elif c in (_TICK, _BACKTICK, _COMMA):
            splices = c == _COMMA and i + 1 < n and text[i + 1] == _AT
            word = QUOTE if c == _TICK else QUASIQUOTE if c == _BACKTICK else UNQUOTE
            end = i + 2 if splices else i + 1
            _open(d, _add(d, LIST, i + shift, 0, 0), _PREFIX)
            _add(d, ATOM, i + shift, end + shift, SPLICING if splices else word)
            i = end
        else:
            end = i
            if c == _HASH:
                end = _opened_by_hash(d, text, n, i, shift)
                if end < 0:
                    return False
                if end > i:
                    i = end
                    continue
            if c in (_STRING, _BAR):
                end = _quoted_end(text, n, i)
                if end < 0:
                    return False
            else:
                end = _atom_end(text, n, i)
            if c == _DOT and end == i + 1:
                depth = int(d.counts[DEPTH]) - 1
                if depth < 0 or d.open_dot[depth] != _NO_DOT or d.open_items[depth] == 0:
                    return False
                if d.kind[d.open_node[depth]] != LIST:
                    return False
                d.open_dot[depth] = d.open_items[depth]
            else:
                label = _label_end(text, n, i) if c == _HASH else i
                kind = ATOM if label == i else LABEL
                end = end if label == i else label
                _complete(d, _add(d, kind, i + shift, end + shift, _token_at(d, text, i, end)))
            i = end
    return bool(d.counts[DEPTH] == 0)
