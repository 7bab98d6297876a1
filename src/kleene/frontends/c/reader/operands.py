"""Small pieces that several instructions share."""

from __future__ import annotations

from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.constants import parse_value, typed_value
from kleene.frontends.c.reader.cursor import (
    advance,
    at_word,
    expect,
    expect_word,
    go_to,
    integer,
)
from kleene.frontends.c.reader.state import (
    AT,
    ERROR,
    KIND,
    LAST_TYPE,
    N_OPERANDS,
    OPERANDS,
    TAG_NAMED,
    TAG_NUMBERED,
    VALUE,
)
from kleene.frontends.c.reader.tokens import (
    INTEGER,
    NAMED,
    NUMBERED,
    WORD,
)
from kleene.frontends.c.reader.words import FLAG_OF, WORDS

W_ALIGN, W_LABEL = WORDS["align"], WORDS["label"]


@no_refcount
def add_operand(t: Cells, m: Cells, value: int) -> None:
    """Append an operand."""
    m[m[OPERANDS] + m[N_OPERANDS]] = value
    m[N_OPERANDS] += 1


@no_refcount
def words_flags(t: Cells, m: Cells) -> int:
    """Read the flag words that stand here; return them as bits."""
    noinline()
    flags = 0
    while m[KIND] == WORD and FLAG_OF[m[VALUE]] != 0:
        flags |= FLAG_OF[m[VALUE]]
        advance(t, m)
    return flags


@no_refcount
def label(t: Cells, m: Cells) -> None:
    """Read `label %x` as an operand."""
    noinline()
    expect_word(t, m, W_LABEL)
    if m[KIND] == NUMBERED:
        add_operand(t, m, TAG_NUMBERED + m[VALUE])
    elif m[KIND] == NAMED:
        add_operand(t, m, TAG_NAMED + m[VALUE])
    else:
        m[ERROR] = 1
    advance(t, m)


@no_refcount
def log_alignment(bytes_: int) -> int:
    """Return log2 of a power of two, plus one."""
    result = 1
    while bytes_ > 1:
        bytes_ >>= 1
        result += 1
    return result


@no_refcount
def alignment(t: Cells, m: Cells) -> int:
    """Read `, align N` if it stands here; return log2 N + 1, else 0."""
    noinline()
    before = m[AT]
    if m[KIND] != 44:
        return 0
    advance(t, m)
    if not at_word(m, W_ALIGN):
        go_to(t, m, before)
        return 0
    advance(t, m)
    result = log_alignment(integer(m))
    expect(t, m, INTEGER)
    return result


@no_refcount
def typed_operand(t: Cells, m: Cells) -> int:
    """Read a typed value as the next operand; return its type."""
    noinline()
    value = typed_value(t, m)
    add_operand(t, m, value)
    return m[LAST_TYPE]


@no_refcount
def second_operand(t: Cells, m: Cells, type_id: int) -> None:
    """Read `, value` of a known type as the next operand."""
    noinline()
    expect(t, m, 44)
    add_operand(t, m, parse_value(t, m, type_id))
