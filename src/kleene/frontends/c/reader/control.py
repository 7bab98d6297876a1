"""Instructions that end blocks or join them, and those of exceptions."""

from __future__ import annotations

from kleene.frontends.c.reader import bitcodes
from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.constants import T_ARRAY, kind_of
from kleene.frontends.c.reader.cursor import (
    a_type,
    add,
    block,
    fast_math,
    item,
    left,
    relative,
    signed,
    typed,
    value,
)
from kleene.frontends.c.reader.state import FAULT, LAST_TYPE, N_VALUES
from kleene.frontends.c.reader.tables import (
    I_FLAGS,
    I_OPCODE,
    I_TYPE,
    TOKEN,
)
from kleene.ir.codes import Flag, Opcode

BR, SWITCH, PHI = int(Opcode.BR), int(Opcode.SWITCH), int(Opcode.PHI)
LANDINGPAD, CLEANUPPAD = int(Opcode.LANDINGPAD), int(Opcode.CLEANUPPAD)
CATCHPAD, CATCHSWITCH = int(Opcode.CATCHPAD), int(Opcode.CATCHSWITCH)
CLEANUPRET, CATCHRET = int(Opcode.CLEANUPRET), int(Opcode.CATCHRET)
CLEANUP, UNWINDS = int(Flag.CLEANUP), int(Flag.UNWINDS)


@no_refcount
def phi(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a phi: values, counted back or forth, and blocks; flags make the number odd."""
    noinline()
    m[row + I_OPCODE], m[row + I_TYPE] = PHI, a_type(c, h)
    while left(h) >= 2 and not h[FAULT]:
        add(m, value(h, h[N_VALUES] - signed(item(c, h))))
        add(m, block(h, item(c, h)))
    if left(h) > 0:
        m[row + I_FLAGS] = fast_math(item(c, h))


@no_refcount
def branch(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a br: [target] or [then, else, condition]."""
    noinline()
    m[row + I_OPCODE] = BR
    if left(h) == 1:
        add(m, block(h, item(c, h)))
        return
    then, other = block(h, item(c, h)), block(h, item(c, h))
    add(m, relative(c, h))
    add(m, then)
    add(m, other)


@no_refcount
def many_ways(c: Cells, h: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read a switch or an indirectbr; the values of cases are not counted back."""
    noinline()
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


@no_refcount
def landing_pad(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a landingpad: a catch and a filter differ in their type, too."""
    noinline()
    m[row + I_OPCODE], m[row + I_TYPE] = LANDINGPAD, a_type(c, h)
    m[row + I_FLAGS] = CLEANUP if item(c, h) else 0
    count = item(c, h)
    for _ in range(min(count, left(h))):
        is_filter = item(c, h)
        add(m, typed(c, h))
        if (kind_of(m, h[LAST_TYPE]) == T_ARRAY) != (is_filter == 1):
            h[FAULT] = 1


@no_refcount
def funclet(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read the pads of exceptions handled in funclets, and what leaves them."""
    noinline()
    add(m, relative(c, h))
    if code == bitcodes.INST_CLEANUPRET or code == bitcodes.INST_CATCHRET:
        m[row + I_OPCODE] = CLEANUPRET if code == bitcodes.INST_CLEANUPRET else CATCHRET
        if left(h) > 0:
            add(m, block(h, item(c, h)))
        return
    m[row + I_TYPE] = TOKEN
    count = item(c, h)
    if code == bitcodes.INST_CATCHSWITCH:
        m[row + I_OPCODE] = CATCHSWITCH
        for _ in range(min(count, left(h))):
            add(m, block(h, item(c, h)))
        if left(h) > 0:
            m[row + I_FLAGS] = UNWINDS
            add(m, block(h, item(c, h)))
        return
    m[row + I_OPCODE] = CATCHPAD if code == bitcodes.INST_CATCHPAD else CLEANUPPAD
    for _ in range(min(count, left(h))):
        add(m, typed(c, h))
