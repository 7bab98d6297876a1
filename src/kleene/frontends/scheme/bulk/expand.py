"""The common forms as compiled loops: data as columns to rows of the core.

What `expander.forms` and `Expander.body` do, row by row in the same order, for a form that is
written rightly. Each form is looked at as a whole before anything is made of it: where it, or the
body in it, is not as expected, it goes to Python as it is, which has all forms and all errors.
"""

from __future__ import annotations

from kleene.frontends.scheme.bulk.compiled import device_function, entry_point
from kleene.frontends.scheme.bulk.scan import ATOM, BYTES, DOTTED, LIST, VECTOR
from kleene.frontends.scheme.bulk.tables import (
    ANY,
    ARROW,
    BINDINGS,
    DO,
    ELSE,
    END,
    EQV,
    FALSE_VALUE,
    FLAT,
    FRAMES,
    ITEM,
    ITEM_FRAME,
    ITEM_SLOT,
    K_AND,
    K_ARROW,
    K_BEGIN,
    K_CASE,
    K_COND,
    K_DEFINE,
    K_DO,
    K_ELSE,
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
    KEY,
    MACRO,
    MEMV,
    NEEDED,
    NEW_ROOM,
    NEXT,
    OBJECT,
    OTHER,
    PENDING,
    ROWS,
    SLOTS,
    STACK,
    STAMP,
    TOPS,
    TRUE_VALUE,
    UNDERSCORE,
    UNKNOWN,
    UNSPECIFIED_VALUE,
    VALUE,
    VARIABLES,
    Tables,
    begins_with_symbol,
    bind,
    bind_here,
    binder,
    call_row,
    child,
    constant,
    enter,
    has_room,
    head_meaning,
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
    variable,
    variable_row,
)
from kleene.ir.scheme.core import (
    DEFINE,
    LAMBDA,
    LETREC,
    NONE,
    PRIMITIVE,
    SEQUENCE,
    SET,
)
from kleene.kernels.pointers import as_pointers

DONE, MORE_ROOM, FORM_FOR_PYTHON, TOP_FOR_PYTHON = range(4)  # why `run` returns
_OK, _REFUSED, _NO_ROOM = range(3)


# --- what is looked at before anything is made ----------------------------------------------------


@device_function
def _stamped(p: Tables, token: int) -> bool:
    """Note that a name is bound; return whether it was already."""
    stamp = p.counts[STAMP]
    p.shadow[token] = stamp
    if p.twice[token] == stamp:
        return True
    p.twice[token] = stamp
    return False


@device_function
def _formals_fit(p: Tables, first: int, n: int) -> bool:
    """Return whether n data that follow each other are different names."""
    datum = first
    for _ in range(n):
        if not is_symbol(p, datum) or _stamped(p, int(p.token[datum])):
            return False
        datum = int(p.after[datum])
    return True


@device_function
def _bindings_fit(p: Tables, datum: int, is_sequential: bool) -> bool:
    """Return whether a datum is a list of (name value), the names different but for `let*`."""
    if p.data_kind[datum] != LIST:
        return False
    each = datum + 1
    for _ in range(p.n[datum]):
        if not is_list(p, each, 2, 2) or not is_symbol(p, each + 1):
            return False
        if _stamped(p, int(p.token[each + 1])) and not is_sequential:
            return False
        each = int(p.after[each])
    return True


@device_function
def _definition_fits(p: Tables, form: int) -> bool:
    """Return whether a form is (define name value) or (define (name . formals) body ...)."""
    if p.data_kind[form] != LIST or p.n[form] < 3:
        return False
    target = child(p, form, 1)
    if is_symbol(p, target):
        return bool(p.n[form] == 3)
    return begins_with_symbol(p, target)


@device_function
def _name_of(p: Tables, form: int) -> int:
    """Return the datum that is the name in a definition."""
    target = child(p, form, 1)
    return target if p.data_kind[target] == ATOM else target + 1


