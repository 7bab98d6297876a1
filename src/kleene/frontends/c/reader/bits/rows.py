"""What the instructions share: their rows and operands."""

from __future__ import annotations

from kleene.frontends.c.reader.bits.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.state import (
    I_ABOUT,
    I_BLOCK,
    I_DEBUG,
    I_FIRST,
    I_GROUP,
    I_OPCODE,
    I_TYPE,
    I_WIDTH,
    INSTRUCTIONS,
    MAX_NOTICES,
    N_BLOCKS,
    N_COUNT,
    N_INSTRUCTIONS,
    N_NOTICES,
    N_OPERANDS,
    N_TEXT,
    N_WIDTH,
    NOTICES,
    OPERANDS,
)
from kleene.frontends.c.reader.types import VOID
from kleene.ir.codes import Flag, Opcode

OPAQUE = int(Opcode.OPAQUE)
_ALL = int(Flag.NNAN | Flag.NINF | Flag.NSZ | Flag.ARCP | Flag.CONTRACT | Flag.AFN | Flag.REASSOC)
_SHIFT = int(Flag.NNAN).bit_length() - 2  # the file's bits 1 to 7 are ours from NNAN on


@no_refcount
def new_instruction(m: Cells) -> int:
    """Return the row of the next instruction, empty; it is not yet counted."""
    row = m[INSTRUCTIONS] + m[N_INSTRUCTIONS] * I_WIDTH
    for i in range(I_WIDTH):
        m[row + i] = 0
    m[row + I_OPCODE], m[row + I_BLOCK], m[row + I_FIRST] = OPAQUE, m[N_BLOCKS] - 1, m[N_OPERANDS]
    m[row + I_TYPE], m[row + I_ABOUT], m[row + I_DEBUG], m[row + I_GROUP] = VOID, -1, -1, -1
    return row


@no_refcount
def notice(m: Cells, what: int) -> None:
    """Count one thing that was not understood; `what` is as `state.A_NODE` describes."""
    noinline()
    table = m[NOTICES]
    for i in range(m[N_NOTICES]):
        row = table + i * N_WIDTH
        if m[row + N_TEXT] == what or i == MAX_NOTICES - 1:
            m[row + N_COUNT] += 1
            return
    row = table + m[N_NOTICES] * N_WIDTH
    m[row + N_TEXT], m[row + N_COUNT] = what, 1
    m[N_NOTICES] += 1


@no_refcount
def add(m: Cells, tagged: int) -> None:
    """Append an operand."""
    m[m[OPERANDS] + m[N_OPERANDS]] = tagged
    m[N_OPERANDS] += 1


@no_refcount
def fast_math(number: int) -> int:
    """Return the flags of arithmetic on reals; the lowest bit stands for all."""
    return _ALL if number & 1 else (number << _SHIFT) & _ALL
