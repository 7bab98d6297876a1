"""Functions: their heads, their blocks, and the names of their locals."""

from __future__ import annotations

from kleene.frontends.c.reader.bindings import debug_record
from kleene.frontends.c.reader.calls import parameter_attributes, skip_to_type
from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.cursor import (
    accept,
    advance,
    expect,
    skip_line,
)
from kleene.frontends.c.reader.globals import new_global, trailing
from kleene.frontends.c.reader.instructions import instruction
from kleene.frontends.c.reader.state import (
    A_FLAGS,
    A_NAME,
    A_PASSED,
    A_PASSING,
    A_TYPE,
    A_WIDTH,
    ARGUMENTS,
    ATTRIBUTE_FLAGS,
    ATTRIBUTE_PASSING,
    ATTRIBUTE_TYPE,
    B_FIRST,
    B_FUNCTION,
    B_NAME,
    B_NUMBER,
    B_WIDTH,
    BINDINGS,
    BLOCKS,
    BUNDLE_OPERANDS,
    ERROR,
    F_END_BLOCK,
    F_FIRST_ARGUMENT,
    F_FIRST_BLOCK,
    F_GLOBAL,
    F_PERSONALITY,
    F_WIDTH,
    FULL,
    FUNCTIONS,
    G_DEBUG,
    G_FLAGS,
    G_FUNCTION,
    G_INITIALIZER,
    G_LINKAGE,
    G_TYPE,
    KIND,
    MAYBE,
    N_ARGUMENTS,
    N_BINDINGS,
    N_BLOCKS,
    N_BUNDLE_OPERANDS,
    N_FUNCTIONS,
    N_GLOBALS,
    N_INSTRUCTIONS,
    N_NUMBERED,
    N_OPERANDS,
    NAMED_LOCALS,
    NEXT_NUMBER,
    NOTHING,
    NUMBERED_LOCALS,
    OPERANDS,
    TAG_ARGUMENT,
    TAG_BLOCK,
    TAG_CONSTANT,
    TAG_MASK,
    TAG_NAMED,
    TAG_NUMBERED,
    TOP,
    V_VALUE,
    V_WIDTH,
    VALUE,
)
from kleene.frontends.c.reader.tokens import (
    ELLIPSIS,
    FINISH,
    GLOBAL,
    NAME_LABEL,
    NAMED,
    NEWLINE,
    NODE,
    NUMBER_LABEL,
    NUMBERED,
    RECORD,
    TAG,
    WORD,
)
from kleene.frontends.c.reader.types import (
    FUNCTION,
    VARARG,
    intern_type,
    parse_type,
    push,
)
from kleene.frontends.c.reader.words import GLOBAL_FLAG_OF, LINKAGE_OF, WORDS
from kleene.ir.codes import GlobalFlag, GlobalKind, Linkage

A_FUNCTION = int(GlobalKind.FUNCTION)
DECLARATION = int(GlobalFlag.DECLARATION)
EXTERNAL = int(Linkage.EXTERNAL)
W_DBG = WORDS["dbg"]


@no_refcount
def formal_arguments(t: Cells, m: Cells, base: int) -> int:
    """Read `(type attributes %name, …)`; the stack from `base + 1` gets types. Return the flags."""
    noinline()
    flags = 0
    expect(t, m, 40)
    while m[KIND] != 41 and not m[ERROR]:
        if accept(t, m, ELLIPSIS):
            flags = VARARG
            break
        type_id = parse_type(t, m)
        push(m, type_id)
        parameter_attributes(t, m)
        new = m[N_ARGUMENTS]
        row = m[ARGUMENTS] + new * A_WIDTH
        m[row + A_TYPE], m[row + A_NAME], m[row + A_FLAGS] = type_id, 0, m[ATTRIBUTE_FLAGS]
        m[row + A_PASSING], m[row + A_PASSED] = m[ATTRIBUTE_PASSING], m[ATTRIBUTE_TYPE]
        if m[KIND] == NUMBERED:
            if m[VALUE] < m[N_NUMBERED]:
                m[m[NUMBERED_LOCALS] + m[VALUE]] = TAG_ARGUMENT + new
            m[NEXT_NUMBER] = m[VALUE] + 1
            advance(t, m)
        elif m[KIND] == NAMED:
            m[row + A_NAME] = m[VALUE]
            m[m[NAMED_LOCALS] + m[row + A_NAME]] = TAG_ARGUMENT + new
            advance(t, m)
        m[N_ARGUMENTS] = new + 1
        if not accept(t, m, 44):
            break
    expect(t, m, 41)
    return flags


