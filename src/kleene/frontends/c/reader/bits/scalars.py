"""Types looked up, and the constants that are numbers or zeros."""

from __future__ import annotations

from kleene.frontends.c.reader.bits.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.bits.state import (
    FAULT,
    ZERO_TEXTS,
)
from kleene.frontends.c.reader.interned import intern_constant, plain_constant
from kleene.frontends.c.reader.state import (
    ELEMENTS,
    SIMPLE,
    T_BITS,
    T_FIRST,
    T_KIND,
    T_WIDTH,
    TAG_CONSTANT,
    TOP,
    TYPES,
)
from kleene.ir.codes import ConstantKind, Flag, TypeKind

INT, FLOAT, NULL = int(ConstantKind.INT), int(ConstantKind.FLOAT), int(ConstantKind.NULL)
ZERO, NONE = int(ConstantKind.ZERO), int(ConstantKind.NONE)
T_INT, T_FLOAT, T_POINTER = int(TypeKind.INT), int(TypeKind.FLOAT), int(TypeKind.POINTER)
T_ARRAY, T_VECTOR, T_STRUCT = int(TypeKind.ARRAY), int(TypeKind.VECTOR), int(TypeKind.STRUCT)
T_TOKEN, T_OTHER = int(TypeKind.TOKEN), int(TypeKind.OTHER)
FLOAT_TYPE, DOUBLE_TYPE = SIMPLE["float"], SIMPLE["double"]
HALF_TYPE, BFLOAT_TYPE = SIMPLE["half"], SIMPLE["bfloat"]
X86_FP80, FP128, PPC_FP128 = SIMPLE["x86_fp80"], SIMPLE["fp128"], SIMPLE["ppc_fp128"]
WIDE = int(Flag.WIDE)


@no_refcount
def kind_of(m: Cells, type_id: int) -> int:
    """Return the kind of a type."""
    return m[m[TYPES] + type_id * T_WIDTH + T_KIND]


@no_refcount
def bits_of(m: Cells, type_id: int) -> int:
    """Return the width or count of a type."""
    return m[m[TYPES] + type_id * T_WIDTH + T_BITS]


@no_refcount
def element_of(m: Cells, type_id: int) -> int:
    """Return the element of an array or vector."""
    return m[m[ELEMENTS] + m[m[TYPES] + type_id * T_WIDTH + T_FIRST]]


@no_refcount
def narrowed(number: int, bits: int) -> int:
    """Return the value of an integer of this width, as LLVM prints it: i1 is 0 or 1."""
    if bits == 1:
        return number & 1
    if bits >= 64:
        return number
    shift = 64 - bits
    return (number << shift) >> shift


@no_refcount
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
    return (sign << 63) | (exponent << 52) | (fraction << (52 - n_fraction))


@no_refcount
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
    h[FAULT] = 1
    return TAG_CONSTANT


@no_refcount
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
                zero = h[ZERO_TEXTS + place]
                return intern_constant(m, FLOAT, 0, WIDE, type_id, -1, zero, m[TOP])
        return plain_constant(m, FLOAT, type_id, 0)
    h[FAULT] = 1
    return TAG_CONSTANT
