"""The module: globals, functions and their bodies, attribute groups, and the order of it all."""

from __future__ import annotations

from kleene.frontends.c.reader.bindings import debug_record
from kleene.frontends.c.reader.calls import parameter_attributes, skip_to_type
from kleene.frontends.c.reader.compiled import Cells, apart, entry, step
from kleene.frontends.c.reader.constants import (
    parse_value,
    typed_value,
    unknown_constant,
)
from kleene.frontends.c.reader.cursor import (
    accept,
    advance,
    at_any_word,
    at_word,
    expect,
    go_to,
    integer,
    skip_group,
    skip_line,
)
from kleene.frontends.c.reader.instructions import instruction, notice
from kleene.frontends.c.reader.operands import log_alignment
from kleene.frontends.c.reader.state import (
    A_FLAGS,
    A_NAME,
    A_PASSED,
    A_PASSING,
    A_TYPE,
    A_WIDTH,
    ARGUMENTS,
    AT,
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
    FRAME,
    FULL,
    FUNCTIONS,
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
    GROUPS,
    KIND,
    LAYOUT,
    MAYBE,
    N_ARGUMENTS,
    N_BINDINGS,
    N_BLOCKS,
    N_BUNDLE_OPERANDS,
    N_FUNCTIONS,
    N_GLOBALS,
    N_GROUPS,
    N_INSTRUCTIONS,
    N_NUMBERED,
    N_OPERANDS,
    NAMED_LOCALS,
    NEXT_NUMBER,
    NOTHING,
    NUMBERED_LOCALS,
    OPERANDS,
    SOURCE_NAME,
    TAG_ARGUMENT,
    TAG_BLOCK,
    TAG_CONSTANT,
    TAG_MASK,
    TAG_NAMED,
    TAG_NUMBERED,
    TOP,
    TRIPLE,
    V_VALUE,
    V_WIDTH,
    VALUE,
)
from kleene.frontends.c.reader.tokens import (
    ELLIPSIS,
    FINISH,
    GLOBAL,
    GROUP,
    INTEGER,
    NAME_LABEL,
    NAMED,
    NEWLINE,
    NODE,
    NUMBER_LABEL,
    NUMBERED,
    QUOTED,
    RECORD,
    TAG,
    WORD,
)
from kleene.frontends.c.reader.types import (
    FUNCTION,
    POINTER,
    VARARG,
    address_space,
    intern_type,
    parse_type,
    plain_type,
    push,
    starts_type,
    type_definition,
)
from kleene.frontends.c.reader.words import GLOBAL_FLAG_OF, LINKAGE_OF, WORDS
from kleene.ir.codes import GlobalFlag, GlobalKind, Linkage

VARIABLE, A_FUNCTION = int(GlobalKind.VARIABLE), int(GlobalKind.FUNCTION)
ALIAS, IFUNC = int(GlobalKind.ALIAS), int(GlobalKind.IFUNC)
DECLARATION, CONSTANT = int(GlobalFlag.DECLARATION), int(GlobalFlag.CONSTANT)
READ_NONE, READ_ONLY = int(GlobalFlag.READ_NONE), int(GlobalFlag.READ_ONLY)
EXTERNAL, EXTERN_WEAK = int(Linkage.EXTERNAL), int(Linkage.EXTERN_WEAK)
W_GLOBAL, W_CONSTANT = WORDS["global"], WORDS["constant"]
W_ALIAS, W_IFUNC = WORDS["alias"], WORDS["ifunc"]
W_ALIGN, W_ADDRSPACE, W_DBG = WORDS["align"], WORDS["addrspace"], WORDS["dbg"]
W_DEFINE, W_DECLARE, W_ATTRIBUTES = WORDS["define"], WORDS["declare"], WORDS["attributes"]
W_SOURCE, W_TARGET = WORDS["source_filename"], WORDS["target"]
W_TRIPLE, W_MEMORY = WORDS["triple"], WORDS["memory"]
W_READ, W_WRITE, W_READWRITE = WORDS["read"], WORDS["write"], WORDS["readwrite"]
W_PERSONALITY, W_PREFIX, W_PROLOGUE = WORDS["personality"], WORDS["prefix"], WORDS["prologue"]


@step
def new_global(m: Cells, kind: int) -> int:
    """Append a global named by the present token; return its row."""
    apart()
    row = m[GLOBALS] + m[N_GLOBALS] * G_WIDTH
    m[row : row + G_WIDTH] = 0
    m[row + G_NAME] = m[VALUE]
    m[row + G_KIND] = kind
    m[row + G_INITIALIZER], m[row + G_FUNCTION], m[row + G_DEBUG], m[row + G_GROUP] = -1, -1, -1, -1
    m[row + G_LINKAGE] = EXTERNAL
    m[N_GLOBALS] += 1
    return row


@step
def trailing(t: Cells, m: Cells, row: int) -> None:
    """Read what follows a global: `, section "x", align 8, !dbg !3`, or a function's tail."""
    apart()
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


@step
def global_definition(t: Cells, m: Cells) -> None:
    """Read `@name = … global type value, …`, or an alias or ifunc."""
    apart()
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


@step
def formal_arguments(t: Cells, m: Cells, base: int) -> int:
    """Read `(type attributes %name, …)`; the stack from `base + 1` gets types. Return the flags."""
    apart()
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


@step
def function_head(t: Cells, m: Cells, declared: bool) -> int:
    """Read `define …` or `declare …` up to its body; return the function's row."""
    apart()
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


@step
def new_block(m: Cells, function: int, name: int, number: int) -> None:
    """Append a block; number -1: it has a name."""
    apart()
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


@step
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
    apart()
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


@step
def function_body(t: Cells, m: Cells, function: int) -> None:
    """Read the lines between the braces."""
    apart()
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


@step
def memory_effect(t: Cells, m: Cells) -> int:
    """Read `(argmem: read, …)`: READ_NONE, READ_ONLY or 0."""
    apart()
    reads = writes = False
    while m[KIND] != 41 and m[KIND] != NEWLINE and m[KIND] != FINISH:
        reads = reads or at_word(m, W_READ)
        writes = writes or at_word(m, W_WRITE) or at_word(m, W_READWRITE)
        advance(t, m)
    if writes:
        return 0
    return READ_ONLY if reads else READ_NONE


@step
def attribute_group(t: Cells, m: Cells) -> None:
    """Read `attributes #3 = { … }`."""
    apart()
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


@step
def header_line(t: Cells, m: Cells) -> None:
    """Read the lines that are neither global, function, type nor metadata."""
    apart()
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


@entry
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
