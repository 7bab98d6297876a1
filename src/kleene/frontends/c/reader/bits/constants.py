"""Constants: declared record by record, then made from the leaves up, each once."""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader.bits import blocks
from kleene.frontends.c.reader.bits.compiled import Cells, Text, no_refcount, noinline
from kleene.frontends.c.reader.bits.cursor import (
    a_type,
    define,
    go_to,
    item,
    left,
    optional,
    signed,
)
from kleene.frontends.c.reader.bits.rows import notice
from kleene.frontends.c.reader.bits.scalars import (
    FLOAT,
    INT,
    NULL,
    T_ARRAY,
    T_FLOAT,
    T_STRUCT,
    T_VECTOR,
    WIDE,
    ZERO,
    bits_of,
    element_of,
    kind_of,
    null,
    number_constant,
)
from kleene.frontends.c.reader.bits.state import (
    AT,
    CONSTANT_TYPE,
    END,
    FAULT,
    FIRST_BLOCKS,
    FIRST_CONSTANT,
    GLOBAL_ROW,
    N_GLOBALS,
    N_UNKNOWN,
    N_VALUES,
    N_WAITING,
    VALUE_RECORDS,
    VALUE_TYPES,
    VALUES,
    WAITING,
)
from kleene.frontends.c.reader.bits.stream import R_CODE, R_END, R_FIRST, R_WIDTH
from kleene.frontends.c.reader.bits.texts import symbol_of
from kleene.frontends.c.reader.interned import intern_constant, plain_constant
from kleene.frontends.c.reader.state import (
    C_FIRST,
    C_KIND,
    C_OPCODE,
    C_PAYLOAD,
    C_WIDTH,
    CONSTANT_OPERANDS,
    CONSTANT_TEXT,
    CONSTANTS,
    G_FUNCTION,
    G_WIDTH,
    GLOBALS,
    STACK,
    T_BITS,
    T_COUNT,
    T_KIND,
    T_WIDTH,
    TAG_BLOCK,
    TAG_CONSTANT,
    TAG_MASK,
    TOP,
    TYPES,
)
from kleene.frontends.c.reader.types import PTR, push
from kleene.frontends.c.reader.words import WORDS
from kleene.ir.codes import ConstantKind, Flag, Opcode

UNDEF, POISON = int(ConstantKind.UNDEF), int(ConstantKind.POISON)
STRING = int(ConstantKind.STRING)
AGGREGATE, SPLAT = int(ConstantKind.AGGREGATE), int(ConstantKind.SPLAT)
EXPRESSION, WRAPPED = int(ConstantKind.EXPRESSION), int(ConstantKind.WRAPPED)
BLOCK_ADDRESS, ASSEMBLY = int(ConstantKind.BLOCK_ADDRESS), int(ConstantKind.ASSEMBLY)
SIDE_EFFECT = int(Flag.SIDE_EFFECT)
NUW, NSW = int(Flag.NUW), int(Flag.NSW)
INBOUNDS, NUSW = int(Flag.INBOUNDS), int(Flag.NUSW)
GEP, EXTRACT = int(Opcode.GETELEMENTPTR), int(Opcode.EXTRACTELEMENT)
INSERT, SHUFFLE = int(Opcode.INSERTELEMENT), int(Opcode.SHUFFLEVECTOR)
UNKNOWN_CONSTANT = int(ConstantKind.UNKNOWN)
W_EQUIVALENT, W_NO_CFI = WORDS["dso_local_equivalent"], WORDS["no_cfi"]
W_SIGNED = WORDS["ptrauth"]
WIDE_TEXT = 200  # our own code, of no file: a number that was made a text before reading
UNMADE, WAITED = -1, -2
# Expressions that LLVM 22 still has; it makes instructions of the others.
_BINARY_OF = np.full(16, -1, np.int64)
_BINARY_OF[0], _BINARY_OF[1], _BINARY_OF[12] = Opcode.ADD, Opcode.SUB, Opcode.XOR
_CAST_OF = np.full(16, -1, np.int64)
for _code, _opcode in (
    (0, Opcode.TRUNC),
    (9, Opcode.PTRTOINT),
    (10, Opcode.INTTOPTR),
    (11, Opcode.BITCAST),
    (12, Opcode.ADDRSPACECAST),
    (13, Opcode.PTRTOADDR),
):
    _CAST_OF[_code] = _opcode


