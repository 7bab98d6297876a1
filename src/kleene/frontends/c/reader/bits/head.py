"""The module's head: types, attributes, and the tags of bundles."""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader.bits import blocks
from kleene.frontends.c.reader.bits.compiled import Cells, Text, no_refcount, noinline
from kleene.frontends.c.reader.bits.cursor import a_type, go_to, item, left, optional
from kleene.frontends.c.reader.bits.state import (
    AT,
    END,
    FAULT,
    FUNCTION_INDEX,
    GR_FLAGS,
    GR_GLOBAL_FLAGS,
    GR_INDEX,
    GR_PASSING,
    GR_TYPE,
    GROUP_WIDTH,
    GROUPS,
    LIST_PASSES,
    LISTS,
    MAX_GROUPS,
    MAX_LISTS,
    MAX_TAGS,
    MAX_TYPES,
    N_LISTS,
    N_NAMELESS,
    N_TAGS,
    N_TYPES,
    TAGS,
    TYPE_NAME,
    TYPE_OF,
)
from kleene.frontends.c.reader.bits.stream import R_CODE, R_FIRST, R_WIDTH
from kleene.frontends.c.reader.bits.texts import symbol_of
from kleene.frontends.c.reader.state import GROUPS as FLAGS_OF_GROUPS
from kleene.frontends.c.reader.state import SIMPLE, TOP
from kleene.frontends.c.reader.types import intern_type, plain_type, push
from kleene.ir.codes import ArgumentFlag, GlobalFlag, Passing, TypeFlag, TypeKind

INT, POINTER, ARRAY = int(TypeKind.INT), int(TypeKind.POINTER), int(TypeKind.ARRAY)
OTHER = int(TypeKind.OTHER)
VECTOR, STRUCT, FUNCTION = int(TypeKind.VECTOR), int(TypeKind.STRUCT), int(TypeKind.FUNCTION)
PACKED, VARARG = int(TypeFlag.PACKED), int(TypeFlag.VARARG)
OPAQUE, SCALABLE = int(TypeFlag.OPAQUE), int(TypeFlag.SCALABLE)
READ_NONE, READ_ONLY = int(GlobalFlag.READ_NONE), int(GlobalFlag.READ_ONLY)
NOCAPTURE = int(ArgumentFlag.NOCAPTURE)
_MOST_BITS = 1 << 24  # LLVM's own limit on integers
# Types of one word, by their code.
_SIMPLE_OF = np.full(64, -1, np.int64)
for _code, _word in (
    (blocks.TYPE_VOID, "void"),
    (blocks.TYPE_FLOAT, "float"),
    (blocks.TYPE_DOUBLE, "double"),
    (blocks.TYPE_LABEL, "label"),
    (blocks.TYPE_HALF, "half"),
    (blocks.TYPE_X86_FP80, "x86_fp80"),
    (blocks.TYPE_FP128, "fp128"),
    (blocks.TYPE_PPC_FP128, "ppc_fp128"),
    (blocks.TYPE_METADATA, "metadata"),
    (blocks.TYPE_TOKEN, "token"),
    (blocks.TYPE_BFLOAT, "bfloat"),
    (blocks.TYPE_X86_AMX, "x86_amx"),
):
    _SIMPLE_OF[_code] = SIMPLE[_word]
# Attributes by their number: what they say of an argument, of a function, how an argument travels.
_N_ATTRIBUTES = 128
_OF_ARGUMENT = np.zeros(_N_ATTRIBUTES, np.int64)
for _code, _flag in (
    (9, ArgumentFlag.NOALIAS),
    (11, ArgumentFlag.NOCAPTURE),
    (20, ArgumentFlag.READ_NONE),
    (21, ArgumentFlag.READ_ONLY),
    (22, ArgumentFlag.RETURNED),
    (24, ArgumentFlag.SIGN_EXTENDED),
    (34, ArgumentFlag.ZERO_EXTENDED),
    (39, ArgumentFlag.NONNULL),
    (52, ArgumentFlag.WRITE_ONLY),
):
    _OF_ARGUMENT[_code] = _flag
_OF_FUNCTION = np.zeros(_N_ATTRIBUTES, np.int64)
for _code, _meaning in (
    (17, GlobalFlag.NORETURN),
    (18, GlobalFlag.NOUNWIND),
    (23, GlobalFlag.RETURNS_TWICE),
    (51, GlobalFlag.ALLOCATOR),
    (82, GlobalFlag.ALLOCATOR),
):
    _OF_FUNCTION[_code] = _meaning
