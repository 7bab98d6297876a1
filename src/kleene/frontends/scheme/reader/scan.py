"""Tokens: one sweep over the bytes of a text.

A token is a kind, a first byte and the byte after its last. What an atom means (number, symbol,
character, Boolean) is left to `atoms`, which looks at each different text once.
"""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I32, U8
from kleene.frontends.scheme.reader.compiled import device_function, entry_point

# Kinds of tokens. The first four carry text that is looked at later.
ATOM, FOLDED, BARRED, STRING = 0, 1, 2, 3  # FOLDED: an atom under #!fold-case
LABEL, LABEL_USE = 4, 5
LIST, SQUARE, VECTOR, BYTES = 6, 7, 8, 9  # what an opener opens
QUOTE, QUASIQUOTE, UNQUOTE, SPLICE, COMMENT = 10, 11, 12, 13, 14  # stand before one datum
CLOSE, CLOSE_SQUARE, DOT = 15, 16, 17

# What can be wrong with a token; 0 is nothing.
OPEN_STRING, OPEN_BAR, OPEN_COMMENT, BAD_DIRECTIVE, BARE_CHARACTER = 1, 2, 3, 4, 5

_SPACE, _DELIMITER = 1, 2  # classes of bytes; 0 goes on with an atom


def _classes() -> U8:
    classes = np.zeros(256, np.uint8)
    classes[list(b"()[]\";|'`,")] = _DELIMITER
    classes[list(b" \t\n\r\f")] = _SPACE
    return classes


_CLASS = _classes()
_FOLD = np.frombuffer(b"fold-case", np.uint8).copy()
_NO_FOLD = np.frombuffer(b"no-fold-case", np.uint8).copy()
_R6RS = np.frombuffer(b"r6rs", np.uint8).copy()


@entry_point
def scan(text: U8, folding: bool, kind: U8, start: I32, end: I32) -> tuple[int, int, int]:
    """Return how many tokens there are, the fault of the last or 0, and the fault's first byte.

    Args:
        text: the bytes; valid UTF-8.
        folding: whether symbols are read without regard to case from the first on.
        kind: filled with a kind for each token; like the next two, as long as the text.
        start: filled with each token's first byte.
        end: filled with the byte after each token's last.
    """
    n, n_tokens, i = len(text), 0, _skip_start(text)
    while i < n:
        c = text[i]
        if _CLASS[c] == _SPACE:
            i += 1
            continue
        if c == 59:  # ;
            i = _line_end(text, i)
            continue
        if c == 35 and i + 1 < n:  # #
            after = text[i + 1]
            if after == 124:  # #|
                j = _comment_end(text, i)
                if j < 0:
                    return n_tokens, OPEN_COMMENT, i
                i = j
                continue
            if after == 33:  # #!
                j = _atom_end(text, i + 2)
                if _same(text, i + 2, j, _FOLD):
                    folding = True
                elif _same(text, i + 2, j, _NO_FOLD):
                    folding = False
                elif not _same(text, i + 2, j, _R6RS):
                    return n_tokens, BAD_DIRECTIVE, i
                i = j
                continue
            if after == 92 and i + 2 >= n:  # #\ at the very end
                return n_tokens, BARE_CHARACTER, i
        found, j = _token(text, i)
        if j < 0:
            return n_tokens, (OPEN_STRING if found == STRING else OPEN_BAR), i
        kind[n_tokens] = FOLDED if folding and found == ATOM else found
        start[n_tokens] = i
        end[n_tokens] = j
        n_tokens += 1
        i = j
    return n_tokens, 0, 0


@device_function
def _token(text: U8, i: int) -> tuple[int, int]:
    """Return the kind of the token at `i` and the byte after it, or -1 if it does not end."""
    c = text[i]
    after = text[i + 1] if i + 1 < len(text) else 0
    if c == 40:
        return LIST, i + 1
    if c == 41:
        return CLOSE, i + 1
    if c == 34:
        return STRING, _closed_by(text, i, 34)
    if c == 39:
        return QUOTE, i + 1
    if c == 35:
        return _hash_token(text, i, after)
    if c == 96:
        return QUASIQUOTE, i + 1
    if c == 44:
        return (SPLICE, i + 2) if after == 64 else (UNQUOTE, i + 1)
    if c == 124:
        return BARRED, _closed_by(text, i, 124)
    if c == 91:
        return SQUARE, i + 1
    if c == 93:
        return CLOSE_SQUARE, i + 1
    j = _atom_end(text, i)
    return (DOT if c == 46 and j == i + 1 else ATOM), j


@device_function
def _hash_token(text: U8, i: int, after: int) -> tuple[int, int]:
    """Return what `_token` returns, for a token that begins with a number sign."""
    n = len(text)
    if after == 40:
        return VECTOR, i + 2
    if after == 59:
        return COMMENT, i + 2
    if after == 92:  # a character: whatever follows belongs to it, then up to a delimiter
        j = i + 3
        while j < n and (text[j] & 0xC0) == 0x80:
            j += 1
        return ATOM, _atom_end(text, j)
    if after == 117 and i + 3 < n and text[i + 2] == 56 and text[i + 3] == 40:
        return BYTES, i + 4
    if 48 <= after <= 57:
        j = i + 1
        while j < n and 48 <= text[j] <= 57:
            j += 1
        if j < n and text[j] == 61:
            return LABEL, j + 1
        if j < n and text[j] == 35:
            return LABEL_USE, j + 1
    return ATOM, _atom_end(text, i)


@device_function
def _skip_start(text: U8) -> int:
    """Return where the text begins, after a byte order mark and a line for the shell."""
    i = 0
    if len(text) >= 3 and text[0] == 0xEF and text[1] == 0xBB and text[2] == 0xBF:
        i = 3
    is_directive = i + 2 < len(text) and text[i] == 35 and text[i + 1] == 33
    if is_directive and (text[i + 2] == 47 or text[i + 2] == 32):  # a path, or a space before it
        return _line_end(text, i)
    return i


@device_function
def _line_end(text: U8, i: int) -> int:
    while i < len(text) and text[i] != 10:
        i += 1
    return i


@device_function
def _atom_end(text: U8, i: int) -> int:
    while i < len(text) and _CLASS[text[i]] == 0:
        i += 1
    return i


@device_function
def _closed_by(text: U8, i: int, closer: int) -> int:
    """Return the byte after the closer that no backslash stands before, or -1."""
    i += 1
    while i < len(text):
        if text[i] == 92:
            i += 1
        elif text[i] == closer:
            return i + 1
        i += 1
    return -1


@device_function
def _comment_end(text: U8, i: int) -> int:
    """Return the byte after a block comment, with those inside it, or -1."""
    depth = 0
    while i + 1 < len(text):
        if text[i] == 35 and text[i + 1] == 124:
            depth += 1
            i += 2
        elif text[i] == 124 and text[i + 1] == 35:
            depth -= 1
            i += 2
            if depth == 0:
                return i
        else:
            i += 1
    return -1


@device_function
def _same(text: U8, i: int, j: int, word: U8) -> bool:
    if j - i != len(word):
        return False
    k = 0
    while k < len(word) and text[i + k] == word[k]:
        k += 1
    return k == len(word)
