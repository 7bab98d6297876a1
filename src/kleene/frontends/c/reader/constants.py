"""Constants: declared record by record, then made from the leaves up, each once."""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader import bitcodes, state, tables
from kleene.frontends.c.reader.bitstream import R_CODE, R_END, R_FIRST, R_WIDTH
from kleene.frontends.c.reader.compiled import Cells, Text, device_function, noinline
from kleene.frontends.c.reader.cursor import (
    a_type,
    below,
    define,
    go_to,
    item,
    left,
    notice,
    optional,
    require,
    signed,
)
from kleene.frontends.c.reader.strings import WIDE_TEXT, symbol_of
from kleene.frontends.c.reader.types import intern, push, type_row
from kleene.ir.codes import ConstantKind, Flag, Opcode, TypeKind
from kleene.kernels.bits import wrapped


@device_function
def intern_constant(
    m: Cells, kind: int, opcode: int, flags: int, type_id: int, about: int, payload: int, base: int
) -> int:
    """Return the tagged constant of this content; its operands, the stack from `base`, go."""
    noinline()
    row = m[tables.CONSTANTS] + m[tables.N_CONSTANTS] * tables.C_WIDTH
    m[row + tables.C_KIND], m[row + tables.C_OPCODE], m[row + tables.C_FLAGS] = kind, opcode, flags
    m[row + tables.C_TYPE], m[row + tables.C_ABOUT] = type_id, about
    m[row + tables.C_PAYLOAD] = payload
    return tables.TAG_CONSTANT + intern(
        m, tables.CONSTANTS, tables.N_CONSTANTS, tables.CONSTANT_TABLE, tables.C_WIDTH, base
    )


@device_function
def plain_constant(m: Cells, kind: int, type_id: int, payload: int) -> int:
    """Return the tagged constant that has neither operands nor flags."""
    noinline()
    return intern_constant(m, kind, 0, 0, type_id, -1, payload, m[tables.TOP])


INT, FLOAT, NULL = int(ConstantKind.INT), int(ConstantKind.FLOAT), int(ConstantKind.NULL)
ZERO, NONE = int(ConstantKind.ZERO), int(ConstantKind.NONE)
T_INT, T_FLOAT, T_POINTER = int(TypeKind.INT), int(TypeKind.FLOAT), int(TypeKind.POINTER)
T_ARRAY, T_VECTOR, T_STRUCT = int(TypeKind.ARRAY), int(TypeKind.VECTOR), int(TypeKind.STRUCT)
T_TOKEN, T_OTHER = int(TypeKind.TOKEN), int(TypeKind.OTHER)
FLOAT_TYPE, DOUBLE_TYPE = tables.SIMPLE["float"], tables.SIMPLE["double"]
HALF_TYPE, BFLOAT_TYPE = tables.SIMPLE["half"], tables.SIMPLE["bfloat"]
X86_FP80, FP128, PPC_FP128 = (
    tables.SIMPLE["x86_fp80"],
    tables.SIMPLE["fp128"],
    tables.SIMPLE["ppc_fp128"],
)
WIDE = int(Flag.WIDE)


@device_function
def kind_of(m: Cells, type_id: int) -> int:
    """Return the kind of a type."""
    return m[type_row(m, type_id) + tables.T_KIND]


@device_function
def bits_of(m: Cells, type_id: int) -> int:
    """Return the width or count of a type."""
    return m[type_row(m, type_id) + tables.T_BITS]


@device_function
def element_of(m: Cells, type_id: int) -> int:
    """Return the element of an array or vector."""
    return m[m[tables.ELEMENTS] + m[type_row(m, type_id) + tables.T_FIRST]]


@device_function
def narrowed(number: int, bits: int) -> int:
    """Return the value of an integer of this width, as LLVM prints it: i1 is 0 or 1."""
    if bits == 1:
        return number & 1
    if bits >= 64:
        return number
    shift = 64 - bits
    return wrapped(number << shift) >> shift