@device_function
def _body_fits(p: Tables, first: int, n: int) -> int:
    """Put the forms of a body, those of a `begin` in its place, into `flat`: ~d for definitions.

    It is refused where a macro or another form may define something, and where no expression ends
    it. What the names of the form around mean is known by their stamps.
    """
    p.counts[STAMP] += 1  # names of the body may be those of the form around it, but not twice
    inner, outer = p.counts[STAMP], p.counts[STAMP] - 1
    n_flat, depth, datum, n_left = 0, 0, first, n
    while True:
        if n_left == 0:
            if depth == 0:
                break
            depth -= 1
            datum, n_left = int(p.pending[2 * depth]), int(p.pending[2 * depth + 1])
            continue
        form = datum
        datum, n_left = int(p.after[datum]), n_left - 1
        if n_flat + 2 * depth + 4 > p.counts[NEW_ROOM]:
            p.counts[NEEDED] = 2 * p.counts[NEW_ROOM]
            return _NO_ROOM
        found = head_meaning(p, form)
        if found < UNKNOWN:
            stamp = p.shadow[p.token[form + 1]]
            found = UNKNOWN if stamp in (inner, outer) else found
        if found == MACRO or (p.data_kind[form] == DOTTED and found == OTHER):
            return _REFUSED
        if p.data_kind[form] == LIST and found == K_BEGIN:
            p.pending[2 * depth], p.pending[2 * depth + 1] = datum, n_left
            depth += 1
            datum, n_left = int(p.after[form + 1]), int(p.n[form]) - 1
        elif p.data_kind[form] == LIST and found == K_DEFINE:
            if not _definition_fits(p, form) or _stamped(p, int(p.token[_name_of(p, form)])):
                return _REFUSED
            p.flat[n_flat] = ~form
            n_flat += 1
        else:
            p.flat[n_flat] = form
            n_flat += 1
    p.counts[FLAT] = n_flat
    if n_flat == 0 or p.flat[n_flat - 1] < 0:
        return _REFUSED
    return _OK


@device_function
def _form_and_body_fit(p: Tables, form: int, n_before: int) -> int:
    """Return whether there is room for a form, and the data after the first n are a body."""
    n = 16 + 8 * int(p.n[form])
    each = form + 1
    for _ in range(p.n[form]):
        n += 8 * int(p.n[each])
        each = int(p.after[each])
    if not has_room(p, n):
        return _NO_ROOM
    found = _body_fits(p, child(p, form, n_before), int(p.n[form]) - n_before)
    if found != _OK:
        return found
    return _OK if has_room(p, n + 8 * int(p.counts[FLAT])) else _NO_ROOM


# --- bodies ---------------------------------------------------------------------------------------


@device_function
def _body(p: Tables, frame: int, slot: int, place: int) -> None:
    """Put the body in `flat` into a slot; its definitions are bound in the newest frame."""
    n, n_defined = int(p.counts[FLAT]), 0
    enter(p, frame)
    first_binding = int(p.counts[BINDINGS])
    for k in range(n):
        form = int(p.flat[k])
        if form < 0:
            n_defined = k + 1
            bind_here(p, frame, int(p.token[_name_of(p, ~form)]), PENDING)
        elif begins_with_symbol(p, form):
            looked_up(p, form + 1)
    if n_defined:
        slot = _letrec_of_body(p, frame, slot, place, n_defined, first_binding)
    if n - n_defined == 1:
        return push(p, int(p.flat[n - 1]), frame, slot)
    first = row(p, SEQUENCE, place, slot, NONE, n - n_defined)
    for k in range(n_defined, n):
        push(p, int(p.flat[k]), frame, first + k - n_defined)


@device_function
def _letrec_of_body(
    p: Tables, frame: int, slot: int, place: int, n_defined: int, binding: int
) -> int:
    """Put the definitions of a body into a slot; return the slot of what follows them.

    Expressions before the last definition are values of variables that nobody names.
    """
    first = row(p, LETREC, place, slot, NONE, n_defined + 1)
    for k in range(n_defined):
        form = int(p.flat[k])
        if form >= 0:
            variable(p, UNDERSCORE, form, NONE)
            push(p, form, frame, first + k)
            continue
        name = _name_of(p, ~form)
        number = variable(p, int(p.token[name]), name, NONE)
        p.binding_variable[binding] = number
        p.current[p.token[name]] = number
        binding += 1
        target = child(p, ~form, 1)
        push(p, child(p, ~form, 2) if target == name else form, frame, first + k)
    binder(p, int(p.counts[VARIABLES]) - n_defined, n_defined, False)
    return first + n_defined


@device_function
def _lambda(
    p: Tables, first: int, n: int, has_rest: bool, outer: int, place: int, slot: int
) -> None:
    """Put a lambda with formals that follow each other into a slot; its body is in `flat`."""
    inside = row(p, LAMBDA, place, slot, NONE, 1)
    frame, formal = new_frame(p, outer), first
    for _ in range(n):
        token = int(p.token[formal])
        bind(p, frame, token, variable(p, token, formal, NONE))
        formal = int(p.after[formal])
    binder(p, int(p.counts[VARIABLES]) - n, n, has_rest)
    _body(p, frame, inside, place)


