"""The common forms, each put into a slot as rows of the core."""

from __future__ import annotations

from kleene.frontends.scheme.bulk.bodies import bind_names, body_of, lambda_row, push_values
from kleene.frontends.scheme.bulk.checks import (
    NO_ROOM,
    OK,
    REFUSED,
    bindings_and_body_fit,
    bindings_fit,
    clauses_fit,
    form_and_body_fit,
    formals_fit,
    has_room_below,
    is_bound_twice,
)
from kleene.frontends.scheme.bulk.compiled import device_function
from kleene.frontends.scheme.bulk.scan import ATOM, DOTTED, LIST
from kleene.frontends.scheme.bulk.tables import (
    ANY,
    ARROW,
    DO,
    ELSE,
    EQV,
    FALSE_VALUE,
    K_ARROW,
    K_BEGIN,
    K_ELSE,
    K_IF,
    K_QUOTE,
    K_WHEN,
    KEY,
    MEMV,
    SLOTS,
    STAMP,
    TRUE_VALUE,
    UNKNOWN,
    UNSPECIFIED_VALUE,
    VALUE,
    Tables,
    bind,
    call_row,
    child,
    constant,
    has_room,
    if_row,
    is_list,
    is_symbol,
    is_word,
    lambda_of_one,
    letrec_of_one,
    looked_up,
    meaning,
    new_frame,
    primitive_number,
    push,
    push_siblings,
    row,
    sequence,
    variable_row,
)
from kleene.ir.scheme.core import LAMBDA, LETREC, NONE, PRIMITIVE, SEQUENCE, SET


@device_function
def procedure(p: Tables, form: int, frame: int, slot: int) -> int:
    """(lambda formals body ...)."""
    p.counts[STAMP] += 2
    formals, n, has_rest = child(p, form, 1), 1, True
    if p.data_kind[formals] == ATOM:
        formal = formals
    elif p.data_kind[formals] == LIST or p.data_kind[formals] == DOTTED:
        formal, n, has_rest = formals + 1, int(p.n[formals]), p.data_kind[formals] == DOTTED
    else:
        return REFUSED
    if not formals_fit(p, formal, n):
        return REFUSED
    fits = form_and_body_fit(p, form, 2)
    if fits == OK:
        lambda_row(p, formal, n, has_rest, frame, form, slot)
    return fits


@device_function
def procedure_of(p: Tables, form: int, target: int, frame: int, slot: int) -> int:
    """Put the procedure that (define (name . formals) body ...) describes into a slot."""
    p.counts[STAMP] += 2
    n, has_rest = int(p.n[target]) - 1, p.data_kind[target] == DOTTED
    formal = int(p.after[target + 1])
    if not formals_fit(p, formal, n):
        return REFUSED
    fits = form_and_body_fit(p, form, 2)
    if fits == OK:
        lambda_row(p, formal, n, has_rest, frame, form, slot)
    return fits


@device_function
def let(p: Tables, form: int, frame: int, slot: int) -> int:
    """(let ((name value) ...) body ...) and (let name ((name value) ...) body ...)."""
    p.counts[STAMP] += 2
    loop = child(p, form, 1)
    is_named = is_symbol(p, loop)
    n_before = 3 if is_named else 2
    if p.n[form] <= n_before:
        return REFUSED
    bindings = child(p, form, n_before - 1)
    if not bindings_fit(p, bindings, False):
        return REFUSED
    if is_named:  # the body sees the loop, too
        p.shadow[p.token[loop]] = p.counts[STAMP]
    if not has_room(p, 16 + 8 * int(p.n[bindings])):
        return NO_ROOM
    fits = form_and_body_fit(p, form, n_before)
    if fits != OK:
        return fits
    first = call_row(p, form, slot, int(p.n[bindings]))
    outer, inside = frame, first
    if is_named:
        number = letrec_of_one(p, int(p.token[loop]), loop, form, first)
        inside = int(p.counts[SLOTS]) - 2
        outer = new_frame(p, frame)
        bind(p, outer, int(p.token[loop]), number)
        push(p, loop, outer, inside + 1)
    body = row(p, LAMBDA, form, inside, NONE, 1)
    inner = new_frame(p, outer)
    bind_names(p, bindings, inner)
    body_of(p, inner, body, form)
    push_values(p, bindings, frame, first + 1)
    return OK


@device_function
def let_star(p: Tables, form: int, frame: int, slot: int) -> int:
    """(let* ((name value) ...) body ...)."""
    fits = bindings_and_body_fit(p, form, True)
    if fits != OK:
        return fits
    bindings = child(p, form, 1)
    each = bindings + 1
    for _ in range(p.n[bindings]):
        first = call_row(p, form, slot, 1)
        token = int(p.token[each + 1])
        number = lambda_of_one(p, token, each + 1, form, first)
        slot = int(p.counts[SLOTS]) - 1
        push(p, int(p.after[each + 1]), frame, first + 1)
        frame = new_frame(p, frame)
        bind(p, frame, token, number)
        each = int(p.after[each])
    body_of(p, new_frame(p, frame), slot, form)
    return OK


