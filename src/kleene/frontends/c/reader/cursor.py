"""Walking over a record: its operands and what they refer to; and the rows that come of it."""

from __future__ import annotations

from kleene.frontends.c.reader import state, tables
from kleene.frontends.c.reader.bitstream import R_END, R_FIRST, R_WIDTH
from kleene.frontends.c.reader.compiled import Cells, device_function, noinline
from kleene.ir.codes import Flag, Opcode

MAX_ALIGNMENT = 33  # log2 of LLVM's largest, plus one
_LOW_HALF = 0xFFFFFFFF
_LOWEST = -(1 << 63)
_MAX = (1 << 63) - 1


@device_function
def go_to(c: Cells, h: Cells, record: int) -> None:
    """Make this record the one at hand."""
    h[state.AT], h[state.END] = c[record * R_WIDTH + R_FIRST], c[record * R_WIDTH + R_END]


@device_function
def left(h: Cells) -> int:
    """Return how many operands are not yet read."""
    return h[state.END] - h[state.AT]


@device_function
def item(c: Cells, h: Cells) -> int:
    """Return the next operand; that there is none is a fault."""
    at = h[state.AT]
    if at >= h[state.END]:
        h[state.FAULT] = 1
        return 0
    h[state.AT] = at + 1
    return c[at]


@device_function
def require(h: Cells, holds: int) -> None:
    """Note a fault where this does not hold, or is 0."""
    if not holds:
        h[state.FAULT] = 1


@device_function
def below(h: Cells, number: int, end: int) -> int:
    """Return a number from 0 to before `end`; if it is another, 0, and that is a fault."""
    if 0 <= number < end:
        return number
    h[state.FAULT] = 1
    return 0


@device_function
def optional(c: Cells, h: Cells) -> int:
    """Return the next operand, 0 if there is none."""
    return item(c, h) if h[state.AT] < h[state.END] else 0


@device_function
def a_type(c: Cells, h: Cells) -> int:
    """Return the type that the next operand names."""
    noinline()
    return h[h[state.TYPE_OF] + below(h, item(c, h), h[state.N_TYPES])]


@device_function
def value(h: Cells, number: int) -> int:
    """Return the value of this number, tagged; one that is not yet defined by its number."""
    number = below(h, number, h[state.MAX_VALUES])
    if number < h[state.N_VALUES]:
        return h[h[state.VALUES] + number]
    return tables.TAG_NUMBERED + number


@device_function
def relative(c: Cells, h: Cells) -> int:
    """Return the value that lies as far back as the next operand says."""
    noinline()
    return value(h, (h[state.N_VALUES] - item(c, h)) & _LOW_HALF)


@device_function
def typed(c: Cells, h: Cells) -> int:
    """Return the value that the next operand names, and put its type into LAST_TYPE."""
    noinline()
    number = (h[state.N_VALUES] - item(c, h)) & _LOW_HALF
    if number < h[state.N_VALUES]:
        h[state.LAST_TYPE] = h[h[state.VALUE_TYPES] + number]
    else:
        h[state.LAST_TYPE] = a_type(c, h)
    return value(h, number)


@device_function
def signed(number: int) -> int:
    """Return the number whose sign is kept in its lowest bit."""
    half = (number >> 1) & _MAX
    if number & 1 == 0:
        return half
    return -half if half else _LOWEST


@device_function
def block(h: Cells, number: int) -> int:
    """Return the block of this number in the function at hand, tagged."""
    noinline()
    first = h[state.FIRST_BLOCK]
    return tables.TAG_BLOCK + first + below(h, number, h[state.END_BLOCK] - first)


@device_function
def define(h: Cells, tagged: int, type_id: int) -> None:
    """Give the next number to a value."""
    new = below(h, h[state.N_VALUES], h[state.MAX_VALUES])
    h[h[state.VALUES] + new], h[h[state.VALUE_TYPES] + new] = tagged, type_id
    h[state.N_VALUES] = new + 1


OPAQUE = int(Opcode.OPAQUE)
_ALL = int(Flag.NNAN | Flag.NINF | Flag.NSZ | Flag.ARCP | Flag.CONTRACT | Flag.AFN | Flag.REASSOC)
_SHIFT = int(Flag.NNAN).bit_length() - 2  # the file's bits 1 to 7 are ours from NNAN on


@device_function
def new_instruction(m: Cells) -> int:
    """Return the row of the next instruction, empty; it is not yet counted."""
    row = m[tables.INSTRUCTIONS] + m[tables.N_INSTRUCTIONS] * tables.I_WIDTH
    for i in range(tables.I_WIDTH):
        m[row + i] = 0
    m[row + tables.I_OPCODE] = OPAQUE
    m[row + tables.I_BLOCK] = m[tables.N_BLOCKS] - 1
    m[row + tables.I_FIRST] = m[tables.N_OPERANDS]
    m[row + tables.I_TYPE] = tables.VOID
    m[row + tables.I_ABOUT] = -1
    m[row + tables.I_DEBUG] = -1
    m[row + tables.I_ATTRIBUTES] = -1
    return row


@device_function
def notice(m: Cells, what: int) -> None:
    """Count one thing that was not understood; `what` is as `state.A_NODE` describes."""
    noinline()
    table = m[tables.NOTICES]
    for i in range(m[tables.N_NOTICES]):
        row = table + i * tables.N_WIDTH
        if m[row + tables.N_TEXT] == what or i == tables.MAX_NOTICES - 1:
            m[row + tables.N_COUNT] += 1
            return
    row = table + m[tables.N_NOTICES] * tables.N_WIDTH
    m[row + tables.N_TEXT], m[row + tables.N_COUNT] = what, 1
    m[tables.N_NOTICES] += 1


@device_function
def add(m: Cells, tagged: int) -> None:
    """Append an operand."""
    m[m[tables.OPERANDS] + m[tables.N_OPERANDS]] = tagged
    m[tables.N_OPERANDS] += 1


@device_function
def fast_math(number: int) -> int:
    """Return the flags of arithmetic on reals; the lowest bit stands for all."""
    return _ALL if number & 1 else (number << _SHIFT) & _ALL