@device_function
def double_bits(bits: int, n_exponent: int, n_fraction: int) -> int:
    """Return the bits of the float64 that is this narrower real; the payload of a NaN stays."""
    most, hidden = (1 << n_exponent) - 1, 1 << n_fraction
    sign, fraction = (bits >> (n_exponent + n_fraction)) & 1, bits & (hidden - 1)
    exponent = (bits >> n_fraction) & most
    if exponent == most:
        exponent = 2047
    elif exponent > 0 or fraction:
        if exponent == 0:
            exponent = 1
            while not fraction & hidden:
                fraction <<= 1
                exponent -= 1
            fraction &= hidden - 1
        exponent += 1023 - (most >> 1)
    return wrapped((sign << 63) | (exponent << 52) | (fraction << (52 - n_fraction)))


@device_function
def number_constant(h: Cells, m: Cells, type_id: int, bits: int) -> int:
    """Return the integer or real of this type whose bits are these."""
    if kind_of(m, type_id) == T_INT and bits_of(m, type_id) <= 64:
        return plain_constant(m, INT, type_id, narrowed(bits, bits_of(m, type_id)))
    if type_id == DOUBLE_TYPE:
        return plain_constant(m, FLOAT, type_id, bits)
    if type_id == FLOAT_TYPE:
        return plain_constant(m, FLOAT, type_id, double_bits(bits, 8, 23))
    if type_id == HALF_TYPE:
        return plain_constant(m, FLOAT, type_id, double_bits(bits, 5, 10))
    if type_id == BFLOAT_TYPE:
        return plain_constant(m, FLOAT, type_id, double_bits(bits, 8, 7))
    h[state.FAULT] = 1
    return tables.TAG_CONSTANT


@device_function
def null(h: Cells, m: Cells, type_id: int) -> int:
    """Return the zero of a type."""
    noinline()
    kind = kind_of(m, type_id)
    if kind == T_INT:
        return plain_constant(m, INT, type_id, 0)
    if kind == T_POINTER:
        return plain_constant(m, NULL, type_id, 0)
    if kind == T_TOKEN:
        return plain_constant(m, NONE, type_id, 0)
    if kind == T_ARRAY or kind == T_STRUCT or kind == T_VECTOR or kind == T_OTHER:
        return plain_constant(m, ZERO, type_id, 0)
    if kind == T_FLOAT:
        for place in range(3):
            if type_id == (X86_FP80, FP128, PPC_FP128)[place]:
                zero = h[state.ZERO_TEXTS + place]
                return intern_constant(m, FLOAT, 0, WIDE, type_id, -1, zero, m[tables.TOP])
        return plain_constant(m, FLOAT, type_id, 0)
    h[state.FAULT] = 1
    return tables.TAG_CONSTANT


UNDEF, POISON = int(ConstantKind.UNDEF), int(ConstantKind.POISON)
UNSET_PAYLOAD = 1  # of the poison that stands for `@kleene.unset`
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
DSO_LOCAL_EQUIVALENT, NO_CFI, PTRAUTH = range(len(tables.WRAPPERS))
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


@device_function
def declare(text: Text, s: Cells, c: Cells, h: Cells, record: int) -> None:
    """Give the next number to the constant of a record, which is made when all are declared."""
    noinline()
    row = record * R_WIDTH
    code = c[row + R_CODE]
    if code == bitcodes.CST_SETTYPE:
        go_to(c, h, record)
        h[state.CONSTANT_TYPE] = a_type(c, h)
        return
    if code == bitcodes.CST_STRING or code == bitcodes.CST_CSTRING or code == WIDE_TEXT:
        c[row + R_FIRST] = symbol_of(text, s, c[row + R_FIRST])
    elif code == bitcodes.CST_INLINEASM:
        first = c[row + R_FIRST]
        c[first + 2] = symbol_of(text, s, c[first + 2])
        c[first + 3] = symbol_of(text, s, c[first + 3])
    define(h, UNMADE, h[state.CONSTANT_TYPE])
    if not h[state.FAULT]:
        h[h[state.VALUE_RECORDS] + h[state.N_VALUES] - 1] = record


