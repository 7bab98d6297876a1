"""Calls: attributes, function type, callee, arguments; and the bundles that come before them."""

from __future__ import annotations

from kleene.frontends.c.reader import bitcodes, state, tables
from kleene.frontends.c.reader.attributes import group_of
from kleene.frontends.c.reader.compiled import Cells, device_function, noinline
from kleene.frontends.c.reader.constants import constant_row, kind_of
from kleene.frontends.c.reader.cursor import (
    a_type,
    add,
    below,
    block,
    fast_math,
    item,
    left,
    relative,
    require,
    typed,
)
from kleene.frontends.c.reader.metadata import metadata_constant
from kleene.frontends.c.reader.types import FUNCTION, VARARG, type_row
from kleene.ir.codes import ConstantKind, Flag, Opcode, TypeKind

CALL, INVOKE, CALLBR = int(Opcode.CALL), int(Opcode.INVOKE), int(Opcode.CALLBR)
ALLOCA = int(Opcode.ALLOCA)
TAIL, MUSTTAIL, NOTAIL = int(Flag.TAIL), int(Flag.MUSTTAIL), int(Flag.NOTAIL)
POISON = int(ConstantKind.POISON)
_LOW_HALF = 0xFFFFFFFF
T_LABEL, T_METADATA = int(TypeKind.LABEL), int(TypeKind.METADATA)


@device_function
def bundle(c: Cells, h: Cells, m: Cells) -> None:
    """Read an operand bundle of the call to come."""
    noinline()
    tag = below(h, item(c, h), h[state.N_TAGS])
    row = m[tables.BUNDLES] + m[tables.N_BUNDLES] * tables.U_WIDTH
    m[row + tables.U_INSTRUCTION] = m[tables.N_INSTRUCTIONS]
    m[row + tables.U_TAG] = h[h[state.TAGS] + tag]
    m[row + tables.U_FIRST] = m[tables.N_BUNDLE_OPERANDS]
    m[tables.N_BUNDLES] += 1
    while left(h) > 0 and not h[state.FAULT]:
        cell = m[tables.BUNDLE_OPERANDS] + m[tables.N_BUNDLE_OPERANDS]
        if c[h[state.AT]] == bitcodes.OPERAND_IS_METADATA:
            item(c, h)
            m[cell] = metadata_constant(c, h, m)
        else:
            m[cell] = typed(c, h)
        m[tables.N_BUNDLE_OPERANDS] += 1
    h[state.BUNDLED] = 1


@device_function
def lifetime(c: Cells, h: Cells, m: Cells, row: int, callee: int, type_id: int) -> None:
    """Read a call of `llvm.lifetime.start(i64, ptr)` as LLVM 22 has it: without the size."""
    noinline()
    relative(c, h)
    pointer = relative(c, h)
    is_known = False
    if tables.TAG_INSTRUCTION <= pointer <= tables.TAG_INSTRUCTION + tables.TAG_MASK:
        defined = m[tables.INSTRUCTIONS] + (pointer & tables.TAG_MASK) * tables.I_WIDTH
        is_known = m[defined + tables.I_OPCODE] == ALLOCA
    elif constant_row(m, pointer) >= 0:
        is_known = m[constant_row(m, pointer) + tables.C_KIND] == POISON
    if not is_known:  # LLVM looks behind casts, and drops the call of anything else
        h[state.FAULT] = 1
        return
    add(m, pointer)
    m[row + tables.I_ABOUT], m[row + tables.I_FLAGS], m[row + tables.I_ATTRIBUTES] = type_id, 0, -1
    h[state.USED] |= 1 << (h[h[state.GLOBAL_ROW] + callee] & 31)


@device_function
def argument(c: Cells, h: Cells, m: Cells, attributes: int, index: int, type_id: int) -> None:
    """Read an argument whose type is known, and how it travels."""
    kind = kind_of(m, type_id)
    require(h, kind != T_LABEL)
    if kind == T_METADATA:
        add(m, metadata_constant(c, h, m))
        return
    if attributes and h[h[state.LIST_PASSES] + attributes]:
        passing(c, h, m, attributes, index)
    add(m, relative(c, h))


