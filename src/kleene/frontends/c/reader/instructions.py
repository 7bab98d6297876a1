"""Instructions: one record becomes one row and its operands."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from kleene.base.arrays import I64
from kleene.frontends.c.reader import bitcodes, state, tables
from kleene.frontends.c.reader.calls import call
from kleene.frontends.c.reader.compiled import Cells, device_function, noinline
from kleene.frontends.c.reader.constants import (
    AGGREGATE,
    INT,
    SPLAT,
    T_ARRAY,
    T_FLOAT,
    T_VECTOR,
    UNDEF,
    bits_of,
    element_of,
    gep_flags,
    intern_constant,
    kind_of,
    plain_constant,
)
from kleene.frontends.c.reader.cursor import (
    MAX_ALIGNMENT,
    a_type,
    add,
    below,
    block,
    fast_math,
    item,
    left,
    optional,
    relative,
    require,
    signed,
    typed,
    value,
)
from kleene.frontends.c.reader.types import (
    POINTER,
    STRUCT,
    element_type,
    intern_type,
    plain_type,
    push,
    vector_like,
)
from kleene.ir.codes import ORDERING_SHIFT, AtomicOperation, Flag, Opcode, Ordering, Predicate


def _codes(kind: type[IntEnum], names: str) -> I64:
    """Return our codes in the order of LLVM's."""
    return np.array([kind[name] for name in names.split()], np.int64)


# ---- arithmetic, conversions, comparisons

ICMP, FCMP = int(Opcode.ICMP), int(Opcode.FCMP)
FADD, FREM, OR = int(Opcode.FADD), int(Opcode.FREM), int(Opcode.OR)
FPTRUNC, FPEXT = int(Opcode.FPTRUNC), int(Opcode.FPEXT)
TRUNC, ZEXT, UITOFP = int(Opcode.TRUNC), int(Opcode.ZEXT), int(Opcode.UITOFP)
NUW, NSW, EXACT = int(Flag.NUW), int(Flag.NSW), int(Flag.EXACT)
DISJOINT, NNEG, SAMESIGN = int(Flag.DISJOINT), int(Flag.NNEG), int(Flag.SAMESIGN)
_INTEGER_OF = _codes(Opcode, "ADD SUB MUL UDIV SDIV UREM SREM SHL LSHR ASHR AND OR XOR")
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
_CAST_OF = _codes(
    Opcode,
    "TRUNC ZEXT SEXT FPTOUI FPTOSI UITOFP SITOFP FPTRUNC FPEXT PTRTOINT INTTOPTR BITCAST "
    "ADDRSPACECAST PTRTOADDR",
)
_PREDICATE_OF = _codes(Predicate, "EQ NE UGT UGE ULT ULE SGT SGE SLT SLE")


@device_function
def is_real(m: Cells, type_id: int) -> bool:
    """Return whether this is a real type or a vector of one."""
    if kind_of(m, type_id) == T_VECTOR:
        type_id = element_of(m, type_id)
    return kind_of(m, type_id) == T_FLOAT


@device_function
def bit(number: int, place: int, flag: int) -> int:
    """Return the flag if the bit is set."""
    return flag if (number >> place) & 1 else 0


