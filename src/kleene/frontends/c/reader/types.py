"""Types, each made once (hash-consed), and the tags of bundles."""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader import bitcodes, state, tables
from kleene.frontends.c.reader.bitstream import R_CODE, R_FIRST, R_WIDTH
from kleene.frontends.c.reader.compiled import Cells, Text, device_function, noinline
from kleene.frontends.c.reader.cursor import a_type, go_to, item, left, optional
from kleene.frontends.c.reader.strings import symbol_of
from kleene.ir.codes import TypeFlag, TypeKind
from kleene.kernels.bits import mix

INT, POINTER, ARRAY = int(TypeKind.INT), int(TypeKind.POINTER), int(TypeKind.ARRAY)
VECTOR, STRUCT, FUNCTION = int(TypeKind.VECTOR), int(TypeKind.STRUCT), int(TypeKind.FUNCTION)
OTHER = int(TypeKind.OTHER)
PACKED, VARARG = int(TypeFlag.PACKED), int(TypeFlag.VARARG)
OPAQUE, SCALABLE = int(TypeFlag.OPAQUE), int(TypeFlag.SCALABLE)
_MAX_BITS = 1 << 24  # LLVM's own limit on integers
# Types of one word, by their code.
_SIMPLE_OF = np.full(bitcodes.N_CODES, -1, np.int64)
for _code, _word in (
    (bitcodes.TYPE_VOID, "void"),
    (bitcodes.TYPE_FLOAT, "float"),
    (bitcodes.TYPE_DOUBLE, "double"),
    (bitcodes.TYPE_LABEL, "label"),
    (bitcodes.TYPE_HALF, "half"),
    (bitcodes.TYPE_X86_FP80, "x86_fp80"),
    (bitcodes.TYPE_FP128, "fp128"),
    (bitcodes.TYPE_PPC_FP128, "ppc_fp128"),
    (bitcodes.TYPE_METADATA, "metadata"),
    (bitcodes.TYPE_TOKEN, "token"),
    (bitcodes.TYPE_BFLOAT, "bfloat"),
    (bitcodes.TYPE_X86_AMX, "x86_amx"),
):
    _SIMPLE_OF[_code] = tables.SIMPLE[_word]


@device_function
def type_row(m: Cells, type_id: int) -> int:
    """Return the row of a type."""
    return m[tables.TYPES] + type_id * tables.T_WIDTH


@device_function
def push(m: Cells, item: int) -> None:
    """Put an item on the stack."""
    m[m[tables.STACK] + m[tables.TOP]] = item
    m[tables.TOP] += 1


@device_function
def new_type(m: Cells, kind: int, flags: int, name: int, bits: int, base: int) -> int:
    """Append a type whose elements are the stack from `base` on; return its id."""
    noinline()
    new = m[tables.N_TYPES]
    if (new + 2) * 10 > m[tables.TABLE_SIZE] * 7:
        m[tables.FULL] = 1
        m[tables.ERROR] = 1
        return 0
    first, count = m[tables.N_ELEMENTS], m[tables.TOP] - base
    for i in range(count):
        m[m[tables.ELEMENTS] + first + i] = m[m[tables.STACK] + base + i]
    row = m[tables.TYPES] + new * tables.T_WIDTH
    m[row + tables.T_KIND], m[row + tables.T_FLAGS], m[row + tables.T_NAME] = kind, flags, name
    m[row + tables.T_BITS], m[row + tables.T_FIRST], m[row + tables.T_COUNT] = bits, first, count
    m[tables.N_ELEMENTS] = first + count
    m[tables.N_TYPES] = new + 1
    return new


