"""Values as they stand in operands: locals, globals, and constants made once each."""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader.compiled import Cells, apart, step
from kleene.frontends.c.reader.cursor import (
    accept,
    advance,
    at_any_word,
    at_word,
    excerpt,
    expect,
    expect_word,
    go_to,
    integer,
    mix,
    skip_group,
)
from kleene.frontends.c.reader.state import (
    AT,
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
    FOREIGN_NUMBER,
    FRAME,
    FRAMES,
    FULL,
    KIND,
    LAST_TYPE,
    N_CONSTANT_OPERANDS,
    N_CONSTANTS,
    STACK,
    TABLE_SIZE,
    TAG_CONSTANT,
    TAG_FOREIGN,
    TAG_GLOBAL,
    TAG_NAMED,
    TAG_NUMBERED,
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
    BIAS,
    BYTES,
    FINISH,
    GLOBAL,
    INTEGER,
    NAMED,
    NEWLINE,
    NUMBERED,
    QUOTED,
    REAL,
    WORD,
)
from kleene.frontends.c.reader.tokens import WIDE as WIDE_TOKEN
from kleene.frontends.c.reader.types import I32, METADATA, open_frame, parse_type, push
from kleene.frontends.c.reader.words import FLAG_OF, OPCODE_OF, PREDICATE_OF, WORDS
from kleene.ir.codes import ConstantKind, Flag, Opcode

INT, FLOAT = int(ConstantKind.INT), int(ConstantKind.FLOAT)
STRING, AGGREGATE = int(ConstantKind.STRING), int(ConstantKind.AGGREGATE)
SPLAT, EXPRESSION = int(ConstantKind.SPLAT), int(ConstantKind.EXPRESSION)
BLOCK_ADDRESS, ASSEMBLY = int(ConstantKind.BLOCK_ADDRESS), int(ConstantKind.ASSEMBLY)
NODE_KIND, WRAPPED = int(ConstantKind.METADATA), int(ConstantKind.WRAPPED)
UNKNOWN = int(ConstantKind.UNKNOWN)
WIDE = int(Flag.WIDE)
GEP, ICMP, FCMP = int(Opcode.GETELEMENTPTR), int(Opcode.ICMP), int(Opcode.FCMP)
FIRST_CAST, LAST_CAST = int(Opcode.TRUNC), int(Opcode.ADDRSPACECAST)
W_TO, W_TRUE, W_FALSE = WORDS["to"], WORDS["true"], WORDS["false"]
W_SPLAT, W_BLOCKADDRESS, W_ASM = WORDS["splat"], WORDS["blockaddress"], WORDS["asm"]
W_EQUIVALENT, W_NO_CFI = WORDS["dso_local_equivalent"], WORDS["no_cfi"]
W_INRANGE, W_PTRAUTH = WORDS["inrange"], WORDS["ptrauth"]
LITERAL_OF = np.full(len(WORDS) + 1, -1, np.int64)
for _word, _kind in (
    ("null", ConstantKind.NULL),
    ("undef", ConstantKind.UNDEF),
    ("poison", ConstantKind.POISON),
    ("zeroinitializer", ConstantKind.ZERO),
    ("none", ConstantKind.NONE),
):
    LITERAL_OF[WORDS[_word]] = int(_kind)


@step
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


@step
def intern_constant(
    m: Cells, kind: int, opcode: int, flags: int, type_id: int, about: int, payload: int, base: int
) -> int:
    """Return the tagged constant of this content; its operands, the stack from `base`, go."""
    apart()
    if m[ERROR]:  # half a constant is none
        m[TOP] = base
        return TAG_CONSTANT
    value = mix(mix(mix(np.uint64(kind), type_id), payload), about)
    value = mix(value, opcode | (flags << 8))
    for i in range(m[STACK] + base, m[STACK] + m[TOP]):
        value = mix(value, m[i])
    mask = m[TABLE_SIZE] - 1
    place = np.int64(value) & mask
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


@step
def plain_constant(m: Cells, kind: int, type_id: int, payload: int) -> int:
    """Return the tagged constant that has neither operands nor flags."""
    apart()
    return intern_constant(m, kind, 0, 0, type_id, -1, payload, m[TOP])


@step
def integer_constant(t: Cells, m: Cells, type_id: int) -> int:
    """Read an integer."""
    apart()
    wide, value = m[KIND] == WIDE_TOKEN, m[VALUE]
    advance(t, m)
    if wide:  # `assemble` narrows those that fit 64 bits
        return intern_constant(m, INT, 0, WIDE, type_id, -1, value, m[TOP])
    return plain_constant(m, INT, type_id, value - BIAS)


@step
def assembly(t: Cells, m: Cells, type_id: int) -> int:
    """Read `asm flags "text", "constraints"`."""
    apart()
    advance(t, m)
    flags = 0
    while at_any_word(m):
        flags |= FLAG_OF[m[VALUE]] if m[KIND] == WORD else 0
        advance(t, m)
    code = m[VALUE]
    expect(t, m, QUOTED)
    expect(t, m, 44)
    constraints = m[VALUE]
    expect(t, m, QUOTED)
    return intern_constant(m, ASSEMBLY, 0, flags, type_id, constraints, code, m[TOP])


