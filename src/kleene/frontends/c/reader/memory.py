"""Instructions on memory, addresses, vectors and aggregates."""

from __future__ import annotations

from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.constants import INT as CONSTANT_INT
from kleene.frontends.c.reader.constants import index_constant
from kleene.frontends.c.reader.cursor import (
    accept_word,
    advance,
    at_word,
    expect,
    go_to,
    integer,
    skip_group,
)
from kleene.frontends.c.reader.interned import plain_constant
from kleene.frontends.c.reader.operands import (
    add_operand,
    alignment,
    typed_operand,
    words_flags,
)
from kleene.frontends.c.reader.state import (
    AT,
    ERROR,
    I_ABOUT,
    I_ALIGN,
    I_FLAGS,
    I_SUB,
    I_TYPE,
    KIND,
    T_KIND,
    T_WIDTH,
    TOP,
    TYPES,
    VALUE,
)
from kleene.frontends.c.reader.tokens import (
    INT_TYPE,
    INTEGER,
    TAG,
    WORD,
)
from kleene.frontends.c.reader.types import (
    I1,
    I32,
    POINTER,
    STRUCT,
    VECTOR,
    address_space,
    element_type,
    intern_type,
    parse_type,
    plain_type,
    push,
    vector_like,
)
from kleene.frontends.c.reader.words import (
    FLAG_OF,
    OPERATION_OF,
    ORDERING_OF,
    WORDS,
)
from kleene.ir.codes import ORDERING_SHIFT, Flag, Opcode

ALLOCA, LOAD = int(Opcode.ALLOCA), int(Opcode.LOAD)
STORE, FENCE, CMPXCHG = int(Opcode.STORE), int(Opcode.FENCE), int(Opcode.CMPXCHG)
ATOMICRMW = int(Opcode.ATOMICRMW)
EXTRACTVALUE, INSERTVALUE = int(Opcode.EXTRACTVALUE), int(Opcode.INSERTVALUE)
EXTRACTELEMENT = int(Opcode.EXTRACTELEMENT)
SHUFFLEVECTOR = int(Opcode.SHUFFLEVECTOR)
ATOMIC = int(Flag.ATOMIC)
SCOPED = int(Flag.SCOPED)
W_ALIGN, W_ADDRSPACE = WORDS["align"], WORDS["addrspace"]
W_I32 = WORDS["i32"]
W_SYNCSCOPE, W_INRANGE = WORDS["syncscope"], WORDS["inrange"]
W_INALLOCA, W_SWIFTERROR = WORDS["inalloca"], WORDS["swifterror"]


@no_refcount
def ordering(t: Cells, m: Cells, row: int) -> None:
    """Read `syncscope("…")` and an ordering, if they stand here."""
    noinline()
    if accept_word(t, m, W_SYNCSCOPE):
        skip_group(t, m)
        m[row + I_FLAGS] |= SCOPED
    if m[KIND] == WORD and ORDERING_OF[m[VALUE]] != 0:
        m[row + I_FLAGS] |= ORDERING_OF[m[VALUE]]
        advance(t, m)


