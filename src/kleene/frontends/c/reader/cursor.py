"""Walking over tokens: the present one is in the heap's first cells (`state.AT`, KIND, VALUE)."""

from __future__ import annotations

from kleene.frontends.c.reader.compiled import Cells, apart, step
from kleene.frontends.c.reader.state import (
    AT,
    E_END,
    E_FIRST,
    E_WIDTH,
    ERROR,
    EXCERPTS,
    KIND,
    N_EXCERPTS,
    TOKEN_END,
    VALUE,
)
from kleene.frontends.c.reader.tokens import BIAS, FINISH, MASK, NEWLINE, OTHER_WORD, SHIFT, WORD


@step
def go_to(t: Cells, m: Cells, place: int) -> None:
    """Make the token at `place` the present one."""
    apart()
    m[AT] = min(place, m[TOKEN_END])
    cell = t[2 * m[AT]]
    m[KIND] = cell >> SHIFT
    m[VALUE] = cell & MASK


@step
def advance(t: Cells, m: Cells) -> None:
    """Move to the next token; the last is FINISH, for ever."""
    go_to(t, m, m[AT] + 1)


@step
def accept(t: Cells, m: Cells, kind: int) -> bool:
    """Move on if the present token is of this kind; return whether it was."""
    apart()
    if m[KIND] == kind:
        advance(t, m)
        return True
    return False


@step
def expect(t: Cells, m: Cells, kind: int) -> None:
    """Move over a token of this kind; anything else is an error."""
    apart()
    if m[KIND] == kind:
        advance(t, m)
    else:
        m[ERROR] = 1


@step
def at_word(m: Cells, word: int) -> bool:
    """Return whether the present token is this word."""
    return m[KIND] == WORD and m[VALUE] == word


@step
def at_any_word(m: Cells) -> bool:
    """Return whether the present token is a word, known or not."""
    return m[KIND] == WORD or m[KIND] == OTHER_WORD


@step
def accept_word(t: Cells, m: Cells, word: int) -> bool:
    """Move on if the present token is this word; return whether it was."""
    apart()
    if at_word(m, word):
        advance(t, m)
        return True
    return False


@step
def expect_word(t: Cells, m: Cells, word: int) -> None:
    """Move over this word; anything else is an error."""
    apart()
    if at_word(m, word):
        advance(t, m)
    else:
        m[ERROR] = 1


@step
def integer(m: Cells) -> int:
    """Return the value of the present integer."""
    return m[VALUE] - BIAS


@step
def skip_line(t: Cells, m: Cells) -> None:
    """Move to the newline that ends this line."""
    apart()
    place = m[AT]
    while t[2 * place] >> SHIFT != NEWLINE and t[2 * place] >> SHIFT != FINISH:
        place += 1
    go_to(t, m, place)


@step
def skip_newlines(t: Cells, m: Cells) -> None:
    """Move over newlines."""
    while m[KIND] == NEWLINE:
        advance(t, m)


@step
def skip_group(t: Cells, m: Cells) -> None:
    """Move over a bracketed group that starts at the present token, with all it holds."""
    apart()
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


@step
def excerpt(t: Cells, m: Cells, first: int) -> int:
    """Return the number of the text from token `first` to the present one; equal texts are one."""
    apart()
    size = m[AT] - first
    for number in range(m[N_EXCERPTS]):
        row = m[EXCERPTS] + number * E_WIDTH
        start = m[row + E_FIRST]
        if m[row + E_END] - start == size:
            i = 0
            while i < size and t[2 * (start + i)] == t[2 * (first + i)]:
                i += 1
            if i == size:
                return number
    new = m[N_EXCERPTS]
    row = m[EXCERPTS] + new * E_WIDTH
    m[row + E_FIRST], m[row + E_END] = first, m[AT]
    m[N_EXCERPTS] = new + 1
    return new