@device_function
def binary(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read an operation on two values."""
    noinline()
    add(m, typed(c, h))
    type_id = h[state.LAST_TYPE]
    add(m, relative(c, h))
    m[row + tables.I_TYPE] = type_id
    code, flags = item(c, h), optional(c, h)
    if code < 0 or code >= len(_INTEGER_OF):
        h[state.UNKNOWN] = 1
        return
    opcode = _REAL_OF[code] if is_real(m, type_id) else _INTEGER_OF[code]
    if opcode < 0:
        h[state.UNKNOWN] = 1
        return
    m[row + tables.I_OPCODE] = opcode
    if FADD <= opcode <= FREM:
        m[row + tables.I_FLAGS] = fast_math(flags)
    elif _WRAPS[opcode]:
        m[row + tables.I_FLAGS] = bit(flags, 0, NUW) | bit(flags, 1, NSW)
    elif _DIVIDES[opcode]:
        m[row + tables.I_FLAGS] = bit(flags, 0, EXACT)
    elif opcode == OR:
        m[row + tables.I_FLAGS] = bit(flags, 0, DISJOINT)


@device_function
def cast(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a conversion."""
    noinline()
    add(m, typed(c, h))
    m[row + tables.I_TYPE] = a_type(c, h)
    code, flags = item(c, h), optional(c, h)
    if code < 0 or code >= len(_CAST_OF):
        h[state.UNKNOWN] = 1
        return
    opcode = _CAST_OF[code]
    m[row + tables.I_OPCODE] = opcode
    if opcode == TRUNC:
        m[row + tables.I_FLAGS] = bit(flags, 0, NUW) | bit(flags, 1, NSW)
    elif opcode == ZEXT or opcode == UITOFP:
        m[row + tables.I_FLAGS] = bit(flags, 0, NNEG)
        if flags & ~1:
            h[state.UNKNOWN] = 1
    elif opcode == FPTRUNC or opcode == FPEXT:
        m[row + tables.I_FLAGS] = fast_math(flags)
    elif flags:
        h[state.UNKNOWN] = 1


@device_function
def compare(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a comparison."""
    noinline()
    add(m, typed(c, h))
    type_id = h[state.LAST_TYPE]
    add(m, relative(c, h))
    predicate, flags = item(c, h), optional(c, h)
    m[row + tables.I_TYPE] = vector_like(m, type_id, tables.I1)
    if is_real(m, type_id):
        m[row + tables.I_OPCODE], m[row + tables.I_SUB] = FCMP, predicate
        m[row + tables.I_FLAGS] = fast_math(flags)
        if predicate < 0 or predicate > 15:
            h[state.UNKNOWN] = 1
        return
    predicate -= bitcodes.FIRST_ICMP_PREDICATE
    if predicate < 0 or predicate >= len(_PREDICATE_OF):
        h[state.UNKNOWN] = 1
        return
    m[row + tables.I_OPCODE], m[row + tables.I_SUB] = ICMP, _PREDICATE_OF[predicate]
    m[row + tables.I_FLAGS] = bit(flags, 0, SAMESIGN)


# ---- memory

ALLOCA, LOAD, STORE = int(Opcode.ALLOCA), int(Opcode.LOAD), int(Opcode.STORE)
FENCE, CMPXCHG = int(Opcode.FENCE), int(Opcode.CMPXCHG)
ATOMICRMW = int(Opcode.ATOMICRMW)
VOLATILE, ATOMIC, WEAK = int(Flag.VOLATILE), int(Flag.ATOMIC), int(Flag.WEAK)
SCOPED = int(Flag.SCOPED)
LAST_ORDERING, LAST_OPERATION = int(max(Ordering)), int(max(AtomicOperation))


@device_function
def alignment(c: Cells, h: Cells) -> int:
    """Return the next operand as log2 of an alignment, plus one."""
    return below(h, item(c, h), MAX_ALIGNMENT + 1)


@device_function
def ordering(c: Cells, h: Cells) -> int:
    """Return the ordering that the next operand says."""
    number = below(h, item(c, h), LAST_ORDERING + 1)
    require(h, number > 0)
    return number


@device_function
def ordering_and_scope(c: Cells, h: Cells) -> int:
    """Return the flags of an ordering and the scope of it."""
    flags = ordering(c, h) << ORDERING_SHIFT
    return flags | (0 if item(c, h) == bitcodes.SYSTEM_SCOPE else SCOPED)


@device_function
def alloca(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read an alloca; its count is not counted back."""
    noinline()
    m[row + tables.I_OPCODE], m[row + tables.I_ABOUT] = ALLOCA, a_type(c, h)
    a_type(c, h)
    count, bits = item(c, h), item(c, h)
    require(h, bits & bitcodes.ALLOCA_EXPLICIT_TYPE)  # else it is a pointer: long ago
    add(m, value(h, count))
    m[row + tables.I_ALIGN] = (bits & 31) | ((bits >> 8) & 7) << 5
    require(h, m[row + tables.I_ALIGN] <= MAX_ALIGNMENT)
    m[row + tables.I_TYPE] = plain_type(m, POINTER, optional(c, h))


@device_function
def load(c: Cells, h: Cells, m: Cells, row: int, is_atomic: bool) -> None:
    """Read a load."""
    noinline()
    m[row + tables.I_OPCODE] = LOAD
    add(m, typed(c, h))
    m[row + tables.I_TYPE] = a_type(c, h)
    m[row + tables.I_ALIGN] = alignment(c, h)
    m[row + tables.I_FLAGS] = VOLATILE if item(c, h) else 0
    if is_atomic:
        m[row + tables.I_FLAGS] |= ATOMIC | ordering_and_scope(c, h)


@device_function
def store(c: Cells, h: Cells, m: Cells, row: int, is_atomic: bool) -> None:
    """Read a store: the pointer comes first, in the text second."""
    noinline()
    m[row + tables.I_OPCODE] = STORE
    pointer = typed(c, h)
    add(m, typed(c, h))
    add(m, pointer)
    m[row + tables.I_ALIGN] = alignment(c, h)
    m[row + tables.I_FLAGS] = VOLATILE if item(c, h) else 0
    if is_atomic:
        m[row + tables.I_FLAGS] |= ATOMIC | ordering_and_scope(c, h)


@device_function
def cmpxchg(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a cmpxchg, which gives the value held and whether it was the expected one."""
    noinline()
    m[row + tables.I_OPCODE] = CMPXCHG
    add(m, typed(c, h))
    add(m, typed(c, h))
    base = m[tables.TOP]
    push(m, h[state.LAST_TYPE])
    push(m, tables.I1)
    m[row + tables.I_TYPE] = intern_type(m, STRUCT, 0, 0, 0, base)
    add(m, relative(c, h))
    m[row + tables.I_FLAGS] = VOLATILE if item(c, h) else 0
    m[row + tables.I_FLAGS] |= ordering_and_scope(c, h)
    m[row + tables.I_SUB] = ordering(c, h)
    m[row + tables.I_FLAGS] |= WEAK if item(c, h) else 0
    m[row + tables.I_ALIGN] = alignment(c, h)


@device_function
def atomicrmw(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read an atomicrmw."""
    noinline()
    m[row + tables.I_OPCODE] = ATOMICRMW
    add(m, typed(c, h))
    add(m, typed(c, h))
    m[row + tables.I_TYPE], m[row + tables.I_SUB] = h[state.LAST_TYPE], item(c, h)
    if m[row + tables.I_SUB] < 0 or m[row + tables.I_SUB] > LAST_OPERATION:
        h[state.UNKNOWN] = 1
    m[row + tables.I_FLAGS] = VOLATILE if item(c, h) else 0
    m[row + tables.I_FLAGS] |= ordering_and_scope(c, h)
    m[row + tables.I_ALIGN] = alignment(c, h)


@device_function
def memory(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read an instruction on memory; one not known is a fault."""
    noinline()
    if code == bitcodes.INST_LOAD or code == bitcodes.INST_LOADATOMIC:
        load(c, h, m, row, code == bitcodes.INST_LOADATOMIC)
    elif code == bitcodes.INST_STORE or code == bitcodes.INST_STOREATOMIC:
        store(c, h, m, row, code == bitcodes.INST_STOREATOMIC)
    elif code == bitcodes.INST_ALLOCA:
        alloca(c, h, m, row)
    elif code == bitcodes.INST_FENCE:
        m[row + tables.I_OPCODE], m[row + tables.I_FLAGS] = FENCE, ordering_and_scope(c, h)
    elif code == bitcodes.INST_CMPXCHG:
        cmpxchg(c, h, m, row)
    elif code == bitcodes.INST_ATOMICRMW:
        atomicrmw(c, h, m, row)
    else:
        h[state.FAULT] = 1
    require(h, left(h) >= 0)


# ---- ends and joins of blocks, exceptions

BR, SWITCH, PHI = int(Opcode.BR), int(Opcode.SWITCH), int(Opcode.PHI)
LANDINGPAD, CLEANUPPAD = int(Opcode.LANDINGPAD), int(Opcode.CLEANUPPAD)
CATCHPAD, CATCHSWITCH = int(Opcode.CATCHPAD), int(Opcode.CATCHSWITCH)
CLEANUPRET, CATCHRET = int(Opcode.CLEANUPRET), int(Opcode.CATCHRET)
CLEANUP, UNWINDS = int(Flag.CLEANUP), int(Flag.UNWINDS)


@device_function
def phi(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a phi: values, counted back or forth, and blocks; flags make the number odd."""
    noinline()
    m[row + tables.I_OPCODE], m[row + tables.I_TYPE] = PHI, a_type(c, h)
    while left(h) >= 2 and not h[state.FAULT]:
        add(m, value(h, h[state.N_VALUES] - signed(item(c, h))))
        add(m, block(h, item(c, h)))
    if left(h) > 0:
        m[row + tables.I_FLAGS] = fast_math(item(c, h))


@device_function
def br(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a br: [target] or [then, else, condition]."""
    noinline()
    m[row + tables.I_OPCODE] = BR
    if left(h) == 1:
        add(m, block(h, item(c, h)))
        return
    then, other = block(h, item(c, h)), block(h, item(c, h))
    add(m, relative(c, h))
    add(m, then)
    add(m, other)


@device_function
def switch_or_indirectbr(c: Cells, h: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read a switch or an indirectbr; the values of cases are not counted back."""
    noinline()
    m[row + tables.I_OPCODE] = opcode
    a_type(c, h)
    add(m, relative(c, h))
    if opcode == SWITCH:
        add(m, block(h, item(c, h)))
    while left(h) > 0 and not h[state.FAULT]:
        if opcode == SWITCH:
            add(m, value(h, below(h, item(c, h), h[state.N_VALUES])))
        add(m, block(h, item(c, h)))


@device_function
def landingpad(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a landingpad: a catch and a filter differ in their type, too."""
    noinline()
    m[row + tables.I_OPCODE], m[row + tables.I_TYPE] = LANDINGPAD, a_type(c, h)
    m[row + tables.I_FLAGS] = CLEANUP if item(c, h) else 0
    count = item(c, h)
    for _ in range(min(count, left(h))):
        is_filter = item(c, h)
        add(m, typed(c, h))
        require(h, (kind_of(m, h[state.LAST_TYPE]) == T_ARRAY) == (is_filter == 1))


@device_function
def funclet(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read the pads of exceptions handled in funclets, and what leaves them."""
    noinline()
    add(m, relative(c, h))
    if code == bitcodes.INST_CLEANUPRET or code == bitcodes.INST_CATCHRET:
        m[row + tables.I_OPCODE] = CLEANUPRET if code == bitcodes.INST_CLEANUPRET else CATCHRET
        if left(h) > 0:
            add(m, block(h, item(c, h)))
        return
    m[row + tables.I_TYPE] = tables.TOKEN
    count = item(c, h)
    if code == bitcodes.INST_CATCHSWITCH:
        m[row + tables.I_OPCODE] = CATCHSWITCH
        for _ in range(min(count, left(h))):
            add(m, block(h, item(c, h)))
        if left(h) > 0:
            m[row + tables.I_FLAGS] = UNWINDS
            add(m, block(h, item(c, h)))
        return
    m[row + tables.I_OPCODE] = CATCHPAD if code == bitcodes.INST_CATCHPAD else CLEANUPPAD
    for _ in range(min(count, left(h))):
        add(m, typed(c, h))


# ---- aggregates, vectors, and all others

EXTRACTVALUE, INSERTVALUE = int(Opcode.EXTRACTVALUE), int(Opcode.INSERTVALUE)
EXTRACTELEMENT, INSERTELEMENT = int(Opcode.EXTRACTELEMENT), int(Opcode.INSERTELEMENT)
SHUFFLEVECTOR = int(Opcode.SHUFFLEVECTOR)


@device_function
def extract_or_insert_value(c: Cells, h: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read extractvalue or insertvalue: the indices become constants."""
    noinline()
    m[row + tables.I_OPCODE] = opcode
    add(m, typed(c, h))
    inside = h[state.LAST_TYPE]
    m[row + tables.I_TYPE] = inside
    if opcode == INSERTVALUE:
        add(m, typed(c, h))
    while left(h) > 0 and not h[state.FAULT]:
        index = item(c, h)
        inside = element_type(m, inside, index)
        if m[tables.ERROR]:
            return
        add(m, plain_constant(m, INT, tables.I32, index))
    if opcode == EXTRACTVALUE:
        m[row + tables.I_TYPE] = inside


@device_function
def mask(h: Cells, m: Cells, tagged: int, type_id: int) -> int:
    """Return a shuffle's mask as it is printed: its elements one by one, even if all are one."""
    noinline()
    if tagged < tables.TAG_CONSTANT or tagged > tables.TAG_CONSTANT + tables.TAG_MASK:
        h[state.FAULT] = 1
        return tagged
    row = m[tables.CONSTANTS] + (tagged & tables.TAG_MASK) * tables.C_WIDTH
    kind, first = m[row + tables.C_KIND], m[tables.CONSTANT_OPERANDS] + m[row + tables.C_FIRST]
    require(h, kind != UNDEF)  # printed as poison
    if kind == AGGREGATE:
        for i in range(m[row + tables.C_COUNT]):
            inside = m[tables.CONSTANTS] + (m[first + i] & tables.TAG_MASK) * tables.C_WIDTH
            require(h, m[inside + tables.C_KIND] != UNDEF)
    if kind != SPLAT:
        return tagged
    base, element = m[tables.TOP], m[first]
    for _ in range(bits_of(m, type_id)):
        push(m, element)
    return intern_constant(m, AGGREGATE, 0, 0, type_id, -1, 0, base)


@device_function
def vector_element(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read the instructions on elements of vectors."""
    noinline()
    add(m, typed(c, h))
    whole = h[state.LAST_TYPE]
    m[row + tables.I_TYPE] = whole
    if code == bitcodes.INST_EXTRACTELT:
        m[row + tables.I_OPCODE] = EXTRACTELEMENT
        add(m, typed(c, h))
        m[row + tables.I_TYPE] = element_type(m, whole, 0)
        return
    add(m, relative(c, h))
    last = typed(c, h)
    if code == bitcodes.INST_INSERTELT:
        m[row + tables.I_OPCODE] = INSERTELEMENT
        add(m, last)
        return
    m[row + tables.I_OPCODE] = SHUFFLEVECTOR
    add(m, mask(h, m, last, h[state.LAST_TYPE]))
    m[row + tables.I_TYPE] = vector_like(m, h[state.LAST_TYPE], element_type(m, whole, 0))


RET = int(Opcode.RET)
INDIRECTBR, RESUME = int(Opcode.INDIRECTBR), int(Opcode.RESUME)
UNREACHABLE, FNEG = int(Opcode.UNREACHABLE), int(Opcode.FNEG)
GEP = int(Opcode.GETELEMENTPTR)
SELECT, VA_ARG, FREEZE = int(Opcode.SELECT), int(Opcode.VA_ARG), int(Opcode.FREEZE)


@device_function
def getelementptr(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a getelementptr."""
    noinline()
    m[row + tables.I_OPCODE] = GEP
    m[row + tables.I_FLAGS] = gep_flags(item(c, h))
    m[row + tables.I_ABOUT] = a_type(c, h)
    add(m, typed(c, h))
    result = h[state.LAST_TYPE]
    while left(h) > 0 and not h[state.FAULT]:
        add(m, typed(c, h))
        if kind_of(m, result) != T_VECTOR:
            result = vector_like(m, h[state.LAST_TYPE], result)
    m[row + tables.I_TYPE] = result


@device_function
def select(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a select: both values, then the condition, which comes first in the text."""
    noinline()
    left_value = typed(c, h)
    m[row + tables.I_OPCODE], m[row + tables.I_TYPE] = SELECT, h[state.LAST_TYPE]
    right_value = relative(c, h)
    add(m, typed(c, h))
    add(m, left_value)
    add(m, right_value)
    m[row + tables.I_FLAGS] = fast_math(optional(c, h))


@device_function
def unary(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read the instructions on one value."""
    noinline()
    if code == bitcodes.INST_VAARG:
        m[row + tables.I_OPCODE] = VA_ARG
        a_type(c, h)
        add(m, relative(c, h))
        m[row + tables.I_TYPE] = a_type(c, h)
        return
    add(m, typed(c, h))
    if code == bitcodes.INST_RESUME:
        m[row + tables.I_OPCODE] = RESUME
        return
    m[row + tables.I_TYPE] = h[state.LAST_TYPE]
    if code == bitcodes.INST_FREEZE:
        m[row + tables.I_OPCODE] = FREEZE
        return
    m[row + tables.I_OPCODE] = FNEG
    if item(c, h):  # the only operation there is
        h[state.UNKNOWN] = 1
    m[row + tables.I_FLAGS] = fast_math(optional(c, h))


@device_function
def instruction_record(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read the instruction of the record at hand into its row; one not known is a fault."""
    noinline()
    if code == bitcodes.INST_BINOP:
        binary(c, h, m, row)
    elif code == bitcodes.INST_CAST:
        cast(c, h, m, row)
    elif code == bitcodes.INST_GEP:
        getelementptr(c, h, m, row)
    elif code == bitcodes.INST_CMP:
        compare(c, h, m, row)
    elif code == bitcodes.INST_CALL or code == bitcodes.INST_INVOKE or code == bitcodes.INST_CALLBR:
        call(c, h, m, row, code)
    elif code == bitcodes.INST_BR:
        br(c, h, m, row)
    elif code == bitcodes.INST_PHI:
        phi(c, h, m, row)
    elif code == bitcodes.INST_RET:
        m[row + tables.I_OPCODE] = RET
        if left(h) > 0:
            add(m, typed(c, h))
    elif code == bitcodes.INST_UNREACHABLE:
        m[row + tables.I_OPCODE] = UNREACHABLE
    elif code == bitcodes.INST_SELECT:
        select(c, h, m, row)
    elif code == bitcodes.INST_SWITCH or code == bitcodes.INST_INDIRECTBR:
        switch_or_indirectbr(c, h, m, row, SWITCH if code == bitcodes.INST_SWITCH else INDIRECTBR)
    elif code == bitcodes.INST_EXTRACTVAL or code == bitcodes.INST_INSERTVAL:
        opcode = EXTRACTVALUE if code == bitcodes.INST_EXTRACTVAL else INSERTVALUE
        extract_or_insert_value(c, h, m, row, opcode)
    elif bitcodes.INST_EXTRACTELT <= code <= bitcodes.INST_SHUFFLEVEC:
        vector_element(c, h, m, row, code)
    elif code == bitcodes.INST_LANDINGPAD:
        landingpad(c, h, m, row)
    elif bitcodes.INST_CLEANUPRET <= code <= bitcodes.INST_CATCHSWITCH:
        funclet(c, h, m, row, code)
    elif (
        code == bitcodes.INST_VAARG
        or code == bitcodes.INST_RESUME
        or code == bitcodes.INST_FREEZE
        or code == bitcodes.INST_UNOP
    ):
        unary(c, h, m, row, code)
    else:
        memory(c, h, m, row, code)
    if left(h) != 0:  # more than we know of
        h[state.UNKNOWN] = 1