@no_refcount
def function_head(t: Cells, m: Cells, declared: bool) -> int:
    """Read `define …` or `declare …` up to its body; return the function's row."""
    noinline()
    advance(t, m)
    linkage, flags, debug = EXTERNAL, 0, -1
    while m[KIND] == TAG:  # declare !dbg !3 i32 @f()
        is_debug = m[VALUE] == W_DBG
        advance(t, m)
        if is_debug and m[KIND] == NODE:
            debug = m[VALUE]
        advance(t, m)
    while m[KIND] == WORD and (LINKAGE_OF[m[VALUE]] >= 0 or GLOBAL_FLAG_OF[m[VALUE]] != 0):
        if LINKAGE_OF[m[VALUE]] >= 0:
            linkage = LINKAGE_OF[m[VALUE]]
        flags |= GLOBAL_FLAG_OF[m[VALUE]]
        advance(t, m)
    skip_to_type(t, m)
    base = m[TOP]
    result = parse_type(t, m)
    push(m, result)
    row = new_global(m, A_FUNCTION)
    if m[KIND] != GLOBAL:
        m[ERROR] = 1
    advance(t, m)
    new = m[N_FUNCTIONS]
    function_row = m[FUNCTIONS] + new * F_WIDTH
    m[function_row + F_GLOBAL] = m[N_GLOBALS] - 1
    m[function_row + F_FIRST_BLOCK] = m[function_row + F_END_BLOCK] = m[N_BLOCKS]
    m[function_row + F_FIRST_ARGUMENT] = m[N_ARGUMENTS]
    m[NEXT_NUMBER] = 0
    vararg = formal_arguments(t, m, base)
    m[row + G_TYPE] = intern_type(m, FUNCTION, vararg, 0, 0, base)
    m[row + G_LINKAGE], m[row + G_FLAGS], m[row + G_FUNCTION] = linkage, flags, new
    m[row + G_DEBUG] = debug
    if declared:
        m[row + G_FLAGS] |= DECLARATION
    trailing(t, m, row)
    m[function_row + F_PERSONALITY] = m[row + G_INITIALIZER]
    m[row + G_INITIALIZER] = -1
    m[N_FUNCTIONS] = new + 1
    return new


@no_refcount
def new_block(m: Cells, function: int, name: int, number: int) -> None:
    """Append a block; number -1: it has a name."""
    noinline()
    new = m[N_BLOCKS]
    row = m[BLOCKS] + new * B_WIDTH
    m[row + B_NAME], m[row + B_FUNCTION], m[row + B_NUMBER] = name, function, number
    m[row + B_FIRST] = m[N_INSTRUCTIONS]
    if number >= 0:
        if number < m[N_NUMBERED]:
            m[m[NUMBERED_LOCALS] + number] = TAG_BLOCK + new
    else:
        m[m[NAMED_LOCALS] + name] = TAG_BLOCK + new
    m[N_BLOCKS] = new + 1


@no_refcount
def resolve(
    m: Cells,
    values: int,
    count: int,
    stride: int,
    function_row: int,
    first_block: int,
    first_instruction: int,
) -> None:
    """Turn names of locals in `count` cells from `values` on into what they name.

    Whatever a stale entry of an earlier function names lies before this function's first rows. A
    name that names nothing is an error.
    """
    noinline()
    for place in range(values, values + count * stride, stride):
        tag = m[place] & ~TAG_MASK
        if tag != TAG_NUMBERED and tag != TAG_NAMED:
            continue
        may_be_none = (m[place] & MAYBE) != 0
        local = m[place] & (MAYBE - 1)
        found = -1
        if tag == TAG_NAMED:
            found = m[m[NAMED_LOCALS] + local]
        elif local < m[N_NUMBERED]:
            found = m[m[NUMBERED_LOCALS] + local]
        kind = found & ~TAG_MASK
        first = first_instruction
        if kind == TAG_ARGUMENT:
            first = m[function_row + F_FIRST_ARGUMENT]
        elif kind == TAG_BLOCK:
            first = first_block
        if found >= 0 and (found & TAG_MASK) >= first:
            m[place] = found
        elif may_be_none:
            m[place] = m[NOTHING]
        else:
            m[ERROR] = 1
            m[place] = TAG_CONSTANT


@no_refcount
def function_body(t: Cells, m: Cells, function: int) -> None:
    """Read the lines between the braces."""
    noinline()
    first_block, first_instruction = m[N_BLOCKS], m[N_INSTRUCTIONS]
    operands, bundled = m[N_OPERANDS], m[N_BUNDLE_OPERANDS]
    bindings = m[N_BINDINGS]
    advance(t, m)
    while m[KIND] != 125 and m[KIND] != FINISH and not m[FULL]:
        if m[KIND] == NUMBER_LABEL:
            new_block(m, function, 0, m[VALUE])
            advance(t, m)
        elif m[KIND] == NAME_LABEL:
            new_block(m, function, m[VALUE], -1)
            advance(t, m)
        elif m[KIND] == NEWLINE:
            advance(t, m)
        else:
            if m[N_BLOCKS] == first_block:
                new_block(m, function, 0, m[NEXT_NUMBER])
            if m[KIND] == RECORD:
                debug_record(t, m, function)
            else:
                instruction(t, m)
            skip_line(t, m)
    row = m[FUNCTIONS] + function * F_WIDTH
    m[row + F_END_BLOCK] = m[N_BLOCKS]
    starts = (m[OPERANDS] + operands, m[BUNDLE_OPERANDS] + bundled)
    counts = (m[N_OPERANDS] - operands, m[N_BUNDLE_OPERANDS] - bundled)
    for i in range(2):
        resolve(m, starts[i], counts[i], 1, row, first_block, first_instruction)
    values = m[BINDINGS] + bindings * V_WIDTH + V_VALUE
    count = m[N_BINDINGS] - bindings
    resolve(m, values, count, V_WIDTH, row, first_block, first_instruction)