@no_refcount
def declare(text: Text, s: Cells, c: Cells, h: Cells, record: int) -> None:
    """Give the next number to the constant of a record, which is made when all are declared."""
    noinline()
    row = record * R_WIDTH
    code = c[row + R_CODE]
    if code == blocks.CONSTANT_TYPE:
        go_to(c, h, record)
        h[CONSTANT_TYPE] = a_type(c, h)
        return
    if code == blocks.CONSTANT_STRING or code == blocks.CONSTANT_CSTRING or code == WIDE_TEXT:
        c[row + R_FIRST] = symbol_of(text, s, c[row + R_FIRST])
    elif code == blocks.CONSTANT_ASSEMBLY:
        first = c[row + R_FIRST]
        c[first + 2] = symbol_of(text, s, c[first + 2])
        c[first + 3] = symbol_of(text, s, c[first + 3])
    define(h, UNMADE, h[CONSTANT_TYPE])
    if not h[FAULT]:
        h[h[VALUE_RECORDS] + h[N_VALUES] - 1] = record


@no_refcount
def inner(c: Cells, record: int) -> tuple[int, int, int]:
    """Return where the constants within a constant lie: the first place, the end, the stride."""
    row = record * R_WIDTH
    code, first, end = c[row + R_CODE], c[row + R_FIRST], c[row + R_END]
    if code == blocks.CONSTANT_AGGREGATE:
        return first, end, 1
    if code == blocks.CONSTANT_BINARY:
        return first + 1, min(end, first + 3), 1
    if code == blocks.CONSTANT_CAST:
        return first + 2, min(end, first + 3), 1
    if code == blocks.CONSTANT_ADDRESS:
        return first + 3, end, 2
    if code == blocks.CONSTANT_RANGED_ADDRESS:
        return min(first + 4 + range_size(c, first + 2, end), end), end, 2
    if code == blocks.CONSTANT_EXTRACT:
        return first + 1, end, 2
    if code == blocks.CONSTANT_SHUFFLE_TO:
        return first + 1, end, 1
    if (
        code == blocks.CONSTANT_INSERT
        or code == blocks.CONSTANT_SHUFFLE
        or code == blocks.CONSTANT_SIGNED
        or code == blocks.CONSTANT_OLD_SIGNED
    ):
        return first, end, 1
    return first, first, 1


@no_refcount
def range_size(c: Cells, place: int, end: int) -> int:
    """Return how many operands follow the width at `place`: two bounds, wide ones by the word."""
    if place + 1 >= end or c[place] <= 64:
        return 2
    both = c[place + 1]
    return 1 + max((both & 0xFFFFFFFF) + (both >> 32), 0)


@no_refcount
def is_type(c: Cells, record: int, place: int) -> bool:
    """Return whether a place that `inner` spans is a type: the index's, of an insertelement."""
    row = record * R_WIDTH
    return c[row + R_CODE] == blocks.CONSTANT_INSERT and place == c[row + R_FIRST] + 2


@no_refcount
def wait_for_inner(c: Cells, h: Cells, record: int) -> None:
    """Put the constants within a constant that are not yet made on the list of those to make."""
    first, end, stride = inner(c, record)
    for place in range(first, end, stride):
        if is_type(c, record, place):
            continue
        number = c[place]
        if number < 0 or number >= h[N_VALUES] or h[h[VALUES] + number] == WAITED:
            h[FAULT] = 1  # not there, or within itself
            return
        if h[h[VALUES] + number] == UNMADE:
            h[h[WAITING] + h[N_WAITING]] = number
            h[N_WAITING] += 1


@no_refcount
def push_inner(c: Cells, h: Cells, m: Cells, record: int) -> None:
    """Push the constants within a constant, all made."""
    first, end, stride = inner(c, record)
    for place in range(first, end, stride):
        if not is_type(c, record, place):
            push(m, h[h[VALUES] + c[place]])


@no_refcount
def aggregate(c: Cells, h: Cells, m: Cells, record: int, type_id: int) -> int:
    """Return an array, struct or vector; a vector of one number over and over is a splat."""
    noinline()
    base = m[TOP]
    push_inner(c, h, m, record)
    return collected(h, m, type_id, base)