@device_function
def _bound_names(p: Tables, bindings: int, frame: int) -> None:
    """Bind the names of a list of (name value ...) in a frame, as variables of the newest row."""
    each = bindings + 1
    for _ in range(p.n[bindings]):
        token = int(p.token[each + 1])
        bind(p, frame, token, variable(p, token, each + 1, NONE))
        each = int(p.after[each])
    n = int(p.n[bindings])
    binder(p, int(p.counts[VARIABLES]) - n, n, False)


@device_function
def _push_values(p: Tables, bindings: int, frame: int, slot: int) -> None:
    """Have the values of a list of (name value ...) expanded."""
    each = bindings + 1
    for k in range(p.n[bindings]):
        push(p, int(p.after[each + 1]), frame, slot + k)
        each = int(p.after[each])


# --- forms ----------------------------------------------------------------------------------------


@device_function
def _procedure(p: Tables, form: int, frame: int, slot: int) -> int:
    """(lambda formals body ...)."""
    p.counts[STAMP] += 2
    formals, n, has_rest = child(p, form, 1), 1, True
    if p.data_kind[formals] == ATOM:
        formal = formals
    elif p.data_kind[formals] == LIST or p.data_kind[formals] == DOTTED:
        formal, n, has_rest = formals + 1, int(p.n[formals]), p.data_kind[formals] == DOTTED
    else:
        return _REFUSED
    if not _formals_fit(p, formal, n):
        return _REFUSED
    fits = _form_and_body_fit(p, form, 2)
    if fits == _OK:
        _lambda(p, formal, n, has_rest, frame, form, slot)
    return fits


@device_function
def _let(p: Tables, form: int, frame: int, slot: int) -> int:
    """(let ((name value) ...) body ...) and (let name ((name value) ...) body ...)."""
    p.counts[STAMP] += 2
    loop = child(p, form, 1)
    is_named = is_symbol(p, loop)
    n_before = 3 if is_named else 2
    if p.n[form] <= n_before:
        return _REFUSED
    bindings = child(p, form, n_before - 1)
    if not _bindings_fit(p, bindings, False):
        return _REFUSED
    if is_named:  # the body sees the loop, too
        p.shadow[p.token[loop]] = p.counts[STAMP]
    if not has_room(p, 16 + 8 * int(p.n[bindings])):
        return _NO_ROOM
    fits = _form_and_body_fit(p, form, n_before)
    if fits != _OK:
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
    _bound_names(p, bindings, inner)
    _body(p, inner, body, form)
    _push_values(p, bindings, frame, first + 1)
    return _OK


@device_function
def _let_star(p: Tables, form: int, frame: int, slot: int) -> int:
    """(let* ((name value) ...) body ...)."""
    p.counts[STAMP] += 2
    bindings = child(p, form, 1)
    if p.n[form] < 3 or not _bindings_fit(p, bindings, True):
        return _REFUSED
    fits = _form_and_body_fit(p, form, 2)
    if fits != _OK:
        return fits
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
    _body(p, new_frame(p, frame), slot, form)
    return _OK


@device_function
def _letrec(p: Tables, form: int, frame: int, slot: int) -> int:
    """(letrec ((name value) ...) body ...), and letrec*."""
    p.counts[STAMP] += 2
    bindings = child(p, form, 1)
    if p.n[form] < 3 or not _bindings_fit(p, bindings, False):
        return _REFUSED
    fits = _form_and_body_fit(p, form, 2)
    if fits != _OK:
        return fits
    n = int(p.n[bindings])
    first = row(p, LETREC, form, slot, NONE, n + 1)
    inner = new_frame(p, frame)
    _bound_names(p, bindings, inner)
    _push_values(p, bindings, inner, first)
    _body(p, new_frame(p, inner), first + n, form)
    return _OK


