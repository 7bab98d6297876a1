"""What of Scheme the paper's pipeline can carry, and which programs are in CPS.

The paper's language is lambdas, calls and basic values. CPS can carry data: pairs and vectors just
hold procedures that take a continuation. It cannot carry primitives that call procedures, because
those pass no continuation, and gives lambdas a fixed number of formals. The abstract encodings make
all basic values one: they know no data.

A program is in CPS if nothing is left to do after a call: if it is a *tail*,

    tail   = (atom simple …) | (if atom tail tail) | (letrec ((v atom) …) tail)
           | (begin (set! v atom) … tail) | simple
    simple = (primitive atom …) | atom
    atom   = constant | variable | (lambda (v …) tail)

A tail that is simple ends the program with that value.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kleene.base.errors import SourceError
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import NONE, Core, Node
from kleene.ir.scheme.primitives import table

CALL_CC = ("call/cc", "call-with-current-continuation")
_NOTE = "leave out the paper's pipeline: the analysis knows all of Scheme without it"
_DATA = ("make", "read", "write")
ATOMS = (columns.CONSTANT, columns.VARIABLE, columns.PRIMITIVE, columns.LAMBDA)
_ATOM, _OPERATOR, _SIMPLE, _TAIL, _EFFECT = range(5)


def objections(core: Core, with_data: bool) -> list[SourceError]:
    """Return what cannot be carried: to CPS with data, or without them on to lambdas and calls."""
    found = [*_globals(core), *_rests(core), *_primitives(core, with_data)]
    order = sorted(found, key=lambda each: (int(core.at[each[0]]), each[1]))
    return [SourceError(core.span(row), "cps/no-form", message, _NOTE) for row, message in order]


def _rests(core: Core) -> Iterator[tuple[int, str]]:
    for row in np.flatnonzero(core.has_rest).tolist():
        yield row, "a rest argument has no form in CPS"


def _globals(core: Core) -> Iterator[tuple[int, str]]:
    """Primitives that are assigned: what such a variable holds takes no continuation at first."""
    for row in np.flatnonzero(core.kind == columns.SET).tolist():
        variable = core.reference[row]
        if core.starts_as[variable] != NONE and not core.is_defined[variable]:
            yield row, f"the primitive {core.names[variable]} is assigned"


def _primitives(core: Core, with_data: bool) -> Iterator[tuple[int, str]]:
    calls = _called(core)
    for row in np.flatnonzero(core.kind == columns.PRIMITIVE).tolist():
        facts = table()[core.primitives[core.reference[row]]]
        call = calls.get(row)
        if facts.effect == "call" and not (facts.name in CALL_CC and _has_one(core, call)):
            yield row, f"{facts.name} calls procedures without a continuation"
        elif call is None and facts.n_least != facts.n_most:
            yield row, f"{facts.name} as a value takes no fixed number of arguments"
        elif not with_data and facts.effect in _DATA and not _is_case(core, facts.name, call):
            yield row, f"{facts.name} works on data, which the abstract encodings do not have"


def _called(core: Core) -> dict[int, int]:
    """Return the calls by the rows of their operators."""
    rows = np.flatnonzero(core.kind == columns.CALL)
    operators = core.operands[core.operand_offsets[rows]]
    return dict(zip(operators.tolist(), rows.tolist(), strict=True))


def _has_one(core: Core, call: int | None) -> bool:
    return call is not None and len(core.node(call).operands) == 2


def _is_case(core: Core, name: str, call: int | None) -> bool:
    """Return whether this is what `case` looks a constant up with."""
    if name != "memv" or call is None:
        return False
    operands = core.node(call).operands
    return len(operands) == 3 and operands[2].kind == columns.CONSTANT


def is_cps(core: Core) -> bool:
    """Return whether a program is one tail already: then its calls never return to anything."""
    tops = core.node(core.root).operands
    waiting = [(node, _TAIL) for node in tops]
    while waiting:
        node, role = waiting.pop()
        inside = _roles(node, role)
        if inside is None:
            return False
        waiting += zip(node.operands, inside, strict=True)
    return len(tops) == 1


def _roles(node: Node, role: int) -> list[int] | None:
    """Return the roles of a row's operands, or None if the row cannot have its role in CPS."""
    below, effects = node.operands, (columns.SET, columns.DEFINE)
    if role == _EFFECT or node.kind in effects:
        return [_ATOM] if role == _EFFECT and node.kind in effects else None
    if node.kind == columns.LAMBDA:
        return [_TAIL]
    if node.kind in ATOMS:
        return [] if node.kind != columns.PRIMITIVE or role == _OPERATOR else None
    if node.kind == columns.CALL:
        is_primitive = below[0].kind == columns.PRIMITIVE
        if role < (_SIMPLE if is_primitive else _TAIL) or calls_cc(below[0]):
            return None
        return [_OPERATOR, *[_ATOM if is_primitive else _SIMPLE] * (len(below) - 1)]
    if role != _TAIL or not below:
        return None
    if node.kind == columns.IF:
        return [_ATOM, _TAIL, _TAIL]
    before = _ATOM if node.kind == columns.LETREC else _EFFECT
    return [*[before] * (len(below) - 1), _TAIL]


def calls_cc(operator: Node) -> bool:
    """Return whether a call with this operator is one of `call/cc`."""
    is_primitive = operator.kind == columns.PRIMITIVE
    return is_primitive and operator.core.primitives[operator.reference] in CALL_CC