# Of a function these were replaced by `memory` in LLVM 16, and are upgraded to it.
_OLD_MEMORY = np.zeros(_N_ATTRIBUTES, np.bool_)
_OLD_MEMORY[[20, 21, 45, 49, 50, 52]] = True
_TRAVELS = np.zeros(_N_ATTRIBUTES, np.int64)
for _code, _passing in (
    (3, Passing.BYVAL),
    (29, Passing.SRET),
    (38, Passing.INALLOCA),
    (65, Passing.PREALLOCATED),
    (69, Passing.BYREF),
    (77, Passing.ELEMENT),
):
    _TRAVELS[_code] = _passing
_MEMORY, _CAPTURES = 86, 102
_WRITES = int.from_bytes(b"\xaa" * 7, "little")  # two bits a kind of memory: read, write
_READS = _WRITES >> 1


@no_refcount
def elements(c: Cells, h: Cells, m: Cells) -> None:
    """Push the types that the rest of the record names."""
    while left(h) > 0 and not h[FAULT]:
        push(m, a_type(c, h))


@no_refcount
def struct_name(h: Cells) -> int:
    """Return the name of the struct at hand as `intern_type` takes it; one without is numbered."""
    name = h[TYPE_NAME]
    h[TYPE_NAME] = 0
    if name:
        return name + 1
    h[N_NAMELESS] += 1
    return -h[N_NAMELESS]


@no_refcount
def target_type(c: Cells, h: Cells, m: Cells) -> int:
    """Return a target's type: its elements are its name, a count, so many types, then numbers."""
    noinline()
    base, count = m[TOP], item(c, h)
    push(m, h[TYPE_NAME])
    push(m, count)
    h[TYPE_NAME] = 0
    if count < 0 or count > left(h):
        h[FAULT] = 1
        return 0
    for _ in range(count):
        push(m, a_type(c, h))
    while left(h) > 0:
        push(m, item(c, h))
    return intern_type(m, OTHER, 0, 0, 0, base)


@no_refcount
def one_type(c: Cells, h: Cells, m: Cells, code: int) -> int:
    """Return the type that the record at hand describes."""
    noinline()
    base = m[TOP]
    if code < len(_SIMPLE_OF) and _SIMPLE_OF[code] >= 0:
        return _SIMPLE_OF[code]
    if code == blocks.TYPE_INTEGER or code == blocks.TYPE_POINTER:
        number = item(c, h)
        if number < 0 or number > _MOST_BITS:
            h[FAULT] = 1
        return plain_type(m, INT if code == blocks.TYPE_INTEGER else POINTER, number)
    if code == blocks.TYPE_ARRAY or code == blocks.TYPE_VECTOR:
        count = item(c, h)
        push(m, a_type(c, h))
        is_vector = code == blocks.TYPE_VECTOR
        flags = SCALABLE if is_vector and optional(c, h) else 0
        if count < 0 or (is_vector and count == 0):
            h[FAULT] = 1
        return intern_type(m, VECTOR if is_vector else ARRAY, flags, 0, count, base)
    if code == blocks.TYPE_FUNCTION:
        flags = VARARG if item(c, h) else 0
        elements(c, h, m)
        if m[TOP] == base:
            h[FAULT] = 1
        return intern_type(m, FUNCTION, flags, 0, 0, base)
    if code == blocks.TYPE_STRUCT:
        flags = PACKED if item(c, h) else 0
        elements(c, h, m)
        return intern_type(m, STRUCT, flags, 0, 0, base)
    if code == blocks.TYPE_NAMED_STRUCT or code == blocks.TYPE_OPAQUE:
        flags = OPAQUE if code == blocks.TYPE_OPAQUE else 0
        flags |= PACKED if item(c, h) else 0
        if code == blocks.TYPE_NAMED_STRUCT:
            elements(c, h, m)
        return intern_type(m, STRUCT, flags, struct_name(h), 0, base)
    if code == blocks.TYPE_TARGET:
        return target_type(c, h, m)
    h[FAULT] = 1
    return 0


@no_refcount
def type_record(text: Text, s: Cells, c: Cells, h: Cells, m: Cells, record: int) -> None:
    """Read one record of the table of types."""
    noinline()
    code = c[record * R_WIDTH + R_CODE]
    if code == blocks.TYPE_STRUCT_NAME:
        h[TYPE_NAME] = symbol_of(text, s, c[record * R_WIDTH + R_FIRST])
    elif code != blocks.TYPE_COUNT:
        go_to(c, h, record)
        if h[N_TYPES] >= h[MAX_TYPES]:
            h[FAULT] = 1
            return
        h[h[TYPE_OF] + h[N_TYPES]] = one_type(c, h, m, code)
        h[N_TYPES] += 1


@no_refcount
def memory_flags(effects: int) -> int:
    """Return what a function that touches memory in these ways does to it at most."""
    if effects & _WRITES:
        return 0
    return READ_ONLY if effects & _READS else READ_NONE


