"""Globals, in the order in which LLVM prints them: variables, aliases, ifuncs, functions."""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader import bitcodes, state, tables
from kleene.frontends.c.reader.attributes import group_of
from kleene.frontends.c.reader.compiled import Cells, Text, device_function, noinline
from kleene.frontends.c.reader.constants import POISON, UNSET_PAYLOAD, plain_constant
from kleene.frontends.c.reader.cursor import (
    MAX_ALIGNMENT,
    a_type,
    below,
    go_to,
    item,
    optional,
    require,
)
from kleene.frontends.c.reader.strings import symbol
from kleene.frontends.c.reader.types import (
    FUNCTION,
    INT,
    POINTER,
    intern_type,
    plain_type,
    push,
    type_row,
)
from kleene.ir.codes import ArgumentFlag, GlobalFlag, GlobalKind, Linkage

_KIND_OF = np.array(
    [GlobalKind.VARIABLE, GlobalKind.ALIAS, GlobalKind.IFUNC] + 3 * [GlobalKind.FUNCTION], np.int64
)
DECLARATION, CONSTANT = int(GlobalFlag.DECLARATION), int(GlobalFlag.CONSTANT)
THREAD_LOCAL, UNNAMED = int(GlobalFlag.THREAD_LOCAL), int(GlobalFlag.UNNAMED_ADDRESS)
DSO_LOCAL, HIDDEN = int(GlobalFlag.DSO_LOCAL), int(GlobalFlag.HIDDEN)
FROM_OUTSIDE, NOUNWIND = int(GlobalFlag.EXTERNALLY_INITIALIZED), int(GlobalFlag.NOUNWIND)
INTERNAL, PRIVATE = int(Linkage.INTERNAL), int(Linkage.PRIVATE)
EXTERN_WEAK = int(Linkage.EXTERN_WEAK)
NOCAPTURE = int(ArgumentFlag.NOCAPTURE)
_I64_BITS = 64
# What a writer of today writes; -1: of long ago.
_LINKAGE_OF = np.full(32, -1, np.int64)
for _code, _linkage in (
    (0, Linkage.EXTERNAL),
    (2, Linkage.APPENDING),
    (3, Linkage.INTERNAL),
    (7, Linkage.EXTERN_WEAK),
    (8, Linkage.COMMON),
    (9, Linkage.PRIVATE),
    (12, Linkage.AVAILABLE_EXTERNALLY),
    (16, Linkage.WEAK),
    (17, Linkage.WEAK_ODR),
    (18, Linkage.LINKONCE),
    (19, Linkage.LINKONCE_ODR),
):
    _LINKAGE_OF[_code] = _linkage


@device_function
def linkage_and_place(h: Cells, m: Cells, row: int, linkage: int, visibility: int) -> None:
    """Note who may see a global."""
    noinline()
    m[row + tables.G_LINKAGE] = _LINKAGE_OF[below(h, linkage, len(_LINKAGE_OF))]
    require(h, m[row + tables.G_LINKAGE] >= 0)
    require(h, 0 <= visibility <= bitcodes.PROTECTED_VISIBILITY)
    if visibility == bitcodes.HIDDEN_VISIBILITY:
        m[row + tables.G_FLAGS] |= HIDDEN


@device_function
def local(m: Cells, row: int, visibility: int) -> int:
    """Return the flag of a symbol bound within its file, if nothing else says it."""
    linkage = m[row + tables.G_LINKAGE]
    is_local = linkage == INTERNAL or linkage == PRIVATE
    return 0 if is_local or (visibility != 0 and linkage != EXTERN_WEAK) else DSO_LOCAL