@device_function
def same_type(m: Cells, row: int, kind: int, flags: int, name: int, bits: int, base: int) -> bool:
    """Return whether the type in `row` has this shape."""
    if (
        m[row + tables.T_KIND] != kind
        or m[row + tables.T_NAME] != name
        or m[row + tables.T_BITS] != bits
    ):
        return False
    if name != 0:
        return True
    count = m[tables.TOP] - base
    if m[row + tables.T_FLAGS] != flags or m[row + tables.T_COUNT] != count:
        return False
    first, stack = m[tables.ELEMENTS] + m[row + tables.T_FIRST], m[tables.STACK] + base
    for i in range(count):  # noqa: SIM110 -- Numba compiles loops, not generators
        if m[first + i] != m[stack + i]:
            return False
    return True


@device_function
def intern_type(m: Cells, kind: int, flags: int, name: int, bits: int, base: int) -> int:
    """Return the type of this shape, its elements the stack from `base` on, which is popped.

    A type with a name is found by its name alone. While reading, the name of a struct is its symbol
    plus one, or minus its number less one.
    """
    noinline()
    if m[tables.ERROR]:  # half a type is none
        m[tables.TOP] = base
        return tables.VOID
    value = mix(mix(kind, name), bits)
    if name == 0:
        value = mix(value, flags)
        for i in range(m[tables.STACK] + base, m[tables.STACK] + m[tables.TOP]):
            value = mix(value, m[i])
    mask = m[tables.TABLE_SIZE] - 1
    place = value & mask
    while m[m[tables.TYPE_TABLE] + place] != 0:
        found = m[m[tables.TYPE_TABLE] + place]
        if same_type(m, type_row(m, found), kind, flags, name, bits, base):
            m[tables.TOP] = base
            return found
        place = (place + 1) & mask
    new = new_type(m, kind, flags, name, bits, base)
    m[m[tables.TYPE_TABLE] + place] = new
    m[tables.TOP] = base
    return new


@device_function
def plain_type(m: Cells, kind: int, bits: int) -> int:
    """Return the type of this kind that has no elements."""
    noinline()
    if kind == INT:
        if bits == 1:
            return tables.I1
        if bits == 32:
            return tables.I32
    if kind == POINTER and bits == 0:
        return tables.PTR
    return intern_type(m, kind, 0, 0, bits, m[tables.TOP])


@device_function
def vector_like(m: Cells, shape: int, element: int) -> int:
    """Return the vector of `element` as long as `shape`, or `element` if that is no vector."""
    noinline()
    row = type_row(m, shape)
    if m[row + tables.T_KIND] != VECTOR:
        return element
    base = m[tables.TOP]
    push(m, element)
    return intern_type(m, VECTOR, m[row + tables.T_FLAGS], 0, m[row + tables.T_BITS], base)


@device_function
def element_type(m: Cells, type_id: int, index: int) -> int:
    """Return the type of an element: a struct's field, or any of an array or vector."""
    noinline()
    row = type_row(m, type_id)
    kind, count = m[row + tables.T_KIND], m[row + tables.T_COUNT]
    first = m[tables.ELEMENTS] + m[row + tables.T_FIRST]
    if kind == STRUCT and 0 <= index < count:
        return m[first + index]
    if (kind == ARRAY or kind == VECTOR) and count == 1:
        return m[first]
    m[tables.ERROR] = 1
    return tables.VOID


@device_function
def elements(c: Cells, h: Cells, m: Cells) -> None:
    """Push the types that the rest of the record names."""
    while left(h) > 0 and not h[state.FAULT]:
        push(m, a_type(c, h))


@device_function
def struct_name(h: Cells) -> int:
    """Return the name of the struct at hand as `intern_type` takes it; one without is numbered."""
    name = h[state.TYPE_NAME]
    h[state.TYPE_NAME] = 0
    if name:
        return name + 1
    h[state.N_NAMELESS] += 1
    return -h[state.N_NAMELESS]


