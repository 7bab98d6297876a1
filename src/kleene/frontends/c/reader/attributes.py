"""Attributes: what groups and lists of them say of functions, results and arguments."""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader import bitcodes, state, tables
from kleene.frontends.c.reader.bitstream import R_END, R_FIRST, R_WIDTH
from kleene.frontends.c.reader.compiled import Cells, device_function, noinline
from kleene.frontends.c.reader.cursor import a_type, below, go_to, item, left, require
from kleene.ir.codes import ArgumentFlag, GlobalFlag, Passing

READ_NONE, READ_ONLY = int(GlobalFlag.READ_NONE), int(GlobalFlag.READ_ONLY)
HAS_TYPE_TESTS = int(GlobalFlag.TYPE_TESTS)
NOCAPTURE = int(ArgumentFlag.NOCAPTURE)
# What attributes say of an argument, of a function; how an argument travels; what is out of use.
_OF_ARGUMENT = np.zeros(bitcodes.N_ATTRIBUTES, np.int64)
for _code, _flag in (
    (bitcodes.NOALIAS, ArgumentFlag.NOALIAS),
    (bitcodes.NOCAPTURE, ArgumentFlag.NOCAPTURE),
    (bitcodes.READNONE, ArgumentFlag.READ_NONE),
    (bitcodes.READONLY, ArgumentFlag.READ_ONLY),
    (bitcodes.RETURNED, ArgumentFlag.RETURNED),
    (bitcodes.SIGNEXT, ArgumentFlag.SIGN_EXTENDED),
    (bitcodes.ZEROEXT, ArgumentFlag.ZERO_EXTENDED),
    (bitcodes.NONNULL, ArgumentFlag.NONNULL),
    (bitcodes.WRITEONLY, ArgumentFlag.WRITE_ONLY),
    (bitcodes.NOUNDEF, ArgumentFlag.NOUNDEF),
):
    _OF_ARGUMENT[_code] = _flag
_OF_FUNCTION = np.zeros(bitcodes.N_ATTRIBUTES, np.int64)
for _code, _meaning in (
    (bitcodes.NORETURN, GlobalFlag.NORETURN),
    (bitcodes.NOUNWIND, GlobalFlag.NOUNWIND),
    (bitcodes.RETURNS_TWICE, GlobalFlag.RETURNS_TWICE),
    (bitcodes.ALLOCSIZE, GlobalFlag.ALLOCATOR),
    (bitcodes.ALLOCKIND, GlobalFlag.ALLOCATOR),
):
    _OF_FUNCTION[_code] = _meaning
# Of a function these were replaced by `memory` in LLVM 16, and are upgraded to it.
_OLD_MEMORY = np.zeros(bitcodes.N_ATTRIBUTES, np.bool_)
_OLD_MEMORY[[bitcodes.READNONE, bitcodes.READONLY, bitcodes.WRITEONLY, bitcodes.ARGMEMONLY]] = True
_OLD_MEMORY[[bitcodes.INACCESSIBLEMEMONLY, bitcodes.INACCESSIBLEMEM_OR_ARGMEMONLY]] = True
_PASSING_OF = np.zeros(bitcodes.N_ATTRIBUTES, np.int64)
for _code, _passing in (
    (bitcodes.BYVAL, Passing.BYVAL),
    (bitcodes.SRET, Passing.SRET),
    (bitcodes.INALLOCA, Passing.INALLOCA),
    (bitcodes.PREALLOCATED, Passing.PREALLOCATED),
    (bitcodes.BYREF, Passing.BYREF),
    (bitcodes.ELEMENTTYPE, Passing.ELEMENT),
):
    _PASSING_OF[_code] = _passing
# Kleene has clang put this on functions that it compiles: see `compiler`.
_TYPE_TESTS = np.frombuffer(b"kleene-type-tests", np.uint8)
_WRITES = int.from_bytes(b"\xaa" * 7, "little")  # two bits a kind of memory: read, write
_READS = _WRITES >> 1


@device_function
def memory_flags(effects: int) -> int:
    """Return what a function that touches memory in these ways does to it at most."""
    if effects & _WRITES:
        return 0
    return READ_ONLY if effects & _READS else READ_NONE


