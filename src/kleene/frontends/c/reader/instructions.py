"""Instructions: one line of text (a few take more) becomes one row and its operands.

Whatever is not understood becomes `Opcode.OPAQUE` with every value it names, and is counted.
"""

from __future__ import annotations

from kleene.frontends.c.reader.calls import call_like
from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.constants import parse_value
from kleene.frontends.c.reader.control import branches, exceptions, label_list
from kleene.frontends.c.reader.cursor import (
    accept,
    advance,
    excerpt,
    expect,
    expect_word,
    go_to,
    skip_group,
    skip_instruction,
)
from kleene.frontends.c.reader.interned import plain_constant
from kleene.frontends.c.reader.leaves import NODE_KIND as METADATA_CONSTANT
from kleene.frontends.c.reader.memory import address, memory, vectors_and_aggregates
from kleene.frontends.c.reader.operands import (
    add_operand,
    second_operand,
    typed_operand,
    words_flags,
)
from kleene.frontends.c.reader.state import (
    AT,
    ERROR,
    FRAME,
    FULL,
    I_ABOUT,
    I_ALIGN,
    I_BLOCK,
    I_DEBUG,
    I_FIRST,
    I_FLAGS,
    I_GROUP,
    I_NAME,
    I_OPCODE,
    I_SUB,
    I_TYPE,
    I_WIDTH,
    INSTRUCTIONS,
    KIND,
    MAX_NOTICES,
    MAYBE,
    N_BLOCKS,
    N_BUNDLE_OPERANDS,
    N_BUNDLES,
    N_COUNT,
    N_INSTRUCTIONS,
    N_NOTICES,
    N_NUMBERED,
    N_OPERANDS,
    N_PASSED,
    N_TEXT,
    N_WIDTH,
    NAMED_LOCALS,
    NOTHING,
    NOTICES,
    NUMBERED_LOCALS,
    TAG_GLOBAL,
    TAG_INSTRUCTION,
    TAG_NAMED,
    TAG_NUMBERED,
    TOP,
    VALUE,
)
from kleene.frontends.c.reader.tokens import (
    FINISH,
    GLOBAL,
    NAMED,
    NEWLINE,
    NODE,
    NUMBERED,
    OTHER_WORD,
    TAG,
    WORD,
)
from kleene.frontends.c.reader.types import (
    I1,
    METADATA,
    TOKEN,
    VOID,
    parse_type,
    vector_like,
)
from kleene.frontends.c.reader.words import (
    FLAG_OF,
    OPCODE_OF,
    PREDICATE_OF,
    WORDS,
)
from kleene.ir.codes import ConstantKind, Opcode

INDIRECTBR = int(Opcode.INDIRECTBR)
RESUME, UNREACHABLE, FNEG = int(Opcode.RESUME), int(Opcode.UNREACHABLE), int(Opcode.FNEG)
ADD, FREM, ALLOCA = int(Opcode.ADD), int(Opcode.FREM), int(Opcode.ALLOCA)
ATOMICRMW, GEP, TRUNC = int(Opcode.ATOMICRMW), int(Opcode.GETELEMENTPTR), int(Opcode.TRUNC)
ADDRSPACECAST, ICMP, FCMP = int(Opcode.ADDRSPACECAST), int(Opcode.ICMP), int(Opcode.FCMP)
PHI, SELECT, CALL = int(Opcode.PHI), int(Opcode.SELECT), int(Opcode.CALL)
INVOKE, CALLBR, VA_ARG = int(Opcode.INVOKE), int(Opcode.CALLBR), int(Opcode.VA_ARG)
LANDINGPAD, FREEZE = int(Opcode.LANDINGPAD), int(Opcode.FREEZE)
EXTRACTVALUE = int(Opcode.EXTRACTVALUE)
SHUFFLEVECTOR, OPAQUE = int(Opcode.SHUFFLEVECTOR), int(Opcode.OPAQUE)
NONE_CONSTANT = int(ConstantKind.NONE)
CLEANUPRET = int(Opcode.CLEANUPRET)
CATCHSWITCH, CLEANUPPAD = int(Opcode.CATCHSWITCH), int(Opcode.CLEANUPPAD)
W_TO = WORDS["to"]
W_DBG = WORDS["dbg"]