@device_function
def target_type(c: Cells, h: Cells, m: Cells) -> int:
    """Return a target's type: its elements are its name, a count, so many types, then numbers."""
    noinline()
    base, count = m[tables.TOP], item(c, h)
    push(m, h[state.TYPE_NAME])
    push(m, count)
    h[state.TYPE_NAME] = 0
    if count < 0 or count > left(h):
        h[state.FAULT] = 1
        return 0
    for _ in range(count):
        push(m, a_type(c, h))
    while left(h) > 0:
        push(m, item(c, h))
    return intern_type(m, OTHER, 0, 0, 0, base)


@device_function
def one_type(c: Cells, h: Cells, m: Cells, code: int) -> int:
    """Return the type that the record at hand describes."""
    noinline()
    base = m[tables.TOP]
    if code < len(_SIMPLE_OF) and _SIMPLE_OF[code] >= 0:
        return _SIMPLE_OF[code]
    if code == bitcodes.TYPE_INTEGER or code == bitcodes.TYPE_POINTER:
        number = item(c, h)
        if number < 0 or number > _MAX_BITS:
            h[state.FAULT] = 1
        return plain_type(m, INT if code == bitcodes.TYPE_INTEGER else POINTER, number)
    if code == bitcodes.TYPE_ARRAY or code == bitcodes.TYPE_VECTOR:
        count = item(c, h)
        push(m, a_type(c, h))
        is_vector = code == bitcodes.TYPE_VECTOR
        flags = SCALABLE if is_vector and optional(c, h) else 0
        if is_vector and count <= 0:
            h[state.FAULT] = 1
        count = max(count, 0)  # more than 2^63 elements are none
        return intern_type(m, VECTOR if is_vector else ARRAY, flags, 0, count, base)
    if code == bitcodes.TYPE_FUNCTION:
        flags = VARARG if item(c, h) else 0
        elements(c, h, m)
        if m[tables.TOP] == base:
            h[state.FAULT] = 1
        return intern_type(m, FUNCTION, flags, 0, 0, base)
    if code == bitcodes.TYPE_STRUCT_ANON:
        flags = PACKED if item(c, h) else 0
        elements(c, h, m)
        return intern_type(m, STRUCT, flags, 0, 0, base)
    if code == bitcodes.TYPE_STRUCT_NAMED or code == bitcodes.TYPE_OPAQUE:
        flags = OPAQUE if code == bitcodes.TYPE_OPAQUE else 0
        flags |= PACKED if item(c, h) else 0
        if code == bitcodes.TYPE_STRUCT_NAMED:
            elements(c, h, m)
        return intern_type(m, STRUCT, flags, struct_name(h), 0, base)
    if code == bitcodes.TYPE_TARGET:
        return target_type(c, h, m)
    h[state.FAULT] = 1
    return 0


@device_function
def type_record(text: Text, s: Cells, c: Cells, h: Cells, m: Cells, record: int) -> None:
    """Read one record of the table of types."""
    noinline()
    code = c[record * R_WIDTH + R_CODE]
    if code == bitcodes.TYPE_STRUCT_NAME:
        h[state.TYPE_NAME] = symbol_of(text, s, c[record * R_WIDTH + R_FIRST])
    elif code != bitcodes.TYPE_NUMENTRY:
        go_to(c, h, record)
        if h[state.N_TYPES] >= h[state.MAX_TYPES]:
            h[state.FAULT] = 1
            return
        h[h[state.TYPE_OF] + h[state.N_TYPES]] = one_type(c, h, m, code)
        h[state.N_TYPES] += 1


@device_function
def bundle_tag(text: Text, s: Cells, c: Cells, h: Cells, record: int) -> None:
    """Note the tag that bundles name by its number."""
    if h[state.N_TAGS] >= h[state.MAX_TAGS] or c[record * R_WIDTH + R_CODE] != bitcodes.BUNDLE_TAG:
        h[state.FAULT] = 1
        return
    h[h[state.TAGS] + h[state.N_TAGS]] = symbol_of(text, s, c[record * R_WIDTH + R_FIRST])
    h[state.N_TAGS] += 1