@no_refcount
def collected(h: Cells, m: Cells, type_id: int, base: int) -> int:
    """Return the aggregate of the constants on the stack from `base` on."""
    row = m[TYPES] + type_id * T_WIDTH
    count = m[row + T_COUNT] if m[row + T_KIND] == T_STRUCT else m[row + T_BITS]
    if m[TOP] - base != count:
        h[FAULT] = 1
    first = m[m[STACK] + base]
    is_splat = m[TOP] > base and kind_of(m, type_id) == T_VECTOR
    is_splat = is_splat and first >= TAG_CONSTANT and first <= TAG_CONSTANT + TAG_MASK
    if is_splat:
        kind = m[m[CONSTANTS] + (first & TAG_MASK) * C_WIDTH + C_KIND]
        is_splat = kind == INT or kind == FLOAT
        for i in range(base, m[TOP]):
            is_splat = is_splat and m[m[STACK] + i] == first
    if is_splat:
        m[TOP] = base + 1
    return intern_constant(m, SPLAT if is_splat else AGGREGATE, 0, 0, type_id, -1, 0, base)


@no_refcount
def number_or_splat(h: Cells, m: Cells, type_id: int, bits: int) -> int:
    """Return the number of this type whose bits are these; of a vector's type, a splat of it."""
    noinline()
    if kind_of(m, type_id) != T_VECTOR:
        return number_constant(h, m, type_id, bits)
    base = m[TOP]
    push(m, number_constant(h, m, element_of(m, type_id), bits))
    return intern_constant(m, SPLAT, 0, 0, type_id, -1, 0, base)


@no_refcount
def data(c: Cells, h: Cells, m: Cells, type_id: int) -> int:
    """Return an array or vector whose elements' bits are the operands."""
    noinline()
    kind, base = kind_of(m, type_id), m[TOP]
    if kind != T_ARRAY and kind != T_VECTOR:
        h[FAULT] = 1
        return TAG_CONSTANT
    element = element_of(m, type_id)
    while left(h) > 0 and not h[FAULT]:
        push(m, number_constant(h, m, element, item(c, h)))
    return collected(h, m, type_id, base)


@no_refcount
def address_flags(number: int) -> int:
    """Return the flags of a getelementptr as LLVM prints them: `inbounds` implies `nusw`."""
    flags = INBOUNDS if number & 1 else NUSW if number & 2 else 0
    return flags | (NUW if number & 4 else 0)


@no_refcount
def expression(c: Cells, h: Cells, m: Cells, record: int, code: int, type_id: int) -> int:
    """Return an operation on constants."""
    noinline()
    base, opcode, flags, about = m[TOP], -1, 0, -1
    if code == blocks.CONSTANT_BINARY:
        number = item(c, h)
        opcode = _BINARY_OF[number] if 0 <= number < 16 else -1
        item(c, h)
        item(c, h)
        bits = optional(c, h)
        flags = (NUW if bits & 1 else 0) | (NSW if bits & 2 else 0)
    elif code == blocks.CONSTANT_CAST:
        number = item(c, h)
        opcode = _CAST_OF[number] if 0 <= number < 16 else -1
        item(c, h)
        item(c, h)
        if left(h) > 0 and item(c, h):  # flags that no constant has
            opcode = -1
    elif code == blocks.CONSTANT_EXTRACT:
        opcode = EXTRACT if left(h) == 4 else -1
    elif code == blocks.CONSTANT_INSERT:
        opcode = INSERT if left(h) == 4 else -1
    elif code == blocks.CONSTANT_SHUFFLE or code == blocks.CONSTANT_SHUFFLE_TO:
        opcode = SHUFFLE if left(h) == (3 if code == blocks.CONSTANT_SHUFFLE else 4) else -1
    else:
        opcode, about = GEP, a_type(c, h)
        flags = address_flags(item(c, h))
        if code == blocks.CONSTANT_RANGED_ADDRESS:
            for _ in range(1 + range_size(c, h[AT], h[END])):
                item(c, h)
        if left(h) < 2 or left(h) & 1:
            h[FAULT] = 1
    if h[FAULT]:
        return TAG_CONSTANT
    push_inner(c, h, m, record)
    if opcode < 0:
        h[N_UNKNOWN] += 1
        notice(m, CONSTANT_TEXT - code)
        return intern_constant(m, UNKNOWN_CONSTANT, 0, 0, type_id, -1, CONSTANT_TEXT - code, base)
    if opcode == SHUFFLE:
        element = splat_element(m, base)
        if element >= 0:
            m[TOP] = base
            push(m, element)
            return intern_constant(m, SPLAT, 0, 0, type_id, -1, 0, base)
    return intern_constant(m, EXPRESSION, opcode, flags, type_id, about, 0, base)


