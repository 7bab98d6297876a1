"""Which assignments are updates `x = x op e` that may be done in any order?

Sums (with `x = x - e`), products, `&`, `|`, `^`, and minima and maxima however they are written:
`x = e > x ? e : x`, `x = fmax(x, e)`, `if (e > x) x = e`, `x = larger(x, e)` with a function of the
program that does this. With `if (e > x) { x = e; at = i; }` goes what belongs to the maximum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from kleene.ir.loops.tree import (
    Assign,
    Binary,
    Block,
    Call,
    Choose,
    Convert,
    Element,
    Expression,
    Function,
    If,
    Location,
    Read,
    Return,
    Symbol,
    Variable,
    walk,
)

_COMMUTATIVE = {"+", "*", "&", "|", "^"}
_MINIMA = {"fmin", "fminf", "fminl", "__builtin_fmin", "__builtin_fminf"}
_MAXIMA = {"fmax", "fmaxf", "fmaxl", "__builtin_fmax", "__builtin_fmaxf"}
_ORDERS = {"<", "<=", ">", ">="}


def update_of(target: Location, value: Expression) -> tuple[str, tuple[Expression, ...]] | None:
    """Return the operation and the other operands if `target = value` is an update."""
    found = extremum_of(target, value) or _chain(target, value)
    if found is None or any(reads(one, target) for one in found[1]):
        return None
    return found


def recurrence_of(target: Location, value: Expression) -> tuple[str, Location] | None:
    """Return the operation and `a[j]`, j not i, if `target = value` is `a[i] = a[j] op e`."""
    if not isinstance(target, Element):
        return None
    for one in walk(value):
        if isinstance(one, Read) and isinstance(one.location, Element) and one.location != target:
            other = one.location
            if other.pointer == target.pointer and (found := update_of(other, value)) is not None:
                return found[0], other
    return None


@dataclass(frozen=True)
class Extremum:
    """`if (e > x) { x = e; at = i; }`: the value is chosen, and variables keep what goes with it.

    Of several iterations with the same value the first decides (`>`), or the last (`>=`).
    """

    chosen: Assign
    operator: str
    others: tuple[Expression, ...]
    kept: tuple[Assign, ...]
    is_first: bool


def extremum_with(statement: If) -> Extremum | None:
    """Return what the statement chooses, if it keeps something with it."""
    assigns = [one for one in statement.then if isinstance(one, Assign)]
    if statement.otherwise or len(assigns) < max(2, len(statement.then)):
        return None
    targets = [one.target for one in assigns]
    if len(set(targets)) < len(targets) or not all(isinstance(one, Variable) for one in targets):
        return None
    for chosen in assigns:
        found = guarded_update(replace(statement, then=(chosen,)))
        if found is None:
            continue
        condition = _preserved(statement.condition)
        assert isinstance(condition, Binary)
        kept = tuple(one for one in assigns if one is not chosen)
        values = [one.value for one in (*kept, chosen)]
        if not any(reads(value, target) for value in values for target in targets):
            return Extremum(chosen, found[1], found[2], kept, condition.operator in ("<", ">"))
    return None


def expanded(
    value: Expression, functions: Mapping[str, Function], target: Location, depth: int = 3
) -> Expression:
    """Return a value with calls of functions that only return an expression written out.

    Only those that take `target`: others stay as they are.
    """
    if isinstance(value, Convert):
        return replace(value, operand=expanded(value.operand, functions, target, depth))
    if isinstance(value, Choose) or not isinstance(value, Call) or depth == 0:
        return value
    callee = functions.get(value.function)
    if callee is None or not any(reads(one, target) for one in value.arguments):
        return value
    result = _returned(callee.body)
    if result is None or [one.type for one in callee.parameters] != [
        one.type for one in value.arguments
    ]:
        return value
    made = _with(result, dict(zip(callee.parameters, value.arguments, strict=True)))
    if any(isinstance(one, Variable) and one.symbol in callee.parameters for one in walk(made)):
        return value  # a parameter is used in another way than by reading it
    return expanded(made, functions, target, depth - 1)


def _returned(body: Block) -> Expression | None:
    """Return `c ? a : b` for `return c ? a : b;` and for `if (c) return a; return b;`."""
    match body:
        case (Return(value=value),):
            return value
        case (If(then=then, otherwise=otherwise) as test, *rest) if not (otherwise and rest):
            first, second = _returned(then), _returned(otherwise or tuple(rest))
            if first is not None and second is not None:
                return Choose(first.type, test.place, test.condition, first, second)
    return None


def _with(value: Expression, arguments: Mapping[Symbol, Expression]) -> Expression:
    """Return an expression with arguments in place of parameters, which it only reads."""
    if isinstance(value, Read) and isinstance(value.location, Variable):
        return arguments.get(value.location.symbol, value)
    changed: dict[str, Any] = {
        one.name: _with(inner, arguments)
        for one in fields(value)
        if isinstance(inner := getattr(value, one.name), Expression)
    }
    return replace(value, **changed) if changed else value


def guarded_update(statement: If) -> tuple[Assign, str, tuple[Expression, ...]] | None:
    """Return the update that `if (e > x) x = e` is."""
    if statement.otherwise or len(statement.then) != 1:
        return None
    (assign,) = statement.then
    if not isinstance(assign, Assign):
        return None
    kept = Read(assign.target.type, assign.place, assign.target)
    chosen = Choose(assign.value.type, assign.place, statement.condition, assign.value, kept)
    found = extremum_of(assign.target, chosen)
    if found is None or any(reads(one, assign.target) for one in found[1]):
        return None
    return assign, *found


def reads(value: Expression, target: Location) -> bool:
    """Return whether `value` reads exactly this location."""
    return any(isinstance(one, Read) and one.location == target for one in walk(value))


def _chain(target: Location, value: Expression) -> tuple[str, tuple[Expression, ...]] | None:
    """Return `x + a - b` as ("+", (a, b)): x once, not subtracted, the rest without x."""
    whole = _modular(value, target)
    if not isinstance(whole, Binary):
        return None
    operator = "+" if whole.operator == "-" else whole.operator
    if operator not in _COMMUTATIVE:
        return None
    parts = _terms(whole, operator, target)
    own = [one for one, negated in parts if not negated and _is(one, target)]
    rest = tuple(one for one, _ in parts if not _is(one, target))
    return (operator, rest) if len(own) == 1 and len(rest) + 1 == len(parts) else None


def _terms(value: Expression, operator: str, target: Location) -> list[tuple[Expression, bool]]:
    bare = _modular(value, target)
    if isinstance(bare, Binary) and (
        bare.operator == operator or (operator == "+" and bare.operator == "-")
    ):
        negated = bare.operator == "-"
        right = [(one, flag != negated) for one, flag in _terms(bare.right, operator, target)]
        return [*_terms(bare.left, operator, target), *right]
    return [(bare, False)]


def extremum_of(target: Location, value: Expression) -> tuple[str, tuple[Expression, ...]] | None:
    """Return "min" or "max" and e, if `target = value` is `x = min(x, e)`; e may read x."""
    value = _preserved(value)
    if isinstance(value, Call) and value.function in _MINIMA | _MAXIMA:
        operator = "min" if value.function in _MINIMA else "max"
        others = [one for one in value.arguments if not _is(_preserved(one), target)]
        return (operator, tuple(others)) if len(others) == 1 else None
    if not isinstance(value, Choose):
        return None
    condition = _preserved(value.condition)
    if not isinstance(condition, Binary) or condition.operator not in _ORDERS:
        return None
    left, right = _preserved(condition.left), _preserved(condition.right)
    then, otherwise = _preserved(value.then), _preserved(value.otherwise)
    if (left, right) == (then, otherwise):
        operator = "max" if condition.operator in (">", ">=") else "min"
    elif (right, left) == (then, otherwise):
        operator = "min" if condition.operator in (">", ">=") else "max"
    else:
        return None
    others = [one for one in (left, right) if not _is(one, target)]
    return (operator, tuple(others)) if len(others) == 1 else None


def _is(value: Expression, target: Location) -> bool:
    return isinstance(value, Read) and value.location == target


def _preserved(value: Expression) -> Expression:
    """Return a value without conversions that give the same number."""
    while isinstance(value, Convert):
        source, target = value.operand.type, value.type
        if source.kind == target.kind == "int" and source.bits and target.bits:
            (low, high), (least, greatest) = source.range, target.range
            if not least <= low <= high <= greatest:
                return value
        elif not (source.kind == target.kind == "float" and source.bits <= target.bits):
            return value
        value = value.operand
    return value


def _modular(value: Expression, location: Location) -> Expression:
    """Return a value without conversions that do not matter for what is stored at `location`.

    Integers are stored modulo 2^b. Converting to b bits or more keeps a value modulo 2^b, and
    +, *, &, |, ^ of values known modulo 2^b are known modulo 2^b. A conversion to fewer bits, or
    between integers and floats, is not taken away. Conversions between floats round, as summing in
    another order does.
    """
    bits = location.type.bits
    while isinstance(value, Convert):
        source, target = value.operand.type, value.type
        if source.kind == target.kind == "int":
            if not target.bits >= bits > 1:  # one bit: a Boolean, which is not truncated
                return value
        elif not source.kind == target.kind == "float":
            return value
        value = value.operand
    return value
