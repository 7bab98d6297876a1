"""Tails: programs in CPS, in which nothing is left to do after a call.

    tail   = (atom simple …) | (if atom tail tail) | (letrec ((v atom) …) tail)
           | (begin (set! v atom) … tail) | simple
    simple = (primitive atom …) | atom
    atom   = constant | variable | (lambda (v …) tail)

A tail that is simple ends the program with that value.
"""

from __future__ import annotations

from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import Core, Node
from kleene.transforms.scheme.language import CALL_CC

ATOMS = (columns.CONSTANT, columns.VARIABLE, columns.PRIMITIVE, columns.LAMBDA)
_ATOM, _OPERATOR, _SIMPLE, _TAIL, _EFFECT = range(5)


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
