"""Global variables, aliases, and what functions have in common with them."""

from __future__ import annotations

from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.constants import parse_value, typed_value
from kleene.frontends.c.reader.cursor import (
    advance,
    at_any_word,
    expect,
    go_to,
    integer,
    skip_group,
)
from kleene.frontends.c.reader.instructions import notice
from kleene.frontends.c.reader.leaves import unknown_constant
from kleene.frontends.c.reader.operands import log_alignment
from kleene.frontends.c.reader.state import (
    AT,
    ERROR,
    FRAME,
    FULL,
    G_ALIGN,
    G_DEBUG,
    G_FLAGS,
    G_FUNCTION,
    G_GROUP,
    G_INITIALIZER,
    G_KIND,
    G_LINKAGE,
    G_NAME,
    G_SPACE,
    G_TYPE,
    G_WIDTH,
    GLOBALS,
    KIND,
    N_GLOBALS,
    TOP,
    VALUE,
)
from kleene.frontends.c.reader.tokens import (
    FINISH,
    GROUP,
    INTEGER,
    NEWLINE,
    NODE,
    TAG,
    WORD,
)
from kleene.frontends.c.reader.types import (
    POINTER,
    address_space,
    parse_type,
    plain_type,
    starts_type,
)
from kleene.frontends.c.reader.words import GLOBAL_FLAG_OF, LINKAGE_OF, WORDS
from kleene.ir.codes import GlobalFlag, GlobalKind, Linkage

VARIABLE = int(GlobalKind.VARIABLE)
ALIAS, IFUNC = int(GlobalKind.ALIAS), int(GlobalKind.IFUNC)
DECLARATION, CONSTANT = int(GlobalFlag.DECLARATION), int(GlobalFlag.CONSTANT)
EXTERNAL, EXTERN_WEAK = int(Linkage.EXTERNAL), int(Linkage.EXTERN_WEAK)
W_GLOBAL, W_CONSTANT = WORDS["global"], WORDS["constant"]
W_ALIAS, W_IFUNC = WORDS["alias"], WORDS["ifunc"]
W_ALIGN, W_ADDRSPACE, W_DBG = WORDS["align"], WORDS["addrspace"], WORDS["dbg"]
W_PERSONALITY, W_PREFIX, W_PROLOGUE = WORDS["personality"], WORDS["prefix"], WORDS["prologue"]


@no_refcount
def new_global(m: Cells, kind: int) -> int:
    """Append a global named by the present token; return its row."""
    noinline()
    row = m[GLOBALS] + m[N_GLOBALS] * G_WIDTH
    m[row : row + G_WIDTH] = 0
    m[row + G_NAME] = m[VALUE]
    m[row + G_KIND] = kind
    m[row + G_INITIALIZER], m[row + G_FUNCTION], m[row + G_DEBUG], m[row + G_GROUP] = -1, -1, -1, -1
    m[row + G_LINKAGE] = EXTERNAL
    m[N_GLOBALS] += 1
    return row


@no_refcount
def trailing(t: Cells, m: Cells, row: int) -> None:
    """Read what follows a global: `, section "x", align 8, !dbg !3`, or a function's tail."""
    noinline()
    while m[KIND] != NEWLINE and m[KIND] != FINISH and m[KIND] != 123:
        if at_any_word(m):
            word = m[VALUE] if m[KIND] == WORD else 0
            m[row + G_FLAGS] |= GLOBAL_FLAG_OF[word]
            advance(t, m)
            if word == W_ALIGN and m[KIND] == INTEGER:
                m[row + G_ALIGN] = log_alignment(integer(m))
            elif word == W_PERSONALITY or word == W_PREFIX or word == W_PROLOGUE:
                value = typed_value(t, m)
                if word == W_PERSONALITY:
                    m[row + G_INITIALIZER] = value
            elif m[KIND] == 40:
                skip_group(t, m)
        elif m[KIND] == GROUP:
            m[row + G_GROUP] = m[VALUE]
            advance(t, m)
        elif m[KIND] == TAG and m[VALUE] == W_DBG:
            advance(t, m)
            if m[KIND] == NODE and m[row + G_DEBUG] < 0:
                m[row + G_DEBUG] = m[VALUE]
        else:
            advance(t, m)


@no_refcount
def global_definition(t: Cells, m: Cells) -> None:
    """Read `@name = … global type value, …`, or an alias or ifunc."""
    noinline()
    row = new_global(m, VARIABLE)
    external = False
    advance(t, m)
    expect(t, m, 61)
    while at_any_word(m) and not m[ERROR]:
        word = m[VALUE] if m[KIND] == WORD else 0
        if word == W_ADDRSPACE:
            m[row + G_SPACE] = address_space(t, m)
            continue
        advance(t, m)
        if word == W_GLOBAL or word == W_CONSTANT:
            m[row + G_FLAGS] |= CONSTANT if word == W_CONSTANT else 0
            break
        if word == W_ALIAS or word == W_IFUNC:
            m[row + G_KIND] = ALIAS if word == W_ALIAS else IFUNC
            break
        if LINKAGE_OF[word] >= 0:
            m[row + G_LINKAGE] = LINKAGE_OF[word]
            external = external or m[row + G_LINKAGE] == EXTERNAL
            external = external or m[row + G_LINKAGE] == EXTERN_WEAK
        m[row + G_FLAGS] |= GLOBAL_FLAG_OF[word]
        if m[KIND] == 40:
            skip_group(t, m)
    m[row + G_TYPE] = parse_type(t, m)
    place = m[AT]
    if m[row + G_KIND] != VARIABLE:
        expect(t, m, 44)
        target = plain_type(m, POINTER, m[row + G_SPACE])  # an expression's type is not printed
        if starts_type(m):
            target = parse_type(t, m)
        m[row + G_INITIALIZER] = parse_value(t, m, target)
    elif external:
        m[row + G_FLAGS] |= DECLARATION
    else:
        m[row + G_INITIALIZER] = parse_value(t, m, m[row + G_TYPE])
    if m[ERROR] and not m[FULL]:
        m[ERROR] = 0
        m[TOP] = 0
        m[FRAME] = 0
        go_to(t, m, place)
        notice(m, -W_GLOBAL - 1)
        m[row + G_INITIALIZER] = unknown_constant(t, m, m[row + G_TYPE], place)
        return
    trailing(t, m, row)
