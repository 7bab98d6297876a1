"""Bodies and what binds their names, as rows of the core."""

from __future__ import annotations

from kleene.frontends.scheme.bulk.checks import name_of
from kleene.frontends.scheme.bulk.compiled import device_function
from kleene.frontends.scheme.bulk.tables import (
    BINDINGS,
    FLAT,
    PENDING,
    UNDERSCORE,
    VARIABLES,
    Tables,
    begins_with_symbol,
    bind,
    bind_here,
    binder,
    child,
    enter,
    looked_up,
    new_frame,
    push,
    row,
    variable,
)
from kleene.ir.scheme.core import LAMBDA, LETREC, NONE, SEQUENCE


@device_function
def body_of(p: Tables, frame: int, slot: int, place: int) -> None:
    """Put the body in `flat` into a slot; its definitions are bound in the newest frame."""
    n, n_defined = int(p.counts[FLAT]), 0
    enter(p, frame)
    first_binding = int(p.counts[BINDINGS])
    for k in range(n):
        form = int(p.flat[k])
        if form < 0:
            n_defined = k + 1
            bind_here(p, frame, int(p.token[name_of(p, ~form)]), PENDING)
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
        name = name_of(p, ~form)
        number = variable(p, int(p.token[name]), name, NONE)
        p.binding_variable[binding] = number
        p.current[p.token[name]] = number
        binding += 1
        target = child(p, ~form, 1)
        push(p, child(p, ~form, 2) if target == name else form, frame, first + k)
    binder(p, int(p.counts[VARIABLES]) - n_defined, n_defined, False)
    return first + n_defined


@device_function
def lambda_row(
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
    body_of(p, frame, inside, place)


@device_function
def bind_names(p: Tables, bindings: int, frame: int) -> None:
    """Bind the names of a list of (name value ...) in a frame, as variables of the newest row."""
    each = bindings + 1
    for _ in range(p.n[bindings]):
        token = int(p.token[each + 1])
        bind(p, frame, token, variable(p, token, each + 1, NONE))
        each = int(p.after[each])
    n = int(p.n[bindings])
    binder(p, int(p.counts[VARIABLES]) - n, n, False)


@device_function
def push_values(p: Tables, bindings: int, frame: int, slot: int) -> None:
    """Have the values of a list of (name value ...) expanded."""
    each = bindings + 1
    for k in range(p.n[bindings]):
        push(p, int(p.after[each + 1]), frame, slot + k)
        each = int(p.after[each])
