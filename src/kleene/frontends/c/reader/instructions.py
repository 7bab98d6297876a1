"""Instructions: one line of text (a few take more) becomes one row and its operands.

Whatever is not understood becomes `Opcode.OPAQUE` with every value it names, and is counted.
"""

from __future__ import annotations

from kleene.frontends.c.reader.calls import call_like
from kleene.frontends.c.reader.compiled import Cells, apart, step
from kleene.frontends.c.reader.constants import INT as CONSTANT_INT
from kleene.frontends.c.reader.constants import NODE_KIND as METADATA_CONSTANT
from kleene.frontends.c.reader.constants import (
    index_constant,
    parse_value,
    plain_constant,
    typed_value,
)
from kleene.frontends.c.reader.cursor import (
    accept,
    accept_word,
    advance,
    at_word,
    excerpt,
    expect,
    expect_word,
    go_to,
    integer,
    skip_group,
    skip_instruction,
    skip_newlines,
)
from kleene.frontends.c.reader.operands import add_operand, alignment, label, words_flags
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
    LAST_TYPE,
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
    T_KIND,
    T_WIDTH,
    TAG_GLOBAL,
    TAG_INSTRUCTION,
    TAG_NAMED,
    TAG_NUMBERED,
    TOP,
    TYPES,
    VALUE,
)
from kleene.frontends.c.reader.tokens import (
    FINISH,
    GLOBAL,
    INT_TYPE,
    INTEGER,
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
    I32,
    METADATA,
    POINTER,
    STRUCT,
    TOKEN,
    VECTOR,
    VOID,
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
    OPCODE_OF,
    OPERATION_OF,
    ORDERING_OF,
    PREDICATE_OF,
    WORDS,
)
from kleene.ir.codes import ORDERING_SHIFT, ConstantKind, Flag, Opcode

RET, BR, SWITCH, INDIRECTBR = (
    int(o) for o in (Opcode.RET, Opcode.BR, Opcode.SWITCH, Opcode.INDIRECTBR)
)
RESUME, UNREACHABLE, FNEG = int(Opcode.RESUME), int(Opcode.UNREACHABLE), int(Opcode.FNEG)
ADD, FREM, ALLOCA, LOAD = int(Opcode.ADD), int(Opcode.FREM), int(Opcode.ALLOCA), int(Opcode.LOAD)
STORE, FENCE, CMPXCHG = int(Opcode.STORE), int(Opcode.FENCE), int(Opcode.CMPXCHG)
ATOMICRMW, GEP, TRUNC = int(Opcode.ATOMICRMW), int(Opcode.GETELEMENTPTR), int(Opcode.TRUNC)
ADDRSPACECAST, ICMP, FCMP = int(Opcode.ADDRSPACECAST), int(Opcode.ICMP), int(Opcode.FCMP)
PHI, SELECT, CALL = int(Opcode.PHI), int(Opcode.SELECT), int(Opcode.CALL)
INVOKE, CALLBR, VA_ARG = int(Opcode.INVOKE), int(Opcode.CALLBR), int(Opcode.VA_ARG)
LANDINGPAD, FREEZE = int(Opcode.LANDINGPAD), int(Opcode.FREEZE)
EXTRACTVALUE, INSERTVALUE = int(Opcode.EXTRACTVALUE), int(Opcode.INSERTVALUE)
EXTRACTELEMENT, INSERTELEMENT = int(Opcode.EXTRACTELEMENT), int(Opcode.INSERTELEMENT)
SHUFFLEVECTOR, OPAQUE = int(Opcode.SHUFFLEVECTOR), int(Opcode.OPAQUE)
NONE_CONSTANT = int(ConstantKind.NONE)
CLEANUPRET, CATCHRET = int(Opcode.CLEANUPRET), int(Opcode.CATCHRET)
CATCHSWITCH, CLEANUPPAD = int(Opcode.CATCHSWITCH), int(Opcode.CLEANUPPAD)
CATCHPAD = int(Opcode.CATCHPAD)
CLEANUP, UNWINDS, ATOMIC = int(Flag.CLEANUP), int(Flag.UNWINDS), int(Flag.ATOMIC)
SCOPED = int(Flag.SCOPED)
W_TO, W_WITHIN, W_UNWIND = WORDS["to"], WORDS["within"], WORDS["unwind"]
W_CALLER, W_FROM, W_LABEL = WORDS["caller"], WORDS["from"], WORDS["label"]
W_VOID, W_ALIGN, W_ADDRSPACE = WORDS["void"], WORDS["align"], WORDS["addrspace"]
W_I32 = WORDS["i32"]
W_SYNCSCOPE, W_INRANGE = WORDS["syncscope"], WORDS["inrange"]
W_CATCH, W_FILTER, W_CLEANUP = WORDS["catch"], WORDS["filter"], WORDS["cleanup"]
W_INALLOCA, W_SWIFTERROR, W_DBG = WORDS["inalloca"], WORDS["swifterror"], WORDS["dbg"]


@step
def ordering(t: Cells, m: Cells, row: int) -> None:
    """Read `syncscope("…")` and an ordering, if they stand here."""
    apart()
    if accept_word(t, m, W_SYNCSCOPE):
        skip_group(t, m)
        m[row + I_FLAGS] |= SCOPED
    if m[KIND] == WORD and ORDERING_OF[m[VALUE]] != 0:
        m[row + I_FLAGS] |= ORDERING_OF[m[VALUE]]
        advance(t, m)