@device_function
def inner(c: Cells, record: int) -> tuple[int, int, int]:
    """Return where the constants within a constant lie: the first place, the end, the stride."""
    row = record * R_WIDTH
    code, first, end = c[row + R_CODE], c[row + R_FIRST], c[row + R_END]
    if code == bitcodes.CST_AGGREGATE:
        return first, end, 1
    if code == bitcodes.CST_BINOP:
        return first + 1, min(end, first + 3), 1
    if code == bitcodes.CST_CAST:
        return first + 2, min(end, first + 3), 1
    if code == bitcodes.CST_GEP:
        return first + 3, end, 2
    if code == bitcodes.CST_GEP_WITH_INRANGE:
        return min(first + 4 + range_size(c, first + 2, end), end), end, 2
    if code == bitcodes.CST_EXTRACTELT:
        return first + 1, end, 2
    if code == bitcodes.CST_SHUFVEC_EX:
        return first + 1, end, 1
    if (
        code == bitcodes.CST_INSERTELT
        or code == bitcodes.CST_SHUFFLEVEC
        or code == bitcodes.CST_PTRAUTH
        or code == bitcodes.CST_PTRAUTH_OLD
    ):
        return first, end, 1
    return first, first, 1


@device_function
def range_size(c: Cells, place: int, end: int) -> int:
    """Return how many operands follow the width at `place`: two bounds, wide ones by the word."""
    if place + 1 >= end or c[place] <= 64:
        return 2
    both = c[place + 1]
    return 1 + max((both & 0xFFFFFFFF) + (both >> 32), 0)


@device_function
def is_type(c: Cells, record: int, place: int) -> bool:
    """Return whether a place that `inner` spans is a type: the index's, of an insertelement."""
    row = record * R_WIDTH
    return c[row + R_CODE] == bitcodes.CST_INSERTELT and place == c[row + R_FIRST] + 2


@device_function
def wait_for_inner(c: Cells, h: Cells, record: int) -> None:
    """Put the constants within a constant that are not yet made on the list of those to make."""
    first, end, stride = inner(c, record)
    for place in range(first, end, stride):
        if is_type(c, record, place):
            continue
        number = c[place]
        if number < 0 or number >= h[state.N_VALUES] or h[h[state.VALUES] + number] == WAITED:
            h[state.FAULT] = 1  # not there, or within itself
            return
        if h[h[state.VALUES] + number] == UNMADE:
            h[h[state.WAITING] + h[state.N_WAITING]] = number
            h[state.N_WAITING] += 1


@device_function
def push_inner(c: Cells, h: Cells, m: Cells, record: int) -> None:
    """Push the constants within a constant, all made."""
    first, end, stride = inner(c, record)
    for place in range(first, end, stride):
        if not is_type(c, record, place):
            push(m, h[h[state.VALUES] + c[place]])


@device_function
def aggregate(c: Cells, h: Cells, m: Cells, record: int, type_id: int) -> int:
    """Return an array, struct or vector; a vector of one number over and over is a splat."""
    noinline()
    base = m[tables.TOP]
    push_inner(c, h, m, record)
    return collected(h, m, type_id, base)


@device_function
def constant_row(m: Cells, tagged: int) -> int:
    """Return the row of a constant, -1 of another value."""
    if tagged < tables.TAG_CONSTANT or tagged > tables.TAG_CONSTANT + tables.TAG_MASK:
        return -1
    return m[tables.CONSTANTS] + (tagged & tables.TAG_MASK) * tables.C_WIDTH


@device_function
def collected(h: Cells, m: Cells, type_id: int, base: int) -> int:
    """Return the aggregate of the constants on the stack from `base` on."""
    row = type_row(m, type_id)
    count = (
        m[row + tables.T_COUNT] if m[row + tables.T_KIND] == T_STRUCT else m[row + tables.T_BITS]
    )
    require(h, m[tables.TOP] - base == count)
    first = m[m[tables.STACK] + base]
    is_splat = m[tables.TOP] > base and kind_of(m, type_id) == T_VECTOR
    if is_splat:
        row = constant_row(m, first)
        is_splat = row >= 0 and (m[row + tables.C_KIND] == INT or m[row + tables.C_KIND] == FLOAT)
        for i in range(base, m[tables.TOP]):
            is_splat = is_splat and m[m[tables.STACK] + i] == first
    if is_splat:
        m[tables.TOP] = base + 1
    return intern_constant(m, SPLAT if is_splat else AGGREGATE, 0, 0, type_id, -1, 0, base)


