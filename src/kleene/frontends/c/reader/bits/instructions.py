"""Instructions: one record becomes one row and its operands, as the text reader would make them."""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader.bits import blocks
from kleene.frontends.c.reader.bits.calls import call
from kleene.frontends.c.reader.bits.compiled import Cells, apart, step
from kleene.frontends.c.reader.bits.constants import (
    AGGREGATE,
    INT,
    SPLAT,
    T_FLOAT,
    T_VECTOR,
    UNDEF,
    address_flags,
    bits_of,
    element_of,
    kind_of,
)
from kleene.frontends.c.reader.bits.cursor import (
    a_type,
    block,
    item,
    left,
    optional,
    relative,
    signed,
    typed,
    value,
)
from kleene.frontends.c.reader.bits.memory import memory
from kleene.frontends.c.reader.bits.rows import add, fast_math
from kleene.frontends.c.reader.bits.state import FAULT, LAST_TYPE, N_VALUES
from kleene.frontends.c.reader.interned import intern_constant, plain_constant
from kleene.frontends.c.reader.state import (
    C_COUNT,
    C_FIRST,
    C_KIND,
    C_WIDTH,
    CONSTANT_OPERANDS,
    CONSTANTS,
    ERROR,
    I_ABOUT,
    I_FLAGS,
    I_OPCODE,
    I_SUB,
    I_TYPE,
    TAG_CONSTANT,
    TAG_MASK,
    TOP,
)
from kleene.frontends.c.reader.types import (
    I1,
    I32,
    TOKEN,
    element_type,
    push,
    vector_like,
)
from kleene.ir.codes import Flag, Opcode, Predicate, TypeKind

RET, BR, SWITCH = int(Opcode.RET), int(Opcode.BR), int(Opcode.SWITCH)
INDIRECTBR, RESUME = int(Opcode.INDIRECTBR), int(Opcode.RESUME)
UNREACHABLE, FNEG, PHI = int(Opcode.UNREACHABLE), int(Opcode.FNEG), int(Opcode.PHI)
GEP, ICMP, FCMP = int(Opcode.GETELEMENTPTR), int(Opcode.ICMP), int(Opcode.FCMP)
SELECT, VA_ARG, FREEZE = int(Opcode.SELECT), int(Opcode.VA_ARG), int(Opcode.FREEZE)
LANDINGPAD, CLEANUPPAD = int(Opcode.LANDINGPAD), int(Opcode.CLEANUPPAD)
CATCHPAD, CATCHSWITCH = int(Opcode.CATCHPAD), int(Opcode.CATCHSWITCH)
CLEANUPRET, CATCHRET = int(Opcode.CLEANUPRET), int(Opcode.CATCHRET)
EXTRACTVALUE, INSERTVALUE = int(Opcode.EXTRACTVALUE), int(Opcode.INSERTVALUE)
EXTRACTELEMENT, INSERTELEMENT = int(Opcode.EXTRACTELEMENT), int(Opcode.INSERTELEMENT)
SHUFFLEVECTOR = int(Opcode.SHUFFLEVECTOR)
FADD, FREM, OR = int(Opcode.FADD), int(Opcode.FREM), int(Opcode.OR)
FPTRUNC, FPEXT = int(Opcode.FPTRUNC), int(Opcode.FPEXT)
TRUNC, ZEXT, UITOFP = int(Opcode.TRUNC), int(Opcode.ZEXT), int(Opcode.UITOFP)
NUW, NSW, EXACT = int(Flag.NUW), int(Flag.NSW), int(Flag.EXACT)
DISJOINT, NNEG, SAMESIGN = int(Flag.DISJOINT), int(Flag.NNEG), int(Flag.SAMESIGN)
CLEANUP, UNWINDS = int(Flag.CLEANUP), int(Flag.UNWINDS)
T_ARRAY = int(TypeKind.ARRAY)
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
_FIRST_INTEGER_PREDICATE = 32
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


@step
def is_real(m: Cells, type_id: int) -> bool:
    """Return whether this is a real type or a vector of one."""
    if kind_of(m, type_id) == T_VECTOR:
        type_id = element_of(m, type_id)
    return kind_of(m, type_id) == T_FLOAT