@device_function
def attribute(c: Cells, h: Cells, row: int, sort: int) -> None:
    """Read an attribute that has a number, after its sort: plain, with a value, with a type."""
    noinline()
    kind = below(h, item(c, h), bitcodes.N_ATTRIBUTES)
    require(h, kind > 0)
    is_function = h[row + state.GR_INDEX] == bitcodes.FUNCTION_INDEX
    if is_function:
        h[row + state.GR_GLOBAL_FLAGS] |= _OF_FUNCTION[kind]
        require(h, not _OLD_MEMORY[kind])
    else:
        h[row + state.GR_FLAGS] |= _OF_ARGUMENT[kind]
    if sort == bitcodes.ATTR_INT:
        number = item(c, h)
        if kind == bitcodes.MEMORY and is_function:
            h[row + state.GR_GLOBAL_FLAGS] |= memory_flags(number)
        elif kind == bitcodes.CAPTURES and number == 0:
            h[row + state.GR_FLAGS] |= NOCAPTURE
    elif _PASSING_OF[kind] != 0 and not is_function:
        require(h, sort == bitcodes.ATTR_TYPE)
        h[row + state.GR_PASSING], h[row + state.GR_TYPE] = _PASSING_OF[kind], a_type(c, h)
    elif sort == bitcodes.ATTR_TYPE:
        a_type(c, h)


@device_function
def is_type_tests(c: Cells, h: Cells) -> bool:
    """Return whether the next text says that virtual calls have type tests."""
    at, n_equal = h[state.AT], 0
    while n_equal < len(_TYPE_TESTS) and at + n_equal < h[state.END]:
        if c[at + n_equal] != _TYPE_TESTS[n_equal]:
            return False
        n_equal += 1
    return bool(at + n_equal < h[state.END] and c[at + n_equal] == 0)


@device_function
def skip_text(c: Cells, h: Cells) -> None:
    """Move behind the next 0."""
    at, end = h[state.AT], h[state.END]
    while at < end and c[at] != 0:
        at += 1
    h[state.AT] = at
    item(c, h)


@device_function
def skip_range(c: Cells, h: Cells, width: int) -> None:
    """Move over the two bounds of a range; those of many bits say how many words they have."""
    count = 2
    if width > 64:
        both = item(c, h)
        count = (both & 0xFFFFFFFF) + (both >> 32)
    h[state.AT] += below(h, count, left(h) + 1)


@device_function
def group_row(c: Cells, h: Cells) -> int:
    """Return the row of the attribute group that the next operand names."""
    return h[state.GROUPS] + below(h, item(c, h), h[state.MAX_GROUPS]) * state.GROUP_WIDTH


@device_function
def attribute_group(c: Cells, h: Cells, record: int) -> None:
    """Read one attribute group: what it says of a function, its result or an argument."""
    noinline()
    go_to(c, h, record)
    row = group_row(c, h)
    h[row + state.GR_INDEX], h[row + state.GR_TYPE] = item(c, h), -1
    h[row + state.GR_FLAGS] = h[row + state.GR_GLOBAL_FLAGS] = h[row + state.GR_PASSING] = 0
    while left(h) > 0 and not h[state.FAULT]:
        sort = item(c, h)
        if sort == bitcodes.ATTR_STRING or sort == bitcodes.ATTR_STRING_VALUE:
            if is_type_tests(c, h) and h[row + state.GR_INDEX] == bitcodes.FUNCTION_INDEX:
                h[row + state.GR_GLOBAL_FLAGS] |= HAS_TYPE_TESTS
            for _ in range(1 if sort == bitcodes.ATTR_STRING else 2):
                skip_text(c, h)
        elif sort == bitcodes.ATTR_RANGE:
            item(c, h)
            skip_range(c, h, item(c, h))
        elif sort == bitcodes.ATTR_RANGE_LIST:
            item(c, h)
            count, width = item(c, h), item(c, h)
            for _ in range(min(count, left(h))):
                skip_range(c, h, width)
        elif bitcodes.ATTR_ENUM <= sort <= bitcodes.ATTR_TYPE:
            attribute(c, h, row, sort)
        else:
            h[state.FAULT] = 1


@device_function
def attribute_list(c: Cells, h: Cells, m: Cells, record: int) -> None:
    """Read one attribute list: the groups of a function or call; they count from 1."""
    noinline()
    new = below(h, h[state.N_LISTS] + 1, h[state.MAX_LISTS])
    go_to(c, h, record)
    flags, passes = 0, 0
    while left(h) > 0 and not h[state.FAULT]:
        row = group_row(c, h)
        flags |= h[row + state.GR_GLOBAL_FLAGS]
        passes |= h[row + state.GR_PASSING]
    h[h[state.LISTS] + new], h[h[state.LIST_PASSES] + new] = record, passes
    m[m[tables.LIST_FLAGS] + new] = flags
    h[state.N_LISTS] = new


@device_function
def group_of(c: Cells, h: Cells, attributes: int, index: int) -> int:
    """Return the row of what an attribute list says of an index, -1 if it says nothing."""
    noinline()
    if attributes <= 0 or attributes > h[state.N_LISTS]:
        return -1
    record = h[h[state.LISTS] + attributes] * R_WIDTH
    for i in range(c[record + R_FIRST], c[record + R_END]):
        row = h[state.GROUPS] + c[i] * state.GROUP_WIDTH
        if h[row + state.GR_INDEX] == index:
            return row
    return -1