@device_function
def number_or_splat(h: Cells, m: Cells, type_id: int, bits: int) -> int:
    """Return the number of this type whose bits are these; of a vector's type, a splat of it."""
    noinline()
    if kind_of(m, type_id) != T_VECTOR:
        return number_constant(h, m, type_id, bits)
    base = m[tables.TOP]
    push(m, number_constant(h, m, element_of(m, type_id), bits))
    return intern_constant(m, SPLAT, 0, 0, type_id, -1, 0, base)


@device_function
def data(c: Cells, h: Cells, m: Cells, type_id: int) -> int:
    """Return an array or vector whose elements' bits are the operands."""
    noinline()
    kind, base = kind_of(m, type_id), m[tables.TOP]
    if kind != T_ARRAY and kind != T_VECTOR:
        h[state.FAULT] = 1
        return tables.TAG_CONSTANT
    element = element_of(m, type_id)
    while left(h) > 0 and not h[state.FAULT]:
        push(m, number_constant(h, m, element, item(c, h)))
    return collected(h, m, type_id, base)


@device_function
def gep_flags(number: int) -> int:
    """Return the flags of a getelementptr as LLVM prints them: `inbounds` implies `nusw`."""
    flags = NUSW if number & bitcodes.GEP_NUSW else 0
    flags = INBOUNDS if number & bitcodes.GEP_INBOUNDS else flags
    return flags | (NUW if number & bitcodes.GEP_NUW else 0)


@device_function
def expression(c: Cells, h: Cells, m: Cells, record: int, code: int, type_id: int) -> int:
    """Return an operation on constants."""
    noinline()
    base, opcode, flags, about = m[tables.TOP], -1, 0, -1
    if code == bitcodes.CST_BINOP:
        number = item(c, h)
        opcode = _BINARY_OF[number] if 0 <= number < 16 else -1
        item(c, h)
        item(c, h)
        bits = optional(c, h)
        flags = (NUW if bits & 1 else 0) | (NSW if bits & 2 else 0)
    elif code == bitcodes.CST_CAST:
        number = item(c, h)
        opcode = _CAST_OF[number] if 0 <= number < 16 else -1
        item(c, h)
        item(c, h)
        if left(h) > 0 and item(c, h):  # flags that no constant has
            opcode = -1
    elif code == bitcodes.CST_EXTRACTELT:
        opcode = EXTRACT if left(h) == 4 else -1
    elif code == bitcodes.CST_INSERTELT:
        opcode = INSERT if left(h) == 4 else -1
    elif code == bitcodes.CST_SHUFFLEVEC or code == bitcodes.CST_SHUFVEC_EX:
        opcode = SHUFFLE if left(h) == (3 if code == bitcodes.CST_SHUFFLEVEC else 4) else -1
    else:
        opcode, about = GEP, a_type(c, h)
        flags = gep_flags(item(c, h))
        if code == bitcodes.CST_GEP_WITH_INRANGE:
            for _ in range(1 + range_size(c, h[state.AT], h[state.END])):
                item(c, h)
        require(h, left(h) >= 2 and left(h) & 1 == 0)
    if h[state.FAULT]:
        return tables.TAG_CONSTANT
    push_inner(c, h, m, record)
    if opcode < 0:
        h[state.N_UNKNOWN] += 1
        notice(m, tables.CONSTANT_TEXT - code)
        return intern_constant(
            m, UNKNOWN_CONSTANT, 0, 0, type_id, -1, tables.CONSTANT_TEXT - code, base
        )
    if opcode == SHUFFLE:
        element = splat_element(m, base)
        if element >= 0:
            m[tables.TOP] = base
            push(m, element)
            return intern_constant(m, SPLAT, 0, 0, type_id, -1, 0, base)
    return intern_constant(m, EXPRESSION, opcode, flags, type_id, about, 0, base)


