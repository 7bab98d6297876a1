"""Walking over a record: its operands, and what they refer to."""

from __future__ import annotations

from kleene.frontends.c.reader.bits.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.bits.state import (
    AT,
    END,
    END_BLOCK,
    FAULT,
    FIRST_BLOCK,
    LAST_TYPE,
    MAX_VALUES,
    N_TYPES,
    N_VALUES,
    TYPE_OF,
    VALUE_TYPES,
    VALUES,
)
from kleene.frontends.c.reader.bits.stream import R_END, R_FIRST, R_WIDTH
from kleene.frontends.c.reader.state import TAG_BLOCK, TAG_NUMBERED

_LOW_HALF = 0xFFFFFFFF
_LOWEST = -(1 << 63)
_POSITIVE = (1 << 63) - 1


@no_refcount
def go_to(c: Cells, h: Cells, record: int) -> None:
    """Make this record the one at hand."""
    h[AT], h[END] = c[record * R_WIDTH + R_FIRST], c[record * R_WIDTH + R_END]


@no_refcount
def left(h: Cells) -> int:
    """Return how many operands are not yet read."""
    return h[END] - h[AT]


@no_refcount
def item(c: Cells, h: Cells) -> int:
    """Return the next operand; that there is none is a fault."""
    at = h[AT]
    if at >= h[END]:
        h[FAULT] = 1
        return 0
    h[AT] = at + 1
    return c[at]


@no_refcount
def optional(c: Cells, h: Cells) -> int:
    """Return the next operand, 0 if there is none."""
    return item(c, h) if h[AT] < h[END] else 0


@no_refcount
def a_type(c: Cells, h: Cells) -> int:
    """Return the type that the next operand names."""
    noinline()
    number = item(c, h)
    if number < 0 or number >= h[N_TYPES]:
        h[FAULT] = 1
        return 0
    return h[h[TYPE_OF] + number]


@no_refcount
def value(h: Cells, number: int) -> int:
    """Return the value of this number, tagged; one that is not yet defined by its number."""
    if number < 0 or number >= h[MAX_VALUES]:
        h[FAULT] = 1
        return 0
    if number < h[N_VALUES]:
        return h[h[VALUES] + number]
    return TAG_NUMBERED + number


@no_refcount
def relative(c: Cells, h: Cells) -> int:
    """Return the value that lies as far back as the next operand says."""
    noinline()
    return value(h, (h[N_VALUES] - item(c, h)) & _LOW_HALF)


@no_refcount
def typed(c: Cells, h: Cells) -> int:
    """Return the value that the next operand says; its type, told if it is later, in LAST_TYPE."""
    noinline()
    number = (h[N_VALUES] - item(c, h)) & _LOW_HALF
    if number < h[N_VALUES]:
        h[LAST_TYPE] = h[h[VALUE_TYPES] + number]
    else:
        h[LAST_TYPE] = a_type(c, h)
    return value(h, number)


@no_refcount
def signed(number: int) -> int:
    """Return the number whose sign is kept in its lowest bit."""
    half = (number >> 1) & _POSITIVE
    if number & 1 == 0:
        return half
    return -half if half else _LOWEST


@no_refcount
def block(h: Cells, number: int) -> int:
    """Return the block of this number in the function at hand, tagged."""
    noinline()
    if number < 0 or number >= h[END_BLOCK] - h[FIRST_BLOCK]:
        h[FAULT] = 1
        return 0
    return TAG_BLOCK + h[FIRST_BLOCK] + number


@no_refcount
def define(h: Cells, tagged: int, type_id: int) -> None:
    """Give the next number to a value."""
    new = h[N_VALUES]
    if new >= h[MAX_VALUES]:
        h[FAULT] = 1
        return
    h[h[VALUES] + new], h[h[VALUE_TYPES] + new] = tagged, type_id
    h[N_VALUES] = new + 1
