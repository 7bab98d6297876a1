"""Types, each made once (hash-consed), and the tags of bundles."""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader import bitcodes, state, tables
from kleene.frontends.c.reader.bitstream import R_CODE, R_FIRST, R_WIDTH
from kleene.frontends.c.reader.compiled import Cells, Text, device_function, noinline
from kleene.frontends.c.reader.cursor import a_type, below, go_to, item, left, optional, require
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
def same_row(m: Cells, row: int, draft: int, width: int, pool: int, stack: int, count: int) -> bool:
    """Return whether a row has the content of the draft, and `count` items as on the stack."""
    if m[row + width - 1] != count:
        return False
    for i in range(width - 2):
        if m[row + i] != m[draft + i]:
            return False
    first = pool + m[row + width - 2]
    for i in range(count):  # noqa: SIM110 -- Numba compiles loops, not generators
        if m[first + i] != m[stack + i]:
            return False
    return True


@device_function
def intern(m: Cells, table: int, n_rows: int, places: int, width: int, base: int) -> int:
    """Return the index of the row whose content stands as a draft behind the table's last row.

    A row ends with where its items begin in the pool, which is the table after `table`, and how
    many they are; those of the draft are the stack from `base` on, which is popped. `places` is the
    hash table: 0, or an index plus one. Equal rows are one.
    """
    noinline()
    new, count = m[n_rows], m[tables.TOP] - base
    m[tables.TOP] = base
    if m[tables.ERROR]:  # half a row is none
        return 0
    draft, pool, stack = m[table] + new * width, m[table + 1], m[tables.STACK] + base
    value = 0
    for i in range(draft, draft + width - 2):
        value = mix(value, m[i])
    for i in range(stack, stack + count):
        value = mix(value, m[i])
    mask = m[tables.TABLE_SIZE] - 1
    place = value & mask
    while m[m[places] + place] != 0:
        found = m[m[places] + place] - 1
        if same_row(m, m[table] + found * width, draft, width, pool, stack, count):
            return found
        place = (place + 1) & mask
    if (new + 2) * 10 > m[tables.TABLE_SIZE] * 7:
        m[tables.FULL] = m[tables.ERROR] = 1
        return 0
    first = m[n_rows + 1]
    m[draft + width - 2], m[draft + width - 1] = first, count
    for i in range(count):
        m[pool + first + i] = m[stack + i]
    m[m[places] + place] = new + 1
    m[n_rows], m[n_rows + 1] = new + 1, first + count
    return new


@device_function
def intern_type(m: Cells, kind: int, flags: int, name: int, bits: int, base: int) -> int:
    """Return the type of this shape, its elements the stack from `base` on, which is popped.

    While reading, the name of a struct is its symbol plus one, or minus its number less one.
    """
    noinline()
    row = type_row(m, m[tables.N_TYPES])
    m[row + tables.T_KIND], m[row + tables.T_FLAGS] = kind, flags
    m[row + tables.T_NAME], m[row + tables.T_BITS] = name, bits
    return intern(m, tables.TYPES, tables.N_TYPES, tables.TYPE_TABLE, tables.T_WIDTH, base)


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
    count = below(h, count, left(h) + 1)
    push(m, h[state.TYPE_NAME])
    push(m, count)
    h[state.TYPE_NAME] = 0
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
        kind = INT if code == bitcodes.TYPE_INTEGER else POINTER
        return plain_type(m, kind, below(h, item(c, h), _MAX_BITS + 1))
    if code == bitcodes.TYPE_ARRAY or code == bitcodes.TYPE_VECTOR:
        count = item(c, h)
        push(m, a_type(c, h))
        is_vector = code == bitcodes.TYPE_VECTOR
        flags = SCALABLE if is_vector and optional(c, h) else 0
        require(h, not is_vector or count > 0)
        count = max(count, 0)  # more than 2^63 elements are none
        return intern_type(m, VECTOR if is_vector else ARRAY, flags, 0, count, base)
    if code == bitcodes.TYPE_FUNCTION:
        flags = VARARG if item(c, h) else 0
        elements(c, h, m)
        require(h, m[tables.TOP] > base)
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
        new = below(h, h[state.N_TYPES], h[state.MAX_TYPES])
        h[h[state.TYPE_OF] + new] = one_type(c, h, m, code)
        h[state.N_TYPES] += 1


@device_function
def bundle_tag(text: Text, s: Cells, c: Cells, h: Cells, record: int) -> None:
    """Note the tag that bundles name by its number."""
    require(h, c[record * R_WIDTH + R_CODE] == bitcodes.BUNDLE_TAG)
    new = below(h, h[state.N_TAGS], h[state.MAX_TAGS])
    if not h[state.FAULT]:  # then the record is spelled, and not a text's letters
        h[h[state.TAGS] + new] = symbol_of(text, s, c[record * R_WIDTH + R_FIRST])
    h[state.N_TAGS] += 1
