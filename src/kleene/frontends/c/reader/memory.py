"""Instructions on memory."""

from __future__ import annotations

from kleene.frontends.c.reader import bitcodes
from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.cursor import (
    MAX_ALIGNMENT,
    a_type,
    add,
    item,
    left,
    optional,
    relative,
    typed,
    value,
)
from kleene.frontends.c.reader.state import FAULT, LAST_TYPE, UNKNOWN
from kleene.frontends.c.reader.tables import (
    I1,
    I_ABOUT,
    I_ALIGN,
    I_FLAGS,
    I_OPCODE,
    I_SUB,
    I_TYPE,
    TOP,
)
from kleene.frontends.c.reader.types import POINTER, STRUCT, intern_type, plain_type, push
from kleene.ir.codes import ORDERING_SHIFT, AtomicOperation, Flag, Opcode, Ordering

ALLOCA, LOAD, STORE = int(Opcode.ALLOCA), int(Opcode.LOAD), int(Opcode.STORE)
FENCE, CMPXCHG = int(Opcode.FENCE), int(Opcode.CMPXCHG)
ATOMICRMW = int(Opcode.ATOMICRMW)
VOLATILE, ATOMIC, WEAK = int(Flag.VOLATILE), int(Flag.ATOMIC), int(Flag.WEAK)
SCOPED = int(Flag.SCOPED)
LAST_ORDERING, LAST_OPERATION = int(max(Ordering)), int(max(AtomicOperation))


@no_refcount
def alignment(c: Cells, h: Cells) -> int:
    """Return the next operand as log2 of an alignment, plus one."""
    number = item(c, h)
    if number < 0 or number > MAX_ALIGNMENT:
        h[FAULT] = 1
    return number


@no_refcount
def an_ordering(c: Cells, h: Cells) -> int:
    """Return the ordering that the next operand says."""
    number = item(c, h)
    if number <= 0 or number > LAST_ORDERING:
        h[FAULT] = 1
        return 0
    return number


@no_refcount
def ordering(c: Cells, h: Cells) -> int:
    """Return the flags of an ordering and the scope of it."""
    flags = an_ordering(c, h) << ORDERING_SHIFT
    return flags | (0 if item(c, h) == bitcodes.SYSTEM_SCOPE else SCOPED)


@no_refcount
def allocation(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read an alloca; its count is not counted back."""
    noinline()
    m[row + I_OPCODE], m[row + I_ABOUT] = ALLOCA, a_type(c, h)
    a_type(c, h)
    count, bits = item(c, h), item(c, h)
    if not bits & bitcodes.ALLOCA_EXPLICIT_TYPE:  # a type that is a pointer: long ago
        h[FAULT] = 1
    add(m, value(h, count))
    m[row + I_ALIGN] = (bits & 31) | ((bits >> 8) & 7) << 5
    if m[row + I_ALIGN] > MAX_ALIGNMENT:
        h[FAULT] = 1
    m[row + I_TYPE] = plain_type(m, POINTER, optional(c, h))


@no_refcount
def load(c: Cells, h: Cells, m: Cells, row: int, is_atomic: bool) -> None:
    """Read a load."""
    noinline()
    m[row + I_OPCODE] = LOAD
    add(m, typed(c, h))
    m[row + I_TYPE] = a_type(c, h)
    m[row + I_ALIGN] = alignment(c, h)
    m[row + I_FLAGS] = VOLATILE if item(c, h) else 0
    if is_atomic:
        m[row + I_FLAGS] |= ATOMIC | ordering(c, h)


@no_refcount
def store(c: Cells, h: Cells, m: Cells, row: int, is_atomic: bool) -> None:
    """Read a store: the pointer comes first, in the text second."""
    noinline()
    m[row + I_OPCODE] = STORE
    pointer = typed(c, h)
    add(m, typed(c, h))
    add(m, pointer)
    m[row + I_ALIGN] = alignment(c, h)
    m[row + I_FLAGS] = VOLATILE if item(c, h) else 0
    if is_atomic:
        m[row + I_FLAGS] |= ATOMIC | ordering(c, h)


@no_refcount
def exchange(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read a cmpxchg, which gives the value held and whether it was the expected one."""
    noinline()
    m[row + I_OPCODE] = CMPXCHG
    add(m, typed(c, h))
    add(m, typed(c, h))
    base = m[TOP]
    push(m, h[LAST_TYPE])
    push(m, I1)
    m[row + I_TYPE] = intern_type(m, STRUCT, 0, 0, 0, base)
    add(m, relative(c, h))
    m[row + I_FLAGS] = VOLATILE if item(c, h) else 0
    m[row + I_FLAGS] |= ordering(c, h)
    m[row + I_SUB] = an_ordering(c, h)
    m[row + I_FLAGS] |= WEAK if item(c, h) else 0
    m[row + I_ALIGN] = alignment(c, h)


@no_refcount
def update(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read an atomicrmw."""
    noinline()
    m[row + I_OPCODE] = ATOMICRMW
    add(m, typed(c, h))
    add(m, typed(c, h))
    m[row + I_TYPE], m[row + I_SUB] = h[LAST_TYPE], item(c, h)
    if m[row + I_SUB] < 0 or m[row + I_SUB] > LAST_OPERATION:
        h[UNKNOWN] = 1
    m[row + I_FLAGS] = VOLATILE if item(c, h) else 0
    m[row + I_FLAGS] |= ordering(c, h)
    m[row + I_ALIGN] = alignment(c, h)


@no_refcount
def memory(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read an instruction on memory; one not known is a fault."""
    noinline()
    if code == bitcodes.INST_LOAD or code == bitcodes.INST_LOADATOMIC:
        load(c, h, m, row, code == bitcodes.INST_LOADATOMIC)
    elif code == bitcodes.INST_STORE or code == bitcodes.INST_STOREATOMIC:
        store(c, h, m, row, code == bitcodes.INST_STOREATOMIC)
    elif code == bitcodes.INST_ALLOCA:
        allocation(c, h, m, row)
    elif code == bitcodes.INST_FENCE:
        m[row + I_OPCODE], m[row + I_FLAGS] = FENCE, ordering(c, h)
    elif code == bitcodes.INST_CMPXCHG:
        exchange(c, h, m, row)
    elif code == bitcodes.INST_ATOMICRMW:
        update(c, h, m, row)
    else:
        h[FAULT] = 1
    if left(h) < 0:
        h[FAULT] = 1