@device_function
def _do(p: Tables, form: int, frame: int, slot: int) -> int:
    """(do ((name init step) ...) (test expression ...) command ...)."""
    p.counts[STAMP] += 2
    loops, tests = child(p, form, 1), child(p, form, 2)
    if p.n[form] < 3 or p.data_kind[loops] != LIST or not is_list(p, tests, 1, ANY):
        return _REFUSED
    each, n_loops, n_commands = loops + 1, int(p.n[loops]), int(p.n[form]) - 3
    for _ in range(n_loops):
        if not is_list(p, each, 2, 3) or not is_symbol(p, each + 1):
            return _REFUSED
        if _stamped(p, int(p.token[each + 1])):
            return _REFUSED
        each = int(p.after[each])
    if not has_room(p, 32 + 8 * (n_loops + n_commands + int(p.n[tests]))):
        return _NO_ROOM
    first = call_row(p, form, slot, n_loops)
    loop = letrec_of_one(p, DO, form, form, first)
    inside = int(p.counts[SLOTS]) - 2
    variable_row(p, loop, form, inside + 1)
    body = row(p, LAMBDA, form, inside, NONE, 1)
    inner = new_frame(p, frame)
    _bound_names(p, loops, inner)
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
    _push_values(p, loops, frame, first + 1)
    each = loops + 1
    for k in range(n_loops):
        step = child(p, each, 2) if p.n[each] == 3 else each + 1
        push(p, step, inner, repeat + 1 + k)
        each = int(p.after[each])
    return _OK


@device_function
def _and(p: Tables, form: int, frame: int, slot: int) -> int:
    """(and test ...)."""
    n, test = int(p.n[form]) - 1, int(p.after[form + 1])
    if n == 0:
        constant(p, TRUE_VALUE, form, slot)
        return _OK
    for _ in range(n - 1):
        first = if_row(p, form, slot)
        push(p, test, frame, first)
        constant(p, FALSE_VALUE, form, first + 2)
        slot = first + 1
        test = int(p.after[test])
    push(p, test, frame, slot)
    return _OK


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
def _or(p: Tables, form: int, frame: int, slot: int) -> int:
    """(or test ...)."""
    n, test = int(p.n[form]) - 1, int(p.after[form + 1])
    if n == 0:
        constant(p, FALSE_VALUE, form, slot)
        return _OK
    for _ in range(n - 1):
        slot = _if_value(p, test, frame, slot, form, NONE)
        test = int(p.after[test])
    push(p, test, frame, slot)
    return _OK


@device_function
def _clauses_fit(p: Tables, first: int, n: int, is_case: bool) -> bool:
    """Return whether n data are clauses of `cond`, or of `case`."""
    clause = first
    for k in range(n):
        if not is_list(p, clause, 2 if is_case else 1, ANY):
            return False
        is_else = is_word(p, clause + 1, K_ELSE, ELSE)
        if is_else and (k != n - 1 or p.n[clause] < 2):
            return False
        if is_case and not is_else and p.data_kind[clause + 1] != LIST:
            return False
        has_arrow = p.n[clause] > 1 and is_word(p, child(p, clause, 1), K_ARROW, ARROW)
        if has_arrow and (p.n[clause] != 3 or (is_else and not is_case)):
            return False
        clause = int(p.after[clause])
    return True


@device_function
def _cond(p: Tables, form: int, frame: int, slot: int) -> int:
    """(cond (test expression ...) ... (else expression ...))."""
    n, clause = int(p.n[form]) - 1, int(p.after[form + 1])
    if n == 0 or not _clauses_fit(p, clause, n, False):
        return _REFUSED
    if not _has_room_below(p, form):
        return _NO_ROOM
    for _ in range(n):
        n_items, second = int(p.n[clause]), child(p, clause, 1)
        if is_symbol(p, clause + 1):
            looked_up(p, clause + 1)
        if is_word(p, clause + 1, K_ELSE, ELSE):
            sequence(p, second, n_items - 1, frame, slot, clause)
            return _OK
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
    return _OK


@device_function
def _has_room_below(p: Tables, form: int) -> bool:
    """Return whether there is room for what a form and the lists in it become."""
    n, each = 16 + 8 * int(p.n[form]), form + 1
    for _ in range(p.n[form]):
        n += 8 * int(p.n[each])
        each = int(p.after[each])
    return has_room(p, n)


@device_function
def _case(p: Tables, form: int, frame: int, slot: int) -> int:
    """(case key ((datum ...) expression ...) ... (else expression ...))."""
    n, key = int(p.n[form]) - 2, child(p, form, 1)
    clause = int(p.after[key])
    if n < 1 or not _clauses_fit(p, clause, n, True):
        return _REFUSED
    if not _has_room_below(p, form):
        return _NO_ROOM
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
            return _OK
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
    return _OK


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
def _call(p: Tables, form: int, frame: int, slot: int) -> int:
    """Put a call into a slot; arguments that are names are looked up at once."""
    n = int(p.n[form])
    item = form + 1
    for _ in range(n):
        if is_symbol(p, item) and meaning(p, int(p.token[item])) < UNKNOWN:
            return _REFUSED
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
    return _OK