@no_refcount
def block_name(t: Cells, m: Cells) -> None:
    """Read a bare block name (in a phi) as an operand."""
    noinline()
    if m[KIND] == NUMBERED:
        add_operand(t, m, TAG_NUMBERED + m[VALUE])
    elif m[KIND] == NAMED:
        add_operand(t, m, TAG_NAMED + m[VALUE])
    else:
        m[ERROR] = 1
    advance(t, m)


@no_refcount
def plain(t: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read the instructions whose form is flags, types and operands."""
    noinline()
    m[row + I_FLAGS] |= words_flags(t, m)
    if opcode == ICMP or opcode == FCMP:
        m[row + I_SUB] = PREDICATE_OF[m[VALUE]] if m[KIND] == WORD else -1
        if m[row + I_SUB] < 0:
            m[ERROR] = 1
        advance(t, m)
        operand = typed_operand(t, m)
        second_operand(t, m, operand)
        m[row + I_TYPE] = vector_like(m, operand, I1)
    elif opcode == PHI:
        m[row + I_TYPE] = parse_type(t, m)
        while not m[ERROR]:
            expect(t, m, 91)
            add_operand(t, m, parse_value(t, m, m[row + I_TYPE]))
            expect(t, m, 44)
            block_name(t, m)
            expect(t, m, 93)
            before = m[AT]
            if not accept(t, m, 44):
                break
            if m[KIND] != 91:
                go_to(t, m, before)
                break
    elif opcode == SELECT:
        typed_operand(t, m)
        expect(t, m, 44)
        m[row + I_TYPE] = typed_operand(t, m)
        expect(t, m, 44)
        typed_operand(t, m)
    elif TRUNC <= opcode <= ADDRSPACECAST:
        typed_operand(t, m)
        expect_word(t, m, W_TO)
        m[row + I_TYPE] = parse_type(t, m)
    elif opcode == VA_ARG:
        typed_operand(t, m)
        expect(t, m, 44)
        m[row + I_TYPE] = parse_type(t, m)
    else:  # a binary operation, fneg or freeze
        m[row + I_TYPE] = typed_operand(t, m)
        if ADD <= opcode <= FREM:
            second_operand(t, m, m[row + I_TYPE])


@no_refcount
def known(t: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read the instruction after its opcode."""
    noinline()
    if ADD <= opcode <= FREM or TRUNC <= opcode <= SELECT:
        plain(t, m, row, opcode)
    elif opcode == GEP:
        address(t, m, row)
    elif ALLOCA <= opcode <= ATOMICRMW:
        memory(t, m, row, opcode)
    elif opcode == CALL or opcode == INVOKE or opcode == CALLBR:
        call_like(t, m, row, opcode)
        if opcode == CALLBR:
            label_list(t, m)
    elif opcode <= INDIRECTBR or opcode == RESUME:
        branches(t, m, row, opcode)
    elif EXTRACTVALUE <= opcode <= SHUFFLEVECTOR:
        vectors_and_aggregates(t, m, row, opcode)
    elif opcode == FNEG or opcode == FREEZE or opcode == VA_ARG:
        plain(t, m, row, opcode)
    elif opcode == LANDINGPAD or CLEANUPRET <= opcode <= CATCHSWITCH or opcode >= CLEANUPPAD:
        exceptions(t, m, row, opcode)
    elif opcode != UNREACHABLE:
        m[ERROR] = 1


@no_refcount
def attachments(t: Cells, m: Cells, row: int) -> None:
    """Read what follows any instruction: `, !dbg !7, !tbaa !9 …` up to the end of the line."""
    noinline()
    while accept(t, m, 44):
        if m[KIND] != TAG:
            m[ERROR] = 1
            return
        is_debug = m[VALUE] == W_DBG
        advance(t, m)
        if m[KIND] == NODE:
            if is_debug:
                m[row + I_DEBUG] = m[VALUE]
            advance(t, m)
        elif m[KIND] == TAG:  # a node written in place, such as !DIExpression()
            advance(t, m)
            skip_group(t, m)
        else:
            expect(t, m, 33)
            skip_group(t, m)
    if m[KIND] != NEWLINE and m[KIND] != FINISH:
        m[ERROR] = 1


@no_refcount
def notice(m: Cells, text_symbol: int) -> None:
    """Count one thing that was not understood: a symbol, 0, or minus a word less one."""
    noinline()
    table = m[NOTICES]
    for i in range(m[N_NOTICES]):
        row = table + i * N_WIDTH
        if m[row + N_TEXT] == text_symbol or i == MAX_NOTICES - 1:
            m[row + N_COUNT] += 1
            return
    row = table + m[N_NOTICES] * N_WIDTH
    m[row + N_TEXT], m[row + N_COUNT] = text_symbol, 1
    m[N_NOTICES] += 1


@no_refcount
def opaque(t: Cells, m: Cells, row: int, word: int, place: int) -> None:
    """Make the instruction from `place` an opaque one: its text, then every value it names.

    A name may also be a type's: `resolve` turns one that is no local's into `none`.
    """
    noinline()
    go_to(t, m, place)
    skip_instruction(t, m)
    end = m[AT]
    line = plain_constant(m, METADATA_CONSTANT, METADATA, excerpt(t, m, place))
    add_operand(t, m, line)
    m[NOTHING] = plain_constant(m, NONE_CONSTANT, TOKEN, 0)
    go_to(t, m, place)
    while m[AT] < end:
        kind = m[KIND]
        if kind == NUMBERED:
            add_operand(t, m, TAG_NUMBERED + MAYBE + m[VALUE])
        elif kind == NAMED:
            add_operand(t, m, TAG_NAMED + MAYBE + m[VALUE])
        elif kind == GLOBAL:
            add_operand(t, m, TAG_GLOBAL + m[VALUE])
        elif kind == TAG and m[VALUE] == W_DBG:
            advance(t, m)
            if m[KIND] == NODE:
                m[row + I_DEBUG] = m[VALUE]
        go_to(t, m, min(m[AT] + 1, end))
    m[row + I_OPCODE], m[row + I_SUB], m[row + I_ALIGN], m[row + I_FLAGS] = OPAQUE, 0, 0, 0
    m[row + I_TYPE], m[row + I_ABOUT] = VOID, -1
    notice(m, word)


@no_refcount
def instruction(t: Cells, m: Cells) -> None:
    """Read the instruction at the present token; the newline after it becomes the present one."""
    noinline()
    new = m[N_INSTRUCTIONS]
    row = m[INSTRUCTIONS] + new * I_WIDTH
    m[row : row + I_WIDTH] = 0
    m[row + I_BLOCK] = m[N_BLOCKS] - 1
    m[row + I_FIRST] = m[N_OPERANDS]
    m[row + I_TYPE], m[row + I_ABOUT], m[row + I_DEBUG], m[row + I_GROUP] = VOID, -1, -1, -1
    passed, bundles, bundled = m[N_PASSED], m[N_BUNDLES], m[N_BUNDLE_OPERANDS]
    defines_number = -1
    if m[KIND] == NUMBERED or m[KIND] == NAMED:
        if m[KIND] == NUMBERED:
            defines_number = m[VALUE]
        else:
            m[row + I_NAME] = m[VALUE]
        advance(t, m)
        expect(t, m, 61)
    place = m[AT]
    while m[KIND] == WORD and FLAG_OF[m[VALUE]] != 0:  # tail, musttail, notail
        m[row + I_FLAGS] |= FLAG_OF[m[VALUE]]
        advance(t, m)
    spelled = m[VALUE] if m[KIND] == OTHER_WORD else -m[VALUE] - 1 if m[KIND] == WORD else 0
    opcode = OPCODE_OF[m[VALUE]] if m[KIND] == WORD else -1
    if opcode < 0:
        m[ERROR] = 1
    else:
        m[row + I_OPCODE] = opcode
        advance(t, m)
        known(t, m, row, opcode)
        attachments(t, m, row)
    if m[ERROR] and not m[FULL]:
        m[ERROR], m[TOP], m[FRAME] = 0, 0, 0
        m[N_OPERANDS] = m[row + I_FIRST]
        m[N_PASSED], m[N_BUNDLES] = passed, bundles
        m[N_BUNDLE_OPERANDS] = bundled
        opaque(t, m, row, spelled, place)
    if defines_number >= 0:
        if defines_number < m[N_NUMBERED]:
            m[m[NUMBERED_LOCALS] + defines_number] = TAG_INSTRUCTION + new
    elif m[row + I_NAME] != 0:
        m[m[NAMED_LOCALS] + m[row + I_NAME]] = TAG_INSTRUCTION + new
    m[N_INSTRUCTIONS] = new + 1