@no_refcount
def attribute(c: Cells, h: Cells, row: int, sort: int) -> None:
    """Read an attribute that has a number, after its sort: plain, with a value, with a type."""
    noinline()
    kind = item(c, h)
    if kind <= 0 or kind >= _N_ATTRIBUTES:
        h[FAULT] = 1
        return
    is_function = h[row + GR_INDEX] == FUNCTION_INDEX
    if is_function:
        h[row + GR_GLOBAL_FLAGS] |= _OF_FUNCTION[kind]
        if _OLD_MEMORY[kind]:
            h[FAULT] = 1
    else:
        h[row + GR_FLAGS] |= _OF_ARGUMENT[kind]
    if sort == 1:
        number = item(c, h)
        if kind == _MEMORY and is_function:
            h[row + GR_GLOBAL_FLAGS] |= memory_flags(number)
        elif kind == _CAPTURES and number == 0:
            h[row + GR_FLAGS] |= NOCAPTURE
    elif _TRAVELS[kind] != 0 and not is_function:
        if sort != 6:
            h[FAULT] = 1
            return
        h[row + GR_PASSING], h[row + GR_TYPE] = _TRAVELS[kind], a_type(c, h)
    elif sort == 6:
        a_type(c, h)


@no_refcount
def skip_text(c: Cells, h: Cells) -> None:
    """Move behind the next 0."""
    at, end = h[AT], h[END]
    while at < end and c[at] != 0:
        at += 1
    h[AT] = at
    item(c, h)


@no_refcount
def skip_range(c: Cells, h: Cells, width: int) -> None:
    """Move over the two bounds of a range; those of many bits say how many words they have."""
    count = 2
    if width > 64:
        both = item(c, h)
        count = (both & 0xFFFFFFFF) + (both >> 32)
    if count < 0 or count > left(h):
        h[FAULT] = 1
    h[AT] += count


@no_refcount
def attribute_group(c: Cells, h: Cells, record: int) -> None:
    """Read one attribute group: what it says of a function, its result or an argument."""
    noinline()
    go_to(c, h, record)
    number = item(c, h)
    if number < 0 or number >= h[MAX_GROUPS]:
        h[FAULT] = 1
        return
    row = h[GROUPS] + number * GROUP_WIDTH
    h[row + GR_INDEX], h[row + GR_TYPE] = item(c, h), -1
    h[row + GR_FLAGS] = h[row + GR_GLOBAL_FLAGS] = h[row + GR_PASSING] = 0
    while left(h) > 0 and not h[FAULT]:
        sort = item(c, h)
        if sort == 3 or sort == 4:  # a text, or a text and its value
            for _ in range(sort - 2):
                skip_text(c, h)
        elif sort == 0 or sort == 1 or sort == 5 or sort == 6:
            attribute(c, h, row, sort)
        elif sort == 7:  # a range
            item(c, h)
            skip_range(c, h, item(c, h))
        elif sort == 8:  # ranges
            item(c, h)
            count, width = item(c, h), item(c, h)
            for _ in range(min(count, left(h))):
                skip_range(c, h, width)
        else:
            h[FAULT] = 1


@no_refcount
def attribute_list(c: Cells, h: Cells, m: Cells, record: int) -> None:
    """Read one attribute list: the groups of a function or call; they count from 1."""
    noinline()
    new = h[N_LISTS] + 1
    if new >= h[MAX_LISTS]:
        h[FAULT] = 1
        return
    go_to(c, h, record)
    flags, passes = 0, 0
    while left(h) > 0 and not h[FAULT]:
        number = item(c, h)
        if number < 0 or number >= h[MAX_GROUPS]:
            h[FAULT] = 1
            return
        row = h[GROUPS] + number * GROUP_WIDTH
        flags |= h[row + GR_GLOBAL_FLAGS]
        passes |= h[row + GR_PASSING]
    h[h[LISTS] + new], h[h[LIST_PASSES] + new] = record, passes
    m[m[FLAGS_OF_GROUPS] + new] = flags
    h[N_LISTS] = new


@no_refcount
def group_of(c: Cells, h: Cells, attributes: int, index: int) -> int:
    """Return the row of what an attribute list says of an index, -1 if it says nothing."""
    noinline()
    if attributes <= 0 or attributes > h[N_LISTS]:
        return -1
    record = h[h[LISTS] + attributes] * R_WIDTH
    for i in range(c[record + 2], c[record + 3]):
        row = h[GROUPS] + c[i] * GROUP_WIDTH
        if h[row + GR_INDEX] == index:
            return row
    return -1


@no_refcount
def bundle_tag(text: Text, s: Cells, c: Cells, h: Cells, record: int) -> None:
    """Note the tag that bundles name by its number."""
    if h[N_TAGS] >= h[MAX_TAGS] or c[record * R_WIDTH + R_CODE] != 1:
        h[FAULT] = 1
        return
    h[h[TAGS] + h[N_TAGS]] = symbol_of(text, s, c[record * R_WIDTH + R_FIRST])
    h[N_TAGS] += 1
