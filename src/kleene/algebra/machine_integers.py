"""Operations on machine integers in an `Interval`, `Zone` or `Octagon`.

Variables of the program are integers between the least and the greatest signed value of their
width. An operation is a linear expression where the value shows that nothing overflows, so that
relations follow; otherwise it is that of intervals (`machine_interval`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import inf
from typing import TypeVar

from kleene.algebra.linear import Bound, Constraint, Linear, Variable, variable
from kleene.algebra.machine_interval import (
    PREDICATES,
    SWAPPED,
    MachineInterval,
    negated,
    signed,
)
from kleene.algebra.octagon import NumericDomain

__all__ = ["PREDICATES", "MachineInterval", "assign", "assume", "cast", "negated", "range_of"]

Operand = str | int | Linear  # a name, a number, or a variable as `variable(id)` gives it
Value = TypeVar("Value", bound=NumericDomain)
_OPERATIONS: dict[str, Callable[..., MachineInterval]] = {
    "add": MachineInterval.add,
    "sub": MachineInterval.sub,
    "mul": MachineInterval.mul,
    "udiv": MachineInterval.udiv,
    "sdiv": MachineInterval.sdiv,
    "urem": MachineInterval.urem,
    "srem": MachineInterval.srem,
    "and": MachineInterval.and_,
    "or": MachineInterval.or_,
    "xor": MachineInterval.xor,
    "shl": MachineInterval.shl,
    "lshr": MachineInterval.lshr,
    "ashr": MachineInterval.ashr,
}
_CASTS: dict[str, Callable[[MachineInterval, int], MachineInterval]] = {
    "trunc": MachineInterval.trunc,
    "sext": MachineInterval.sext,
    "zext": MachineInterval.zext,
}


def range_of(value: NumericDomain, operand: Operand, width: int) -> MachineInterval:
    """Return what a value says about an operand of `width` bits: a variable or a number."""
    if isinstance(operand, int):
        return MachineInterval.constant(width, operand)
    bounds, full = value.bound(_linear(operand)), MachineInterval.top(width)
    low, high = _ceiling(bounds.low, full.low), _floor(bounds.high, full.high)
    return full.meet(MachineInterval(width, low, high))


def assign(
    value: Value,
    target: Variable,
    operation: str,
    a: Operand,
    b: Operand,
    width: int,
    *,
    nsw: bool = False,
    nuw: bool = False,
) -> Value:
    """Return the points after target := a `operation` b in `width` bits.

    Operations are named as in LLVM. If the result, as an integer, is linear in the operands and the
    value shows that it does not overflow, it is assigned as that expression, and relations follow;
    otherwise as the interval of results, with what order says about operands: a & b <= a, a % b < b
    and the like, for operands that are not negative.

    Raises:
        ValueError: the operation is not known, or has no such flag.
    """
    if operation not in _OPERATIONS:
        raise ValueError(f"{operation!r} is no operation: there are {', '.join(_OPERATIONS)}")
    flags = {name: True for name, is_set in (("nsw", nsw), ("nuw", nuw)) if is_set}
    if flags and operation not in ("add", "sub", "mul", "shl"):
        raise ValueError(f"{operation} has no flags nsw and nuw")
    ranges = range_of(value, a, width), range_of(value, b, width)
    result = _OPERATIONS[operation](*ranges, **flags)
    form = _form(operation, a, b, ranges)
    if form is not None and _fits(value, form, width):
        return value.assign(target, form)
    made = _assign_range(value, target, result)
    if variable(target) in (_linear(a), _linear(b)) or result.is_bottom():
        return made
    return made.meet(*_order(target, operation, (a, b), ranges))


def cast(
    value: Value, target: Variable, operation: str, a: Operand, width: int, to_width: int
) -> Value:
    """Return the points after target := `operation` a, a cast from `width` to `to_width` bits.

    Raises:
        ValueError: the operation is none of trunc, sext and zext.
    """
    if operation not in _CASTS:
        raise ValueError(f"{operation!r} is no cast: there are {', '.join(_CASTS)}")
    before = range_of(value, a, width)
    after = _CASTS[operation](before, to_width)
    same = before.low >= 0 if operation == "zext" else _is_in(before, to_width)
    if not before.is_bottom() and same:  # every value keeps its number
        return value.assign(target, _linear(a))
    return _assign_range(value, target, after)


def assume(value: Value, predicate: str, a: Operand, b: Operand, width: int) -> Value:
    """Return the points where a `predicate` b holds for integers of `width` bits.

    `a ult b` is 0 <= a < b as soon as b is known not to be negative: read as unsigned, a negative a
    is greater than every b that is not. Where nothing is known of the signs, only the ends of
    intervals are moved.

    Raises:
        ValueError: the predicate is none of `PREDICATES`.
    """
    if predicate in SWAPPED:
        return assume(value, SWAPPED[predicate], b, a, width)
    ranges = range_of(value, a, width), range_of(value, b, width)
    kept = ranges[0].assume(predicate, ranges[1])
    found: list[Constraint] = []
    if any(one.is_bottom() for one in kept):
        found.append(Linear.of(1) <= 0)
    for operand, one in zip((a, b), kept, strict=True):
        if not isinstance(operand, int):
            found += [_linear(operand) <= one.high, _linear(operand) >= one.low]
    x, y = _linear(_known(a, width)), _linear(_known(b, width))
    if predicate == "eq":
        found += x.equals(y)
    elif predicate in ("slt", "sle") or (predicate != "ne" and kept[1].low >= 0):
        found.append(x < y if predicate.endswith("lt") else x <= y)
    return value.meet(*found)


def _linear(operand: Operand) -> Linear:
    return variable(operand) if isinstance(operand, str) else Linear.of(operand)


def _known(operand: Operand, width: int) -> Operand:
    """Return a number as the signed one of its bits."""
    return signed(operand, width) if isinstance(operand, int) else operand


def _form(
    operation: str, a: Operand, b: Operand, ranges: tuple[MachineInterval, MachineInterval]
) -> Linear | None:
    """Return the result as a linear expression of the operands' signed values, if it is one.

    It is one as long as it does not overflow, which is not looked at here.
    """
    width = ranges[0].width
    x, y = _linear(_known(a, width)), _linear(_known(b, width))
    if operation == "add":
        return x + y
    if operation == "sub":
        return x - y
    if operation == "mul" and ranges[1].is_constant():
        return x * ranges[1].low
    if operation == "mul" and ranges[0].is_constant():
        return y * ranges[0].low
    if operation == "shl" and ranges[1].is_constant() and 0 <= ranges[1].low < width:
        return x * (1 << ranges[1].low)
    return None


def _fits(value: NumericDomain, form: Linear, width: int) -> bool:
    """Return whether every value of an expression is a signed integer of `width` bits."""
    full, bounds = MachineInterval.top(width), value.bound(form)
    return full.low <= bounds.low <= bounds.high <= full.high


def _is_in(one: MachineInterval, width: int) -> bool:
    """Return whether all values are signed integers of `width` bits."""
    full = MachineInterval.top(width)
    return full.low <= one.low and one.high <= full.high


def _assign_range(value: Value, target: Variable, result: MachineInterval) -> Value:
    if result.is_bottom():
        return value.meet(Linear.of(1) <= 0)
    return value.assign(target, Linear((), Fraction(result.low), Fraction(result.high)))


def _order(
    target: Variable,
    operation: str,
    operands: tuple[Operand, Operand],
    ranges: tuple[MachineInterval, MachineInterval],
) -> Iterator[Constraint]:
    """Yield how the result compares with operands that are not negative.

    For 0 <= a: a udiv b, a urem b, a lshr b and a & b are at most a (a shift beyond the width is
    poison, any value: it must not be possible). For 0 <= b: a & b <= b and a urem b < b. For both:
    a | b is at least each. Read as unsigned, the other operand may be anything.
    """
    width = ranges[0].width
    result, (a, b) = variable(target), (_linear(_known(one, width)) for one in operands)
    is_plain = ranges[0].low >= 0, ranges[1].low >= 0
    shifts = operation == "lshr" and 0 <= ranges[1].low <= ranges[1].high < width
    if is_plain[0] and (operation in ("udiv", "urem", "and") or shifts):
        yield result <= a
    if is_plain[1] and operation == "and":
        yield result <= b
    if is_plain[1] and operation == "urem":
        yield result < b
    if all(is_plain) and operation == "or":
        yield result >= a
        yield result >= b


def _ceiling(low: Bound, least: int) -> int:
    return least if low == -inf else 0 if low == inf else -int(-Fraction(low) // 1)


def _floor(high: Bound, most: int) -> int:
    return most if high == inf else -1 if high == -inf else int(Fraction(high) // 1)
