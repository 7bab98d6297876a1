"""Intervals of floating-point numbers, whose ends are the *ranks* of numbers.

The numbers of a format, in order, are numbered: 0 has the rank 0 (so has -0), the least positive
number 1, infinity the rank `infinity`, and -x the rank of x times -1. The rank of a positive number
is the integer that its bits are, so it is found without searching. For numbers x and y

    x < y    if and only if    rank(x) < rank(y),

so whatever is known of integers (intervals, equalities, widening, tests) can be said of ranks:

    double     -inf          -1.0      -5e-324   -0.0, 0.0   5e-324     1.0          inf      NaN
    rank     -infinity    -1023 << 52     -1          0         1     1023 << 52   infinity   nan

`FloatInterval` is the set of the numbers between two ranks, with or without NaN. Its methods are
LLVM's instructions and functions of `math.h`. **Results are rounded outwards**: the lower end is
the greatest number that is at most the exact result, the upper end the least that is at least it.
So they hold for each rounding mode, and where a product is fused with a sum (`fma`), which rounds
once instead of twice: exact values are between the ends of each step, and sums are monotonic.

Exact results are computed as fractions, so every format is exact, also one that no machine has.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

_INF = math.inf
_HALF_PI = Fraction("1.5707963267948966192313216916397514421")  # above by 1.5e-37
_Piece = tuple[Fraction, Fraction]  # ends, both numbers


@dataclass(frozen=True)
class FloatFormat:
    """The numbers that a type has.

    Attributes:
        name: LLVM's word.
        width: bits in memory.
        precision: significant bits of most numbers.
        exponent_bits: of the exponent.
    """

    name: str
    width: int
    precision: int
    exponent_bits: int

    @cached_property
    def infinity(self) -> int:
        """The rank of infinity."""
        return (1 << self.exponent_bits) - 1 << self.precision - 1

    @property
    def nan(self) -> int:
        """The rank that stands for NaN, of either sign and any payload: above all numbers."""
        return self.infinity + 1

    @cached_property
    def _least_exponent(self) -> int:
        """The exponent of the least positive number, a power of two."""
        return 3 - (1 << self.exponent_bits - 1) - self.precision

    def value(self, rank: int) -> Fraction:
        """Return the number of a rank that is neither infinite nor NaN."""
        size = abs(rank)
        binade = max((size >> self.precision - 1) - 1, 0)
        significant = size - (binade << self.precision - 1)
        exponent = binade + self._least_exponent
        found = Fraction(significant << exponent) if exponent >= 0 else Fraction(
            significant, 1 << -exponent
        )  # fmt: skip
        return found if rank >= 0 else -found

    def below(self, number: Fraction | int) -> int:
        """Return the rank of the greatest number that is at most the given one."""
        return self._ranked(number, math.floor) if number >= 0 else -self.above(-number)

    def above(self, number: Fraction | int) -> int:
        """Return the rank of the least number that is at least the given one."""
        return self._ranked(number, math.ceil) if number >= 0 else -self.below(-number)

    def _ranked(self, number: Fraction | int, rounded: Callable[[Fraction], int]) -> int:
        """Return the rank of a number that is 0 or more, rounded to one of the format.

        With q the exponent of a unit in the last place, and k the units, 2**(p-1) <= k < 2**p but
        for the least q, the rank is (q - least q) * 2**(p-1) + k; k = 2**p is the next binade's
        first number by the same formula.
        """
        number = Fraction(number)
        if not number:
            return 0
        top, bottom = number.numerator, number.denominator
        exponent = top.bit_length() - bottom.bit_length()
        if number < Fraction(2) ** exponent:
            exponent -= 1
        unit = max(exponent - self.precision + 1, self._least_exponent)
        units = rounded(number / Fraction(2) ** unit)
        rank = (unit - self._least_exponent << self.precision - 1) + units
        most = self.infinity if rounded is math.ceil else self.infinity - 1
        return min(rank, most)

    def rank(self, number: float) -> int:
        """Return the rank of a number of this format, infinite or NaN as it may be."""
        if number != number:
            return self.nan
        if math.isinf(number):
            return self.infinity if number > 0 else -self.infinity
        return self.below(Fraction(number))

    def rank_of_bits(self, bits: int) -> int | None:
        """Return the rank of what is in memory as these bits; None if that is not known."""
        sign = -1 if bits >> self.width - 1 & 1 else 1
        size = bits & (1 << self.width - 1) - 1
        if self.width > self.exponent_bits + self.precision:  # x86_fp80 stores the leading bit
            leading, exponent = size >> self.precision - 1 & 1, size >> self.precision
            if leading != (exponent > 0):
                return None  # no number of today's machines
            size = (exponent << self.precision - 1) + (size & (1 << self.precision - 1) - 1)
        return self.nan if size > self.infinity else sign * size

    def show(self, rank: int) -> str:
        """Return a number as C writes it: so that it is read as this one, though it be rounded."""
        if abs(rank) >= self.infinity:
            return "NAN" if rank > self.infinity else "INFINITY" if rank > 0 else "-INFINITY"
        number = self.value(rank)
        near = float(number) if abs(number) < Fraction(2) ** 1023 else _INF
        if math.isfinite(near) and Fraction(near) == number:
            return repr(near)
        shift = (number.denominator & -number.denominator).bit_length() - 1
        return f"{'-' if rank < 0 else ''}0x{abs(number.numerator):x}p-{shift}L"


FORMATS = {
    one.name: one
    for one in (
        FloatFormat("half", 16, 11, 5),
        FloatFormat("bfloat", 16, 8, 8),
        FloatFormat("float", 32, 24, 8),
        FloatFormat("double", 64, 53, 11),
        FloatFormat("x86_fp80", 80, 64, 15),
        FloatFormat("fp128", 128, 113, 15),
    )
}


def rank_of_double_bits(format: FloatFormat, bits: int) -> int:
    """Return the rank of a constant of a format that is given as the bits of a double."""
    (number,) = struct.unpack("<d", struct.pack("<Q", bits % (1 << 64)))
    return format.rank(number)


@dataclass(frozen=True, slots=True)
class FloatInterval:
    """The numbers of a format with a rank in low..high, none if low > high; NaN if it `has_nan`."""

    format: FloatFormat
    low: int
    high: int
    has_nan: bool = False

    # Making values

    @classmethod
    def top(cls, format: FloatFormat) -> FloatInterval:
        """Return all numbers, and NaN."""
        return cls(format, -format.infinity, format.infinity, True)

    @classmethod
    def bottom(cls, format: FloatFormat) -> FloatInterval:
        """Return nothing."""
        return cls(format, 1, 0)

    @classmethod
    def around(
        cls, format: FloatFormat, low: Fraction | int, high: Fraction | int
    ) -> FloatInterval:
        """Return the least interval around the real numbers from low to high."""
        return cls(format, format.below(low), format.above(high))

    @classmethod
    def of_range(cls, format: FloatFormat, low: int, high: int) -> FloatInterval:
        """Return what has a rank in low..high, where NaN has the greatest of all."""
        return cls(format, low, min(high, format.infinity), high >= format.nan)

    def range(self) -> tuple[int, int]:
        """Return the ranks around all of this, NaN as the greatest; low > high of nothing."""
        if not self.has_nan:
            return self.low, self.high
        return (self.low if self.has_number else self.format.nan), self.format.nan

    # Questions

    @property
    def has_number(self) -> bool:
        """Whether there is anything but NaN."""
        return self.low <= self.high

    def is_bottom(self) -> bool:
        """Return whether nothing is in."""
        return not (self.has_number or self.has_nan)

    def __contains__(self, number: float) -> bool:
        """Return whether a number of the format, or NaN, is in."""
        if number != number:
            return self.has_nan
        return self.low <= self.format.rank(number) <= self.high

    def has_infinity(self, sign: int = 0) -> bool:
        """Return whether infinity of a sign is in, or any of both if it is 0."""
        least = self.has_number and self.low == -self.format.infinity
        most = self.has_number and self.high == self.format.infinity
        return (least and sign <= 0) or (most and sign >= 0)

    @property
    def finite(self) -> _Piece | None:
        """The ends of the numbers that are not infinite."""
        most = self.format.infinity - 1
        low, high = max(self.low, -most), min(self.high, most)
        return (self.format.value(low), self.format.value(high)) if low <= high else None

    # The lattice

    def __le__(self, other: FloatInterval) -> bool:
        """Return whether everything in this is in `other`."""
        is_inside = not self.has_number or (other.low <= self.low and self.high <= other.high)
        return is_inside and (other.has_nan or not self.has_nan)

    def join(self, other: FloatInterval) -> FloatInterval:
        """Return the least interval around both."""
        has_nan = self.has_nan or other.has_nan
        if not (self.has_number and other.has_number):
            one = self if self.has_number else other
            return FloatInterval(self.format, one.low, one.high, has_nan)
        ends = min(self.low, other.low), max(self.high, other.high)
        return FloatInterval(self.format, *ends, has_nan)

    def meet(self, other: FloatInterval) -> FloatInterval:
        """Return what is in both."""
        ends = max(self.low, other.low), min(self.high, other.high)
        return FloatInterval(self.format, *ends, self.has_nan and other.has_nan)

    def widen(self, other: FloatInterval, thresholds: Iterable[int] = ()) -> FloatInterval:
        """Return both; an end that moves goes to the next of some ranks, or to infinity."""
        if not (self.has_number and other.has_number):
            return self.join(other)
        most = self.format.infinity
        steps = [step for step in thresholds if -most <= step <= most]
        below = max((one for one in steps if one <= other.low), default=-most)
        above = min((one for one in steps if one >= other.high), default=most)
        return FloatInterval(
            self.format,
            self.low if self.low <= other.low else below,
            self.high if self.high >= other.high else above,
            self.has_nan or other.has_nan,
        )

    # Arithmetic

    def add(self, other: FloatInterval) -> FloatInterval:
        """Return the sums; infinity minus infinity is NaN."""
        found = self._nothing(self.has_nan or other.has_nan)
        for sign in (-1, 1):
            for one, more in ((self, other), (other, self)):
                if one.has_infinity(sign):
                    if more.finite is not None or more.has_infinity(sign):
                        found = found.join(self._infinite(sign))
                    if more.has_infinity(-sign):
                        found = found.join(self._nothing(True))
        if (a := self.finite) is not None and (b := other.finite) is not None:
            found = found.join(FloatInterval.around(self.format, a[0] + b[0], a[1] + b[1]))
        return found

    def sub(self, other: FloatInterval) -> FloatInterval:
        """Return the differences."""
        return self.add(other.neg())

    def neg(self) -> FloatInterval:
        """Return the negations."""
        return FloatInterval(self.format, -self.high, -self.low, self.has_nan)

    def mul(self, other: FloatInterval) -> FloatInterval:
        """Return the products; 0 times infinity is NaN."""
        found = self._nothing(self.has_nan or other.has_nan)
        for a in self._signed_pieces():
            for b in other._signed_pieces():
                sign = a.sign * b.sign
                if a.is_infinite or b.is_infinite:
                    found = found.join(self._infinite(sign) if sign else self._nothing(True))
                else:
                    corners = [x * y for x in a.ends for y in b.ends]
                    found = found.join(
                        FloatInterval.around(self.format, min(corners), max(corners))
                    )
        return found

    def div(self, other: FloatInterval) -> FloatInterval:
        """Return the quotients; 0 / 0 and infinity / infinity are NaN.

        Anything else divided by 0 is infinite, of either sign: ranks do not tell 0 from -0.
        """
        found = self._nothing(self.has_nan or other.has_nan)
        for a in self._signed_pieces():
            for b in other._signed_pieces():
                if (a.is_infinite and b.is_infinite) or not (a.sign or b.sign):
                    found = found.join(self._nothing(True))
                elif not b.sign:
                    found = found.join(self._infinite(1)).join(self._infinite(-1))
                elif a.is_infinite:
                    found = found.join(self._infinite(a.sign * b.sign))
                elif b.is_infinite or not a.sign:
                    found = found.join(FloatInterval(self.format, 0, 0))
                else:
                    corners = [x / y for x in a.ends for y in b.ends]
                    found = found.join(
                        FloatInterval.around(self.format, min(corners), max(corners))
                    )
        return found

    def rem(self, other: FloatInterval) -> FloatInterval:
        """Return what `fmod` does: at most as large as either, of the sign of the dividend."""
        divisors = other.fabs()
        invalid = self.has_infinity() or (divisors.has_number and divisors.low == 0)
        found = self._nothing(self.has_nan or other.has_nan or invalid)
        if (a := self.finite) is None or not divisors.has_number or divisors.high == 0:
            return found
        least, most = FloatInterval(self.format, max(divisors.low, 1), divisors.high), divisors.high
        size = max(abs(self.format.below(a[0])), abs(self.format.below(a[1])))
        ends = FloatInterval.around(self.format, *a)
        if size < least.low:  # smaller than every divisor: it stays as it is
            return found.join(ends)
        low, high = max(ends.low, -most, -size), min(ends.high, most, size)
        return found.join(FloatInterval(self.format, min(low, 0), max(high, 0)))

    def fma(self, other: FloatInterval, more: FloatInterval) -> FloatInterval:
        """Return a * b + c, rounded once or twice."""
        return self.mul(other).add(more)

    def sqrt(self) -> FloatInterval:
        """Return the square roots; of negative numbers NaN."""
        found = self._nothing(self.has_nan or (self.has_number and self.low < 0))
        if self.has_infinity(1):
            found = found.join(self._infinite(1))
        if self.finite is not None and self.finite[1] >= 0:
            low, high = (max(one, Fraction(0)) for one in self.finite)
            ends = self.format.below(_root(low)[0]), self.format.above(_root(high)[1])
            found = found.join(FloatInterval(self.format, *ends))
        return found

    def fabs(self) -> FloatInterval:
        """Return the absolute values."""
        if not self.has_number or self.low >= 0:
            return self
        if self.high <= 0:
            return self.neg()
        return FloatInterval(self.format, 0, max(-self.low, self.high), self.has_nan)

    def fmin(self, other: FloatInterval) -> FloatInterval:
        """Return the lesser ones; where one is NaN the other, or NaN if it was a signalling one."""
        return self._either(other, min)

    def fmax(self, other: FloatInterval) -> FloatInterval:
        """Return the greater ones; NaN as `fmin` does."""
        return self._either(other, max)

    def _either(self, other: FloatInterval, choose: Callable[[int, int], int]) -> FloatInterval:
        found = self._nothing(self.has_nan or other.has_nan)
        if self.has_number and other.has_number:
            ends = choose(self.low, other.low), choose(self.high, other.high)
            found = found.join(FloatInterval(self.format, *ends))
        for one, more in ((self, other), (other, self)):
            if one.has_nan:
                found = found.join(FloatInterval(self.format, more.low, more.high))
        return found

    def copysign(self, other: FloatInterval) -> FloatInterval:
        """Return numbers of this with the signs of others; of 0 and NaN the sign is not known."""
        size = self.fabs()
        if other.has_number and other.low > 0 and not other.has_nan:
            return size
        if other.has_number and other.high < 0 and not other.has_nan:
            return size.neg()
        return size.join(size.neg())

    # Whole numbers

    def floor(self) -> FloatInterval:
        """Return the greatest whole numbers that are not above."""
        return self._rounded(math.floor, math.floor)

    def ceil(self) -> FloatInterval:
        """Return the least whole numbers that are not below."""
        return self._rounded(math.ceil, math.ceil)

    def trunc(self) -> FloatInterval:
        """Return the whole numbers next to 0."""
        return self._rounded(math.trunc, math.trunc)

    def round(self) -> FloatInterval:
        """Return the nearest whole numbers, halves away from 0."""
        return self._rounded(_half_away, _half_away)

    def roundeven(self) -> FloatInterval:
        """Return the nearest whole numbers, halves to even ones."""
        return self._rounded(round, round)

    def rint(self) -> FloatInterval:
        """Return the whole numbers that the rounding mode says, which may be any."""
        return self._rounded(math.floor, math.ceil)

    def _rounded(
        self, low: Callable[[Fraction], int], high: Callable[[Fraction], int]
    ) -> FloatInterval:
        found = self._nothing(self.has_nan)
        if self.finite is not None:
            ends = low(self.finite[0]), high(self.finite[1])
            found = found.join(FloatInterval.around(self.format, *ends))
        for sign in (-1, 1):
            if self.has_infinity(sign):
                found = found.join(self._infinite(sign))
        return found

    # Functions whose results are known by their ends: those of the C library are not the nearest
    # numbers, but they are taken to keep to the ends of what they approximate

    def sin(self) -> FloatInterval:
        """Return -1 to 1; NaN of infinity."""
        return self._within(-1, 1, self.has_infinity())

    def cos(self) -> FloatInterval:
        """Return -1 to 1; NaN of infinity."""
        return self.sin()

    def tanh(self) -> FloatInterval:
        """Return -1 to 1."""
        return self._within(-1, 1)

    def erf(self) -> FloatInterval:
        """Return -1 to 1."""
        return self._within(-1, 1)

    def exp(self) -> FloatInterval:
        """Return what is not negative."""
        return self._within(0, None)

    def exp2(self) -> FloatInterval:
        """Return what is not negative."""
        return self._within(0, None)

    def exp10(self) -> FloatInterval:
        """Return what is not negative."""
        return self._within(0, None)

    def cosh(self) -> FloatInterval:
        """Return 1 or more."""
        return self._within(1, None)

    def hypot(self, other: FloatInterval) -> FloatInterval:
        """Return what is not negative; infinity if one is infinite, though the other be NaN."""
        found = self._within(0, None)
        return FloatInterval(self.format, found.low, found.high, self.has_nan or other.has_nan)

    def asin(self) -> FloatInterval:
        """Return -π/2 to π/2; NaN of what is not in -1 to 1."""
        return self._within(-_HALF_PI, _HALF_PI, self._exceeds_one())

    def acos(self) -> FloatInterval:
        """Return 0 to π; NaN of what is not in -1 to 1."""
        return self._within(0, 2 * _HALF_PI, self._exceeds_one())

    def atan(self) -> FloatInterval:
        """Return -π/2 to π/2."""
        return self._within(-_HALF_PI, _HALF_PI)

    def atan2(self, other: FloatInterval) -> FloatInterval:
        """Return -π to π."""
        return self._within(-2 * _HALF_PI, 2 * _HALF_PI, other.has_nan)

    def log(self) -> FloatInterval:
        """Return anything; NaN of what is negative."""
        is_negative = self.has_number and self.low < 0
        return FloatInterval(
            self.format, -self.format.infinity, self.format.infinity, self.has_nan or is_negative
        )

    def log2(self) -> FloatInterval:
        """Return anything; NaN of what is negative."""
        return self.log()

    def log10(self) -> FloatInterval:
        """Return anything; NaN of what is negative."""
        return self.log()

    def _exceeds_one(self) -> bool:
        one = self.format.below(1)
        return self.has_number and (self.low < -one or self.high > one)

    def _within(
        self, low: Fraction | int, high: Fraction | int | None, is_invalid: bool = False
    ) -> FloatInterval:
        most = self.format.infinity if high is None else self.format.above(high)
        return FloatInterval(self.format, self.format.below(low), most, self.has_nan or is_invalid)

    # Conversions

    def cast(self, format: FloatFormat) -> FloatInterval:
        """Return the same numbers in another format, rounded if it has not all of them."""
        found = FloatInterval(format, 1, 0, self.has_nan)
        if self.finite is not None:
            found = found.join(FloatInterval.around(format, *self.finite))
        for sign in (-1, 1):
            if self.has_infinity(sign):
                found = found.join(found._infinite(sign))
        return found

    def truncated(self) -> tuple[int, int] | None:
        """Return the ends of the finite numbers as integers, rounded towards 0."""
        return None if self.finite is None else (int(self.finite[0]), int(self.finite[1]))

    # Parts

    def _nothing(self, has_nan: bool) -> FloatInterval:
        return FloatInterval(self.format, 1, 0, has_nan)

    def _infinite(self, sign: int) -> FloatInterval:
        return FloatInterval(self.format, sign * self.format.infinity, sign * self.format.infinity)

    def _signed_pieces(self) -> Iterator[_SignedPiece]:
        """Yield the infinite, negative, zero and positive parts that there are."""
        for sign in (-1, 1):
            if self.has_infinity(sign):
                yield _SignedPiece(sign, (Fraction(0), Fraction(0)), True)
        if not self.has_number:
            return
        most = self.format.infinity - 1
        value = self.format.value
        if self.low < 0 and (low := max(self.low, -most)) <= (high := min(self.high, -1)):
            yield _SignedPiece(-1, (value(low), value(high)))
        if self.low <= 0 <= self.high:
            yield _SignedPiece(0, (Fraction(0), Fraction(0)))
        if self.high > 0 and (low := max(self.low, 1)) <= (high := min(self.high, most)):
            yield _SignedPiece(1, (value(low), value(high)))


@dataclass(frozen=True, slots=True)
class _SignedPiece:
    """Numbers of one sign, all of them infinite or none."""

    sign: int
    ends: _Piece
    is_infinite: bool = False


def _half_away(number: Fraction) -> int:
    size = math.floor(abs(number) + Fraction(1, 2))
    return size if number >= 0 else -size


@lru_cache(1024)
def _root(number: Fraction) -> _Piece:
    """Return two fractions around a square root, closer than numbers of any format are.

    With s a power of four that makes number * s have 2 * 128 bits or more, r = isqrt(number * s)
    has 128: r / sqrt(s) is below the root and (r + 1) / sqrt(s) above; both are the root if r * r
    is number * s.
    """
    if not number:
        return Fraction(0), Fraction(0)
    bits = number.numerator.bit_length() - number.denominator.bit_length()
    half = max(0, 128 - bits // 2)
    scaled = number * (1 << 2 * half)
    root = math.isqrt(math.floor(scaled))
    is_exact = Fraction(root) * root == scaled
    return Fraction(root, 1 << half), Fraction(root + (not is_exact), 1 << half)


__all__ = ["FORMATS", "FloatFormat", "FloatInterval", "rank_of_double_bits"]