@no_refcount
def memory(t: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read alloca, load, store, fence, cmpxchg, atomicrmw."""
    noinline()
    if opcode == ALLOCA:
        while at_word(m, W_INALLOCA) or at_word(m, W_SWIFTERROR):
            advance(t, m)
        m[row + I_ABOUT] = parse_type(t, m)
        space = 0
        counted = False
        while m[KIND] == 44 and not m[ERROR]:
            before = m[AT]
            advance(t, m)
            if at_word(m, W_ADDRSPACE):
                space = address_space(t, m)
            elif m[KIND] == INT_TYPE or at_word(m, W_I32):
                typed_operand(t, m)
                counted = True
            else:
                go_to(t, m, before)
                break
            if at_word(m, W_ALIGN):
                break
        if not counted:
            add_operand(t, m, plain_constant(m, CONSTANT_INT, I32, 1))
        m[row + I_ALIGN] = alignment(t, m)
        if m[KIND] == 44:  # the address space comes after the alignment
            before = m[AT]
            advance(t, m)
            if at_word(m, W_ADDRSPACE):
                space = address_space(t, m)
            else:
                go_to(t, m, before)
        m[row + I_TYPE] = plain_type(m, POINTER, space)
        return
    m[row + I_FLAGS] |= words_flags(t, m)
    if opcode == LOAD:
        m[row + I_TYPE] = parse_type(t, m)
        expect(t, m, 44)
        typed_operand(t, m)
    elif opcode == STORE:
        typed_operand(t, m)
        expect(t, m, 44)
        typed_operand(t, m)
    elif opcode == CMPXCHG:
        typed_operand(t, m)
        expect(t, m, 44)
        held = typed_operand(t, m)
        expect(t, m, 44)
        typed_operand(t, m)
        base = m[TOP]
        push(m, held)
        push(m, I1)
        m[row + I_TYPE] = intern_type(m, STRUCT, 0, 0, 0, base)
    elif opcode == ATOMICRMW:
        m[row + I_SUB] = OPERATION_OF[m[VALUE]] if m[KIND] == WORD else -1
        if m[row + I_SUB] < 0:
            m[ERROR] = 1
        advance(t, m)
        typed_operand(t, m)
        expect(t, m, 44)
        m[row + I_TYPE] = typed_operand(t, m)
    if opcode >= FENCE or m[row + I_FLAGS] & ATOMIC:
        ordering(t, m, row)
        if opcode == CMPXCHG:
            if m[KIND] != WORD or ORDERING_OF[m[VALUE]] == 0:
                m[ERROR] = 1
                return
            m[row + I_SUB] = ORDERING_OF[m[VALUE]] >> ORDERING_SHIFT
            advance(t, m)
    m[row + I_ALIGN] = alignment(t, m)


@no_refcount
def address(t: Cells, m: Cells, row: int) -> None:
    """Read getelementptr after its opcode."""
    noinline()
    while m[KIND] == WORD and (FLAG_OF[m[VALUE]] != 0 or at_word(m, W_INRANGE)):
        m[row + I_FLAGS] |= FLAG_OF[m[VALUE]]
        ranged = at_word(m, W_INRANGE)
        advance(t, m)
        if ranged:
            skip_group(t, m)
    m[row + I_ABOUT] = parse_type(t, m)
    expect(t, m, 44)
    result = typed_operand(t, m)
    while m[KIND] == 44 and not m[ERROR]:
        before = m[AT]
        advance(t, m)
        if m[KIND] == TAG:
            go_to(t, m, before)
            break
        index_type = typed_operand(t, m)
        if m[m[TYPES] + result * T_WIDTH + T_KIND] != VECTOR:
            result = vector_like(m, index_type, result)
    m[row + I_TYPE] = result


@no_refcount
def vectors_and_aggregates(t: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read extractvalue, insertvalue, and the element and shuffle instructions."""
    noinline()
    whole = typed_operand(t, m)
    m[row + I_TYPE] = whole
    if opcode == EXTRACTVALUE or opcode == INSERTVALUE:
        if opcode == INSERTVALUE:
            expect(t, m, 44)
            typed_operand(t, m)
        inner = whole
        while m[KIND] == 44 and not m[ERROR]:
            before = m[AT]
            advance(t, m)
            if m[KIND] != INTEGER:
                go_to(t, m, before)
                break
            inner = element_type(m, inner, integer(m))
            add_operand(t, m, index_constant(t, m))
        if opcode == EXTRACTVALUE:
            m[row + I_TYPE] = inner
        return
    expect(t, m, 44)
    typed_operand(t, m)
    if opcode == EXTRACTELEMENT:
        m[row + I_TYPE] = element_type(m, whole, 0)
        return
    expect(t, m, 44)
    last = typed_operand(t, m)
    if opcode == SHUFFLEVECTOR:
        m[row + I_TYPE] = vector_like(m, last, element_type(m, whole, 0))
