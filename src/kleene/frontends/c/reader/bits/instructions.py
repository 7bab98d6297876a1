"""Instructions: one record becomes one row and its operands, as the text reader would make them."""

from __future__ import annotations

from kleene.frontends.c.reader.bits import blocks
from kleene.frontends.c.reader.bits.aggregates import aggregate, vector
from kleene.frontends.c.reader.bits.arithmetic import binary, cast, compare
from kleene.frontends.c.reader.bits.calls import call
from kleene.frontends.c.reader.bits.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.bits.constants import address_flags
from kleene.frontends.c.reader.bits.control import branch, funclet, landing_pad, many_ways, phi
from kleene.frontends.c.reader.bits.cursor import (
    a_type,
    item,
    left,
    optional,
    relative,
    typed,
)
from kleene.frontends.c.reader.bits.memory import memory
from kleene.frontends.c.reader.bits.rows import add, fast_math
from kleene.frontends.c.reader.bits.scalars import T_VECTOR, kind_of
from kleene.frontends.c.reader.bits.state import FAULT, LAST_TYPE, UNKNOWN
from kleene.frontends.c.reader.state import (
    I_ABOUT,
    I_FLAGS,
    I_OPCODE,
    I_TYPE,
)
from kleene.frontends.c.reader.types import (
    vector_like,
)
from kleene.ir.codes import Opcode

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
        h[UNKNOWN] = 1
    m[row + I_FLAGS] = fast_math(optional(c, h))


@no_refcount
def known(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read the instruction of the record at hand into its row; one not known is a fault."""
    noinline()
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
        h[UNKNOWN] = 1