@no_refcount
def constant_row(m: Cells, tagged: int) -> int:
    """Return the row of a constant, -1 of another value."""
    if tagged < TAG_CONSTANT or tagged > TAG_CONSTANT + TAG_MASK:
        return -1
    return m[CONSTANTS] + (tagged & TAG_MASK) * C_WIDTH


@no_refcount
def splat_element(m: Cells, base: int) -> int:
    """Return the number that a shufflevector repeats, -1 if it is no splat.

    A scalable vector of one number is written `shufflevector (insertelement (poison, X, 0), poison,
    zeroinitializer)`; its operands are the stack from `base` on.
    """
    noinline()
    whole, mask = constant_row(m, m[m[STACK] + base]), constant_row(m, m[m[STACK] + base + 2])
    if whole < 0 or mask < 0 or m[mask + C_KIND] != ZERO:
        return -1
    if m[whole + C_KIND] != EXPRESSION or m[whole + C_OPCODE] != INSERT:
        return -1
    first = m[CONSTANT_OPERANDS] + m[whole + C_FIRST]
    index, element = constant_row(m, m[first + 2]), constant_row(m, m[first + 1])
    if index < 0 or m[index + C_KIND] != INT or m[index + C_PAYLOAD] != 0 or element < 0:
        return -1
    is_number = m[element + C_KIND] == INT or m[element + C_KIND] == FLOAT
    return m[first + 1] if is_number else -1


@no_refcount
def a_global(c: Cells, h: Cells) -> int:
    """Return the number of the global that the next operand names."""
    number = item(c, h)
    if number < 0 or number >= h[N_GLOBALS]:
        h[FAULT] = 1
        return 0
    return number


@no_refcount
def block_address(c: Cells, h: Cells, m: Cells, type_id: int) -> int:
    """Return the address of a block."""
    noinline()
    base = m[TOP]
    a_type(c, h)
    number = a_global(c, h)
    block = item(c, h)
    function = m[m[GLOBALS] + h[h[GLOBAL_ROW] + number] * G_WIDTH + G_FUNCTION]
    if h[FAULT] or function < 0:
        h[FAULT] = 1
        return TAG_CONSTANT
    first = h[h[FIRST_BLOCKS] + function]
    if block < 0 or block >= h[h[FIRST_BLOCKS] + function + 1] - first:
        h[FAULT] = 1
    push(m, h[h[VALUES] + number])
    push(m, TAG_BLOCK + first + block)
    return intern_constant(m, BLOCK_ADDRESS, 0, 0, type_id, -1, 0, base)


@no_refcount
def wrapped(c: Cells, h: Cells, m: Cells, code: int, type_id: int) -> int:
    """Return `dso_local_equivalent @f` or `no_cfi @f`."""
    noinline()
    base = m[TOP]
    a_type(c, h)
    push(m, h[h[VALUES] + a_global(c, h)])
    word = W_NO_CFI if code == blocks.CONSTANT_NO_CFI else W_EQUIVALENT
    return intern_constant(m, WRAPPED, 0, 0, type_id, -1, word, base)


@no_refcount
def signed_pointer(c: Cells, h: Cells, m: Cells, record: int, type_id: int) -> int:
    """Return `ptrauth (pointer, key, discriminator, address, symbol)` without zeros at the end."""
    noinline()
    base = m[TOP]
    push_inner(c, h, m, record)
    if m[TOP] - base < 4:
        h[FAULT] = 1
        return TAG_CONSTANT
    while m[TOP] - base > 2:
        row = constant_row(m, m[m[STACK] + m[TOP] - 1])
        if row < 0 or (m[row + C_KIND] != NULL and m[row + C_KIND] != INT) or m[row + C_PAYLOAD]:
            break
        m[TOP] -= 1
    return intern_constant(m, WRAPPED, 0, 0, type_id, -1, W_SIGNED, base)


