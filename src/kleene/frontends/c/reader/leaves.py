"""Values that hold no other: locals, globals, and constants of one word or literal."""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.cursor import (
    advance,
    at_any_word,
    excerpt,
    expect,
    go_to,
    skip_group,
)
from kleene.frontends.c.reader.interned import intern_constant, plain_constant
from kleene.frontends.c.reader.state import (
    A_NODE,
    AT,
    ERROR,
    FOREIGN_NUMBER,
    KIND,
    TAG_FOREIGN,
    TAG_GLOBAL,
    TAG_NAMED,
    TAG_NUMBERED,
    TOP,
    VALUE,
)
from kleene.frontends.c.reader.tokens import (
    BIAS,
    BYTES,
    FINISH,
    GLOBAL,
    INTEGER,
    NAMED,
    NEWLINE,
    NODE,
    NUMBERED,
    QUOTED,
    REAL,
    WORD,
)
from kleene.frontends.c.reader.tokens import WIDE as WIDE_TOKEN
from kleene.frontends.c.reader.types import METADATA, push
from kleene.frontends.c.reader.words import FLAG_OF, WORDS
from kleene.ir.codes import ConstantKind, Flag

INT, FLOAT = int(ConstantKind.INT), int(ConstantKind.FLOAT)
STRING = int(ConstantKind.STRING)
BLOCK_ADDRESS, ASSEMBLY = int(ConstantKind.BLOCK_ADDRESS), int(ConstantKind.ASSEMBLY)
NODE_KIND, WRAPPED = int(ConstantKind.METADATA), int(ConstantKind.WRAPPED)
UNKNOWN = int(ConstantKind.UNKNOWN)
WIDE = int(Flag.WIDE)
W_TRUE, W_FALSE = WORDS["true"], WORDS["false"]
W_BLOCKADDRESS, W_ASM = WORDS["blockaddress"], WORDS["asm"]
W_EQUIVALENT, W_NO_CFI = WORDS["dso_local_equivalent"], WORDS["no_cfi"]
LITERAL_OF = np.full(len(WORDS) + 1, -1, np.int64)
for _word, _kind in (
    ("null", ConstantKind.NULL),
    ("undef", ConstantKind.UNDEF),
    ("poison", ConstantKind.POISON),
    ("zeroinitializer", ConstantKind.ZERO),
    ("none", ConstantKind.NONE),
):
    LITERAL_OF[WORDS[_word]] = int(_kind)


@no_refcount
def integer_constant(t: Cells, m: Cells, type_id: int) -> int:
    """Read an integer."""
    noinline()
    wide, value = m[KIND] == WIDE_TOKEN, m[VALUE]
    advance(t, m)
    if wide:  # `assemble` narrows those that fit 64 bits
        return intern_constant(m, INT, 0, WIDE, type_id, -1, value, m[TOP])
    return plain_constant(m, INT, type_id, value - BIAS)


@no_refcount
def assembly(t: Cells, m: Cells, type_id: int) -> int:
    """Read `asm flags "text", "constraints"`."""
    noinline()
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


@no_refcount
def block_address(t: Cells, m: Cells, type_id: int) -> int:
    """Read `blockaddress(@function, %block)`; the block is resolved when all are known."""
    noinline()
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


@no_refcount
def wrapped(t: Cells, m: Cells, type_id: int) -> int:
    """Read `dso_local_equivalent @f` or `no_cfi @f`; the payload is the word's number."""
    noinline()
    base = m[TOP]
    wrapper = m[VALUE]
    advance(t, m)
    push(m, TAG_GLOBAL + m[VALUE])
    expect(t, m, GLOBAL)
    return intern_constant(m, WRAPPED, 0, 0, type_id, -1, wrapper, base)


@no_refcount
def metadata_value(t: Cells, m: Cells) -> int:
    """Read metadata in an operand's place: kept as its text, but for the number of a node."""
    noinline()
    first, is_node = m[AT], m[KIND] == NODE
    while m[KIND] != 44 and m[KIND] != 41 and not m[ERROR]:
        if m[KIND] == NEWLINE or m[KIND] == FINISH:
            m[ERROR] = 1
        elif m[KIND] == 40 or m[KIND] == 123:
            skip_group(t, m)
        else:
            advance(t, m)
    if is_node and m[AT] == first + 1:
        return plain_constant(m, NODE_KIND, METADATA, A_NODE)
    return plain_constant(m, NODE_KIND, METADATA, excerpt(t, m, first))


@no_refcount
def unknown_constant(t: Cells, m: Cells, type_id: int, start: int) -> int:
    """Make of the text from `start` to the end of the line a constant that names its globals."""
    noinline()
    base = m[TOP]
    go_to(t, m, start)
    while m[KIND] != NEWLINE and m[KIND] != FINISH:
        if m[KIND] == GLOBAL:
            push(m, TAG_GLOBAL + m[VALUE])
        advance(t, m)
    return intern_constant(m, UNKNOWN, 0, 0, type_id, -1, excerpt(t, m, start), base)


@no_refcount
def literal(t: Cells, m: Cells, type_id: int) -> int:
    """Read a constant that is one word, or begins with one and holds no other constant; else -1."""
    noinline()
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


@no_refcount
def leaf_value(t: Cells, m: Cells, type_id: int) -> int:
    """Read a value that holds no other; return it tagged, or -1 if none stands here."""
    noinline()
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
        if kind == REAL:  # `assemble` makes bits of the text
            return intern_constant(m, FLOAT, 0, WIDE, type_id, -1, payload, m[TOP])
        return plain_constant(m, STRING, type_id, payload)
    if kind == WORD:
        return literal(t, m, type_id)
    return -1