@step
def bit(number: int, place: int, flag: int) -> int:
    """Return the flag if the bit is set."""
    return flag if (number >> place) & 1 else 0


@step
def binary(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read an operation on two values."""
    apart()
    add(m, typed(c, h))
    type_id = h[LAST_TYPE]
    add(m, relative(c, h))
    code, flags = item(c, h), optional(c, h)
    if code < 0 or code >= len(_INTEGER_OF):
        h[FAULT] = 1
        return
    opcode = _REAL_OF[code] if is_real(m, type_id) else _INTEGER_OF[code]
    if opcode < 0:
        h[FAULT] = 1
        return
    m[row + I_OPCODE], m[row + I_TYPE] = opcode, type_id
    if FADD <= opcode <= FREM:
        m[row + I_FLAGS] = fast_math(flags)
    elif _WRAPS[opcode]:
        m[row + I_FLAGS] = bit(flags, 0, NUW) | bit(flags, 1, NSW)
    elif _DIVIDES[opcode]:
        m[row + I_FLAGS] = bit(flags, 0, EXACT)
    elif opcode == OR:
        m[row + I_FLAGS] = bit(flags, 0, DISJOINT)


@step
def cast(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a conversion."""
    apart()
    add(m, typed(c, h))
    m[row + I_TYPE] = a_type(c, h)
    code, flags = item(c, h), optional(c, h)
    if code < 0 or code >= len(_CAST_OF):
        h[FAULT] = 1
        return
    opcode = _CAST_OF[code]
    m[row + I_OPCODE] = opcode
    if opcode == TRUNC:
        m[row + I_FLAGS] = bit(flags, 0, NUW) | bit(flags, 1, NSW)
    elif opcode == ZEXT or opcode == UITOFP:
        m[row + I_FLAGS] = bit(flags, 0, NNEG)
        if flags & ~1:
            h[FAULT] = 1
    elif opcode == FPTRUNC or opcode == FPEXT:
        m[row + I_FLAGS] = fast_math(flags)
    elif flags:
        h[FAULT] = 1


@step
def compare(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a comparison."""
    apart()
    add(m, typed(c, h))
    type_id = h[LAST_TYPE]
    add(m, relative(c, h))
    predicate, flags = item(c, h), optional(c, h)
    m[row + I_TYPE] = vector_like(m, type_id, I1)
    if is_real(m, type_id):
        m[row + I_OPCODE], m[row + I_SUB] = FCMP, predicate
        m[row + I_FLAGS] = fast_math(flags)
        if predicate < 0 or predicate > 15:
            h[FAULT] = 1
        return
    predicate -= _FIRST_INTEGER_PREDICATE
    if predicate < 0 or predicate >= len(_PREDICATE_OF):
        h[FAULT] = 1
        return
    m[row + I_OPCODE], m[row + I_SUB] = ICMP, _PREDICATE_OF[predicate]
    m[row + I_FLAGS] = bit(flags, 0, SAMESIGN)


@step
def address(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a getelementptr."""
    apart()
    m[row + I_OPCODE] = GEP
    m[row + I_FLAGS] = address_flags(item(c, h))
    m[row + I_ABOUT] = a_type(c, h)
    add(m, typed(c, h))
    result = h[LAST_TYPE]
    while left(h) > 0 and not h[FAULT]:
        add(m, typed(c, h))
        if kind_of(m, result) != T_VECTOR:
            result = vector_like(m, h[LAST_TYPE], result)
    m[row + I_TYPE] = result


@step
def phi(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a phi: values, counted back or forth, and blocks; flags make the number odd."""
    apart()
    m[row + I_OPCODE], m[row + I_TYPE] = PHI, a_type(c, h)
    while left(h) >= 2 and not h[FAULT]:
        add(m, value(h, h[N_VALUES] - signed(item(c, h))))
        add(m, block(h, item(c, h)))
    if left(h) > 0:
        m[row + I_FLAGS] = fast_math(item(c, h))


@step
def choose(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a select: both values, then the condition, which comes first in the text."""
    apart()
    left_value = typed(c, h)
    m[row + I_OPCODE], m[row + I_TYPE] = SELECT, h[LAST_TYPE]
    right_value = relative(c, h)
    add(m, typed(c, h))
    add(m, left_value)
    add(m, right_value)
    m[row + I_FLAGS] = fast_math(optional(c, h))


@step
def branch(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a br: [target] or [then, else, condition]."""
    apart()
    m[row + I_OPCODE] = BR
    if left(h) == 1:
        add(m, block(h, item(c, h)))
        return
    then, other = block(h, item(c, h)), block(h, item(c, h))
    add(m, relative(c, h))
    add(m, then)
    add(m, other)


@step
def many_ways(c: Cells, h: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read a switch or an indirectbr; the values of cases are not counted back."""
    apart()
    m[row + I_OPCODE] = opcode
    a_type(c, h)
    add(m, relative(c, h))
    if opcode == SWITCH:
        add(m, block(h, item(c, h)))
    while left(h) > 0 and not h[FAULT]:
        if opcode == SWITCH:
            case = item(c, h)
            if case >= h[N_VALUES]:
                h[FAULT] = 1
            add(m, value(h, case))
        add(m, block(h, item(c, h)))


@step
def aggregate(c: Cells, h: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read extractvalue or insertvalue: the indices become constants."""
    apart()
    m[row + I_OPCODE] = opcode
    add(m, typed(c, h))
    inside = h[LAST_TYPE]
    m[row + I_TYPE] = inside
    if opcode == INSERTVALUE:
        add(m, typed(c, h))
    while left(h) > 0 and not h[FAULT]:
        index = item(c, h)
        inside = element_type(m, inside, index)
        if m[ERROR]:
            return
        add(m, plain_constant(m, INT, I32, index))
    if opcode == EXTRACTVALUE:
        m[row + I_TYPE] = inside


@step
def mask(h: Cells, m: Cells, tagged: int, type_id: int) -> int:
    """Return a shuffle's mask as it is printed: its elements one by one, even if all are one."""
    apart()
    if tagged < TAG_CONSTANT or tagged > TAG_CONSTANT + TAG_MASK:
        h[FAULT] = 1
        return tagged
    row = m[CONSTANTS] + (tagged & TAG_MASK) * C_WIDTH
    kind, first = m[row + C_KIND], m[CONSTANT_OPERANDS] + m[row + C_FIRST]
    if kind == UNDEF:
        h[FAULT] = 1
    if kind == AGGREGATE:
        for i in range(m[row + C_COUNT]):
            inside = m[CONSTANTS] + (m[first + i] & TAG_MASK) * C_WIDTH
            if m[inside + C_KIND] == UNDEF:  # printed as poison
                h[FAULT] = 1
    if kind != SPLAT:
        return tagged
    base, element = m[TOP], m[first]
    for _ in range(bits_of(m, type_id)):
        push(m, element)
    return intern_constant(m, AGGREGATE, 0, 0, type_id, -1, 0, base)


@step
def vector(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read the instructions on elements of vectors."""
    apart()
    add(m, typed(c, h))
    whole = h[LAST_TYPE]
    m[row + I_TYPE] = whole
    if code == blocks.EXTRACT_ELEMENT:
        m[row + I_OPCODE] = EXTRACTELEMENT
        add(m, typed(c, h))
        m[row + I_TYPE] = element_type(m, whole, 0)
        return
    add(m, relative(c, h))
    last = typed(c, h)
    if code == blocks.INSERT_ELEMENT:
        m[row + I_OPCODE] = INSERTELEMENT
        add(m, last)
        return
    m[row + I_OPCODE] = SHUFFLEVECTOR
    add(m, mask(h, m, last, h[LAST_TYPE]))
    m[row + I_TYPE] = vector_like(m, h[LAST_TYPE], element_type(m, whole, 0))


@step
def landing_pad(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a landingpad: a catch and a filter differ in their type, too."""
    apart()
    m[row + I_OPCODE], m[row + I_TYPE] = LANDINGPAD, a_type(c, h)
    m[row + I_FLAGS] = CLEANUP if item(c, h) else 0
    count = item(c, h)
    for _ in range(min(count, left(h))):
        is_filter = item(c, h)
        add(m, typed(c, h))
        if (kind_of(m, h[LAST_TYPE]) == T_ARRAY) != (is_filter == 1):
            h[FAULT] = 1


@step
def funclet(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read the pads of exceptions handled in funclets, and what leaves them."""
    apart()
    add(m, relative(c, h))
    if code == blocks.CLEANUP_RETURN or code == blocks.CATCH_RETURN:
        m[row + I_OPCODE] = CLEANUPRET if code == blocks.CLEANUP_RETURN else CATCHRET
        if left(h) > 0:
            add(m, block(h, item(c, h)))
        return
    m[row + I_TYPE] = TOKEN
    count = item(c, h)
    if code == blocks.CATCH_SWITCH:
        m[row + I_OPCODE] = CATCHSWITCH
        for _ in range(min(count, left(h))):
            add(m, block(h, item(c, h)))
        if left(h) > 0:
            m[row + I_FLAGS] = UNWINDS
            add(m, block(h, item(c, h)))
        return
    m[row + I_OPCODE] = CATCHPAD if code == blocks.CATCH_PAD else CLEANUPPAD
    for _ in range(min(count, left(h))):
        add(m, typed(c, h))


@step
def one_value(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read the instructions on one value."""
    apart()
    if code == blocks.VA_ARG:
        m[row + I_OPCODE] = VA_ARG
        a_type(c, h)
        add(m, relative(c, h))
        m[row + I_TYPE] = a_type(c, h)
        return
    add(m, typed(c, h))
    if code == blocks.RESUME:
        m[row + I_OPCODE] = RESUME
        return
    m[row + I_TYPE] = h[LAST_TYPE]
    if code == blocks.FREEZE:
        m[row + I_OPCODE] = FREEZE
        return
    m[row + I_OPCODE] = FNEG
    if item(c, h):  # the only operation there is
        h[FAULT] = 1
    m[row + I_FLAGS] = fast_math(optional(c, h))


@step
def known(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read the instruction of the record at hand into its row; one not known is a fault."""
    apart()
    if code == blocks.BINARY:
        binary(c, h, m, row)
    elif code == blocks.CAST:
        cast(c, h, m, row)
    elif code == blocks.ADDRESS:
        address(c, h, m, row)
    elif code == blocks.COMPARE:
        compare(c, h, m, row)
    elif code == blocks.CALL or code == blocks.INVOKE or code == blocks.CALL_BRANCH:
        call(c, h, m, row, code)
    elif code == blocks.BRANCH:
        branch(c, h, m, row)
    elif code == blocks.PHI:
        phi(c, h, m, row)
    elif code == blocks.RETURN:
        m[row + I_OPCODE] = RET
        if left(h) > 0:
            add(m, typed(c, h))
    elif code == blocks.UNREACHABLE:
        m[row + I_OPCODE] = UNREACHABLE
    elif code == blocks.SELECT:
        choose(c, h, m, row)
    elif code == blocks.SWITCH or code == blocks.INDIRECT_BRANCH:
        many_ways(c, h, m, row, SWITCH if code == blocks.SWITCH else INDIRECTBR)
    elif code == blocks.EXTRACT_VALUE or code == blocks.INSERT_VALUE:
        opcode = EXTRACTVALUE if code == blocks.EXTRACT_VALUE else INSERTVALUE
        aggregate(c, h, m, row, opcode)
    elif blocks.EXTRACT_ELEMENT <= code <= blocks.SHUFFLE:
        vector(c, h, m, row, code)
    elif code == blocks.LANDING_PAD:
        landing_pad(c, h, m, row)
    elif blocks.CLEANUP_RETURN <= code <= blocks.CATCH_SWITCH:
        funclet(c, h, m, row, code)
    elif (
        code == blocks.VA_ARG
        or code == blocks.RESUME
        or code == blocks.FREEZE
        or code == blocks.UNARY
    ):
        one_value(c, h, m, row, code)
    else:
        memory(c, h, m, row, code)
    if left(h) != 0:  # more than we know of
        h[FAULT] = 1