@device_function
def letrec(p: Tables, form: int, frame: int, slot: int) -> int:
    """(letrec ((name value) ...) body ...), and letrec*."""
    fits = bindings_and_body_fit(p, form, False)
    if fits != OK:
        return fits
    bindings = child(p, form, 1)
    n = int(p.n[bindings])
    first = row(p, LETREC, form, slot, NONE, n + 1)
    inner = new_frame(p, frame)
    bind_names(p, bindings, inner)
    push_values(p, bindings, inner, first)
    body_of(p, new_frame(p, inner), first + n, form)
    return OK


@device_function
def do(p: Tables, form: int, frame: int, slot: int) -> int:
    """(do ((name init step) ...) (test expression ...) command ...)."""
    p.counts[STAMP] += 2
    loops, tests = child(p, form, 1), child(p, form, 2)
    if p.n[form] < 3 or p.data_kind[loops] != LIST or not is_list(p, tests, 1, ANY):
        return REFUSED
    each, n_loops, n_commands = loops + 1, int(p.n[loops]), int(p.n[form]) - 3
    for _ in range(n_loops):
        if not is_list(p, each, 2, 3) or not is_symbol(p, each + 1):
            return REFUSED
        if is_bound_twice(p, int(p.token[each + 1])):
            return REFUSED
        each = int(p.after[each])
    if not has_room(p, 32 + 8 * (n_loops + n_commands + int(p.n[tests]))):
        return NO_ROOM
    first = call_row(p, form, slot, n_loops)
    loop = letrec_of_one(p, DO, form, form, first)
    inside = int(p.counts[SLOTS]) - 2
    variable_row(p, loop, form, inside + 1)
    body = row(p, LAMBDA, form, inside, NONE, 1)
    inner = new_frame(p, frame)
    bind_names(p, loops, inner)
    branch = if_row(p, form, body)
    push(p, tests + 1, inner, branch)
    sequence(p, int(p.after[tests + 1]), int(p.n[tests]) - 1, inner, branch + 1, form)
    again = branch + 2
    if n_commands:
        again = row(p, SEQUENCE, form, again, NONE, n_commands + 1)
        push_siblings(p, int(p.after[tests]), n_commands, inner, again)
        again += n_commands
    repeat = call_row(p, form, again, n_loops)
    variable_row(p, loop, form, repeat)
    push_values(p, loops, frame, first + 1)
    each = loops + 1
    for k in range(n_loops):
        step = child(p, each, 2) if p.n[each] == 3 else each + 1
        push(p, step, inner, repeat + 1 + k)
        each = int(p.after[each])
    return OK


@device_function
def conjunction(p: Tables, form: int, frame: int, slot: int) -> int:
    """(and test ...)."""
    n, test = int(p.n[form]) - 1, int(p.after[form + 1])
    if n == 0:
        constant(p, TRUE_VALUE, form, slot)
        return OK
    for _ in range(n - 1):
        first = if_row(p, form, slot)
        push(p, test, frame, first)
        constant(p, FALSE_VALUE, form, first + 2)
        slot = first + 1
        test = int(p.after[test])
    push(p, test, frame, slot)
    return OK


@device_function
def disjunction(p: Tables, form: int, frame: int, slot: int) -> int:
    """(or test ...)."""
    n, test = int(p.n[form]) - 1, int(p.after[form + 1])
    if n == 0:
        constant(p, FALSE_VALUE, form, slot)
        return OK
    for _ in range(n - 1):
        slot = _if_value(p, test, frame, slot, form, NONE)
        test = int(p.after[test])
    push(p, test, frame, slot)
    return OK


@device_function
def _if_value(p: Tables, test: int, frame: int, slot: int, place: int, receiver: int) -> int:
    """Put ((lambda (value) (if value USE OTHER)) test) into a slot; return the slot of OTHER.

    USE is the value, or the call of the receiver with it, if there is one.
    """
    first = call_row(p, place, slot, 1)
    push(p, test, frame, first + 1)
    value = lambda_of_one(p, VALUE, test, place, first)
    branch = if_row(p, place, int(p.counts[SLOTS]) - 1)
    variable_row(p, value, test, branch)
    if receiver == NONE:
        variable_row(p, value, test, branch + 1)
    else:
        _receive(p, receiver, value, frame, branch + 1, place)
    return branch + 2


@device_function
def _receive(p: Tables, receiver: int, value: int, frame: int, slot: int, clause: int) -> None:
    first = call_row(p, clause, slot, 1)
    push(p, receiver, frame, first)
    variable_row(p, value, clause, first + 1)