@device_function
def _set(p: Tables, form: int, frame: int, slot: int) -> int:
    """(set! name value)."""
    name = child(p, form, 1)
    if p.n[form] != 3 or not is_symbol(p, name) or meaning(p, int(p.token[name])) < UNKNOWN:
        return _REFUSED
    number = looked_up(p, name)
    p.is_assigned[number] = 1
    push(p, int(p.after[name]), frame, row(p, SET, form, slot, number, 1))
    return _OK


@device_function
def _simple(p: Tables, form: int, keyword: int, frame: int, slot: int) -> int:
    """Put a form that binds nothing into a slot."""
    n, first = int(p.n[form]), child(p, form, 1)
    if keyword == K_IF:
        if n < 3 or n > 4:
            return _REFUSED
        branch = if_row(p, form, slot)
        push_siblings(p, first, n - 1, frame, branch)
        if n == 3:
            constant(p, UNSPECIFIED_VALUE, form, branch + 2)
    elif keyword == K_QUOTE:
        if n != 2:
            return _REFUSED
        constant(p, 2 * first + 1, form, slot)
    elif keyword == K_BEGIN:
        sequence(p, first, n - 1, frame, slot, form)
    elif n < 3:  # when, unless
        return _REFUSED
    else:
        branch = if_row(p, form, slot)
        arm, other = (1, 2) if keyword == K_WHEN else (2, 1)
        push(p, first, frame, branch)
        sequence(p, int(p.after[first]), n - 2, frame, branch + arm, form)
        constant(p, UNSPECIFIED_VALUE, form, branch + other)
    return _OK


@device_function
def _expand(p: Tables, datum: int, frame: int, slot: int) -> int:
    """Put what a datum stands for into a slot."""
    if datum < 0:
        target = child(p, ~datum, 1)
        return _procedure_of(p, ~datum, target, frame, slot)
    if p.data_kind[datum] == ATOM:
        if not is_symbol(p, datum):
            constant(p, 2 * int(p.token[datum]), datum, slot)
        elif meaning(p, int(p.token[datum])) < UNKNOWN:
            return _REFUSED
        else:
            variable_row(p, looked_up(p, datum), datum, slot)
        return _OK
    if p.data_kind[datum] != LIST:
        if p.data_kind[datum] != VECTOR and p.data_kind[datum] != BYTES:
            return _REFUSED
        constant(p, 2 * datum + 1, datum, slot)
        return _OK
    n = int(p.n[datum])
    if n == 0:
        return _REFUSED
    found = head_meaning(p, datum)
    if found == UNKNOWN:
        return _call(p, datum, frame, slot)
    if found in (K_IF, K_QUOTE, K_BEGIN, K_WHEN, K_UNLESS):
        return _simple(p, datum, found, frame, slot)
    if n == 1 and found != K_AND and found != K_OR:
        return _REFUSED
    if found == K_LAMBDA:
        if n < 3:
            return _REFUSED
        return _procedure(p, datum, frame, slot)
    if found == K_LET:
        return _let(p, datum, frame, slot)
    if found == K_LET_STAR:
        return _let_star(p, datum, frame, slot)
    if found == K_LETREC:
        return _letrec(p, datum, frame, slot)
    if found == K_COND:
        return _cond(p, datum, frame, slot)
    if found == K_CASE:
        return _case(p, datum, frame, slot)
    if found == K_AND:
        return _and(p, datum, frame, slot)
    if found == K_OR:
        return _or(p, datum, frame, slot)
    if found == K_SET:
        return _set(p, datum, frame, slot)
    return _do(p, datum, frame, slot) if found == K_DO else _REFUSED


@device_function
def _procedure_of(p: Tables, form: int, target: int, frame: int, slot: int) -> int:
    """Put the procedure that (define (name . formals) body ...) describes into a slot."""
    p.counts[STAMP] += 2
    n, has_rest = int(p.n[target]) - 1, p.data_kind[target] == DOTTED
    formal = int(p.after[target + 1])
    if not _formals_fit(p, formal, n):
        return _REFUSED
    fits = _form_and_body_fit(p, form, 2)
    if fits == _OK:
        _lambda(p, formal, n, has_rest, frame, form, slot)
    return fits


# --- the top level --------------------------------------------------------------------------------


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
    if not _definition_fits(p, form):
        return False
    name, slot = _name_of(p, form), _top_slot(p)
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
            found = _REFUSED
            if datum > OBJECT:
                enter(p, frame)
                found = _expand(p, datum, frame, slot)
            if found == _NO_ROOM:
                p.counts[STACK] = top + 1
                return MORE_ROOM
            if found == _REFUSED:
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
