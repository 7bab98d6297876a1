"""Intervals of machine integers, which wrap around.

`MachineInterval(width, low, high)` is the set of bit patterns of `width` bits with a **signed**
value in low..high; its methods are LLVM's integer instructions:

    x = MachineInterval.of(8, 100, 120)
    x.add(MachineInterval.constant(8, 10))   # 110..130 wraps around: 8 bits hold -128..127
    x.zext(32), x.trunc(4), x.assume("ult", y), x.compare("slt", y)

It is a `Widening` lattice. Ends are Python's integers, so every width is exact and nothing can
overflow inside; there is no form for arrays. "Exact" below means: the least interval around all
results of the operands' values. These are exact: add, sub, neg, and_, or_, xor, shl, lshr, ashr,
udiv, sdiv, trunc, zext, sext, compare and assume; mul, if no product overflows; urem and srem, if
the divisor is one number. All others are sound: they hold every result.

What LLVM leaves undefined: an execution that divides by zero, or the least number by -1, does not
go on, so it gives no result; a shift by `width` bits or more gives poison, here any value. The
flags `nsw` and `nuw` leave out results that LLVM makes poison: pass them where the program is
trusted not to use those.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
SWAPPED = {"sgt": "slt", "sge": "sle", "ugt": "ult", "uge": "ule"}
_NEGATED = {"eq": "ne", "slt": "sge", "sle": "sgt", "ult": "uge", "ule": "ugt"}
_NEGATED |= {negation: predicate for predicate, negation in _NEGATED.items()}


class _Piece(NamedTuple):
    """The integers low..high; in lists of pieces none is empty."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class MachineInterval:
    """The integers of `width` bits with a signed value in low..high; none if low > high."""

    width: int
    low: int
    high: int

    # Making values

    @classmethod
    def of(cls, width: int, low: int, high: int) -> MachineInterval:
        """Return low..high, ends included, as they are in `width` bits: wrapped around.

        Modulo 2**width a contiguous range of integers is contiguous on a circle. If it passes from
        the greatest signed value to the least one, both are in it, and the least interval is full.
        """
        if low > high:
            return cls.bottom(width)
        if high - low >= 1 << width:
            return cls.top(width)
        first, last = signed(low, width), signed(high, width)
        return cls(width, first, last) if first <= last else cls.top(width)

    @classmethod
    def constant(cls, width: int, value: int) -> MachineInterval:
        """Return the one integer `value` modulo 2**width."""
        return cls.of(width, value, value)

    @classmethod
    def top(cls, width: int) -> MachineInterval:
        """Return all integers of `width` bits."""
        return cls(width, -(1 << width - 1), (1 << width - 1) - 1)

    @classmethod
    def bottom(cls, width: int) -> MachineInterval:
        """Return no integer."""
        return cls(width, 0, -1)

    @classmethod
    def of_pieces(cls, width: int, pieces: Iterable[tuple[int, int]]) -> MachineInterval:
        """Return the least interval around ranges of integers, each taken modulo 2**width."""
        made = cls.bottom(width)
        for low, high in pieces:
            made = made.join(cls.of(width, low, high))
        return made

    # Questions

    def is_bottom(self) -> bool:
        """Return whether no integer is in."""
        return self.low > self.high

    def is_top(self) -> bool:
        """Return whether every integer of this width is in."""
        return self == MachineInterval.top(self.width)

    def is_constant(self) -> bool:
        """Return whether exactly one integer is in."""
        return self.low == self.high

    def __contains__(self, value: int) -> bool:
        """Return whether the bit pattern of `value` is in."""
        return self.low <= signed(value, self.width) <= self.high

    def unsigned(self) -> tuple[int, int]:
        """Return the least and the greatest value read as unsigned; (0, -1) of nothing."""
        pieces = self._unsigned_pieces()
        if not pieces:
            return 0, -1
        return min(piece.low for piece in pieces), max(piece.high for piece in pieces)

    def _unsigned_pieces(self) -> list[_Piece]:
        """Return the unsigned values: those below 2**(width-1), then those from there on."""
        pieces = []
        if self.high >= 0 and not self.is_bottom():
            pieces.append(_Piece(max(self.low, 0), self.high))
        if self.low < 0 and not self.is_bottom():
            around = 1 << self.width
            pieces.append(_Piece(self.low + around, min(self.high, -1) + around))
        return pieces

    def _pairs(self, other: MachineInterval) -> Iterator[tuple[_Piece, _Piece]]:
        """Return the pairs of unsigned pieces of both."""
        self._check(other)
        return product(self._unsigned_pieces(), other._unsigned_pieces())

    # The lattice

    def __le__(self, other: MachineInterval) -> bool:
        """Return whether every integer of this is in `other`."""
        return self.is_bottom() or (other.low <= self.low and self.high <= other.high)

    def join(self, other: MachineInterval) -> MachineInterval:
        """Return the least interval around both."""
        if self.is_bottom() or other.is_bottom():
            return other if self.is_bottom() else self
        return MachineInterval(self.width, min(self.low, other.low), max(self.high, other.high))

    def meet(self, other: MachineInterval) -> MachineInterval:
        """Return the integers of both."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        made = MachineInterval(self.width, low, high)
        return made if low <= high else MachineInterval.bottom(self.width)

    def widen(self, other: MachineInterval, thresholds: Iterable[int] = ()) -> MachineInterval:
        """Return both; an end that moves goes to the next of the thresholds, or to the extreme."""
        if self.is_bottom() or other.is_bottom():
            return self.join(other)
        low, high = MachineInterval.top(self.width)._ends()
        below = [step for step in thresholds if low <= step <= other.low]
        above = [step for step in thresholds if other.high <= step <= high]
        return MachineInterval(
            self.width,
            self.low if self.low <= other.low else max(below, default=low),
            self.high if other.high <= self.high else min(above, default=high),
        )

    def narrow(self, other: MachineInterval) -> MachineInterval:
        """Return this with the ends of `other`, which is smaller, where this has the extremes."""
        if self.is_bottom() or other.is_bottom():
            return other
        low, high = MachineInterval.top(self.width)._ends()
        return MachineInterval(
            self.width,
            other.low if self.low == low else self.low,
            other.high if self.high == high else self.high,
        )

    def _ends(self) -> _Piece:
        return _Piece(self.low, self.high)

    def _check(self, other: MachineInterval) -> None:
        if self.width != other.width:
            raise ValueError(f"operands of {self.width} and {other.width} bits do not go together")

    # Arithmetic

    def add(
        self, other: MachineInterval, *, nsw: bool = False, nuw: bool = False
    ) -> MachineInterval:
        """Return the sums."""
        return self._arithmetic(other, _sums, nsw, nuw)

    def sub(
        self, other: MachineInterval, *, nsw: bool = False, nuw: bool = False
    ) -> MachineInterval:
        """Return the differences."""
        return self._arithmetic(other, _differences, nsw, nuw)

    def mul(
        self, other: MachineInterval, *, nsw: bool = False, nuw: bool = False
    ) -> MachineInterval:
        """Return the products."""
        return self._arithmetic(other, _products, nsw, nuw)

    def neg(self) -> MachineInterval:
        """Return the negations; that of the least signed value is itself."""
        return MachineInterval.constant(self.width, 0).sub(self)

    def _arithmetic(
        self,
        other: MachineInterval,
        results: Callable[[_Piece, _Piece], _Piece],
        nsw: bool,
        nuw: bool,
    ) -> MachineInterval:
        """Return the results modulo 2**width, or with a flag those that need no reduction.

        The signed and the unsigned reading give the same bit patterns, so with both flags a result
        is in the meet.
        """
        self._check(other)
        if self.is_bottom() or other.is_bottom():
            return MachineInterval.bottom(self.width)
        ends = results(self._ends(), other._ends())
        made = MachineInterval.of(self.width, *ends)
        if nsw:
            least, greatest = MachineInterval.top(self.width)._ends()
            clipped = max(ends.low, least), min(ends.high, greatest)
            made = MachineInterval.of(self.width, *clipped)
        if nuw:
            greatest = (1 << self.width) - 1
            found = [results(a, b) for a, b in self._pairs(other)]
            clipped_pieces = [(max(low, 0), min(high, greatest)) for low, high in found]
            made = made.meet(_halves(self.width, clipped_pieces))
        return made

    def udiv(self, other: MachineInterval) -> MachineInterval:
        """Return the unsigned quotients.

        A division by 1 gives the dividend; by 2 or more, a value below 2**(width-1): so no result
        of the pieces below passes from the greatest signed value to the least one.
        """
        found: list[tuple[int, int]] = []
        for a, b in self._pairs(other):
            if b.low <= 1 <= b.high:
                found.append(a)
            if b.high >= 2:
                found.append((a.low // b.high, a.high // max(b.low, 2)))
        return MachineInterval.of_pieces(self.width, found)

    def sdiv(self, other: MachineInterval) -> MachineInterval:
        """Return the signed quotients, rounded towards zero."""
        self._check(other)
        found: list[tuple[int, int]] = []
        least = -(1 << self.width - 1)
        for b in (_clip(other, least, -2), _clip(other, -1, -1), _clip(other, 1, -1 - least)):
            # The least value divided by -1 overflows, which is undefined.
            a = _clip(self, least + (b == _Piece(-1, -1)), -1 - least)
            if a.low <= a.high and b.low <= b.high:
                corners = [_quotient(x, y) for x, y in product(a, b)]
                found.append((min(corners), max(corners)))
        return MachineInterval.of_pieces(self.width, found)

    def urem(self, other: MachineInterval) -> MachineInterval:
        """Return the unsigned remainders."""
        found: list[tuple[int, int]] = []
        for a, b in self._pairs(other):
            if b.high > 0:
                found += _remainders(a, _Piece(max(b.low, 1), b.high))
        return _halves(self.width, found)

    def srem(self, other: MachineInterval) -> MachineInterval:
        """Return the signed remainders, which have the sign of the dividend or are 0.

        |x| % |y|, with the dividend's sign; the least value by -1 is undefined, but has no result
        that another dividend would not give: 0, unless it is the only one.
        """
        self._check(other)
        found: list[tuple[int, int]] = []
        least = -(1 << self.width - 1)
        for b in (_clip(other, least, -2), _clip(other, -1, -1), _clip(other, 1, -1 - least)):
            size = _Piece(min(abs(b.low), abs(b.high)), max(abs(b.low), abs(b.high)))
            up = _clip(self, 0, -1 - least)
            down = _clip(self, least + (b == _Piece(-1, -1)), -1)
            if b.low <= b.high and up.low <= up.high:
                found += _remainders(up, size)
            if b.low <= b.high and down.low <= down.high:
                sizes = _remainders(_Piece(-down.high, -down.low), size)
                found += [(-high, -low) for low, high in sizes]
        return MachineInterval.of_pieces(self.width, found)

    # Bits

    def and_(self, other: MachineInterval) -> MachineInterval:
        """Return the bitwise conjunctions."""
        return self._bitwise(other, operator.and_)

    def or_(self, other: MachineInterval) -> MachineInterval:
        """Return the bitwise disjunctions."""
        return self._bitwise(other, operator.or_)

    def xor(self, other: MachineInterval) -> MachineInterval:
        """Return the bitwise exclusive disjunctions."""
        return self._bitwise(other, operator.xor)

    def _bitwise(
        self, other: MachineInterval, combine: Callable[[int, int], int]
    ) -> MachineInterval:
        """Return the results of an operation on each two bits.

        Within a pair of pieces the sign bits are fixed, so the sign bit of the result is too, and
        unsigned order there is signed order.
        """
        found = [
            (
                _extreme(combine, a, b, 0, self.width),
                _extreme(combine, a, b, 1, self.width),
            )
            for a, b in self._pairs(other)
        ]
        return MachineInterval.of_pieces(self.width, found)

    def shl(
        self, other: MachineInterval, *, nsw: bool = False, nuw: bool = False
    ) -> MachineInterval:
        """Return the values shifted left by the unsigned values of `other`.

        x << s modulo 2**width is (x modulo 2**(width-s)) << s: what is left after truncating to
        width-s bits is contiguous there, and 2**s times its ends are the ends of the results.
        """
        made = MachineInterval.bottom(self.width)
        for by in self._shifts(other):
            kept = self.trunc(self.width - by)
            if nsw:  # what stays itself if truncated and extended again
                kept = self.meet(MachineInterval.top(self.width - by).sext(self.width))
            result = MachineInterval(self.width, kept.low << by, kept.high << by)
            if nuw:
                most = ((1 << self.width) - 1) >> by
                pieces = [(low, min(high, most)) for low, high in self._unsigned_pieces()]
                fit = [(low << by, high << by) for low, high in pieces if low <= high]
                result = result.meet(_halves(self.width, fit))
            made = made.join(result if not kept.is_bottom() else made)
        return made.join(self._poison(other))

    def lshr(self, other: MachineInterval) -> MachineInterval:
        """Return the values shifted right by the unsigned values of `other`, zeros coming in.

        A shift by 0 gives the value; by 1 or more, one below 2**(width-1), least at the most bits.
        """
        by = self._shifts(other)
        found: list[tuple[int, int]] = []
        for a in self._unsigned_pieces():
            if 0 in by:
                found.append(a)
            if by and by[-1] > 0:
                found.append((a.low >> by[-1], a.high >> max(by[0], 1)))
        return MachineInterval.of_pieces(self.width, found).join(self._poison(other))

    def ashr(self, other: MachineInterval) -> MachineInterval:
        """Return the values shifted right by unsigned values of `other`, sign bits coming in."""
        by = self._shifts(other)
        made = MachineInterval.bottom(self.width)
        if by and not self.is_bottom():
            corners = [x >> s for x, s in product(self._ends(), (by[0], by[-1]))]
            made = MachineInterval(self.width, min(corners), max(corners))
        return made.join(self._poison(other))

    def _shifts(self, other: MachineInterval) -> range:
        """Return the shift amounts in `other` that are below the width.

        Those of its second piece are 2**(width-1) or more, so none of them is; if it has one, the
        result is everything, whatever is between the pieces.
        """
        self._check(other)
        if self.is_bottom():
            return range(0)
        low, high = other.unsigned()
        return range(low, min(high, self.width - 1) + 1)

    def _poison(self, other: MachineInterval) -> MachineInterval:
        """Return every value if some shift amount of `other` is not below the width, else none."""
        is_poison = not self.is_bottom() and other.unsigned()[1] >= self.width
        return MachineInterval.top(self.width) if is_poison else MachineInterval.bottom(self.width)

    # Casts

    def trunc(self, width: int) -> MachineInterval:
        """Return the values of the lowest `width` bits."""
        return MachineInterval.of(width, self.low, self.high)

    def sext(self, width: int) -> MachineInterval:
        """Return the same signed values in more bits."""
        return MachineInterval(width, self.low, self.high)

    def zext(self, width: int) -> MachineInterval:
        """Return the same unsigned values in more bits."""
        return MachineInterval.of_pieces(width, self._unsigned_pieces())

    # Comparisons

    def compare(self, predicate: str, other: MachineInterval) -> bool | None:
        """Return whether x `predicate` y for all x here and y in `other`; None if it depends.

        Of nothing, None: there is no execution to speak of.
        """
        if self.is_bottom() or other.is_bottom():
            return None
        can_hold = not self.assume(predicate, other)[0].is_bottom()
        can_fail = not self.assume(negated(predicate), other)[0].is_bottom()
        return None if can_hold and can_fail else can_hold

    def assume(
        self, predicate: str, other: MachineInterval
    ) -> tuple[MachineInterval, MachineInterval]:
        """Return the x here and the y of `other` for which there is a partner with x `predicate` y.

        Raises:
            ValueError: the predicate is none of `PREDICATES`, LLVM's names.
        """
        if predicate not in PREDICATES:
            raise ValueError(f"{predicate!r} is no predicate: there are {', '.join(PREDICATES)}")
        self._check(other)
        if predicate in SWAPPED:
            y, x = other.assume(SWAPPED[predicate], self)
            return x, y
        if self.is_bottom() or other.is_bottom():
            nothing = MachineInterval.bottom(self.width)
            return nothing, nothing
        if predicate == "eq":
            return self.meet(other), self.meet(other)
        if predicate == "ne":
            return self._without(other), other._without(self)
        strict = predicate.endswith("lt")
        if predicate.startswith("s"):
            return self._below(other.high - strict), other._above(self.low + strict)
        return self._unsigned_in(0, other.unsigned()[1] - strict), other._unsigned_in(
            self.unsigned()[0] + strict, (1 << self.width) - 1
        )

    def _without(self, other: MachineInterval) -> MachineInterval:
        """Return the values that differ from some value of `other`."""
        if not other.is_constant():
            return self
        low = self.low + (self.low == other.low)
        high = self.high - (self.high == other.low)
        made = MachineInterval(self.width, low, high)
        return made if low <= high else MachineInterval.bottom(self.width)

    def _below(self, high: int) -> MachineInterval:
        return self.meet(MachineInterval(self.width, self.low, high))

    def _above(self, low: int) -> MachineInterval:
        return self.meet(MachineInterval(self.width, low, self.high))

    def _unsigned_in(self, low: int, high: int) -> MachineInterval:
        """Return the values with an unsigned value in low..high."""
        pieces = ((max(a, low), min(b, high)) for a, b in self._unsigned_pieces())
        return MachineInterval.of_pieces(self.width, pieces)

    def __str__(self) -> str:
        return "nothing" if self.is_bottom() else f"{self.low}..{self.high} (i{self.width})"


def negated(predicate: str) -> str:
    """Return the predicate that holds where this one does not."""
    return _NEGATED[predicate]


def signed(value: int, width: int) -> int:
    """Return the signed integer of `width` bits that equals `value` modulo 2**width."""
    half = 1 << width - 1
    return ((value + half) & ((1 << width) - 1)) - half


def _halves(width: int, pieces: Iterable[tuple[int, int]]) -> MachineInterval:
    """Return the least interval around unsigned ranges, of which maybe not all values are results.

    A range around 2**(width-1) is cut there: both parts are taken as if all their values were.
    """
    half = 1 << width - 1
    cut = [
        (low, high)
        for a, b in pieces
        for low, high in ((a, min(b, half - 1)), (max(a, half), b))
        if low <= high
    ]
    return MachineInterval.of_pieces(width, cut)


def _clip(value: MachineInterval, low: int, high: int) -> _Piece:
    return _Piece(max(value.low, low), min(value.high, high))


def _sums(a: _Piece, b: _Piece) -> _Piece:
    return _Piece(a.low + b.low, a.high + b.high)


def _differences(a: _Piece, b: _Piece) -> _Piece:
    return _Piece(a.low - b.high, a.high - b.low)


def _products(a: _Piece, b: _Piece) -> _Piece:
    corners = [x * y for x, y in product(a, b)]  # bilinear: extremes are at corners
    return _Piece(min(corners), max(corners))


def _quotient(x: int, y: int) -> int:
    """Return x / y rounded towards zero."""
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _remainders(a: _Piece, b: _Piece) -> list[_Piece]:
    """Return ranges around x % y for 0 <= x in a, 0 < y in b; all are results if b is one number.

    Between two multiples of one number remainders are contiguous; past one multiple they go on from
    0; past two they are all. In general a remainder is at most x and below y, and x itself if that
    is below every y.
    """
    if a.high < b.low:
        return [a]
    multiples = a.high // b.low - a.low // b.low
    if b.low == b.high and multiples == 0:
        return [_Piece(a.low % b.low, a.high % b.low)]
    if b.low == b.high and multiples == 1:
        return [_Piece(0, a.high % b.low), _Piece(a.low % b.low, b.low - 1)]
    return [_Piece(0, min(a.high, b.high - 1))]


def _extreme(
    combine: Callable[[int, int], int], a: _Piece, b: _Piece, wanted: int, width: int
) -> int:
    """Return the greatest (`wanted` 1) or least (0) combination of bits of x in a and y in b.

    From the highest bit down, a state says of x and of y whether the bits so far are those of the
    piece's low end and of its high end: then the next bit may not fall below, or exceed, that
    end's. The wanted bit is taken whenever some state allows it, which no lower bits can outweigh;
    the states that gave the bit go on. A prefix equal to neither end leaves all lower bits free,
    and then every bit of the result can be the wanted one. At most 16 states and 4 pairs of bits.
    """
    states = {(True, True, True, True)}
    result = 0
    for bit in reversed(range(width)):
        if (False, False, False, False) in states:
            return result << bit + 1 | wanted * ((1 << bit + 1) - 1)
        after: tuple[set[tuple[bool, bool, bool, bool]], ...] = (set(), set())
        for on_low_a, on_high_a, on_low_b, on_high_b in states:
            for x, *of_a in _bits(a, bit, on_low_a, on_high_a):
                for y, *of_b in _bits(b, bit, on_low_b, on_high_b):
                    after[combine(x, y)].add((*of_a, *of_b))  # type: ignore[arg-type]
        chosen = wanted if after[wanted] else 1 - wanted
        result, states = result << 1 | chosen, after[chosen]
    return result


def _bits(piece: _Piece, bit: int, on_low: bool, on_high: bool) -> Iterator[tuple[int, bool, bool]]:
    """Yield the values a bit may have, and whether the bits so far are still those of each end."""
    least, most = piece.low >> bit & 1, piece.high >> bit & 1
    for value in (0, 1):
        if not (on_low and value < least) and not (on_high and value > most):
            yield value, on_low and value == least, on_high and value == most
