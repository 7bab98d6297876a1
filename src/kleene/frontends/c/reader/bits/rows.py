"""What the instructions share: their rows and operands."""

from __future__ import annotations

from kleene.frontends.c.reader.bits.compiled import Cells, no_refcount
from kleene.frontends.c.reader.state import (
    I_ABOUT,
    I_BLOCK,
    I_DEBUG,
    I_FIRST,
    I_GROUP,
    I_TYPE,
    I_WIDTH,
    INSTRUCTIONS,
    N_BLOCKS,
    N_INSTRUCTIONS,
    N_OPERANDS,
    OPERANDS,
)
from kleene.frontends.c.reader.types import VOID
from kleene.ir.codes import Flag

_ALL = int(Flag.NNAN | Flag.NINF | Flag.NSZ | Flag.ARCP | Flag.CONTRACT | Flag.AFN | Flag.REASSOC)
_SHIFT = int(Flag.NNAN).bit_length() - 2  # the file's bits 1 to 7 are ours from NNAN on


@no_refcount
def new_instruction(m: Cells) -> int:
    """Return the row of the next instruction, empty; it is not yet counted."""
    row = m[INSTRUCTIONS] + m[N_INSTRUCTIONS] * I_WIDTH
    for i in range(I_WIDTH):
        m[row + i] = 0
    m[row + I_BLOCK], m[row + I_FIRST] = m[N_BLOCKS] - 1, m[N_OPERANDS]
    m[row + I_TYPE], m[row + I_ABOUT], m[row + I_DEBUG], m[row + I_GROUP] = VOID, -1, -1, -1
    return row


@no_refcount
def add(m: Cells, tagged: int) -> None:
    """Append an operand."""
    m[m[OPERANDS] + m[N_OPERANDS]] = tagged
    m[N_OPERANDS] += 1


@no_refcount
def fast_math(number: int) -> int:
    """Return the flags of arithmetic on reals; the lowest bit stands for all."""
    return _ALL if number & 1 else (number << _SHIFT) & _ALL
