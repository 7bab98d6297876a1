"""What the user says of a function's parameters: `n > 0`, `m <= n and n < 1000`."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from kleene.base.errors import SourceError
from kleene.base.expression import Expression, of
from kleene.ir.loops.symbols import LoopSymbol
from kleene.ir.loops.tables import Compare, Condition


class _NotACondition(Exception):  # noqa: N818 - never leaves this module
    """Something else than comparisons of sums and products of names and integers."""


class UnknownNameError(Exception):
    """The function has no such parameter."""


def parsed(text: str) -> list[ast.Compare]:
    """Return the comparisons in `text`.

    Raises:
        SourceError: it is not made of comparisons of integers (`kernels/bad-assumption`).
    """
    try:
        body = ast.parse(text.replace("&&", " and ").strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise _bad(text) from None
    parts = body.values if isinstance(body, ast.BoolOp) and isinstance(body.op, ast.And) else [body]
    comparisons = [one for one in parts if isinstance(one, ast.Compare)]
    if len(comparisons) < len(parts):
        raise _bad(text)
    try:
        for one in comparisons:
            names = {part.id for part in ast.walk(one) if isinstance(part, ast.Name)}
            stand_ins = {name: LoopSymbol(name) for name in names}
            conditions(one, stand_ins)
    except _NotACondition:
        raise _bad(text) from None
    return comparisons


def _bad(text: str) -> SourceError:
    message = f"'{text}' is no assumption"
    note = "write comparisons of a function's integer parameters: 'n > 0', 'm <= n and n < 1000'"
    return SourceError(None, "kernels/bad-assumption", message, note)


def conditions(comparison: ast.Compare, parameters: Mapping[str, LoopSymbol]) -> list[Condition]:
    """Return a comparison as conditions on these parameters.

    Raises:
        UnknownNameError: it is about a name that is not among them.
    """
    values = [_value(one, parameters) for one in (comparison.left, *comparison.comparators)]
    pairs = zip(values, comparison.ops, values[1:], strict=False)
    return [_condition(left, operator, right) for left, operator, right in pairs]


def _condition(left: Expression, operator: ast.cmpop, right: Expression) -> Condition:
    match operator:
        case ast.Lt():
            return Compare(">=", right - left - 1)
        case ast.LtE():
            return Compare(">=", right - left)
        case ast.Gt():
            return Compare(">=", left - right - 1)
        case ast.GtE():
            return Compare(">=", left - right)
        case ast.Eq():
            return Compare("==", left - right)
        case ast.NotEq():
            return Compare("!=", left - right)
    raise _NotACondition


def _value(node: ast.expr, parameters: Mapping[str, LoopSymbol]) -> Expression:
    match node:
        case ast.Constant(value=int() as value):
            return of(value)
        case ast.Name(id=name):
            if name not in parameters:
                raise UnknownNameError(name)
            return of(parameters[name])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, parameters)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left, parameters) + _value(right, parameters)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _value(left, parameters) - _value(right, parameters)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left, parameters) * _value(right, parameters)
    raise _NotACondition
