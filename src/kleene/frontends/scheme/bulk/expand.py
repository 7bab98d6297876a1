"""The common forms as compiled loops: data as columns to rows of the core.

What `expander.forms` and `Expander.body` do, row by row in the same order, for a form that is
written rightly. Each form is looked at as a whole (`checks`) before anything is made of it
(`forms`, `bodies`): where it is not as expected, it goes to Python as it is.
"""

from __future__ import annotations

from kleene.frontends.scheme.bulk.checks import NO_ROOM, OK, REFUSED, definition_fits, name_of
from kleene.frontends.scheme.bulk.compiled import device_function, entry_point
from kleene.frontends.scheme.bulk.forms import (
    assignment,
    call,
    case_form,
    cond,
    conjunction,
    disjunction,
    do,
    let,
    let_star,
    letrec,
    procedure,
    procedure_of,
    simple,
)
from kleene.frontends.scheme.bulk.scan import ATOM, BYTES, DOTTED, LIST, VECTOR
from kleene.frontends.scheme.bulk.tables import (
    BINDINGS,
    END,
    FRAMES,
    ITEM,
    ITEM_FRAME,
    ITEM_SLOT,
    K_AND,
    K_BEGIN,
    K_CASE,
    K_COND,
    K_DEFINE,
    K_DO,
    K_IF,
    K_LAMBDA,
    K_LET,
    K_LET_STAR,
    K_LETREC,
    K_OR,
    K_QUOTE,
    K_SET,
    K_UNLESS,
    K_WHEN,
    MACRO,
    NEXT,
    OBJECT,
    ROWS,
    SLOTS,
    STACK,
    TOPS,
    UNKNOWN,
    Tables,
    begins_with_symbol,
    child,
    constant,
    enter,
    has_room,
    head_meaning,
    is_symbol,
    looked_up,
    meaning,
    primitive_number,
    push,
    row,
    variable,
    variable_row,
)
from kleene.ir.scheme.core import DEFINE, NONE
from kleene.kernels.pointers import as_pointers

DONE, MORE_ROOM, FORM_FOR_PYTHON, TOP_FOR_PYTHON = range(4)  # why `run` returns


@device_function
def _expand(p: Tables, datum: int, frame: int, slot: int) -> int:
    """Put what a datum stands for into a slot."""
    if datum < 0:
        target = child(p, ~datum, 1)
        return procedure_of(p, ~datum, target, frame, slot)
    if p.data_kind[datum] == ATOM:
        if not is_symbol(p, datum):
            constant(p, 2 * int(p.token[datum]), datum, slot)
        elif meaning(p, int(p.token[datum])) < UNKNOWN:
            return REFUSED
        else:
            variable_row(p, looked_up(p, datum), datum, slot)
        return OK
    if p.data_kind[datum] != LIST:
        if p.data_kind[datum] != VECTOR and p.data_kind[datum] != BYTES:
            return REFUSED
        constant(p, 2 * datum + 1, datum, slot)
        return OK
    n = int(p.n[datum])
    if n == 0:
        return REFUSED
    found = head_meaning(p, datum)
    if found == UNKNOWN:
        return call(p, datum, frame, slot)
    if found in (K_IF, K_QUOTE, K_BEGIN, K_WHEN, K_UNLESS):
        return simple(p, datum, found, frame, slot)
    if n == 1 and found != K_AND and found != K_OR:
        return REFUSED
    if found == K_LAMBDA:
        if n < 3:
            return REFUSED
        return procedure(p, datum, frame, slot)
    if found == K_LET:
        return let(p, datum, frame, slot)
    if found == K_LET_STAR:
        return let_star(p, datum, frame, slot)
    if found == K_LETREC:
        return letrec(p, datum, frame, slot)
    if found == K_COND:
        return cond(p, datum, frame, slot)
    if found == K_CASE:
        return case_form(p, datum, frame, slot)
    if found == K_AND:
        return conjunction(p, datum, frame, slot)
    if found == K_OR:
        return disjunction(p, datum, frame, slot)
    if found == K_SET:
        return assignment(p, datum, frame, slot)
    return do(p, datum, frame, slot) if found == K_DO else REFUSED


@device_function
def _top_form(p: Tables, form: int) -> bool:
    """Have a form of the top level expanded; return False where it is for Python."""
    found = head_meaning(p, form)
    if found in (MACRO, K_BEGIN) or p.data_kind[form] == DOTTED:
        return False
    if found != K_DEFINE:
        if begins_with_symbol(p, form):
            looked_up(p, form + 1)
        push(p, form, 0, _top_slot(p))
        return True
    if not definition_fits(p, form):
        return False
    name, slot = name_of(p, form), _top_slot(p)
    target = child(p, form, 1)
    token = int(p.token[name])
    number = int(p.top[token])
    if number < 0:
        which = int(p.primitive[token]) if number == UNKNOWN else NONE
        starts_as = NONE if which == NONE else primitive_number(p, which)
        number = variable(p, token, name, starts_as)
        p.top[token] = number
    if p.is_defined[number]:
        p.is_assigned[number] = 1
    p.is_defined[number] = 1
    p.variable_at[number] = p.data_at[name]
    p.variable_end[number] = p.data_end[name]
    inside = row(p, DEFINE, name, slot, number, 1)
    value = child(p, form, 2) if target == name else form
    p.end[p.counts[ROWS] - 1] = p.data_end[value]
    push(p, value if target == name else ~form, 0, inside)
    return True


@device_function
def _top_slot(p: Tables) -> int:
    slot, n = int(p.counts[SLOTS]), int(p.counts[TOPS])
    p.counts[SLOTS] = slot + 1
    p.tops[n] = slot
    p.counts[TOPS] = n + 1
    return slot


@entry_point
def run(p_: Tables) -> int:
    """Expand what is waiting, then the forms of the top level; return why that ends."""
    return _run(as_pointers(p_))


@device_function
def _run(p: Tables) -> int:
    while True:
        while p.counts[STACK] > 0:
            top = int(p.counts[STACK]) - 1
            datum, frame = int(p.stack_datum[top]), int(p.stack_frame[top])
            slot, form = int(p.stack_slot[top]), datum if datum >= 0 else ~datum
            if datum > OBJECT and not has_room(p, 16 + 8 * int(p.n[form])):
                return MORE_ROOM
            p.counts[STACK] = top
            found = REFUSED
            if datum > OBJECT:
                enter(p, frame)
                found = _expand(p, datum, frame, slot)
            if found == NO_ROOM:
                p.counts[STACK] = top + 1
                return MORE_ROOM
            if found == REFUSED:
                p.counts[ITEM] = datum
                p.counts[ITEM_FRAME] = frame
                p.counts[ITEM_SLOT] = slot
                return FORM_FOR_PYTHON
        enter(p, 0)
        form = int(p.counts[NEXT])
        if form == p.counts[END]:
            return DONE
        if not has_room(p, 16):
            return MORE_ROOM
        p.counts[NEXT] = p.after[form]
        p.counts[FRAMES] = 1  # scopes of the form before are over
        p.counts[BINDINGS] = 0
        if not _top_form(p, form):
            p.counts[ITEM] = form
            return TOP_FOR_PYTHON
