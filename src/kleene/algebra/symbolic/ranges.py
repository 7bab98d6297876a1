"""Intervals between symbolic bounds, and the arithmetic of C's integers on them.

    Range(0, n - 1) * 4 + Range(0, 3)    is    [0, 4*n - 1]

A range holds every value it stands for, whatever the symbols are, as long as they have the signs
that the operation was given. Overflow is not modelled: the values are those of unbounded integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kleene.algebra.symbolic.signs import Sign, Signs
from kleene.base.expression import Expression, Number, of

_PLAIN = Signs()


@dataclass(frozen=True)
class Range:
    """All integers from `low` to `high`; None is no bound on that side.

    UNDEFINED is the range of a variable that has no value yet, and is neutral in a join.
    UNREACHABLE is the range of every variable where control cannot be. The two are kept apart in a
    meet: what is not yet defined may still become anything, what is contradicted may not.
    """

    low: Expression | None
    high: Expression | None
    kind: str = "values"

    @classmethod
    def of(cls, low: Expression | Number | None, high: Expression | Number | None) -> Range:
        """Return the range from `low` to `high`, numbers or expressions."""
        return cls(None if low is None else of(low), None if high is None else of(high))

    @classmethod
    def single(cls, value: Expression | Number) -> Range:
        """Return the range of one value."""
        return cls.of(value, value)

    @property
    def value(self) -> Expression | None:
        """The value, if there is but one."""
        return self.low if self.kind == "values" and self.low == self.high else None

    @property
    def has_values(self) -> bool:
        """Whether this is neither UNDEFINED nor UNREACHABLE."""
        return self.kind == "values"

    def __str__(self) -> str:
        if not self.has_values:
            return self.kind
        low = "-inf" if self.low is None else self.low
        return f"[{low}, {'inf' if self.high is None else self.high}]"

    def holds(self, number: Number, values: dict[str, Number]) -> bool:
        """Return whether `number` is in the range for `values` of the symbols."""
        return (
            self.has_values
            and (self.low is None or self.low.evaluate(values) <= number)
            and (self.high is None or number <= self.high.evaluate(values))
        )


ANYTHING = Range(None, None)
UNDEFINED = Range(None, None, "undefined")
UNREACHABLE = Range(None, None, "unreachable")


class Arithmetic:
    """Operations on ranges under known signs of symbols."""

    def __init__(self, signs: Signs = _PLAIN) -> None:
        self.signs = signs

    # ---- the lattice

    def join(self, a: Range, b: Range) -> Range:
        """Return the least known range that holds both."""
        if not a.has_values or not b.has_values:
            neutral = UNREACHABLE if UNREACHABLE in (a, b) else UNDEFINED
            return b if a == neutral else a
        low = None if a.low is None or b.low is None else self.signs.minimum(a.low, b.low)
        high = None if a.high is None or b.high is None else self.signs.maximum(a.high, b.high)
        return Range(low, high)

    def meet(self, a: Range, b: Range) -> Range:
        """Return the values in both; UNREACHABLE if provably none."""
        if not a.has_values or not b.has_values:
            return UNREACHABLE if "unreachable" in (a.kind, b.kind) else UNDEFINED
        low = self._tighter(a.low, b.low, is_low=True)
        high = self._tighter(a.high, b.high, is_low=False)
        if low is not None and high is not None and self.signs.compare(low, high) == Sign.POSITIVE:
            return UNREACHABLE
        return Range(low, high)

    def _tighter(
        self, a: Expression | None, b: Expression | None, *, is_low: bool
    ) -> Expression | None:
        if a is None or b is None:
            return b if a is None else a
        return self.signs.maximum(a, b) if is_low else self.signs.minimum(a, b)

    def widen(self, old: Range, new: Range) -> Range:
        """Return `old` without the bounds that do not hold for `new`: nothing moves twice."""
        if not old.has_values or not new.has_values:
            return self.join(old, new)
        return Range(
            old.low if self._is_bound(old.low, new.low) else None,
            old.high if self._is_bound(new.high, old.high) else None,
        )

    def _is_bound(self, low: Expression | None, high: Expression | None) -> bool:
        """Return whether two bounds are there and in order."""
        return low is not None and high is not None and self.signs.at_most(low, high)

    def narrow(self, old: Range, new: Range) -> Range:
        """Return `old` with the bounds of `new` where it had none."""
        if not old.has_values or not new.has_values:
            return new
        return Range(
            new.low if old.low is None else old.low,
            new.high if old.high is None else old.high,
        )

    def sign(self, a: Range) -> Sign:
        """Return the signs of the values of a range."""
        if not a.has_values:
            return Sign.NONE
        signs = Sign.ANY
        if a.low is not None:
            low = self.signs.of(a.low)
            if not low & Sign.NEGATIVE:
                signs &= Sign.NOT_NEGATIVE if low & Sign.ZERO else Sign.POSITIVE
        if a.high is not None:
            high = self.signs.of(a.high)
            if not high & Sign.POSITIVE:
                signs &= Sign.NOT_POSITIVE if high & Sign.ZERO else Sign.NEGATIVE
        return signs

    # ---- arithmetic

    def add(self, a: Range, b: Range) -> Range:
        """Return the range of sums."""
        if not a.has_values or not b.has_values:
            return _nothing(a, b)
        return Range(_sum(a.low, b.low), _sum(a.high, b.high))

    def negate(self, a: Range) -> Range:
        """Return the range of the negated values."""
        if not a.has_values:
            return a
        return Range(None if a.high is None else -a.high, None if a.low is None else -a.low)

    def subtract(self, a: Range, b: Range) -> Range:
        """Return the range of differences."""
        return self.add(a, self.negate(b))

    def multiply(self, a: Range, b: Range) -> Range:
        """Return the range of products.

        x·y is linear in each factor, so its extremes over x in [a, b] and y in [c, d] are among the
        corners a·c, a·d, b·c, b·d. Signs choose the corner where they are known (x, y >= 0: from
        a·c to b·d), and else the least and greatest of the four stand for it. The product has no
        least value iff one factor is unbounded above and the other can be negative, or unbounded
        below and the other positive.
        """
        if not a.has_values or not b.has_values:
            return _nothing(a, b)
        if Sign.ZERO in (self.sign(a), self.sign(b)):
            return Range.of(0, 0)
        low = self._least_product(a, b)
        high = self._least_product(self.negate(a), b)
        return Range(low, None if high is None else -high)

    def _least_product(self, a: Range, b: Range) -> Expression | None:
        signs = self.sign(a), self.sign(b)
        for one, other_signs in ((a, signs[1]), (b, signs[0])):
            if one.high is None and other_signs & Sign.NEGATIVE:
                return None
            if one.low is None and other_signs & Sign.POSITIVE:
                return None
        match tuple(_half(sign) for sign in signs):
            case ("+", "+"):
                corners = [(a.low, b.low)]
            case ("-", "-"):
                corners = [(a.high, b.high)]
            case ("+", "-"):
                corners = [(a.high, b.low)]
            case ("-", "+"):
                corners = [(a.low, b.high)]
            case _:
                corners = [(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
        products = [x * y for x, y in corners if x is not None and y is not None]
        return self.signs.minimum(*products) if products else None

    def divide(self, a: Range, b: Range) -> Range:
        """Return the range of C's quotients; ANYTHING if the divisor can be zero.

        With a divisor of one sign, the quotient is monotone in the dividend, and in the divisor for
        any fixed dividend; rounding to zero keeps that. So the extremes are among the corners; an
        infinite divisor gives 0.
        """
        if not a.has_values or not b.has_values:
            return _nothing(a, b)
        divisor = self.sign(b)
        if divisor not in (Sign.POSITIVE, Sign.NEGATIVE):
            return ANYTHING
        if divisor == Sign.NEGATIVE:
            return self.divide(self.negate(a), self.negate(b))
        assert b.low is not None
        ends = [b.low, b.high]
        lows = None if a.low is None else self._quotients(a.low, ends)
        highs = None if a.high is None else self._quotients(a.high, ends)
        return Range(
            None if lows is None else self.signs.minimum(*lows),
            None if highs is None else self.signs.maximum(*highs),
        )

    def _quotients(self, above: Expression, below: Iterable[Expression | None]) -> list[Expression]:
        return [of(0) if end is None else self.signs.quotient(above, end) for end in below]

    def remainder(self, a: Range, b: Range) -> Range:
        """Return the range of C's remainders; ANYTHING if the divisor can be zero.

        |a % b| < |b|, and a % b is 0 or has the sign of a and not its magnitude: between 0 and a.
        Where 0 <= a < |b| always, a % b is a.
        """
        if not a.has_values or not b.has_values:
            return _nothing(a, b)
        divisor = self.sign(b)
        if divisor not in (Sign.POSITIVE, Sign.NEGATIVE):
            return ANYTHING
        size = b if divisor == Sign.POSITIVE else self.negate(b)
        dividend = self.sign(a)
        if (
            not dividend & Sign.NEGATIVE
            and a.high is not None
            and size.low is not None
            and self.signs.compare(a.high, size.low) == Sign.NEGATIVE
        ):
            return a
        most = None if size.high is None else size.high - 1
        low, high = of(0), of(0)
        return Range(
            low if not dividend & Sign.NEGATIVE else self._clamped(a.low, most, is_low=True),
            high if not dividend & Sign.POSITIVE else self._clamped(a.high, most, is_low=False),
        )

    def _clamped(
        self, bound: Expression | None, most: Expression | None, *, is_low: bool
    ) -> Expression | None:
        """Return the tighter of a dividend's bound and the largest remainder, with 0 inside.

        The remainder lies between 0 and the dividend, so a bound on the wrong side of 0 is 0.
        """
        if bound is not None:
            bound = self.signs.minimum(bound, 0) if is_low else self.signs.maximum(bound, 0)
        limit = None if most is None else (-most if is_low else most)
        return self._tighter(bound, limit, is_low=is_low)

    def shift_left(self, a: Range, bits: int) -> Range:
        """Return the range of values times 2**bits."""
        return self.multiply(a, Range.of(1 << bits, 1 << bits))

    def shift_right(self, a: Range, bits: int) -> Range:
        """Return the range of values shifted with their sign, which rounds down."""
        if not a.has_values:
            return a
        return Range(
            None if a.low is None else a.low // (1 << bits),
            None if a.high is None else a.high // (1 << bits),
        )

    def complement(self, a: Range) -> Range:
        """Return the range of `~x`, that is -x - 1."""
        return self.add(self.negate(a), Range.of(-1, -1))

    # ---- conditions

    def less(self, a: Range, b: Range) -> tuple[Range, Range]:
        """Return the ranges of both sides where a < b: below the greatest b, above the least a."""
        below = Range(None, None if b.high is None else b.high - 1)
        above = Range(None if a.low is None else a.low + 1, None)
        return self._refined(a, b, below, above)

    def at_most(self, a: Range, b: Range) -> tuple[Range, Range]:
        """Return the ranges of both sides where a <= b."""
        return self._refined(a, b, Range(None, b.high), Range(a.low, None))

    def equal(self, a: Range, b: Range) -> tuple[Range, Range]:
        """Return the ranges of both sides where a == b."""
        both = self.meet(a, b)
        return both, both

    def _refined(self, a: Range, b: Range, of_a: Range, of_b: Range) -> tuple[Range, Range]:
        if not a.has_values or not b.has_values:
            return a, b
        return self.meet(a, of_a), self.meet(b, of_b)


def _half(signs: Sign) -> str:
    """Return the side of zero that values keep to; a value that is only 0 is on both."""
    if not signs & Sign.NEGATIVE:
        return "+"
    return "?" if signs & Sign.POSITIVE else "-"


def _sum(a: Expression | None, b: Expression | None) -> Expression | None:
    return None if a is None or b is None else a + b


def _nothing(a: Range, b: Range) -> Range:
    return UNREACHABLE if "unreachable" in (a.kind, b.kind) else UNDEFINED