@no_refcount
def leaf(c: Cells, h: Cells, m: Cells, record: int, code: int, type_id: int) -> int:
    """Return a constant that holds no other."""
    noinline()
    symbol = c[record * R_WIDTH + R_FIRST]
    if code == blocks.CONSTANT_NULL:
        return null(h, m, type_id)
    if code == blocks.CONSTANT_UNDEF:
        return plain_constant(m, UNDEF, type_id, 0)
    if code == blocks.CONSTANT_POISON:
        return plain_constant(m, POISON, type_id, 0)
    if code == blocks.CONSTANT_INTEGER:
        return number_or_splat(h, m, type_id, signed(item(c, h)))
    if code == blocks.CONSTANT_FLOAT:
        return number_or_splat(h, m, type_id, item(c, h))
    if code == WIDE_TEXT:
        kind = FLOAT if kind_of(m, type_id) == T_FLOAT else INT
        return intern_constant(m, kind, 0, WIDE, type_id, -1, symbol, m[TOP])
    if code == blocks.CONSTANT_STRING or code == blocks.CONSTANT_CSTRING:
        if kind_of(m, type_id) != T_ARRAY or bits_of(m, element_of(m, type_id)) != 8:
            h[FAULT] = 1
        return plain_constant(m, STRING, type_id, symbol)
    if code == blocks.CONSTANT_DATA:
        return data(c, h, m, type_id)
    if code == blocks.CONSTANT_BLOCK:
        return block_address(c, h, m, type_id)
    if code == blocks.CONSTANT_EQUIVALENT or code == blocks.CONSTANT_NO_CFI:
        return wrapped(c, h, m, code, type_id)
    if code == blocks.CONSTANT_ASSEMBLY:
        flags = SIDE_EFFECT if c[symbol + 1] & 1 else 0
        words = c[symbol + 2], c[symbol + 3]
        return intern_constant(m, ASSEMBLY, 0, flags, PTR, words[1], words[0], m[TOP])
    h[FAULT] = 1
    return TAG_CONSTANT


@no_refcount
def make(c: Cells, h: Cells, m: Cells, number: int) -> None:
    """Make a constant whose inner ones are made."""
    noinline()
    record, type_id = h[h[VALUE_RECORDS] + number], h[h[VALUE_TYPES] + number]
    code = c[record * R_WIDTH + R_CODE]
    go_to(c, h, record)
    made = TAG_CONSTANT
    if code == blocks.CONSTANT_AGGREGATE:
        made = aggregate(c, h, m, record, type_id)
    elif code == blocks.CONSTANT_SIGNED or code == blocks.CONSTANT_OLD_SIGNED:
        made = signed_pointer(c, h, m, record, type_id)
    elif (
        code == blocks.CONSTANT_BINARY
        or code == blocks.CONSTANT_CAST
        or code == blocks.CONSTANT_ADDRESS
        or code == blocks.CONSTANT_RANGED_ADDRESS
        or blocks.CONSTANT_EXTRACT <= code <= blocks.CONSTANT_SHUFFLE
        or code == blocks.CONSTANT_SHUFFLE_TO
    ):
        made = expression(c, h, m, record, code, type_id)
    else:
        made = leaf(c, h, m, record, code, type_id)
    h[h[VALUES] + number] = made


@no_refcount
def make_all(c: Cells, h: Cells, m: Cells) -> None:
    """Make the constants of the block that ends here."""
    noinline()
    for number in range(h[FIRST_CONSTANT], h[N_VALUES]):
        if h[h[VALUES] + number] != UNMADE:
            continue
        h[h[WAITING]], h[N_WAITING] = number, 1
        while h[N_WAITING] > 0 and not h[FAULT]:
            top = h[h[WAITING] + h[N_WAITING] - 1]
            state = h[h[VALUES] + top]
            if state == UNMADE:
                h[h[VALUES] + top] = WAITED
                wait_for_inner(c, h, h[h[VALUE_RECORDS] + top])
                continue
            if state == WAITED:
                make(c, h, m, top)
            h[N_WAITING] -= 1
        if h[FAULT]:
            return
