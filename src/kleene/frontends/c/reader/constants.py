"""Values as they stand in operands, one within the other."""

from __future__ import annotations

from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.cursor import (
    accept,
    advance,
    at_word,
    expect,
    expect_word,
    integer,
    skip_group,
)
from kleene.frontends.c.reader.interned import intern_constant, plain_constant
from kleene.frontends.c.reader.leaves import leaf_value
from kleene.frontends.c.reader.state import (
    ERROR,
    FRAME,
    FRAMES,
    KIND,
    LAST_TYPE,
    TAG_CONSTANT,
    TOP,
    VALUE,
    X_ABOUT,
    X_BASE,
    X_CLOSE,
    X_FLAGS,
    X_OPCODE,
    X_PAYLOAD,
    X_SORT,
    X_TYPE,
    X_WIDTH,
)
from kleene.frontends.c.reader.tokens import (
    INTEGER,
    WORD,
)
from kleene.frontends.c.reader.types import I32, open_frame, parse_type, push
from kleene.frontends.c.reader.words import FLAG_OF, OPCODE_OF, PREDICATE_OF, WORDS
from kleene.ir.codes import ConstantKind, Opcode

INT = int(ConstantKind.INT)
AGGREGATE = int(ConstantKind.AGGREGATE)
SPLAT, EXPRESSION = int(ConstantKind.SPLAT), int(ConstantKind.EXPRESSION)
WRAPPED = int(ConstantKind.WRAPPED)
GEP, ICMP, FCMP = int(Opcode.GETELEMENTPTR), int(Opcode.ICMP), int(Opcode.FCMP)
FIRST_CAST, LAST_CAST = int(Opcode.TRUNC), int(Opcode.ADDRSPACECAST)
W_TO = WORDS["to"]
W_SPLAT = WORDS["splat"]
W_INRANGE, W_PTRAUTH = WORDS["inrange"], WORDS["ptrauth"]


@no_refcount
def open_aggregate(t: Cells, m: Cells, type_id: int) -> None:
    """Read the opening bracket of an array, struct or vector and open its frame."""
    noinline()
    bracket = m[KIND]
    advance(t, m)
    frame = open_frame(m, AGGREGATE)
    m[frame + X_TYPE], m[frame + X_ABOUT], m[frame + X_CLOSE] = type_id, -1, bracket + 2
    if bracket == 60 and accept(t, m, 123):  # <{ … }>
        m[frame + X_CLOSE] = 125
        m[frame + X_PAYLOAD] = 62


@no_refcount
def expression_flags(t: Cells, m: Cells, frame: int) -> None:
    """Read the words between a constant expression's opcode and its operands."""
    opcode = m[frame + X_OPCODE]
    while m[KIND] == WORD:
        if at_word(m, W_INRANGE):
            advance(t, m)
            skip_group(t, m)
        elif FLAG_OF[m[VALUE]] != 0:
            m[frame + X_FLAGS] |= FLAG_OF[m[VALUE]]
            advance(t, m)
        elif PREDICATE_OF[m[VALUE]] >= 0 and (opcode == ICMP or opcode == FCMP):
            m[frame + X_ABOUT] = PREDICATE_OF[m[VALUE]]
            advance(t, m)
        else:
            return


@no_refcount
def open_expression(t: Cells, m: Cells, type_id: int) -> None:
    """Read `opcode flags (`, `splat (` or `ptrauth (` and open its frame."""
    noinline()
    word = m[VALUE]
    advance(t, m)
    sort = SPLAT if word == W_SPLAT else WRAPPED if word == W_PTRAUTH else EXPRESSION
    frame = open_frame(m, sort)
    m[frame + X_TYPE], m[frame + X_ABOUT], m[frame + X_CLOSE] = type_id, -1, 41
    if sort == EXPRESSION:
        opcode = OPCODE_OF[word]
        if opcode < 0:
            m[ERROR] = 1
        m[frame + X_OPCODE] = opcode
        expression_flags(t, m, frame)
    expect(t, m, 40)
    if m[frame + X_OPCODE] == GEP:
        m[frame + X_ABOUT] = parse_type(t, m)
        expect(t, m, 44)


@no_refcount
def close_value(t: Cells, m: Cells, frame: int) -> int:
    """Read the end of the constant in `frame`; return it."""
    noinline()
    sort, opcode = m[frame + X_SORT], m[frame + X_OPCODE]
    if sort == EXPRESSION and FIRST_CAST <= opcode <= LAST_CAST:
        expect_word(t, m, W_TO)
        parse_type(t, m)
    expect(t, m, m[frame + X_CLOSE])
    if m[frame + X_PAYLOAD]:
        expect(t, m, m[frame + X_PAYLOAD])
    m[FRAME] -= 1
    type_id, about, flags = m[frame + X_TYPE], m[frame + X_ABOUT], m[frame + X_FLAGS]
    payload = W_PTRAUTH if sort == WRAPPED else 0
    return intern_constant(m, sort, opcode, flags, type_id, about, payload, m[frame + X_BASE])


@no_refcount
def parse_value(t: Cells, m: Cells, type_id: int) -> int:
    """Read a value of a type that is already read; return it tagged."""
    noinline()
    top, frames = m[TOP], m[FRAME]
    while not m[ERROR]:
        result = leaf_value(t, m, type_id)
        if result < 0:
            if m[KIND] == WORD:
                open_expression(t, m, type_id)
            elif m[KIND] == 123 or m[KIND] == 91 or m[KIND] == 60:
                open_aggregate(t, m, type_id)
            else:
                m[ERROR] = 1
                break
            frame = m[FRAMES] + (m[FRAME] - 1) * X_WIDTH
            if m[KIND] != m[frame + X_CLOSE]:
                type_id = parse_type(t, m)
                continue  # to the first operand
            result = close_value(t, m, frame)
        while not m[ERROR]:
            if m[FRAME] == frames:
                return result
            push(m, result)
            if accept(t, m, 44):
                type_id = parse_type(t, m)
                break  # to the next operand
            result = close_value(t, m, m[FRAMES] + (m[FRAME] - 1) * X_WIDTH)
    m[TOP], m[FRAME] = top, frames
    return TAG_CONSTANT


@no_refcount
def typed_value(t: Cells, m: Cells) -> int:
    """Read a type and a value of it; LAST_TYPE holds the type."""
    noinline()
    type_id = parse_type(t, m)
    value = parse_value(t, m, type_id)
    m[LAST_TYPE] = type_id
    return value


@no_refcount
def index_constant(t: Cells, m: Cells) -> int:
    """Read a bare index (of extractvalue and insertvalue) as an i32 constant."""
    noinline()
    value = plain_constant(m, INT, I32, integer(m))
    expect(t, m, INTEGER)
    return value
