"""Calls: convention, attributes, function type, callee, arguments, bundles."""

from __future__ import annotations

from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.constants import parse_value, typed_value
from kleene.frontends.c.reader.cursor import (
    accept,
    advance,
    at_any_word,
    at_word,
    expect,
    expect_word,
    skip_group,
    skip_newlines,
)
from kleene.frontends.c.reader.operands import add_operand, label, words_flags
from kleene.frontends.c.reader.state import (
    ATTRIBUTE_FLAGS,
    ATTRIBUTE_PASSING,
    ATTRIBUTE_TYPE,
    BUNDLE_OPERANDS,
    BUNDLES,
    ELEMENTS,
    ERROR,
    I_ABOUT,
    I_FLAGS,
    I_GROUP,
    I_TYPE,
    KIND,
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
    T_FIRST,
    T_KIND,
    T_WIDTH,
    TOP,
    TYPES,
    U_FIRST,
    U_INSTRUCTION,
    U_TAG,
    U_WIDTH,
    VALUE,
)
from kleene.frontends.c.reader.tokens import (
    GROUP,
    INTEGER,
    QUOTED,
    WORD,
)
from kleene.frontends.c.reader.types import (
    FUNCTION,
    PTR,
    address_space,
    intern_type,
    parse_type,
    push,
    starts_type,
)
from kleene.frontends.c.reader.words import (
    ARGUMENT_FLAG_OF,
    GLOBAL_FLAG_OF,
    PASSING_OF,
    STARTS_VALUE,
    WORDS,
)
from kleene.ir.codes import ArgumentFlag, Flag, GlobalFlag, Opcode

INVOKE, CALLBR = int(Opcode.INVOKE), int(Opcode.CALLBR)
W_TO, W_UNWIND, W_ALIGN = WORDS["to"], WORDS["unwind"], WORDS["align"]
W_ADDRSPACE, W_CAPTURES, W_NONE = WORDS["addrspace"], WORDS["captures"], WORDS["none"]
W_CC = WORDS["cc"]
NOCAPTURE = int(ArgumentFlag.NOCAPTURE)
NORETURN, RETURNS_TWICE = int(Flag.NORETURN), int(Flag.RETURNS_TWICE)
G_NORETURN, G_TWICE = int(GlobalFlag.NORETURN), int(GlobalFlag.RETURNS_TWICE)


@no_refcount
def skip_to_type(t: Cells, m: Cells) -> None:
    """Move over linkage, convention and result attributes to the type they precede."""
    noinline()
    while not m[ERROR] and not starts_type(m):
        if at_word(m, W_ADDRSPACE):
            address_space(t, m)
        elif at_any_word(m):
            numbered = at_word(m, W_ALIGN) or at_word(m, W_CC)
            advance(t, m)
            if numbered and m[KIND] == INTEGER:
                advance(t, m)
            elif m[KIND] == 40:
                skip_group(t, m)
        elif m[KIND] == QUOTED:
            advance(t, m)
            if accept(t, m, 61):
                expect(t, m, QUOTED)
        else:
            m[ERROR] = 1


@no_refcount
def parameter_attributes(t: Cells, m: Cells) -> None:
    """Read attributes before a value or name; the ATTRIBUTE cells get what they say."""
    noinline()
    m[ATTRIBUTE_FLAGS], m[ATTRIBUTE_PASSING], m[ATTRIBUTE_TYPE] = 0, 0, -1
    while not m[ERROR]:
        if m[KIND] == QUOTED:
            advance(t, m)
            if accept(t, m, 61):
                expect(t, m, QUOTED)
            continue
        if not at_any_word(m) or (m[KIND] == WORD and STARTS_VALUE[m[VALUE]] == 1):
            return
        word = m[VALUE] if m[KIND] == WORD else 0
        advance(t, m)
        m[ATTRIBUTE_FLAGS] |= ARGUMENT_FLAG_OF[word]
        if word == W_ALIGN and m[KIND] == INTEGER:
            advance(t, m)
        elif PASSING_OF[word] >= 0 and m[KIND] == 40:
            advance(t, m)
            m[ATTRIBUTE_PASSING] = PASSING_OF[word]
            m[ATTRIBUTE_TYPE] = parse_type(t, m)
            expect(t, m, 41)
        elif m[KIND] == 40:
            if word == W_CAPTURES:
                advance(t, m)
                if at_word(m, W_NONE):
                    m[ATTRIBUTE_FLAGS] |= NOCAPTURE
                while m[KIND] != 41 and not m[ERROR]:
                    if m[KIND] == 10 or m[KIND] == 0:
                        m[ERROR] = 1
                    advance(t, m)
                expect(t, m, 41)
            else:
                skip_group(t, m)


