"""Instructions that end blocks, and those of exceptions."""

from __future__ import annotations

from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.constants import (
    parse_value,
)
from kleene.frontends.c.reader.cursor import (
    accept,
    accept_word,
    at_word,
    expect,
    expect_word,
    go_to,
    skip_newlines,
)
from kleene.frontends.c.reader.operands import (
    add_operand,
    label,
    typed_operand,
)
from kleene.frontends.c.reader.state import (
    AT,
    ERROR,
    I_FLAGS,
    I_TYPE,
    KIND,
)
from kleene.frontends.c.reader.types import (
    TOKEN,
    parse_type,
)
from kleene.frontends.c.reader.words import (
    WORDS,
)
from kleene.ir.codes import Flag, Opcode

RET, BR, SWITCH = int(Opcode.RET), int(Opcode.BR), int(Opcode.SWITCH)
RESUME = int(Opcode.RESUME)
LANDINGPAD = int(Opcode.LANDINGPAD)
CLEANUPRET, CATCHRET = int(Opcode.CLEANUPRET), int(Opcode.CATCHRET)
CATCHSWITCH = int(Opcode.CATCHSWITCH)
CLEANUP, UNWINDS = int(Flag.CLEANUP), int(Flag.UNWINDS)
W_TO, W_WITHIN, W_UNWIND = WORDS["to"], WORDS["within"], WORDS["unwind"]
W_CALLER, W_FROM, W_LABEL = WORDS["caller"], WORDS["from"], WORDS["label"]
W_VOID = WORDS["void"]
W_CATCH, W_FILTER, W_CLEANUP = WORDS["catch"], WORDS["filter"], WORDS["cleanup"]


@no_refcount
def label_list(t: Cells, m: Cells) -> None:
    """Read `[label %a, label %b]`."""
    noinline()
    expect(t, m, 91)
    while m[KIND] != 93 and not m[ERROR]:
        label(t, m)
        if not accept(t, m, 44):
            break
    expect(t, m, 93)


@no_refcount
def branches(t: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read ret, br, switch, indirectbr, resume."""
    noinline()
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


@no_refcount
def unwind(t: Cells, m: Cells) -> bool:
    """Read `unwind to caller` or `unwind label %x`; return whether it was a label."""
    noinline()
    expect_word(t, m, W_UNWIND)
    if accept_word(t, m, W_TO):
        expect_word(t, m, W_CALLER)
        return False
    label(t, m)
    return True


@no_refcount
def exceptions(t: Cells, m: Cells, row: int, opcode: int) -> None:
    """Read landingpad and the funclet instructions."""
    noinline()
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