@step
def typed_operand(t: Cells, m: Cells) -> int:
    """Read a typed value as the next operand; return its type."""
    apart()
    value = typed_value(t, m)
    add_operand(t, m, value)
    return m[LAST_TYPE]


@step
def second_operand(t: Cells, m: Cells, type_id: int) -> None:
    """Read `, value` of a known type as the next operand."""
    apart()
    expect(t, m, 44)
    add_operand(t, m, parse_value(t, m, type_id))


@step
def memory(t: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read alloca, load, store, fence, cmpxchg, atomicrmw."""
    apart()
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


@step
def vectors_and_aggregates(t: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read extractvalue, insertvalue, and the element and shuffle instructions."""
    apart()
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


@step
def label_list(t: Cells, m: Cells) -> None:
    """Read `[label %a, label %b]`."""
    apart()
    expect(t, m, 91)
    while m[KIND] != 93 and not m[ERROR]:
        label(t, m)
        if not accept(t, m, 44):
            break
    expect(t, m, 93)


@step
def branches(t: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read ret, br, switch, indirectbr, resume."""
    apart()
    if opcode == RET:
        if not accept_word(t, m, W_VOID):
            typed_operand(t, m)
    elif opcode == RESUME:
        typed_operand(t, m)
    elif opcode == BR:
        if at_word(m, W_LABEL):
            label(t, m)
            return
        typed_operand(t, m)
        expect(t, m, 44)
        label(t, m)
        expect(t, m, 44)
        label(t, m)
    elif opcode == SWITCH:
        typed_operand(t, m)
        expect(t, m, 44)
        label(t, m)
        expect(t, m, 91)
        skip_newlines(t, m)
        while m[KIND] != 93 and not m[ERROR]:
            typed_operand(t, m)
            expect(t, m, 44)
            label(t, m)
            skip_newlines(t, m)
        expect(t, m, 93)
    else:
        typed_operand(t, m)
        expect(t, m, 44)
        label_list(t, m)


@step
def unwind(t: Cells, m: Cells) -> bool:
    """Read `unwind to caller` or `unwind label %x`; return whether it was a label."""
    apart()
    expect_word(t, m, W_UNWIND)
    if accept_word(t, m, W_TO):
        expect_word(t, m, W_CALLER)
        return False
    label(t, m)
    return True


@step
def exceptions(t: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read landingpad and the funclet instructions."""
    apart()
    if opcode == LANDINGPAD:
        m[row + I_TYPE] = parse_type(t, m)
        while not m[ERROR]:
            before = m[AT]
            skip_newlines(t, m)
            if accept_word(t, m, W_CLEANUP):
                m[row + I_FLAGS] |= CLEANUP
            elif accept_word(t, m, W_CATCH) or accept_word(t, m, W_FILTER):
                typed_operand(t, m)
            else:
                go_to(t, m, before)
                return
        return
    if opcode == CATCHRET or opcode == CLEANUPRET:
        expect_word(t, m, W_FROM)
        add_operand(t, m, parse_value(t, m, TOKEN))
        if opcode == CATCHRET:
            expect_word(t, m, W_TO)
            label(t, m)
        else:
            unwind(t, m)
        return
    m[row + I_TYPE] = TOKEN
    expect_word(t, m, W_WITHIN)
    add_operand(t, m, parse_value(t, m, TOKEN))
    if opcode == CATCHSWITCH:
        label_list(t, m)
        if unwind(t, m):
            m[row + I_FLAGS] |= UNWINDS
        return
    expect(t, m, 91)
    while m[KIND] != 93 and not m[ERROR]:
        typed_operand(t, m)
        if not accept(t, m, 44):
            break
    expect(t, m, 93)


@step
def address(t: Cells, m: Cells, row: int) -> None:
    """Read getelementptr after its opcode."""
    apart()
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


@step
def block_name(t: Cells, m: Cells) -> None:
    """Read a bare block name (in a phi) as an operand."""
    apart()
    if m[KIND] == NUMBERED:
        add_operand(t, m, TAG_NUMBERED + m[VALUE])
    elif m[KIND] == NAMED:
        add_operand(t, m, TAG_NAMED + m[VALUE])
    else:
        m[ERROR] = 1
    advance(t, m)


@step
def plain(t: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read the instructions whose form is flags, types and operands."""
    apart()
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


@step
def known(t: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read the instruction after its opcode."""
    apart()
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


@step
def attachments(t: Cells, m: Cells, row: int) -> None:
    """Read what follows any instruction: `, !dbg !7, !tbaa !9 …` up to the end of the line."""
    apart()
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


@step
def notice(m: Cells, text_symbol: int) -> None:
    """Count one thing that was not understood: a symbol, 0, or minus a word less one."""
    apart()
    table = m[NOTICES]
    for i in range(m[N_NOTICES]):
        row = table + i * N_WIDTH
        if m[row + N_TEXT] == text_symbol or i == MAX_NOTICES - 1:
            m[row + N_COUNT] += 1
            return
    row = table + m[N_NOTICES] * N_WIDTH
    m[row + N_TEXT], m[row + N_COUNT] = text_symbol, 1
    m[N_NOTICES] += 1


@step
def opaque(t: Cells, m: Cells, row: int, word: int, place: int) -> None:
    """Make the instruction from `place` an opaque one: its text, then every value it names.

    A name may also be a type's: `resolve` turns one that is no local's into `none`.
    """
    apart()
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


@step
def instruction(t: Cells, m: Cells) -> None:
    """Read the instruction at the present token; the newline after it becomes the present one."""
    apart()
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