@step
def block_address(t: Cells, m: Cells, type_id: int) -> int:
    """Read `blockaddress(@function, %block)`; the block is resolved when all are known."""
    apart()
    base = m[TOP]
    advance(t, m)
    expect(t, m, 40)
    push(m, TAG_GLOBAL + m[VALUE])
    expect(t, m, GLOBAL)
    expect(t, m, 44)
    if m[KIND] == NUMBERED:
        push(m, TAG_FOREIGN + FOREIGN_NUMBER + m[VALUE])
    elif m[KIND] == NAMED:
        push(m, TAG_FOREIGN + m[VALUE])
    else:
        m[ERROR] = 1
    advance(t, m)
    expect(t, m, 41)
    return intern_constant(m, BLOCK_ADDRESS, 0, 0, type_id, -1, 0, base)


@step
def wrapped(t: Cells, m: Cells, type_id: int) -> int:
    """Read `dso_local_equivalent @f` or `no_cfi @f`; the payload is the word's number."""
    apart()
    base = m[TOP]
    wrapper = m[VALUE]
    advance(t, m)
    push(m, TAG_GLOBAL + m[VALUE])
    expect(t, m, GLOBAL)
    return intern_constant(m, WRAPPED, 0, 0, type_id, -1, wrapper, base)


@step
def metadata_value(t: Cells, m: Cells) -> int:
    """Read metadata in an operand's place: kept as its text."""
    apart()
    first = m[AT]
    while m[KIND] != 44 and m[KIND] != 41 and not m[ERROR]:
        if m[KIND] == NEWLINE or m[KIND] == FINISH:
            m[ERROR] = 1
        elif m[KIND] == 40 or m[KIND] == 123:
            skip_group(t, m)
        else:
            advance(t, m)
    return plain_constant(m, NODE_KIND, METADATA, excerpt(t, m, first))


@step
def unknown_constant(t: Cells, m: Cells, type_id: int, start: int) -> int:
    """Make of the text from `start` to the end of the line a constant that names its globals."""
    apart()
    base = m[TOP]
    go_to(t, m, start)
    while m[KIND] != NEWLINE and m[KIND] != FINISH:
        if m[KIND] == GLOBAL:
            push(m, TAG_GLOBAL + m[VALUE])
        advance(t, m)
    return intern_constant(m, UNKNOWN, 0, 0, type_id, -1, excerpt(t, m, start), base)


@step
def literal(t: Cells, m: Cells, type_id: int) -> int:
    """Read a constant that is one word, or begins with one and holds no other constant; else -1."""
    apart()
    word = m[VALUE]
    if LITERAL_OF[word] >= 0:
        advance(t, m)
        return plain_constant(m, LITERAL_OF[word], type_id, 0)
    if word == W_TRUE or word == W_FALSE:
        advance(t, m)
        return plain_constant(m, INT, type_id, 1 if word == W_TRUE else 0)
    if word == W_BLOCKADDRESS:
        return block_address(t, m, type_id)
    if word == W_ASM:
        return assembly(t, m, type_id)
    if word == W_EQUIVALENT or word == W_NO_CFI:
        return wrapped(t, m, type_id)
    return -1


@step
def leaf_value(t: Cells, m: Cells, type_id: int) -> int:
    """Read a value that holds no other; return it tagged, or -1 if none stands here."""
    apart()
    kind = m[KIND]
    if kind == NUMBERED:
        value = TAG_NUMBERED + m[VALUE]
        advance(t, m)
        return value
    if kind == GLOBAL or kind == NAMED:
        value = m[VALUE] + (TAG_GLOBAL if kind == GLOBAL else TAG_NAMED)
        advance(t, m)
        return value
    if type_id == METADATA:
        return metadata_value(t, m)
    if kind == INTEGER or kind == WIDE_TOKEN:
        return integer_constant(t, m, type_id)
    if kind == REAL or kind == BYTES:
        payload = m[VALUE]
        advance(t, m)
        return plain_constant(m, FLOAT if kind == REAL else STRING, type_id, payload)
    if kind == WORD:
        return literal(t, m, type_id)
    return -1


@step
def open_aggregate(t: Cells, m: Cells, type_id: int) -> None:
    """Read the opening bracket of an array, struct or vector and open its frame."""
    apart()
    bracket = m[KIND]
    advance(t, m)
    frame = open_frame(m, AGGREGATE)
    m[frame + X_TYPE], m[frame + X_ABOUT], m[frame + X_CLOSE] = type_id, -1, bracket + 2
    if bracket == 60 and accept(t, m, 123):  # <{ … }>
        m[frame + X_CLOSE] = 125
        m[frame + X_PAYLOAD] = 62


@step
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


@step
def open_expression(t: Cells, m: Cells, type_id: int) -> None:
    """Read `opcode flags (`, `splat (` or `ptrauth (` and open its frame."""
    apart()
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


@step
def close_value(t: Cells, m: Cells, frame: int) -> int:
    """Read the end of the constant in `frame`; return it."""
    apart()
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


@step
def parse_value(t: Cells, m: Cells, type_id: int) -> int:
    """Read a value of a type that is already read; return it tagged."""
    apart()
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


@step
def typed_value(t: Cells, m: Cells) -> int:
    """Read a type and a value of it; LAST_TYPE holds the type."""
    apart()
    type_id = parse_type(t, m)
    value = parse_value(t, m, type_id)
    m[LAST_TYPE] = type_id
    return value


@step
def index_constant(t: Cells, m: Cells) -> int:
    """Read a bare index (of extractvalue and insertvalue) as an i32 constant."""
    apart()
    value = plain_constant(m, INT, I32, integer(m))
    expect(t, m, INTEGER)
    return value