@device_function
def cond(p: Tables, form: int, frame: int, slot: int) -> int:
    """(cond (test expression ...) ... (else expression ...))."""
    n, clause = int(p.n[form]) - 1, int(p.after[form + 1])
    if n == 0 or not clauses_fit(p, clause, n, False):
        return REFUSED
    if not has_room_below(p, form, 0):
        return NO_ROOM
    for _ in range(n):
        n_items, second = int(p.n[clause]), child(p, clause, 1)
        if is_symbol(p, clause + 1):
            looked_up(p, clause + 1)
        if is_word(p, clause + 1, K_ELSE, ELSE):
            sequence(p, second, n_items - 1, frame, slot, clause)
            return OK
        if n_items > 1 and is_symbol(p, second):
            looked_up(p, second)
        if n_items == 1:
            slot = _if_value(p, clause + 1, frame, slot, clause, NONE)
        elif is_word(p, second, K_ARROW, ARROW):
            slot = _if_value(p, clause + 1, frame, slot, clause, int(p.after[second]))
        else:
            branch = if_row(p, clause, slot)
            push(p, clause + 1, frame, branch)
            sequence(p, second, n_items - 1, frame, branch + 1, clause)
            slot = branch + 2
        clause = int(p.after[clause])
    constant(p, UNSPECIFIED_VALUE, form, slot)
    return OK


@device_function
def case_form(p: Tables, form: int, frame: int, slot: int) -> int:
    """(case key ((datum ...) expression ...) ... (else expression ...))."""
    n, key = int(p.n[form]) - 2, child(p, form, 1)
    clause = int(p.after[key])
    if n < 1 or not clauses_fit(p, clause, n, True):
        return REFUSED
    if not has_room_below(p, form, 0):
        return NO_ROOM
    first = call_row(p, form, slot, 1)
    push(p, key, frame, first + 1)
    value = lambda_of_one(p, KEY, key, form, first)
    slot = int(p.counts[SLOTS]) - 1
    for _ in range(n):
        data, n_items = clause + 1, int(p.n[clause])
        if is_symbol(p, data):
            looked_up(p, data)
        if is_word(p, data, K_ELSE, ELSE):
            _case_body(p, clause, n_items, value, frame, slot)
            return OK
        branch = if_row(p, clause, slot)
        test = call_row(p, data, branch, 2)
        which = int(p.counts[EQV if p.n[data] == 1 else MEMV])
        row(p, PRIMITIVE, data, test, primitive_number(p, which), 0)
        variable_row(p, value, data, test + 1)
        constant(p, 2 * (data + 1 if p.n[data] == 1 else data) + 1, data, test + 2)
        _case_body(p, clause, n_items, value, frame, branch + 1)
        slot = branch + 2
        clause = int(p.after[clause])
    constant(p, UNSPECIFIED_VALUE, form, slot)
    return OK


@device_function
def _case_body(p: Tables, clause: int, n_items: int, key: int, frame: int, slot: int) -> None:
    second = child(p, clause, 1)
    if is_symbol(p, second):
        looked_up(p, second)
    if is_word(p, second, K_ARROW, ARROW):
        _receive(p, int(p.after[second]), key, frame, slot, clause)
    else:
        sequence(p, second, n_items - 1, frame, slot, clause)


@device_function
def call(p: Tables, form: int, frame: int, slot: int) -> int:
    """Put a call into a slot; arguments that are names are looked up at once."""
    n = int(p.n[form])
    item = form + 1
    for _ in range(n):
        if is_symbol(p, item) and meaning(p, int(p.token[item])) < UNKNOWN:
            return REFUSED
        item = int(p.after[item])
    item = form + 1
    known = looked_up(p, item) if is_symbol(p, item) else NONE
    first = call_row(p, form, slot, n - 1)
    if known == NONE:
        push(p, item, frame, first)
    else:
        variable_row(p, known, item, first)
    for k in range(1, n):
        item = int(p.after[item])
        if is_symbol(p, item):
            variable_row(p, looked_up(p, item), item, first + k)
        else:
            push(p, item, frame, first + k)
    return OK


@device_function
def assignment(p: Tables, form: int, frame: int, slot: int) -> int:
    """(set! name value)."""
    name = child(p, form, 1)
    if p.n[form] != 3 or not is_symbol(p, name) or meaning(p, int(p.token[name])) < UNKNOWN:
        return REFUSED
    number = looked_up(p, name)
    p.is_assigned[number] = 1
    push(p, int(p.after[name]), frame, row(p, SET, form, slot, number, 1))
    return OK


@device_function
def simple(p: Tables, form: int, keyword: int, frame: int, slot: int) -> int:
    """Put a form that binds nothing into a slot."""
    n, first = int(p.n[form]), child(p, form, 1)
    if keyword == K_IF:
        if n < 3 or n > 4:
            return REFUSED
        branch = if_row(p, form, slot)
        push_siblings(p, first, n - 1, frame, branch)
        if n == 3:
            constant(p, UNSPECIFIED_VALUE, form, branch + 2)
    elif keyword == K_QUOTE:
        if n != 2:
            return REFUSED
        constant(p, 2 * first + 1, form, slot)
    elif keyword == K_BEGIN:
        sequence(p, first, n - 1, frame, slot, form)
    elif n < 3:  # when, unless
        return REFUSED
    else:
        branch = if_row(p, form, slot)
        arm, other = (1, 2) if keyword == K_WHEN else (2, 1)
        push(p, first, frame, branch)
        sequence(p, int(p.after[first]), n - 2, frame, branch + arm, form)
        constant(p, UNSPECIFIED_VALUE, form, branch + other)
    return OK