@device_function
def splat_element(m: Cells, base: int) -> int:
    """Return the number that a shufflevector repeats, -1 if it is no splat.

    A scalable vector of one number is written `shufflevector (insertelement (poison, X, 0), poison,
    zeroinitializer)`; its operands are the stack from `base` on.
    """
    noinline()
    whole = constant_row(m, m[m[tables.STACK] + base])
    mask = constant_row(m, m[m[tables.STACK] + base + 2])
    if whole < 0 or mask < 0 or m[mask + tables.C_KIND] != ZERO:
        return -1
    if m[whole + tables.C_KIND] != EXPRESSION or m[whole + tables.C_OPCODE] != INSERT:
        return -1
    first = m[tables.CONSTANT_OPERANDS] + m[whole + tables.C_FIRST]
    index, element = constant_row(m, m[first + 2]), constant_row(m, m[first + 1])
    if (
        index < 0
        or m[index + tables.C_KIND] != INT
        or m[index + tables.C_PAYLOAD] != 0
        or element < 0
    ):
        return -1
    is_number = m[element + tables.C_KIND] == INT or m[element + tables.C_KIND] == FLOAT
    return m[first + 1] if is_number else -1


@device_function
def a_global(c: Cells, h: Cells) -> int:
    """Return the number of the global that the next operand names."""
    return below(h, item(c, h), h[state.N_GLOBALS])


@device_function
def block_address(c: Cells, h: Cells, m: Cells, type_id: int) -> int:
    """Return the address of a block."""
    noinline()
    base = m[tables.TOP]
    a_type(c, h)
    number = a_global(c, h)
    block = item(c, h)
    function = m[
        m[tables.GLOBALS] + h[h[state.GLOBAL_ROW] + number] * tables.G_WIDTH + tables.G_FUNCTION
    ]
    if h[state.FAULT] or function < 0:
        h[state.FAULT] = 1
        return tables.TAG_CONSTANT
    first = h[h[state.FIRST_BLOCKS] + function]
    block = below(h, block, h[h[state.FIRST_BLOCKS] + function + 1] - first)
    push(m, h[h[state.VALUES] + number])
    push(m, tables.TAG_BLOCK + first + block)
    return intern_constant(m, BLOCK_ADDRESS, 0, 0, type_id, -1, 0, base)


@device_function
def wrapped_global(c: Cells, h: Cells, m: Cells, code: int, type_id: int) -> int:
    """Return `dso_local_equivalent @f` or `no_cfi @f`."""
    noinline()
    base = m[tables.TOP]
    a_type(c, h)
    push(m, h[h[state.VALUES] + a_global(c, h)])
    word = NO_CFI if code == bitcodes.CST_NO_CFI else DSO_LOCAL_EQUIVALENT
    return intern_constant(m, WRAPPED, 0, 0, type_id, -1, word, base)


@device_function
def signed_pointer(c: Cells, h: Cells, m: Cells, record: int, type_id: int) -> int:
    """Return `ptrauth (pointer, key, discriminator, address, symbol)` without zeros at the end."""
    noinline()
    base = m[tables.TOP]
    push_inner(c, h, m, record)
    if m[tables.TOP] - base < 4:
        h[state.FAULT] = 1
        return tables.TAG_CONSTANT
    while m[tables.TOP] - base > 2:
        row = constant_row(m, m[m[tables.STACK] + m[tables.TOP] - 1])
        if (
            row < 0
            or (m[row + tables.C_KIND] != NULL and m[row + tables.C_KIND] != INT)
            or m[row + tables.C_PAYLOAD]
        ):
            break
        m[tables.TOP] -= 1
    return intern_constant(m, WRAPPED, 0, 0, type_id, -1, PTRAUTH, base)


