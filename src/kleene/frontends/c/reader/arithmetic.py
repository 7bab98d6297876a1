"""Arithmetic, conversions and comparisons."""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader import bitcodes
from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.constants import T_FLOAT, T_VECTOR, element_of, kind_of
from kleene.frontends.c.reader.cursor import (
    a_type,
    add,
    fast_math,
    item,
    optional,
    relative,
    typed,
)
from kleene.frontends.c.reader.state import LAST_TYPE, UNKNOWN
from kleene.frontends.c.reader.tables import (
    I1,
    I_FLAGS,
    I_OPCODE,
    I_SUB,
    I_TYPE,
)
from kleene.frontends.c.reader.types import vector_like
from kleene.ir.codes import Flag, Opcode, Predicate

ICMP, FCMP = int(Opcode.ICMP), int(Opcode.FCMP)
FADD, FREM, OR = int(Opcode.FADD), int(Opcode.FREM), int(Opcode.OR)
FPTRUNC, FPEXT = int(Opcode.FPTRUNC), int(Opcode.FPEXT)
TRUNC, ZEXT, UITOFP = int(Opcode.TRUNC), int(Opcode.ZEXT), int(Opcode.UITOFP)
NUW, NSW, EXACT = int(Flag.NUW), int(Flag.NSW), int(Flag.EXACT)
DISJOINT, NNEG, SAMESIGN = int(Flag.DISJOINT), int(Flag.NNEG), int(Flag.SAMESIGN)
_INTEGER_OF = np.array(
    [
        Opcode.ADD,
        Opcode.SUB,
        Opcode.MUL,
        Opcode.UDIV,
        Opcode.SDIV,
        Opcode.UREM,
        Opcode.SREM,
        Opcode.SHL,
        Opcode.LSHR,
        Opcode.ASHR,
        Opcode.AND,
        Opcode.OR,
        Opcode.XOR,
    ],
    np.int64,
)
_REAL_OF = np.full(13, -1, np.int64)
for _code, _opcode in (
    (0, Opcode.FADD),
    (1, Opcode.FSUB),
    (2, Opcode.FMUL),
    (4, Opcode.FDIV),
    (6, Opcode.FREM),
):
    _REAL_OF[_code] = _opcode
_WRAPS, _DIVIDES = np.zeros(64, np.bool_), np.zeros(64, np.bool_)
_WRAPS[[Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.SHL]] = True
_DIVIDES[[Opcode.UDIV, Opcode.SDIV, Opcode.LSHR, Opcode.ASHR]] = True
_CAST_OF = np.array(
    [
        Opcode.TRUNC,
        Opcode.ZEXT,
        Opcode.SEXT,
        Opcode.FPTOUI,
        Opcode.FPTOSI,
        Opcode.UITOFP,
        Opcode.SITOFP,
        Opcode.FPTRUNC,
        Opcode.FPEXT,
        Opcode.PTRTOINT,
        Opcode.INTTOPTR,
        Opcode.BITCAST,
        Opcode.ADDRSPACECAST,
        Opcode.PTRTOADDR,
    ],
    np.int64,
)
_PREDICATE_OF = np.array(
    [
        Predicate.EQ,
        Predicate.NE,
        Predicate.UGT,
        Predicate.UGE,
        Predicate.ULT,
        Predicate.ULE,
        Predicate.SGT,
        Predicate.SGE,
        Predicate.SLT,
        Predicate.SLE,
    ],
    np.int64,
)


@no_refcount
def is_real(m: Cells, type_id: int) -> bool:
    """Return whether this is a real type or a vector of one."""
    if kind_of(m, type_id) == T_VECTOR:
        type_id = element_of(m, type_id)
    return kind_of(m, type_id) == T_FLOAT


@no_refcount
def bit(number: int, place: int, flag: int) -> int:
    """Return the flag if the bit is set."""
    return flag if (number >> place) & 1 else 0


@no_refcount
def binary(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read an operation on two values."""
    noinline()
    add(m, typed(c, h))
    type_id = h[LAST_TYPE]
    add(m, relative(c, h))
    m[row + I_TYPE] = type_id
    code, flags = item(c, h), optional(c, h)
    if code < 0 or code >= len(_INTEGER_OF):
        h[UNKNOWN] = 1
        return
    opcode = _REAL_OF[code] if is_real(m, type_id) else _INTEGER_OF[code]
    if opcode < 0:
        h[UNKNOWN] = 1
        return
    m[row + I_OPCODE] = opcode
    if FADD <= opcode <= FREM:
        m[row + I_FLAGS] = fast_math(flags)
    elif _WRAPS[opcode]:
        m[row + I_FLAGS] = bit(flags, 0, NUW) | bit(flags, 1, NSW)
    elif _DIVIDES[opcode]:
        m[row + I_FLAGS] = bit(flags, 0, EXACT)
    elif opcode == OR:
        m[row + I_FLAGS] = bit(flags, 0, DISJOINT)


@no_refcount
def cast(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a conversion."""
    noinline()
    add(m, typed(c, h))
    m[row + I_TYPE] = a_type(c, h)
    code, flags = item(c, h), optional(c, h)
    if code < 0 or code >= len(_CAST_OF):
        h[UNKNOWN] = 1
        return
    opcode = _CAST_OF[code]
    m[row + I_OPCODE] = opcode
    if opcode == TRUNC:
        m[row + I_FLAGS] = bit(flags, 0, NUW) | bit(flags, 1, NSW)
    elif opcode == ZEXT or opcode == UITOFP:
        m[row + I_FLAGS] = bit(flags, 0, NNEG)
        if flags & ~1:
            h[UNKNOWN] = 1
    elif opcode == FPTRUNC or opcode == FPEXT:
        m[row + I_FLAGS] = fast_math(flags)
    elif flags:
        h[UNKNOWN] = 1


@no_refcount
def compare(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a comparison."""
    noinline()
    add(m, typed(c, h))
    type_id = h[LAST_TYPE]
    add(m, relative(c, h))
    predicate, flags = item(c, h), optional(c, h)
    m[row + I_TYPE] = vector_like(m, type_id, I1)
    if is_real(m, type_id):
        m[row + I_OPCODE], m[row + I_SUB] = FCMP, predicate
        m[row + I_FLAGS] = fast_math(flags)
        if predicate < 0 or predicate > 15:
            h[UNKNOWN] = 1
        return
    predicate -= bitcodes.FIRST_ICMP_PREDICATE
    if predicate < 0 or predicate >= len(_PREDICATE_OF):
        h[UNKNOWN] = 1
        return
    m[row + I_OPCODE], m[row + I_SUB] = ICMP, _PREDICATE_OF[predicate]
    m[row + I_FLAGS] = bit(flags, 0, SAMESIGN)