@device_function
def variable(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read the record of a variable from its type on."""
    noinline()
    m[row + tables.G_TYPE] = a_type(c, h)
    bits, initializer, linkage = item(c, h), item(c, h), item(c, h)
    alignment = item(c, h)
    m[row + tables.G_SECTION] = optional(c, h)
    visibility = optional(c, h)
    linkage_and_place(h, m, row, linkage, visibility)
    require(h, bits & bitcodes.GLOBALVAR_EXPLICIT_TYPE)  # else the type of a pointer to it
    require(h, 0 <= alignment <= MAX_ALIGNMENT)
    m[row + tables.G_ALIGN], m[row + tables.G_SPACE] = alignment, bits >> 2
    m[row + tables.G_FLAGS] |= CONSTANT if bits & bitcodes.GLOBALVAR_CONSTANT else 0
    m[row + tables.G_FLAGS] |= 0 if initializer else DECLARATION
    m[row + tables.G_INITIALIZER] = initializer - 1
    m[row + tables.G_FLAGS] |= THREAD_LOCAL if optional(c, h) else 0
    m[row + tables.G_FLAGS] |= UNNAMED if optional(c, h) == bitcodes.UNNAMED_ADDR else 0
    m[row + tables.G_FLAGS] |= FROM_OUTSIDE if optional(c, h) else 0
    for _ in range(3):  # import or export, comdat, attributes
        optional(c, h)
    m[row + tables.G_FLAGS] |= local(m, row, visibility) if optional(c, h) else 0


@device_function
def alias(c: Cells, h: Cells, m: Cells, row: int, sort: int) -> None:
    """Read the record of an alias or ifunc from its type on."""
    noinline()
    m[row + tables.G_TYPE] = a_type(c, h)
    m[row + tables.G_SPACE] = item(c, h)
    m[row + tables.G_INITIALIZER] = item(c, h)
    linkage, visibility = item(c, h), optional(c, h)
    linkage_and_place(h, m, row, linkage, visibility)
    if sort == state.ALIAS:
        optional(c, h)  # import or export
        m[row + tables.G_FLAGS] |= THREAD_LOCAL if optional(c, h) else 0
        m[row + tables.G_FLAGS] |= UNNAMED if optional(c, h) == bitcodes.UNNAMED_ADDR else 0
        m[row + tables.G_FLAGS] |= local(m, row, visibility) if optional(c, h) else 0


@device_function
def arguments(c: Cells, h: Cells, m: Cells, type_id: int, attributes: int) -> None:
    """Append the arguments of a function of this type."""
    noinline()
    shape = type_row(m, type_id)
    first, count = m[tables.ELEMENTS] + m[shape + tables.T_FIRST] + 1, m[shape + tables.T_COUNT] - 1
    for i in range(count):
        row = m[tables.ARGUMENTS] + m[tables.N_ARGUMENTS] * tables.A_WIDTH
        m[row + tables.A_TYPE], m[row + tables.A_NAME] = m[first + i], 0
        m[row + tables.A_FLAGS], m[row + tables.A_PASSING], m[row + tables.A_PASSED] = 0, 0, -1
        group = group_of(c, h, attributes, i + 1)
        if group >= 0:
            m[row + tables.A_FLAGS] = h[group + state.GR_FLAGS]
            m[row + tables.A_PASSING] = h[group + state.GR_PASSING]
            m[row + tables.A_PASSED] = h[group + state.GR_TYPE]
        m[tables.N_ARGUMENTS] += 1


@device_function
def function(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read the record of a function from its type on, and append its arguments."""
    noinline()
    type_id = a_type(c, h)
    m[row + tables.G_TYPE] = type_id
    item(c, h)  # calling convention
    is_declared, linkage, attributes = item(c, h), item(c, h), item(c, h)
    alignment = item(c, h)
    m[row + tables.G_SECTION] = item(c, h)
    visibility = item(c, h)
    linkage_and_place(h, m, row, linkage, visibility)
    require(h, 0 <= attributes <= h[state.N_LISTS] and 0 <= alignment <= MAX_ALIGNMENT)
    require(h, m[type_row(m, type_id) + tables.T_KIND] == FUNCTION)
    if h[state.FAULT]:
        return
    m[row + tables.G_ALIGN] = alignment
    m[row + tables.G_FLAGS] |= DECLARATION if is_declared else 0
    m[row + tables.G_ATTRIBUTES] = attributes if attributes else -1
    optional(c, h)  # garbage collector
    m[row + tables.G_FLAGS] |= UNNAMED if optional(c, h) == bitcodes.UNNAMED_ADDR else 0
    for _ in range(4):  # prologue, import or export, comdat, prefix
        optional(c, h)
    m[row + tables.G_INITIALIZER] = optional(c, h) - 1  # the personality, for now
    m[row + tables.G_FLAGS] |= local(m, row, visibility) if optional(c, h) else 0
    m[row + tables.G_SPACE] = optional(c, h)
    arguments(c, h, m, type_id, attributes)


@device_function
def upgraded(c: Cells, h: Cells, m: Cells, row: int, sort: int) -> None:
    """Make what LLVM 22 makes of `llvm.lifetime.start(i64, ptr)`: `(ptr)`, and one left over.

    The latter is named after the size's type and used by nobody; LLVM 22.1 forgets it.
    """
    noinline()
    old = m[tables.TYPES] + a_type(c, h) * tables.T_WIDTH
    base = m[tables.TOP]
    push(m, tables.VOID)
    if sort == state.LIFETIME:
        if m[old + tables.T_KIND] != FUNCTION or m[old + tables.T_COUNT] != 3:
            h[state.FAULT] = 1
            return
        pointer = m[m[tables.ELEMENTS] + m[old + tables.T_FIRST] + 2]
        require(h, pointer == tables.PTR)
        push(m, pointer)
    else:
        push(m, plain_type(m, INT, _I64_BITS))
    m[row + tables.G_TYPE] = intern_type(m, FUNCTION, 0, 0, 0, base)
    m[row + tables.G_FLAGS] = DECLARATION
    arguments(c, h, m, m[row + tables.G_TYPE], 0)
    if sort == state.LIFETIME:
        m[row + tables.G_FLAGS] |= NOUNWIND
        m[m[tables.ARGUMENTS] + (m[tables.N_ARGUMENTS] - 1) * tables.A_WIDTH + tables.A_FLAGS] = (
            NOCAPTURE
        )


@device_function
def one_global(text: Text, s: Cells, c: Cells, h: Cells, m: Cells, order: int, new: int) -> None:
    """Append the global of one row of ORDER."""
    noinline()
    row = m[tables.GLOBALS] + new * tables.G_WIDTH
    for i in range(tables.G_WIDTH):
        m[row + i] = 0
    sort = h[order + state.O_SORT]
    m[row + tables.G_NAME] = symbol(text, s, h[order + state.O_FIRST], h[order + state.O_END])
    m[row + tables.G_KIND] = _KIND_OF[sort]
    m[row + tables.G_INITIALIZER] = m[row + tables.G_FUNCTION] = m[row + tables.G_DEBUG] = m[
        row + tables.G_ATTRIBUTES
    ] = -1
    go_to(c, h, h[order + state.O_RECORD])
    h[state.AT] += 2  # the name's place
    function_row = m[tables.FUNCTIONS] + m[tables.N_FUNCTIONS] * tables.F_WIDTH
    if sort > state.IFUNC:
        m[row + tables.G_FUNCTION] = m[tables.N_FUNCTIONS]
        m[function_row + tables.F_GLOBAL], m[function_row + tables.F_PERSONALITY] = new, -1
        m[function_row + tables.F_FIRST_BLOCK] = h[h[state.FIRST_BLOCKS] + m[tables.N_FUNCTIONS]]
        m[function_row + tables.F_FIRST_ARGUMENT] = m[tables.N_ARGUMENTS]
    if sort == state.VARIABLE:
        variable(c, h, m, row)
    elif sort == state.ALIAS or sort == state.IFUNC:
        alias(c, h, m, row, sort)
    elif sort == state.STRAY or sort == state.LIFETIME:
        upgraded(c, h, m, row, sort)
    else:
        function(c, h, m, row)
    if sort > state.IFUNC:
        m[function_row + tables.F_PERSONALITY] = m[row + tables.G_INITIALIZER]
        m[row + tables.G_INITIALIZER] = -1
        m[tables.N_FUNCTIONS] += 1
    m[tables.N_GLOBALS] = new + 1


@device_function
def all_globals(text: Text, s: Cells, c: Cells, h: Cells, m: Cells) -> None:
    """Append all globals; they are the first values."""
    noinline()
    for new in range(h[state.N_ORDERED]):
        order = h[state.ORDER] + new * state.O_WIDTH
        one_global(text, s, c, h, m, order, new)
        if h[state.FAULT]:
            return
        row, number = m[tables.GLOBALS] + new * tables.G_WIDTH, h[order + state.O_VALUE]
        if h[order + state.O_SORT] != state.STRAY:
            h[h[state.VALUES] + number] = tables.TAG_GLOBAL + m[row + tables.G_NAME]
            h[h[state.VALUE_TYPES] + number] = plain_type(m, POINTER, m[row + tables.G_SPACE])
            h[h[state.GLOBAL_ROW] + number] = new
            h[h[state.UPGRADED] + number] = (
                m[row + tables.G_TYPE] if h[order + state.O_SORT] == state.LIFETIME else -1
            )
    if h[state.UNSET] >= 0:
        number = below(h, h[state.UNSET], h[state.N_GLOBALS])
        h[h[state.VALUES] + number] = plain_constant(m, POISON, tables.PTR, UNSET_PAYLOAD)
        h[h[state.VALUE_TYPES] + number] = tables.PTR
        h[h[state.UPGRADED] + number] = -1
    h[state.N_VALUES] = h[state.N_MODULE_VALUES] = h[state.N_GLOBALS]


@device_function
def settle(h: Cells, m: Cells, cell: int) -> None:
    """Turn the number of a module's value in this cell into the value; -1 stays."""
    number = m[cell]
    if number < -1 or number >= h[state.N_MODULE_VALUES]:
        h[state.FAULT] = 1
        m[cell] = -1
    elif number >= 0:
        m[cell] = h[h[state.VALUES] + number]
        if m[cell] < 0:
            h[state.FAULT] = 1
            m[cell] = tables.TAG_CONSTANT


@device_function
def initializers(h: Cells, m: Cells) -> None:
    """Resolve what globals are initialised with, stand for, or handle exceptions by."""
    noinline()
    for row in range(m[tables.N_GLOBALS]):
        settle(h, m, m[tables.GLOBALS] + row * tables.G_WIDTH + tables.G_INITIALIZER)
    for row in range(m[tables.N_FUNCTIONS]):
        settle(h, m, m[tables.FUNCTIONS] + row * tables.F_WIDTH + tables.F_PERSONALITY)
