"""What signs of symbols say about expressions: their signs, order and monotonicity.

    signs = Signs({"n": POSITIVE})
    signs.of(n - 1)                      {0, +}
    signs.compare(n * i, i)              the signs of n*i - i
    signs.maximum(n + 1, 1)              n + 1

Integers have no value between 0 and 1: a symbol with sign {+} is at least 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntFlag
from functools import reduce
from itertools import product

from kleene.base.expression import (
    Atom,
    Expression,
    Floor,
    Maximum,
    Monomial,
    Number,
    Quotient,
    Symbol,
    choices_of,
    maximum,
    of,
    quotient,
)


class Sign(IntFlag):
    """A set of signs."""

    NONE = 0
    NEGATIVE = 1
    ZERO = 2
    POSITIVE = 4
    NOT_POSITIVE = 3
    NOT_NEGATIVE = 6
    ANY = 7

    def __str__(self) -> str:
        bits = ((Sign.NEGATIVE, "-"), (Sign.ZERO, "0"), (Sign.POSITIVE, "+"))
        return "{" + ",".join(text for bit, text in bits if bit in self) + "}"


class Direction(IntFlag):
    """How an expression changes when one symbol grows by any amount: the signs of the change."""

    CONSTANT = Sign.ZERO
    INCREASING = Sign.NOT_NEGATIVE
    DECREASING = Sign.NOT_POSITIVE
    UNKNOWN = Sign.ANY


def sign_of(number: Number) -> Sign:
    """Return the sign of a number."""
    return Sign.POSITIVE if number > 0 else Sign.NEGATIVE if number < 0 else Sign.ZERO


def _table(operator: Callable[[int, int], int | None]) -> tuple[tuple[Sign, ...], ...]:
    """Return the signs of `operator` for every two sets of signs.

    The numbers from -6 to 6 show every sign that larger ones can give: the operators below depend
    on the order of their operands' magnitudes alone, and small numbers come in every order.
    """
    seen: dict[tuple[Sign, Sign], Sign] = {}
    for a, b in product(range(-6, 7), repeat=2):
        result = operator(a, b)
        if result is not None:
            key = sign_of(a), sign_of(b)
            seen[key] = seen.get(key, Sign.NONE) | sign_of(result)
    single = (Sign.NEGATIVE, Sign.ZERO, Sign.POSITIVE)

    def union(left: int, right: int) -> Sign:
        pairs = ((a, b) for a in single for b in single if a & left and b & right)
        return reduce(Sign.__or__, (seen.get(pair, Sign.NONE) for pair in pairs), Sign.NONE)

    return tuple(tuple(union(left, right) for right in range(8)) for left in range(8))


def _truncated(a: int, b: int) -> int | None:
    return None if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(a: int, b: int) -> int | None:
    quotient = _truncated(a, b)
    return None if quotient is None else a - b * quotient


ADD = _table(lambda a, b: a + b)
MULTIPLY = _table(lambda a, b: a * b)
DIVIDE = _table(_truncated)  # C's division; by zero is no result
REMAINDER = _table(_remainder)
MAXIMUM = _table(max)
MINIMUM = _table(min)


def _raised(signs: Sign, power: int) -> Sign:
    """Return the signs of a power of one value."""
    if power % 2:
        return signs
    return (signs & Sign.ZERO) | (Sign.POSITIVE if signs & ~Sign.ZERO else Sign.NONE)


def _above(bound: Sign) -> Sign:
    """Return the signs of values that are not below one with signs `bound`."""
    if bound & Sign.NEGATIVE:
        return Sign.ANY
    return Sign.NOT_NEGATIVE if bound & Sign.ZERO else bound


def _negated(signs: Sign) -> Sign:
    return MULTIPLY[signs][Sign.NEGATIVE]


class Signs:
    """Known signs of atoms, by symbol name or atom; others may have any."""

    def __init__(self, known: Mapping[str | Atom, Sign] | None = None) -> None:
        self.known: dict[Atom, Sign] = {
            Symbol(key) if isinstance(key, str) else key: sign
            for key, sign in (known or {}).items()
        }
        self._found: dict[Expression, Sign] = {}

    def also(self, known: Mapping[str | Atom, Sign]) -> Signs:
        """Return these signs with those of `known`, which win."""
        new = Signs(known)
        new.known = {**self.known, **new.known}
        return new

    def atom(self, atom: Atom) -> Sign:
        """Return the signs an atom can have."""
        known = self.known.get(atom, Sign.ANY)
        match atom:
            case Floor(numerator, _):  # rounding down makes 0 of small numbers above 0, not below
                signs = self.of(numerator)
                return known & (signs | (Sign.ZERO if signs & Sign.POSITIVE else Sign.NONE))
            case Quotient(numerator, divisor):
                return known & DIVIDE[self.of(numerator)][self.of(divisor)]
            case Maximum(choices):
                return known & reduce(lambda a, b: MAXIMUM[a][b], map(self.of, choices))
        return known

    def direct(self, value: Expression) -> Sign:
        """Return the signs of a sum by those of its atoms, each seen alone."""
        total = Sign.ZERO
        for monomial, factor in value.terms.items():
            sign = sign_of(factor)
            for atom, power in monomial:
                sign = MULTIPLY[sign][_raised(self.atom(atom), power)]
            total = ADD[total][sign]
        return total

    def of(self, value: Expression | Number) -> Sign:
        """Return the signs an expression can have.

        Where it grows with a symbol that is at least 1, it is not below its value at 1, and so on
        for the other directions; that value has a symbol less, and is asked in the same way. What
        is found for several symbols holds at once.
        """
        value = of(value)
        if value not in self._found:
            self._found[value] = self._of(value)
        return self._found[value]

    def _of(self, value: Expression) -> Sign:
        signs = self.direct(value)
        for sign in (1, -1):  # max(a, b) - a is max(0, b - a), a minimum the negation of a maximum
            choices = choices_of(value * sign)
            if len(choices) > 1:
                greatest = reduce(lambda a, b: MAXIMUM[a][b], map(self.of, choices))
                signs &= greatest if sign > 0 else _negated(greatest)
        for atom in sorted(value.atoms(), key=lambda atom: atom.order):
            if signs in _SETTLED:
                break
            start = _START.get(self.known.get(atom, Sign.ANY))
            if start is None or not isinstance(atom, Symbol):
                continue
            direction = self.monotonicity(value, atom)
            if direction in (Direction.UNKNOWN, Direction.CONSTANT):
                continue
            bound = self.of(value.substitute({atom: start}))
            grows_from_start = (direction == Direction.INCREASING) == (
                self.known[atom] in (Sign.POSITIVE, Sign.NOT_NEGATIVE)
            )
            signs &= _above(bound) if grows_from_start else _negated(_above(_negated(bound)))
        return signs

    def compare(self, left: Expression | Number, right: Expression | Number) -> Sign:
        """Return the signs of `left - right`; `Sign.ANY` where the two are incomparable."""
        return self.of(of(left) - right)

    def at_most(self, left: Expression | Number, right: Expression | Number) -> bool:
        """Return whether `left <= right` is proved."""
        return not self.compare(left, right) & Sign.POSITIVE

    def monotonicity(self, value: Expression, symbol: Symbol) -> Direction:
        """Return how `value` changes as `symbol` grows, by any amount, all else fixed.

        Every monomial is seen alone, by the signs of its atoms: `of` asks this in turn.
        """
        total = Sign.ZERO
        for monomial, factor in value.terms.items():
            total = ADD[total][MULTIPLY[sign_of(factor)][self._change(monomial, symbol)]]
        if not total & ~Sign.ZERO:
            return Direction.CONSTANT
        if not total & Sign.NEGATIVE:
            return Direction.INCREASING
        return Direction.UNKNOWN if total & Sign.POSITIVE else Direction.DECREASING

    def _change(self, monomial: Monomial, symbol: Symbol) -> Sign:
        """Return the signs of the change of a product as `symbol` grows.

        With u, v before and u', v' after, u'v' - uv = (u' - u)·v' + u·(v' - v): the change of each
        factor counts with the signs of the others, which hold before and after. For a power,
        u'^p - u^p = (u' - u)·(u'^(p-1) + … + u^(p-1)): the sum has the signs of one of its terms if
        u and u' lie on one side of zero, and else it may have any.
        """
        total = Sign.ZERO
        for place, (atom, power) in enumerate(monomial):
            change = self._atom_change(atom, symbol)
            if change == Sign.ZERO:
                continue
            signs = self.atom(atom)
            is_mixed = bool(signs & Sign.NEGATIVE and signs & Sign.POSITIVE)
            if power > 1:
                change = MULTIPLY[change][Sign.ANY if is_mixed else _raised(signs, power - 1)]
            for other, other_power in monomial[:place] + monomial[place + 1 :]:
                change = MULTIPLY[change][_raised(self.atom(other), other_power)]
            total = ADD[total][change]
        return total

    def _atom_change(self, atom: Atom, symbol: Symbol) -> Sign:
        """Return the signs of the change of an atom as `symbol` grows."""
        match atom:
            case Symbol():
                return Sign.POSITIVE if atom == symbol else Sign.ZERO
            case Floor(numerator, _):  # grows where its operand does, or stays
                return Sign(self.monotonicity(numerator, symbol)) | Sign.ZERO
            case Maximum(choices):
                changes = (Sign(self.monotonicity(choice, symbol)) for choice in choices)
                return reduce(Sign.__or__, changes) | Sign.ZERO
            case Quotient(numerator, divisor) if divisor.number:
                change = MULTIPLY[self.monotonicity(numerator, symbol)][sign_of(divisor.number)]
                return change | Sign.ZERO
        inside = symbol in of(atom).symbols()
        return Sign.ANY if inside else Sign.ZERO

    def maximum(self, *choices: Expression | Number) -> Expression:
        """Return the greatest, without choices that are proved not to exceed another."""
        flat = {inner for choice in choices for inner in choices_of(of(choice))}
        kept: list[Expression] = []
        for choice in sorted(flat, key=str):
            if not any(self.at_most(choice, other) for other in kept):
                kept = [other for other in kept if not self.at_most(other, choice)] + [choice]
        return maximum(kept)

    def minimum(self, *choices: Expression | Number) -> Expression:
        """Return the least, without choices that are proved not to be below another."""
        return -self.maximum(*(-of(choice) for choice in choices))

    def quotient(self, numerator: Expression, divisor: Expression) -> Expression:
        """Return C's division: down for quotients of at least 0, up for others."""
        found = quotient(numerator, divisor)
        number = divisor.number
        if not isinstance(found.atom, Quotient) or not isinstance(number, int) or number == 0:
            return found
        if number < 0:
            return -self.quotient(numerator, -divisor)
        signs = self.of(numerator)
        if not signs & Sign.NEGATIVE:
            return numerator // number
        if not signs & Sign.POSITIVE:
            return -(-numerator // number)
        return found

    def remainder(self, numerator: Expression, divisor: Expression) -> Expression:
        """Return C's remainder: `n - d * (n / d)`."""
        return numerator - divisor * self.quotient(numerator, divisor)


_SETTLED = (Sign.NEGATIVE, Sign.ZERO, Sign.POSITIVE, Sign.NONE)
_START = {Sign.POSITIVE: 1, Sign.NOT_NEGATIVE: 0, Sign.NEGATIVE: -1, Sign.NOT_POSITIVE: 0}
