"""Calls: attributes, function type, callee, arguments; and the bundles that come before them."""

from __future__ import annotations

from kleene.frontends.c.reader import bitcodes
from kleene.frontends.c.reader.attributes import group_of
from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.constants import kind_of
from kleene.frontends.c.reader.cursor import (
    a_type,
    add,
    block,
    fast_math,
    item,
    left,
    relative,
    typed,
)
from kleene.frontends.c.reader.metadata import metadata_constant
from kleene.frontends.c.reader.state import (
    AT,
    BUNDLED,
    FAULT,
    GLOBAL_ROW,
    GR_PASSING,
    GR_TYPE,
    LIST_PASSES,
    N_GLOBALS,
    N_LISTS,
    N_TAGS,
    N_VALUES,
    TAGS,
    UPGRADED,
    USED,
)
from kleene.frontends.c.reader.tables import (
    BUNDLE_OPERANDS,
    BUNDLES,
    C_KIND,
    C_WIDTH,
    CONSTANTS,
    ELEMENTS,
    I_ABOUT,
    I_ATTRIBUTES,
    I_FLAGS,
    I_OPCODE,
    I_TYPE,
    I_WIDTH,
    INSTRUCTIONS,
    N_BUNDLE_OPERANDS,
    N_BUNDLES,
    N_INSTRUCTIONS,
    N_OPERANDS,
    N_PASSED,
    P_OPERAND,
    P_PASSING,
    P_TYPE,
    P_WIDTH,
    PASSED,
    T_COUNT,
    T_FIRST,
    T_FLAGS,
    T_WIDTH,
    TAG_CONSTANT,
    TAG_INSTRUCTION,
    TAG_MASK,
    TYPES,
    U_FIRST,
    U_INSTRUCTION,
    U_TAG,
    U_WIDTH,
)
from kleene.frontends.c.reader.types import FUNCTION, VARARG
from kleene.ir.codes import ConstantKind, Flag, Opcode, TypeKind

CALL, INVOKE, CALLBR = int(Opcode.CALL), int(Opcode.INVOKE), int(Opcode.CALLBR)
ALLOCA = int(Opcode.ALLOCA)
TAIL, MUSTTAIL, NOTAIL = int(Flag.TAIL), int(Flag.MUSTTAIL), int(Flag.NOTAIL)
POISON = int(ConstantKind.POISON)
_LOW_HALF = 0xFFFFFFFF
T_LABEL, T_METADATA = int(TypeKind.LABEL), int(TypeKind.METADATA)


@no_refcount
def bundle(c: Cells, h: Cells, m: Cells) -> None:
    """Read an operand bundle of the call to come."""
    noinline()
    tag = item(c, h)
    if tag < 0 or tag >= h[N_TAGS]:
        h[FAULT] = 1
        return
    row = m[BUNDLES] + m[N_BUNDLES] * U_WIDTH
    m[row + U_INSTRUCTION], m[row + U_TAG] = m[N_INSTRUCTIONS], h[h[TAGS] + tag]
    m[row + U_FIRST] = m[N_BUNDLE_OPERANDS]
    m[N_BUNDLES] += 1
    while left(h) > 0 and not h[FAULT]:
        cell = m[BUNDLE_OPERANDS] + m[N_BUNDLE_OPERANDS]
        if c[h[AT]] == bitcodes.OPERAND_IS_METADATA:
            item(c, h)
            m[cell] = metadata_constant(c, h, m)
        else:
            m[cell] = typed(c, h)
        m[N_BUNDLE_OPERANDS] += 1
    h[BUNDLED] = 1


@no_refcount
def lifetime(c: Cells, h: Cells, m: Cells, row: int, callee: int, type_id: int) -> None:
    """Read a call of `llvm.lifetime.start(i64, ptr)` as LLVM 22 has it: without the size."""
    noinline()
    relative(c, h)
    pointer = relative(c, h)
    is_known = False
    if TAG_INSTRUCTION <= pointer <= TAG_INSTRUCTION + TAG_MASK:
        defined = m[INSTRUCTIONS] + (pointer & TAG_MASK) * I_WIDTH
        is_known = m[defined + I_OPCODE] == ALLOCA
    elif TAG_CONSTANT <= pointer <= TAG_CONSTANT + TAG_MASK:
        is_known = m[m[CONSTANTS] + (pointer & TAG_MASK) * C_WIDTH + C_KIND] == POISON
    if not is_known:  # LLVM looks behind casts, and drops the call of anything else
        h[FAULT] = 1
        return
    add(m, pointer)
    m[row + I_ABOUT], m[row + I_FLAGS], m[row + I_ATTRIBUTES] = type_id, 0, -1
    h[USED] |= 1 << (h[h[GLOBAL_ROW] + callee] & 31)


