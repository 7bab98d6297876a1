"""Instructions: one record becomes one row and its operands."""

from __future__ import annotations

from kleene.frontends.c.reader import bitcodes
from kleene.frontends.c.reader.arithmetic import binary, cast, compare
from kleene.frontends.c.reader.calls import call
from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.constants import (
    AGGREGATE,
    INT,
    SPLAT,
    T_VECTOR,
    UNDEF,
    address_flags,
    bits_of,
    intern_constant,
    kind_of,
    plain_constant,
)
from kleene.frontends.c.reader.control import branch, funclet, landing_pad, many_ways, phi
from kleene.frontends.c.reader.cursor import (
    a_type,
    add,
    fast_math,
    item,
    left,
    optional,
    relative,
    typed,
)
from kleene.frontends.c.reader.memory import memory
from kleene.frontends.c.reader.state import FAULT, LAST_TYPE, UNKNOWN
from kleene.frontends.c.reader.tables import (
    C_COUNT,
    C_FIRST,
    C_KIND,
    C_WIDTH,
    CONSTANT_OPERANDS,
    CONSTANTS,
    ERROR,
    I32,
    I_ABOUT,
    I_FLAGS,
    I_OPCODE,
    I_TYPE,
    TAG_CONSTANT,
    TAG_MASK,
    TOP,
)
from kleene.frontends.c.reader.types import element_type, push, vector_like
from kleene.ir.codes import Opcode

EXTRACTVALUE, INSERTVALUE = int(Opcode.EXTRACTVALUE), int(Opcode.INSERTVALUE)
EXTRACTELEMENT, INSERTELEMENT = int(Opcode.EXTRACTELEMENT), int(Opcode.INSERTELEMENT)
SHUFFLEVECTOR = int(Opcode.SHUFFLEVECTOR)


@no_refcount
def aggregate(c: Cells, h: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read extractvalue or insertvalue: the indices become constants."""
    noinline()
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


@no_refcount
def mask(h: Cells, m: Cells, tagged: int, type_id: int) -> int:
    """Return a shuffle's mask as it is printed: its elements one by one, even if all are one."""
    noinline()
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


@no_refcount
def vector(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read the instructions on elements of vectors."""
    noinline()
    add(m, typed(c, h))
    whole = h[LAST_TYPE]
    m[row + I_TYPE] = whole
    if code == bitcodes.INST_EXTRACTELT:
        m[row + I_OPCODE] = EXTRACTELEMENT
        add(m, typed(c, h))
        m[row + I_TYPE] = element_type(m, whole, 0)
        return
    add(m, relative(c, h))
    last = typed(c, h)
    if code == bitcodes.INST_INSERTELT:
        m[row + I_OPCODE] = INSERTELEMENT
        add(m, last)
        return
    m[row + I_OPCODE] = SHUFFLEVECTOR
    add(m, mask(h, m, last, h[LAST_TYPE]))
    m[row + I_TYPE] = vector_like(m, h[LAST_TYPE], element_type(m, whole, 0))


RET, SWITCH = int(Opcode.RET), int(Opcode.SWITCH)
INDIRECTBR, RESUME = int(Opcode.INDIRECTBR), int(Opcode.RESUME)
UNREACHABLE, FNEG = int(Opcode.UNREACHABLE), int(Opcode.FNEG)
GEP = int(Opcode.GETELEMENTPTR)
SELECT, VA_ARG, FREEZE = int(Opcode.SELECT), int(Opcode.VA_ARG), int(Opcode.FREEZE)
EXTRACTVALUE, INSERTVALUE = int(Opcode.EXTRACTVALUE), int(Opcode.INSERTVALUE)


@no_refcount
def address(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a getelementptr."""
    noinline()
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


@no_refcount
def choose(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a select: both values, then the condition, which comes first in the text."""
    noinline()
    left_value = typed(c, h)
    m[row + I_OPCODE], m[row + I_TYPE] = SELECT, h[LAST_TYPE]
    right_value = relative(c, h)
    add(m, typed(c, h))
    add(m, left_value)
    add(m, right_value)
    m[row + I_FLAGS] = fast_math(optional(c, h))


@no_refcount
def one_value(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read the instructions on one value."""
    noinline()
    if code == bitcodes.INST_VAARG:
        m[row + I_OPCODE] = VA_ARG
        a_type(c, h)
        add(m, relative(c, h))
        m[row + I_TYPE] = a_type(c, h)
        return
    add(m, typed(c, h))
    if code == bitcodes.INST_RESUME:
        m[row + I_OPCODE] = RESUME
        return
    m[row + I_TYPE] = h[LAST_TYPE]
    if code == bitcodes.INST_FREEZE:
        m[row + I_OPCODE] = FREEZE
        return
    m[row + I_OPCODE] = FNEG
    if item(c, h):  # the only operation there is
        h[UNKNOWN] = 1
    m[row + I_FLAGS] = fast_math(optional(c, h))


@no_refcount
def known(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read the instruction of the record at hand into its row; one not known is a fault."""
    noinline()
    if code == bitcodes.INST_BINOP:
        binary(c, h, m, row)
    elif code == bitcodes.INST_CAST:
        cast(c, h, m, row)
    elif code == bitcodes.INST_GEP:
        address(c, h, m, row)
    elif code == bitcodes.INST_CMP:
        compare(c, h, m, row)
    elif code == bitcodes.INST_CALL or code == bitcodes.INST_INVOKE or code == bitcodes.INST_CALLBR:
        call(c, h, m, row, code)
    elif code == bitcodes.INST_BR:
        branch(c, h, m, row)
    elif code == bitcodes.INST_PHI:
        phi(c, h, m, row)
    elif code == bitcodes.INST_RET:
        m[row + I_OPCODE] = RET
        if left(h) > 0:
            add(m, typed(c, h))
    elif code == bitcodes.INST_UNREACHABLE:
        m[row + I_OPCODE] = UNREACHABLE
    elif code == bitcodes.INST_SELECT:
        choose(c, h, m, row)
    elif code == bitcodes.INST_SWITCH or code == bitcodes.INST_INDIRECTBR:
        many_ways(c, h, m, row, SWITCH if code == bitcodes.INST_SWITCH else INDIRECTBR)
    elif code == bitcodes.INST_EXTRACTVAL or code == bitcodes.INST_INSERTVAL:
        opcode = EXTRACTVALUE if code == bitcodes.INST_EXTRACTVAL else INSERTVALUE
        aggregate(c, h, m, row, opcode)
    elif bitcodes.INST_EXTRACTELT <= code <= bitcodes.INST_SHUFFLEVEC:
        vector(c, h, m, row, code)
    elif code == bitcodes.INST_LANDINGPAD:
        landing_pad(c, h, m, row)
    elif bitcodes.INST_CLEANUPRET <= code <= bitcodes.INST_CATCHSWITCH:
        funclet(c, h, m, row, code)
    elif (
        code == bitcodes.INST_VAARG
        or code == bitcodes.INST_RESUME
        or code == bitcodes.INST_FREEZE
        or code == bitcodes.INST_UNOP
    ):
        one_value(c, h, m, row, code)
    else:
        memory(c, h, m, row, code)
    if left(h) != 0:  # more than we know of
        h[UNKNOWN] = 1
