"""The module: attribute groups, the lines of its head, and the order of it all."""

from __future__ import annotations

from kleene.frontends.c.reader.compiled import Cells, entry_point, no_refcount, noinline
from kleene.frontends.c.reader.cursor import (
    advance,
    at_any_word,
    at_word,
    expect,
    go_to,
    skip_line,
)
from kleene.frontends.c.reader.functions import function_body, function_head
from kleene.frontends.c.reader.globals import global_definition
from kleene.frontends.c.reader.instructions import notice
from kleene.frontends.c.reader.state import (
    AT,
    ERROR,
    FULL,
    GROUPS,
    KIND,
    LAYOUT,
    N_GROUPS,
    SOURCE_NAME,
    TRIPLE,
    VALUE,
)
from kleene.frontends.c.reader.tokens import (
    FINISH,
    GLOBAL,
    NAMED,
    NEWLINE,
    NUMBERED,
    QUOTED,
    WORD,
)
from kleene.frontends.c.reader.types import (
    type_definition,
)
from kleene.frontends.c.reader.words import GLOBAL_FLAG_OF, WORDS
from kleene.ir.codes import GlobalFlag

READ_NONE, READ_ONLY = int(GlobalFlag.READ_NONE), int(GlobalFlag.READ_ONLY)
W_DEFINE, W_DECLARE, W_ATTRIBUTES = WORDS["define"], WORDS["declare"], WORDS["attributes"]
W_SOURCE, W_TARGET = WORDS["source_filename"], WORDS["target"]
W_TRIPLE, W_MEMORY = WORDS["triple"], WORDS["memory"]
W_READ, W_WRITE, W_READWRITE = WORDS["read"], WORDS["write"], WORDS["readwrite"]


@no_refcount
def memory_effect(t: Cells, m: Cells) -> int:
    """Read `(argmem: read, …)`: READ_NONE, READ_ONLY or 0."""
    noinline()
    reads = writes = False
    while m[KIND] != 41 and m[KIND] != NEWLINE and m[KIND] != FINISH:
        reads = reads or at_word(m, W_READ)
        writes = writes or at_word(m, W_WRITE) or at_word(m, W_READWRITE)
        advance(t, m)
    if writes:
        return 0
    return READ_ONLY if reads else READ_NONE


@no_refcount
def attribute_group(t: Cells, m: Cells) -> None:
    """Read `attributes #3 = { … }`."""
    noinline()
    advance(t, m)
    group = m[VALUE]
    flags = 0
    while m[KIND] != NEWLINE and m[KIND] != FINISH:
        if m[KIND] == WORD:
            word = m[VALUE]
            flags |= GLOBAL_FLAG_OF[word]
            advance(t, m)
            if word == W_MEMORY and m[KIND] == 40:
                flags |= memory_effect(t, m)
        else:
            advance(t, m)
    if group < m[N_GROUPS]:
        m[m[GROUPS] + group] = flags


@no_refcount
def header_line(t: Cells, m: Cells) -> None:
    """Read the lines that are neither global, function, type nor metadata."""
    noinline()
    word = m[VALUE] if m[KIND] == WORD else 0
    if word == W_SOURCE or word == W_TARGET:
        cell = SOURCE_NAME
        advance(t, m)
        if word == W_TARGET:
            cell = TRIPLE if at_word(m, W_TRIPLE) else LAYOUT
            advance(t, m)
        expect(t, m, 61)
        m[cell] = m[VALUE]
        expect(t, m, QUOTED)
    elif word == W_ATTRIBUTES:
        attribute_group(t, m)
    else:  # module asm and whatever else there may be
        notice(m, -word - 1 if word else m[VALUE])


@entry_point
def read_module(t: Cells, m: Cells) -> int:
    """Read all tokens; return the place of the one where reading stopped, or -1."""
    go_to(t, m, 0)
    while m[KIND] != FINISH:
        place = m[AT]
        kind = m[KIND]
        if kind == GLOBAL:
            global_definition(t, m)
        elif kind == NAMED or kind == NUMBERED:
            type_definition(t, m)
        elif at_word(m, W_DEFINE):
            function = function_head(t, m, False)
            if not m[ERROR]:
                function_body(t, m, function)
        elif at_word(m, W_DECLARE):
            function_head(t, m, True)
        elif at_any_word(m):
            header_line(t, m)
        if m[FULL] or m[ERROR]:
            return place
        skip_line(t, m)
        advance(t, m)
    return -1
