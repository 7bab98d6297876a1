"""Values of symbols that make expressions equal: what a trip count says about a program's sizes.

`floor((n + 1) / 2) = 100` has two answers, 199 and 200; both are given.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from kleene.base.expression import (
    Atom,
    Expression,
    Floor,
    Maximum,
    Number,
    Symbol,
    of,
)

_MOST_ALTERNATIVES = 64


@dataclass(frozen=True)
class Solution:
    """Symbols with their values, and the equations (`expression = 0`) that are left over."""

    values: dict[Symbol, Expression] = field(default_factory=dict)
    unsolved: tuple[Expression, ...] = ()


def solve(equations: Iterable[tuple[Expression | Number, Expression | Number]]) -> list[Solution]:
    """Return all solutions in integers, as far as substitution finds them; none if contradictory.

    An equation that is linear in some symbol, with a number as its coefficient, gives that symbol;
    then it is put into the others, which may become linear in turn. A floor or maximum that alone
    is left in an equation gives one alternative for each value it may have come from.
    """
    return _solve(tuple(of(left) - right for left, right in equations), {})


def _solve(zero: tuple[Expression, ...], values: dict[Symbol, Expression]) -> list[Solution]:
    zero = tuple(one for one in zero if one != 0)
    if any(one.number is not None for one in zero):
        return []
    for one in sorted(zero, key=lambda one: len(one.symbols())):
        found = _linear(one)
        if found:
            return _with_value(zero, values, *found)
    for one in zero:
        alternatives = _alternatives(one)
        if alternatives:
            rest = tuple(other for other in zero if other is not one)
            solutions = [s for more in alternatives for s in _solve((*rest, more), values)]
            return _distinct(s for s in solutions if _fits(one, s))
    return [Solution(values, zero)]


def _with_value(
    zero: tuple[Expression, ...],
    values: dict[Symbol, Expression],
    symbol: Symbol,
    value: Expression,
) -> list[Solution]:
    """Return the solutions in which `symbol` has `value`."""
    found = {name: old.substitute({symbol: value}) for name, old in values.items()}
    found[symbol] = value
    numbers = (known.number for known in found.values())
    if any(number is not None and not isinstance(number, int) for number in numbers):
        return []
    return _solve(tuple(one.substitute({symbol: value}) for one in zero), found)


def _linear(zero: Expression) -> tuple[Symbol, Expression] | None:
    """Return a symbol and its value, if `zero = 0` gives one."""
    for symbol in sorted((a for a in zero.atoms() if isinstance(a, Symbol)), key=str):
        factor = zero.coefficient(symbol)
        number = None if factor is None else factor.number
        if number:
            rest = zero - of(symbol) * number
            return symbol, rest.over(-number)
    return None


def _alternatives(zero: Expression) -> list[Expression] | None:
    """Return expressions of which one is 0 wherever `zero` is, if an atom alone gives them.

    c·floor(e / d) + k = 0: the floor is q = -k / c, and e one of d·q, …, d·q + d - 1.
    c·max(a, b, …) + k = 0: one of the choices is -k / c.
    """
    atoms = zero.atoms()
    if len(atoms) != 1:
        return None
    (atom,) = atoms
    factor = zero.coefficient(atom)
    number = None if factor is None else factor.number
    if not number:
        return None
    if isinstance(atom, Floor) and atom.divisor <= _MOST_ALTERNATIVES:
        quotient = -Fraction(zero.constant) / number
        if quotient.denominator != 1:
            return [of(1)]  # no integer fits: a contradiction
        first = atom.divisor * int(quotient)
        return [atom.numerator - first - more for more in range(atom.divisor)]
    if isinstance(atom, Maximum) and len(atom.choices) <= _MOST_ALTERNATIVES:
        return [choice * number + zero.constant for choice in sorted(atom.choices, key=str)]
    return None


def _fits(zero: Expression, solution: Solution) -> bool:
    """Return whether an equation holds, or is still open, in a solution."""
    values: dict[Atom, Expression | Number] = dict(solution.values.items())
    value = zero.substitute(values).number
    return value is None or value == 0


def _distinct(solutions: Iterable[Solution]) -> list[Solution]:
    """Return the solutions without repetitions, in their order."""
    found: list[Solution] = []
    for solution in solutions:
        if solution not in found:
            found.append(solution)
    return found