@no_refcount
def actual_arguments(t: Cells, m: Cells, base: int) -> None:
    """Read `(type attributes value, …)`; the stack from `base + 1` on gets their types."""
    noinline()
    expect(t, m, 40)
    while m[KIND] != 41 and not m[ERROR]:
        type_id = parse_type(t, m)
        parameter_attributes(t, m)
        if m[ATTRIBUTE_PASSING] != 0:
            row = m[PASSED] + m[N_PASSED] * P_WIDTH
            m[row + P_OPERAND], m[row + P_PASSING], m[row + P_TYPE] = (
                m[N_OPERANDS],
                m[ATTRIBUTE_PASSING],
                m[ATTRIBUTE_TYPE],
            )
            m[N_PASSED] += 1
        add_operand(t, m, parse_value(t, m, type_id))
        push(m, type_id)
        if not accept(t, m, 44):
            break
    expect(t, m, 41)


@no_refcount
def function_attributes(t: Cells, m: Cells, row: int) -> None:
    """Read the attributes after a call's arguments."""
    noinline()
    while not m[ERROR]:
        if m[KIND] == GROUP:
            m[row + I_GROUP] = m[VALUE]
            advance(t, m)
        elif m[KIND] == QUOTED:
            advance(t, m)
            if accept(t, m, 61):
                expect(t, m, QUOTED)
        elif at_any_word(m) and not at_word(m, W_TO):
            flags = GLOBAL_FLAG_OF[m[VALUE]] if m[KIND] == WORD else 0
            if flags & G_NORETURN:
                m[row + I_FLAGS] |= NORETURN
            if flags & G_TWICE:
                m[row + I_FLAGS] |= RETURNS_TWICE
            advance(t, m)
            if m[KIND] == 40:
                skip_group(t, m)
        else:
            return


@no_refcount
def operand_bundles(t: Cells, m: Cells) -> None:
    """Read `[ "tag"(type value, …), … ]` if it stands here."""
    noinline()
    if not accept(t, m, 91):
        return
    while m[KIND] == QUOTED and not m[ERROR]:
        row = m[BUNDLES] + m[N_BUNDLES] * U_WIDTH
        m[row + U_INSTRUCTION] = m[N_INSTRUCTIONS]
        m[row + U_TAG] = m[VALUE]
        m[row + U_FIRST] = m[N_BUNDLE_OPERANDS]
        m[N_BUNDLES] += 1
        advance(t, m)
        expect(t, m, 40)
        while m[KIND] != 41 and not m[ERROR]:
            value = typed_value(t, m)
            m[m[BUNDLE_OPERANDS] + m[N_BUNDLE_OPERANDS]] = value
            m[N_BUNDLE_OPERANDS] += 1
            if not accept(t, m, 44):
                break
        expect(t, m, 41)
        if not accept(t, m, 44):
            break
    expect(t, m, 93)


@no_refcount
def call_like(t: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read call, invoke or callbr after its opcode, up to its last label but callbr's list."""
    noinline()
    m[row + I_FLAGS] |= words_flags(t, m)
    skip_to_type(t, m)
    stated = parse_type(t, m)
    is_function = m[m[TYPES] + stated * T_WIDTH + T_KIND] == FUNCTION
    add_operand(t, m, parse_value(t, m, PTR))
    base = m[TOP]
    push(m, stated)
    actual_arguments(t, m, base)
    if is_function:
        m[TOP] = base
        m[row + I_ABOUT] = stated
        m[row + I_TYPE] = m[m[ELEMENTS] + m[m[TYPES] + stated * T_WIDTH + T_FIRST]]
    else:
        m[row + I_ABOUT] = intern_type(m, FUNCTION, 0, 0, 0, base)
        m[row + I_TYPE] = stated
    function_attributes(t, m, row)
    operand_bundles(t, m)
    if opcode != INVOKE and opcode != CALLBR:
        return
    skip_newlines(t, m)
    expect_word(t, m, W_TO)
    label(t, m)
    if opcode == INVOKE:
        expect_word(t, m, W_UNWIND)
        label(t, m)
