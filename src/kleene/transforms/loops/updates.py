"""Which assignments are updates `x = x op e` that may be done in any order?

Sums (with `x = x - e`), products, `&`, `|`, `^`, and minima and maxima however they are written:
`x = e > x ? e : x`, `x = fmax(x, e)`, `if (e > x) x = e`.
"""

from __future__ import annotations

from kleene.ir.loops.tree import (
    Assign,
    Binary,
    Call,
    Choose,
    Convert,
    Element,
    Expression,
    If,
    Location,
    Read,
    walk,
)

_COMMUTATIVE = {"+", "*", "&", "|", "^"}
_MINIMA = {"fmin", "fminf", "fminl", "__builtin_fmin", "__builtin_fminf"}
_MAXIMA = {"fmax", "fmaxf", "fmaxl", "__builtin_fmax", "__builtin_fmaxf"}
_ORDERS = {"<", "<=", ">", ">="}


def update_of(target: Location, value: Expression) -> tuple[str, tuple[Expression, ...]] | None:
    """Return the operation and the other operands if `target = value` is an update."""
    found = _extremum(target, value) or _chain(target, value)
    if found is None or any(reads(one, target) for one in found[1]):
        return None
    return found


def recurrence_of(target: Location, value: Expression) -> tuple[str, Location] | None:
    """Return the operation and `a[j]` if `target = value` is `a[i] = a[j] op e`."""
    if not isinstance(target, Element):
        return None
    for one in walk(value):
        if isinstance(one, Read) and isinstance(one.location, Element):
            other = one.location
            if other.pointer == target.pointer and (found := update_of(other, value)) is not None:
                return found[0], other
    return None


def guarded_update(statement: If) -> tuple[Assign, str, tuple[Expression, ...]] | None:
    """Return the update that `if (e > x) x = e` is."""
    if statement.otherwise or len(statement.then) != 1:
        return None
    (assign,) = statement.then
    if not isinstance(assign, Assign):
        return None
    kept = Read(assign.target.type, assign.place, assign.target)
    chosen = Choose(assign.value.type, assign.place, statement.condition, assign.value, kept)
    found = _extremum(assign.target, chosen)
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


def _extremum(target: Location, value: Expression) -> tuple[str, tuple[Expression, ...]] | None:
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
