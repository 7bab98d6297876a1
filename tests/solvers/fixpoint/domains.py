"""Small domains for tests of the engine: ranges of integers, sets of bits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class Range:
    """The integers from `low` to `high`; none if `low` is larger."""

    low: float
    high: float

    def is_bottom(self) -> bool:
        return self.low > self.high

    def join(self, other: Range) -> Range:
        if self.is_bottom() or other.is_bottom():
            return self if other.is_bottom() else other
        return Range(min(self.low, other.low), max(self.high, other.high))

    def meet(self, other: Range) -> Range:
        found = Range(max(self.low, other.low), min(self.high, other.high))
        return BOTTOM if found.is_bottom() else found

    def __le__(self, other: Range) -> bool:
        return self.is_bottom() or (other.low <= self.low and self.high <= other.high)

    def widen(self, other: Range, *, thresholds: Iterable[int] = ()) -> Range:
        if self.is_bottom():
            return other
        low, high = self.low, self.high
        if other.low < low:
            low = max((t for t in thresholds if t <= other.low), default=-inf)
        if other.high > high:
            high = min((t for t in thresholds if t >= other.high), default=inf)
        return Range(low, high)

    def narrow(self, other: Range) -> Range:
        low = other.low if self.low == -inf else self.low
        high = other.high if self.high == inf else self.high
        return Range(low, high)

    def plus(self, n: int) -> Range:
        return self if self.is_bottom() else Range(self.low + n, self.high + n)


BOTTOM = Range(inf, -inf)
TOP = Range(-inf, inf)


@dataclass(frozen=True)
class Bits:
    """A finite set of numbers: a lattice of finite height, whose widening is its join."""

    bits: int

    def is_bottom(self) -> bool:
        return not self.bits

    def join(self, other: Bits) -> Bits:
        return Bits(self.bits | other.bits)

    def meet(self, other: Bits) -> Bits:
        return Bits(self.bits & other.bits)

    def __le__(self, other: Bits) -> bool:
        return not self.bits & ~other.bits

    def widen(self, other: Bits, *, thresholds: Iterable[int] = ()) -> Bits:
        return self.join(other)

    def narrow(self, other: Bits) -> Bits:
        return other
