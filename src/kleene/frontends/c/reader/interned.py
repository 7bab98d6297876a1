"""Constants, made once each."""

from __future__ import annotations

from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.state import (
    C_ABOUT,
    C_COUNT,
    C_FIRST,
    C_FLAGS,
    C_KIND,
    C_OPCODE,
    C_PAYLOAD,
    C_TYPE,
    C_WIDTH,
    CONSTANT_OPERANDS,
    CONSTANT_TABLE,
    CONSTANTS,
    ERROR,
    FULL,
    N_CONSTANT_OPERANDS,
    N_CONSTANTS,
    STACK,
    TABLE_SIZE,
    TAG_CONSTANT,
    TOP,
)
from kleene.kernels.bits import mix


@no_refcount
def same_constant(
    m: Cells,
    row: int,
    kind: int,
    opcode: int,
    flags: int,
    type_id: int,
    about: int,
    payload: int,
    base: int,
) -> bool:
    """Return whether the constant in `row` has this content."""
    count = m[TOP] - base
    if (
        m[row + C_KIND] != kind
        or m[row + C_TYPE] != type_id
        or m[row + C_PAYLOAD] != payload
        or m[row + C_COUNT] != count
        or m[row + C_ABOUT] != about
        or m[row + C_OPCODE] != opcode
        or m[row + C_FLAGS] != flags
    ):
        return False
    first, stack = m[CONSTANT_OPERANDS] + m[row + C_FIRST], m[STACK] + base
    for i in range(count):  # noqa: SIM110 -- Numba compiles loops, not generators
        if m[first + i] != m[stack + i]:
            return False
    return True


@no_refcount
def intern_constant(
    m: Cells, kind: int, opcode: int, flags: int, type_id: int, about: int, payload: int, base: int
) -> int:
    """Return the tagged constant of this content; its operands, the stack from `base`, go."""
    noinline()
    if m[ERROR]:  # half a constant is none
        m[TOP] = base
        return TAG_CONSTANT
    value = mix(mix(mix(kind, type_id), payload), about)
    value = mix(value, opcode | (flags << 8))
    for i in range(m[STACK] + base, m[STACK] + m[TOP]):
        value = mix(value, m[i])
    mask = m[TABLE_SIZE] - 1
    place = value & mask
    while m[m[CONSTANT_TABLE] + place] != 0:
        found = m[m[CONSTANT_TABLE] + place] - 1
        row = m[CONSTANTS] + found * C_WIDTH
        if same_constant(m, row, kind, opcode, flags, type_id, about, payload, base):
            m[TOP] = base
            return TAG_CONSTANT + found
        place = (place + 1) & mask
    new = m[N_CONSTANTS]
    if (new + 2) * 10 > m[TABLE_SIZE] * 7:
        m[FULL] = 1
        m[ERROR] = 1
        return TAG_CONSTANT
    first, count = m[N_CONSTANT_OPERANDS], m[TOP] - base
    for i in range(count):
        m[m[CONSTANT_OPERANDS] + first + i] = m[m[STACK] + base + i]
    row = m[CONSTANTS] + new * C_WIDTH
    m[row + C_KIND], m[row + C_OPCODE], m[row + C_FLAGS] = kind, opcode, flags
    m[row + C_TYPE], m[row + C_ABOUT], m[row + C_PAYLOAD] = type_id, about, payload
    m[row + C_FIRST], m[row + C_COUNT] = first, count
    m[m[CONSTANT_TABLE] + place] = new + 1
    m[N_CONSTANTS] = new + 1
    m[N_CONSTANT_OPERANDS] = first + count
    m[TOP] = base
    return TAG_CONSTANT + new


@no_refcount
def plain_constant(m: Cells, kind: int, type_id: int, payload: int) -> int:
    """Return the tagged constant that has neither operands nor flags."""
    noinline()
    return intern_constant(m, kind, 0, 0, type_id, -1, payload, m[TOP])
