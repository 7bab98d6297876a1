"""Walking over tokens: the present one is in the heap's first cells (`state.AT`, KIND, VALUE)."""

from __future__ import annotations

from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.state import (
    AT,
    E_END,
    E_FIRST,
    E_WIDTH,
    ERROR,
    EXCERPT_TABLE,
    EXCERPTS,
    FULL,
    KIND,
    N_EXCERPTS,
    TABLE_SIZE,
    TOKEN_END,
    VALUE,
)
from kleene.frontends.c.reader.tokens import (
    BIAS,
    FINISH,
    MASK,
    NEWLINE,
    OTHER_WORD,
    RECORD,
    SHIFT,
    WORD,
)
from kleene.kernels.bits import mix


@no_refcount
def go_to(t: Cells, m: Cells, place: int) -> None:
    """Make the token at `place` the present one."""
    noinline()
    m[AT] = min(place, m[TOKEN_END])
    cell = t[2 * m[AT]]
    m[KIND] = cell >> SHIFT
    m[VALUE] = cell & MASK


@no_refcount
def advance(t: Cells, m: Cells) -> None:
    """Move to the next token; the last is FINISH, for ever."""
    go_to(t, m, m[AT] + 1)


@no_refcount
def accept(t: Cells, m: Cells, kind: int) -> bool:
    """Move on if the present token is of this kind; return whether it was."""
    noinline()
    if m[KIND] == kind:
        advance(t, m)
        return True
    return False


@no_refcount
def expect(t: Cells, m: Cells, kind: int) -> None:
    """Move over a token of this kind; anything else is an error."""
    noinline()
    if m[KIND] == kind:
        advance(t, m)
    else:
        m[ERROR] = 1


@no_refcount
def at_word(m: Cells, word: int) -> bool:
    """Return whether the present token is this word."""
    return m[KIND] == WORD and m[VALUE] == word


@no_refcount
def at_any_word(m: Cells) -> bool:
    """Return whether the present token is a word, known or not."""
    return m[KIND] == WORD or m[KIND] == OTHER_WORD


@no_refcount
def accept_word(t: Cells, m: Cells, word: int) -> bool:
    """Move on if the present token is this word; return whether it was."""
    noinline()
    if at_word(m, word):
        advance(t, m)
        return True
    return False


@no_refcount
def expect_word(t: Cells, m: Cells, word: int) -> None:
    """Move over this word; anything else is an error."""
    noinline()
    if at_word(m, word):
        advance(t, m)
    else:
        m[ERROR] = 1


@no_refcount
def integer(m: Cells) -> int:
    """Return the value of the present integer."""
    return m[VALUE] - BIAS


@no_refcount
def skip_line(t: Cells, m: Cells) -> None:
    """Move to the newline that ends this line."""
    noinline()
    place = m[AT]
    while t[2 * place] >> SHIFT != NEWLINE and t[2 * place] >> SHIFT != FINISH:
        place += 1
    go_to(t, m, place)


@no_refcount
def skip_instruction(t: Cells, m: Cells) -> None:
    """Move to the newline that ends this instruction.

    Lines that go on with it are set in deeper than two spaces, or close a list.
    """
    skip_line(t, m)
    while m[KIND] == NEWLINE:
        following = m[AT] + 1
        kind = t[2 * following] >> SHIFT
        indent = t[2 * following + 1] - t[2 * m[AT] + 1] - 1
        if kind == NEWLINE or kind == FINISH or kind == RECORD or (kind != 93 and indent <= 2):
            return
        go_to(t, m, following)
        skip_line(t, m)


@no_refcount
def skip_newlines(t: Cells, m: Cells) -> None:
    """Move over newlines."""
    while m[KIND] == NEWLINE:
        advance(t, m)


@no_refcount
def skip_group(t: Cells, m: Cells) -> None:
    """Move over a bracketed group that starts at the present token, with all it holds."""
    noinline()
    depth = 0
    while m[KIND] != FINISH and m[KIND] != NEWLINE:
        kind = m[KIND]
        if kind == 40 or kind == 91 or kind == 123:
            depth += 1
        elif kind == 41 or kind == 93 or kind == 125:
            depth -= 1
        advance(t, m)
        if depth == 0:
            return
    m[ERROR] = 1


@no_refcount
def same_tokens(t: Cells, left: int, right: int, count: int) -> bool:
    """Return whether `count` tokens from `left` on are those from `right` on."""
    i = 0
    while i < count and t[2 * (left + i)] == t[2 * (right + i)]:
        i += 1
    return i == count


@no_refcount
def excerpt(t: Cells, m: Cells, first: int) -> int:
    """Return the number of the text from token `first` to the present one; equal texts are one."""
    noinline()
    size = m[AT] - first
    value = mix(0, size)
    for i in range(first, m[AT]):
        value = mix(value, t[2 * i])
    mask = m[TABLE_SIZE] - 1
    place = value & mask
    while m[m[EXCERPT_TABLE] + place] != 0:
        found = m[m[EXCERPT_TABLE] + place] - 1
        row = m[EXCERPTS] + found * E_WIDTH
        start = m[row + E_FIRST]
        if m[row + E_END] - start == size and same_tokens(t, start, first, size):
            return found
        place = (place + 1) & mask
    new = m[N_EXCERPTS]
    if (new + 2) * 10 > m[TABLE_SIZE] * 7:
        m[FULL] = 1
        m[ERROR] = 1
        return 0
    row = m[EXCERPTS] + new * E_WIDTH
    m[row + E_FIRST], m[row + E_END] = first, m[AT]
    m[m[EXCERPT_TABLE] + place] = new + 1
    m[N_EXCERPTS] = new + 1
    return new