@device_function
def passing(c: Cells, h: Cells, m: Cells, attributes: int, index: int) -> None:
    """Note how the next operand travels, if not as it is."""
    noinline()
    group = group_of(c, h, attributes, index)
    if group >= 0 and h[group + state.GR_PASSING]:
        row = m[tables.PASSED] + m[tables.N_PASSED] * tables.P_WIDTH
        m[row + tables.P_OPERAND] = m[tables.N_OPERANDS]
        m[row + tables.P_PASSING] = h[group + state.GR_PASSING]
        m[row + tables.P_TYPE] = h[group + state.GR_TYPE]
        m[tables.N_PASSED] += 1


@device_function
def arguments(c: Cells, h: Cells, m: Cells, shape: int, attributes: int) -> None:
    """Read the arguments, those beyond the function's type with their types."""
    noinline()
    first, count = m[tables.ELEMENTS] + m[shape + tables.T_FIRST] + 1, m[shape + tables.T_COUNT] - 1
    for i in range(count):
        argument(c, h, m, attributes, i + 1, m[first + i])
        if h[state.FAULT]:
            return
    require(h, left(h) <= 0 or m[shape + tables.T_FLAGS] & VARARG)
    while left(h) > 0 and not h[state.FAULT]:
        count += 1
        if attributes and h[h[state.LIST_PASSES] + attributes]:
            passing(c, h, m, attributes, count)
        add(m, typed(c, h))


@device_function
def tail_flag(bits: int) -> int:
    """Return which of the words before `call` stands there: the stronger one of two."""
    if bits & bitcodes.CALL_NOTAIL:
        return NOTAIL
    if bits & bitcodes.CALL_MUSTTAIL:
        return MUSTTAIL
    return TAIL if bits & bitcodes.CALL_TAIL else 0


@device_function
def call(c: Cells, h: Cells, m: Cells, row: int, code: int) -> None:
    """Read call, invoke or callbr; blocks come before the callee, in the text last."""
    noinline()
    attributes, bits = below(h, item(c, h), h[state.N_LISTS] + 1), item(c, h)
    m[row + tables.I_OPCODE] = CALL
    m[row + tables.I_ATTRIBUTES] = attributes if attributes else -1
    targets, n_targets, is_typed = h[state.AT], 0, bits & bitcodes.CALL_EXPLICIT_TYPE
    if code == bitcodes.INST_CALL:
        m[row + tables.I_FLAGS] = tail_flag(bits)
        if bits & bitcodes.CALL_FMF:
            m[row + tables.I_FLAGS] |= fast_math(item(c, h))
    elif code == bitcodes.INST_INVOKE:
        m[row + tables.I_OPCODE], n_targets = INVOKE, 2
        is_typed = bits & bitcodes.INVOKE_EXPLICIT_TYPE
    else:
        m[row + tables.I_OPCODE] = CALLBR
        item(c, h)
        n_targets = 1 + item(c, h)
        if n_targets < 1 or n_targets > left(h) + 1:
            h[state.FAULT] = 1
            return
        h[state.AT] -= 2
    h[state.AT] += n_targets + (1 if code == bitcodes.INST_CALLBR else 0)
    type_id = a_type(c, h)
    if not is_typed or h[state.FAULT] or kind_of(m, type_id) != FUNCTION:
        h[state.FAULT] = 1
        return
    callee = (h[state.N_VALUES] - c[h[state.AT]]) & _LOW_HALF if left(h) > 0 else 0
    add(m, typed(c, h))
    if callee < h[state.N_GLOBALS] and h[h[state.UPGRADED] + callee] >= 0:
        require(h, code == bitcodes.INST_CALL and not h[state.BUNDLED])
        lifetime(c, h, m, row, callee, h[h[state.UPGRADED] + callee])
        return
    shape = type_row(m, type_id)
    m[row + tables.I_ABOUT] = type_id
    m[row + tables.I_TYPE] = m[m[tables.ELEMENTS] + m[shape + tables.T_FIRST]]
    arguments(c, h, m, shape, attributes)
    if n_targets:
        normal = block(h, c[targets])
        add(m, normal)
        first = targets + (2 if code == bitcodes.INST_CALLBR else 1)
        for place in range(first, first + n_targets - 1):
            add(m, block(h, c[place]))
