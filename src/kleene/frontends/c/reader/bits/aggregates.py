"""Instructions on parts of aggregates and vectors."""

from __future__ import annotations

from kleene.frontends.c.reader.bits import blocks
from kleene.frontends.c.reader.bits.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.bits.constants import AGGREGATE, SPLAT, UNDEF
from kleene.frontends.c.reader.bits.cursor import (
    item,
    left,
    relative,
    typed,
)
from kleene.frontends.c.reader.bits.rows import add
from kleene.frontends.c.reader.bits.scalars import INT, bits_of
from kleene.frontends.c.reader.bits.state import FAULT, LAST_TYPE
from kleene.frontends.c.reader.interned import intern_constant, plain_constant
from kleene.frontends.c.reader.state import (
    C_COUNT,
    C_FIRST,
    C_KIND,
    C_WIDTH,
    CONSTANT_OPERANDS,
    CONSTANTS,
    ERROR,
    I_OPCODE,
    I_TYPE,
    TAG_CONSTANT,
    TAG_MASK,
    TOP,
)
from kleene.frontends.c.reader.types import (
    I32,
    element_type,
    push,
    vector_like,
)
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