@no_refcount
def argument(c: Cells, h: Cells, m: Cells, attributes: int, index: int, type_id: int) -> None:
    """Read an argument whose type is known, and how it travels."""
    kind = kind_of(m, type_id)
    if kind == T_LABEL:
        h[FAULT] = 1
    if kind == T_METADATA:
        add(m, metadata_constant(c, h, m))
        return
    if attributes and h[h[LIST_PASSES] + attributes]:
        passing(c, h, m, attributes, index)
    add(m, relative(c, h))


@no_refcount
def passing(c: Cells, h: Cells, m: Cells, attributes: int, index: int) -> None:
    """Note how the next operand travels, if not as it is."""
    noinline()
    group = group_of(c, h, attributes, index)
    if group >= 0 and h[group + GR_PASSING]:
        row = m[PASSED] + m[N_PASSED] * P_WIDTH
        m[row + P_OPERAND], m[row + P_PASSING] = m[N_OPERANDS], h[group + GR_PASSING]
        m[row + P_TYPE] = h[group + GR_TYPE]
        m[N_PASSED] += 1


@no_refcount
def arguments(c: Cells, h: Cells, m: Cells, shape: int, attributes: int) -> None:
    """Read the arguments, those beyond the function's type with their types."""
    noinline()
    first, count = m[ELEMENTS] + m[shape + T_FIRST] + 1, m[shape + T_COUNT] - 1
    for i in range(count):
        argument(c, h, m, attributes, i + 1, m[first + i])
        if h[FAULT]:
            return
    if left(h) > 0 and not m[shape + T_FLAGS] & VARARG:
        h[FAULT] = 1
    while left(h) > 0 and not h[FAULT]:
        count += 1
        if attributes and h[h[LIST_PASSES] + attributes]:
            passing(c, h, m, attributes, count)
        add(m, typed(c, h))


@no_refcount
def tail_flag(bits: int) -> int:
    """Return which of the words before `call` stands there: the stronger one of two."""
    if bits & bitcodes.CALL_NOTAIL:
        return NOTAIL
    if bits & bitcodes.CALL_MUSTTAIL:
        return MUSTTAIL
    return TAIL if bits & bitcodes.CALL_TAIL else 0


@no_refcount
def call(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read call, invoke or callbr; blocks come before the callee, in the text last."""
    noinline()
    attributes, bits = item(c, h), item(c, h)
    if attributes < 0 or attributes > h[N_LISTS]:
        h[FAULT] = 1
        return
    m[row + I_OPCODE] = CALL
    m[row + I_ATTRIBUTES] = attributes if attributes else -1
    targets, n_targets, is_typed = h[AT], 0, bits & bitcodes.CALL_EXPLICIT_TYPE
    if code == bitcodes.INST_CALL:
        m[row + I_FLAGS] = tail_flag(bits)
        if bits & bitcodes.CALL_FMF:
            m[row + I_FLAGS] |= fast_math(item(c, h))
    elif code == bitcodes.INST_INVOKE:
        m[row + I_OPCODE], n_targets = INVOKE, 2
        is_typed = bits & bitcodes.INVOKE_EXPLICIT_TYPE
    else:
        m[row + I_OPCODE] = CALLBR
        item(c, h)
        n_targets = 1 + item(c, h)
        if n_targets < 1 or n_targets > left(h) + 1:
            h[FAULT] = 1
            return
        h[AT] -= 2
    h[AT] += n_targets + (1 if code == bitcodes.INST_CALLBR else 0)
    type_id = a_type(c, h)
    if not is_typed or h[FAULT] or kind_of(m, type_id) != FUNCTION:
        h[FAULT] = 1
        return
    callee = (h[N_VALUES] - c[h[AT]]) & _LOW_HALF if left(h) > 0 else 0
    add(m, typed(c, h))
    if callee < h[N_GLOBALS] and h[h[UPGRADED] + callee] >= 0:
        if code != bitcodes.INST_CALL or h[BUNDLED]:
            h[FAULT] = 1
        lifetime(c, h, m, row, callee, h[h[UPGRADED] + callee])
        return
    shape = m[TYPES] + type_id * T_WIDTH
    m[row + I_ABOUT], m[row + I_TYPE] = type_id, m[m[ELEMENTS] + m[shape + T_FIRST]]
    arguments(c, h, m, shape, attributes)
    if n_targets:
        normal = block(h, c[targets])
        add(m, normal)
        first = targets + (2 if code == bitcodes.INST_CALLBR else 1)
        for place in range(first, first + n_targets - 1):
            add(m, block(h, c[place]))