@device_function
def leaf(c: Cells, h: Cells, m: Cells, record: int, code: int, type_id: int) -> int:
    """Return a constant that holds no other."""
    noinline()
    symbol = c[record * R_WIDTH + R_FIRST]
    if code == bitcodes.CST_NULL:
        return null(h, m, type_id)
    if code == bitcodes.CST_UNDEF:
        return plain_constant(m, UNDEF, type_id, 0)
    if code == bitcodes.CST_POISON:
        return plain_constant(m, POISON, type_id, 0)
    if code == bitcodes.CST_INTEGER:
        return number_or_splat(h, m, type_id, signed(item(c, h)))
    if code == bitcodes.CST_FLOAT:
        return number_or_splat(h, m, type_id, item(c, h))
    if code == WIDE_TEXT:
        kind = FLOAT if kind_of(m, type_id) == T_FLOAT else INT
        return intern_constant(m, kind, 0, WIDE, type_id, -1, symbol, m[tables.TOP])
    if code == bitcodes.CST_STRING or code == bitcodes.CST_CSTRING:
        is_array = kind_of(m, type_id) == T_ARRAY
        require(h, is_array and bits_of(m, element_of(m, type_id)) == 8)
        return plain_constant(m, STRING, type_id, symbol)
    if code == bitcodes.CST_DATA:
        return data(c, h, m, type_id)
    if code == bitcodes.CST_BLOCKADDRESS:
        return block_address(c, h, m, type_id)
    if code == bitcodes.CST_DSO_LOCAL_EQUIVALENT or code == bitcodes.CST_NO_CFI:
        return wrapped_global(c, h, m, code, type_id)
    if code == bitcodes.CST_INLINEASM:
        flags = SIDE_EFFECT if c[symbol + 1] & 1 else 0
        words = c[symbol + 2], c[symbol + 3]
        return intern_constant(m, ASSEMBLY, 0, flags, tables.PTR, words[1], words[0], m[tables.TOP])
    h[state.FAULT] = 1
    return tables.TAG_CONSTANT


@device_function
def make(c: Cells, h: Cells, m: Cells, number: int) -> None:
    """Make a constant whose inner ones are made."""
    noinline()
    record, type_id = h[h[state.VALUE_RECORDS] + number], h[h[state.VALUE_TYPES] + number]
    code = c[record * R_WIDTH + R_CODE]
    go_to(c, h, record)
    made = tables.TAG_CONSTANT
    if code == bitcodes.CST_AGGREGATE:
        made = aggregate(c, h, m, record, type_id)
    elif code == bitcodes.CST_PTRAUTH or code == bitcodes.CST_PTRAUTH_OLD:
        made = signed_pointer(c, h, m, record, type_id)
    elif (
        code == bitcodes.CST_BINOP
        or code == bitcodes.CST_CAST
        or code == bitcodes.CST_GEP
        or code == bitcodes.CST_GEP_WITH_INRANGE
        or bitcodes.CST_EXTRACTELT <= code <= bitcodes.CST_SHUFFLEVEC
        or code == bitcodes.CST_SHUFVEC_EX
    ):
        made = expression(c, h, m, record, code, type_id)
    else:
        made = leaf(c, h, m, record, code, type_id)
    h[h[state.VALUES] + number] = made


@device_function
def make_all(c: Cells, h: Cells, m: Cells) -> None:
    """Make the constants of the block that ends here."""
    noinline()
    for number in range(h[state.FIRST_CONSTANT], h[state.N_VALUES]):
        if h[h[state.VALUES] + number] != UNMADE:
            continue
        h[h[state.WAITING]], h[state.N_WAITING] = number, 1
        while h[state.N_WAITING] > 0 and not h[state.FAULT]:
            top = h[h[state.WAITING] + h[state.N_WAITING] - 1]
            status = h[h[state.VALUES] + top]
            if status == UNMADE:
                h[h[state.VALUES] + top] = WAITED
                wait_for_inner(c, h, h[h[state.VALUE_RECORDS] + top])
                continue
            if status == WAITED:
                make(c, h, m, top)
            h[state.N_WAITING] -= 1
        if h[state.FAULT]:
            return
