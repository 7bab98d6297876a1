"""Is a form written as expected? Asked before anything is made of it.

Where a form, or the body in it, is not as expected, it goes to Python as it is, which has all forms
and all errors.
"""

from __future__ import annotations

from kleene.frontends.scheme.bulk.compiled import device_function
from kleene.frontends.scheme.bulk.scan import ATOM, DOTTED, LIST
from kleene.frontends.scheme.bulk.tables import (
    ANY,
    ARROW,
    ELSE,
    FLAT,
    K_ARROW,
    K_BEGIN,
    K_DEFINE,
    K_ELSE,
    MACRO,
    NEEDED,
    NEW_ROOM,
    OTHER,
    STAMP,
    UNKNOWN,
    Tables,
    begins_with_symbol,
    child,
    has_room,
    head_meaning,
    is_list,
    is_symbol,
    is_word,
)

OK, REFUSED, NO_ROOM = range(3)  # what comes of a form


@device_function
def is_bound_twice(p: Tables, token: int) -> bool:
    """Note that a name is bound; return whether it was already."""
    stamp = p.counts[STAMP]
    p.shadow[token] = stamp
    if p.twice[token] == stamp:
        return True
    p.twice[token] = stamp
    return False


@device_function
def formals_fit(p: Tables, first: int, n: int) -> bool:
    """Return whether n data that follow each other are different names."""
    datum = first
    for _ in range(n):
        if not is_symbol(p, datum) or is_bound_twice(p, int(p.token[datum])):
            return False
        datum = int(p.after[datum])
    return True


@device_function
def bindings_fit(p: Tables, datum: int, is_sequential: bool) -> bool:
    """Return whether a datum is a list of (name value), the names different but for `let*`."""
    if p.data_kind[datum] != LIST:
        return False
    each = datum + 1
    for _ in range(p.n[datum]):
        if not is_list(p, each, 2, 2) or not is_symbol(p, each + 1):
            return False
        if is_bound_twice(p, int(p.token[each + 1])) and not is_sequential:
            return False
        each = int(p.after[each])
    return True


@device_function
def definition_fits(p: Tables, form: int) -> bool:
    """Return whether a form is (define name value) or (define (name . formals) body ...)."""
    if p.data_kind[form] != LIST or p.n[form] < 3:
        return False
    target = child(p, form, 1)
    if is_symbol(p, target):
        return bool(p.n[form] == 3)
    return begins_with_symbol(p, target)


@device_function
def name_of(p: Tables, form: int) -> int:
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
            return NO_ROOM
        found = head_meaning(p, form)
        if found < UNKNOWN:
            stamp = p.shadow[p.token[form + 1]]
            found = UNKNOWN if stamp in (inner, outer) else found
        if found == MACRO or (p.data_kind[form] == DOTTED and found == OTHER):
            return REFUSED
        if p.data_kind[form] == LIST and found == K_BEGIN:
            p.pending[2 * depth], p.pending[2 * depth + 1] = datum, n_left
            depth += 1
            datum, n_left = int(p.after[form + 1]), int(p.n[form]) - 1
        elif p.data_kind[form] == LIST and found == K_DEFINE:
            if not definition_fits(p, form) or is_bound_twice(p, int(p.token[name_of(p, form)])):
                return REFUSED
            p.flat[n_flat] = ~form
            n_flat += 1
        else:
            p.flat[n_flat] = form
            n_flat += 1
    p.counts[FLAT] = n_flat
    if n_flat == 0 or p.flat[n_flat - 1] < 0:
        return REFUSED
    return OK


@device_function
def form_and_body_fit(p: Tables, form: int, n_before: int) -> int:
    """Return whether there is room for a form, and the data after the first n are a body."""
    if not has_room_below(p, form, 0):
        return NO_ROOM
    found = _body_fits(p, child(p, form, n_before), int(p.n[form]) - n_before)
    if found != OK:
        return found
    return OK if has_room_below(p, form, int(p.counts[FLAT])) else NO_ROOM


@device_function
def bindings_and_body_fit(p: Tables, form: int, is_sequential: bool) -> int:
    """Return whether a form is (keyword ((name value) ...) body ...), and there is room for it."""
    p.counts[STAMP] += 2
    if p.n[form] < 3 or not bindings_fit(p, child(p, form, 1), is_sequential):
        return REFUSED
    return form_and_body_fit(p, form, 2)


@device_function
def has_room_below(p: Tables, form: int, n_more: int) -> bool:
    """Return whether there is room for what a form, the lists in it and some data more become."""
    n, each = 16 + 8 * (int(p.n[form]) + n_more), form + 1
    for _ in range(p.n[form]):
        n += 8 * int(p.n[each])
        each = int(p.after[each])
    return has_room(p, n)


@device_function
def clauses_fit(p: Tables, first: int, n: int, is_case: bool) -> bool:
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
