"""Intervals of variables, and octagons of packs of variables that the program relates.

Every variable of a pack is bounded by the octagon of its pack, any other by its interval. Of a rank
that may be that of NaN, the greatest, a *gap* below it is kept: x <= gap, or x is NaN. The methods
that keep only some of the points return whether there may be any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd, inf

from kleene.algebra import Octagon
from kleene.algebra.linear import Constraint, Linear
from kleene.analyses.invariants.expressions import Form, Kind
from kleene.analyses.invariants.layout import Layout, Templates, Terms

Range = tuple[int, int]
Residue = tuple[int, int]  # (m, r): m > 1 and 0 <= r < m
_MOST_TERMS = 4  # of a constraint that octagons approximate
_WIDE = 1 << 40  # bounds from here on are those of wide types, and not kept in octagons


class OctagonPacks:
    """An interval for each variable outside of packs, an octagon for each pack."""

    __slots__ = ("gaps", "layout", "octagons", "ranges")

    def __init__(self, layout: Layout, ranges: dict[int, Range], octagons: list[Octagon]) -> None:
        self.layout, self.ranges, self.octagons = layout, ranges, octagons
        self.gaps: dict[int, int] = {}

    def copy(self) -> OctagonPacks:
        """Return an equal value of its own."""
        made = OctagonPacks(self.layout, dict(self.ranges), list(self.octagons))
        made.gaps = dict(self.gaps)
        return made

    # Questions

    def range(self, key: int) -> Range:
        """Return the least and the greatest value of a variable."""
        kind = self.layout.kinds[key]
        place = self.layout.pack_of.get(key)
        if place is None:
            return self.ranges.get(key) or (kind.low, kind.high)
        component = self.octagons[place].partition.get(key)
        if component is None:
            return kind.low, kind.high
        ends, end = component.ends(), 2 * component.index[key]
        high, low = ends[end], ends[end + 1]
        return (
            kind.low if low is None else max(kind.low, -(low // 2)),
            kind.high if high is None else min(kind.high, high // 2),
        )

    def bounds(self, form: Form) -> Range:
        """Return the least and the greatest value of a form, as intervals and octagons know it."""
        low = high = form.constant
        for key, factor in form.terms:
            least, most = self.range(key)
            low += factor * (least if factor > 0 else most)
            high += factor * (most if factor > 0 else least)
        if len(form.terms) > 1 and low < high:
            above, below = self._upper(form.terms), self._upper(form.scaled(-1).terms)
            if above is not None:
                high = min(high, above + form.constant)
            if below is not None:
                low = max(low, form.constant - below)
        return low, high

    def _upper(self, terms: Terms) -> int | None:
        """Return an upper bound of a sum that an octagon knows, if it does."""
        divisor = gcd(*(factor for _, factor in terms))
        if divisor > 1:
            terms = tuple((key, factor // divisor) for key, factor in terms)
        places = {self.layout.pack_of.get(key, -1) for key, _ in terms}
        if len(places) != 1 or -1 in places:
            return None
        octagon = self.octagons[places.pop()]
        if len(terms) == 2 and all(abs(factor) == 1 for _, factor in terms):
            (x, a), (y, b) = terms
            found = octagon.pair(x, a, y, b)
        else:
            found, short = octagon.upper(terms), self.layout.with_template(terms)
            if short is not terms:
                found = min(found, octagon.upper(short))
        return None if found == inf else found.__floor__() * divisor

    def greatest_number(self, key: int) -> int | None:
        """Return the greatest rank of a number, which is no NaN; None if there is no number."""
        low, high = self.range(key)
        nan = self.layout.kinds[key].high
        return high if high < nan else None if low == nan else self.gaps.get(key, nan - 1)

    # Assignments

    def assign(
        self,
        key: int,
        form: Form,
        ends: Range,
        bounds_before: Callable[[Form], Range],
        usable: Templates | None,
    ) -> bool:
        """Set a variable to a form with an interval; return whether that interval is known then.

        `bounds_before` bounds what the form has outside of the pack; `usable` has the templates
        that stand for their forms.
        """
        place = self.layout.pack_of.get(key)
        if place is None:
            self.ranges[key] = ends
            self.gaps.pop(key, None)
            return True
        source = self._source(place, form, bounds_before, usable)
        self.octagons[place] = self.octagons[place].assign(key, source)
        return source.step is not None

    def _source(
        self,
        place: int,
        form: Form,
        bounds_before: Callable[[Form], Range],
        usable: Templates | None,
    ) -> Linear:
        """Return a form as the octagon of a pack takes it: ranges in place of variables outside."""
        inside = tuple(term for term in form.terms if self.layout.pack_of.get(term[0]) == place)
        short = self.layout.with_template(inside, usable)
        if len(inside) == len(form.terms):
            return _linear(short, form.constant, form.constant)
        rest = Form(tuple(term for term in form.terms if term not in inside), form.constant)
        return _linear(short, *bounds_before(rest))

    def assign_range(self, key: int, low: int, high: int) -> None:
        """Set a variable to any value of a range."""
        place = self.layout.pack_of.get(key)
        if place is None:
            self.ranges[key] = low, high
            self.gaps.pop(key, None)
        elif max(-low, high) < _WIDE:
            self.octagons[place] = self.octagons[place].assign(key, _linear((), low, high))
        else:  # bounds of that size, doubled, would not fit the machine's integers
            self.octagons[place] = self.octagons[place].forget([key])
            if -_WIDE < low < _WIDE:
                self.octagons[place] = self.octagons[place].meet(_at_most(((key, -1),), -low))

    def forget(self, keys: Sequence[int]) -> None:
        """Let some variables have any value."""
        for key in keys:
            self.ranges.pop(key, None)
            self.gaps.pop(key, None)
        for place, pack in enumerate(self.layout.packs):
            octagon = self.octagons[place]
            found = [key for key in keys if key in pack and key in octagon.partition]
            if found:
                self.octagons[place] = octagon.forget(found)

    # Guards

    def restrict(self, key: int, low: int, high: int, residue: Residue | None) -> bool:
        """Keep the points with a variable, which has a residue, in a range."""
        least, most = self.range(key)
        if low <= least and most <= high:
            return True
        low, high = max(low, least), min(high, most)
        if residue is not None:
            low += (residue[1] - low) % residue[0]
            high -= (high - residue[1]) % residue[0]
        if key in self.gaps:
            gap = self.gaps[key]
            if high < most:
                high = min(high, gap)
            elif low > gap:
                low = most
            if high < most or low > gap:
                del self.gaps[key]
        if low > high:
            return False
        place = self.layout.pack_of.get(key)
        if place is None:
            self.ranges[key] = low, high
            return True
        octagon = self.octagons[place]
        if high < most and abs(high) < _WIDE:
            octagon = octagon.meet(_at_most(((key, 1),), high))
        if low > least and abs(low) < _WIDE:
            octagon = octagon.meet(_at_most(((key, -1),), -low))
        self.octagons[place] = octagon
        return not octagon.is_empty

    def relate(self, terms: Terms, bound: int) -> bool:
        """Keep the points where a sum is at most a bound, if its variables are those of a pack."""
        places = {self.layout.pack_of.get(key, -1) for key, _ in terms}
        if len(places) != 1 or -1 in places or len(terms) > _MOST_TERMS:
            return True
        place = places.pop()
        short = self.layout.with_template(terms)
        self.octagons[place] = self.octagons[place].meet(_at_most(short, bound))
        return not self.octagons[place].is_empty

    # The lattice

    def is_within(self, other: OctagonPacks) -> bool:
        """Return whether every point of this is known to be one of the other."""
        for key, (low, high) in other.ranges.items():
            least, most = self.range(key)
            if least < low or most > high:
                return False
        for key, gap in other.gaps.items():
            greatest = self.greatest_number(key)
            if greatest is not None and greatest > gap:
                return False
        both = zip(self.octagons, other.octagons, strict=True)
        return all(a is b or a <= b for a, b in both)

    def join(self, other: OctagonPacks) -> OctagonPacks:
        """Return a value that holds the points of both."""
        made = self._merged(other, lambda a, b: a if a is b else a.join(b), _hull)
        made._set_gaps(self, other, lambda a, b: max(a, b))
        return made

    def widen(self, other: OctagonPacks, thresholds: Sequence[int]) -> OctagonPacks:
        """Return a value around both; repeated, it becomes stable."""

        def ranges(a: Range, b: Range, kind: Kind) -> Range:
            low = a[0] if a[0] <= b[0] else max((t for t in thresholds if t <= b[0]), default=None)
            high = a[1] if a[1] >= b[1] else min((t for t in thresholds if t >= b[1]), default=None)
            return (
                kind.low if low is None else max(low, kind.low),
                kind.high if high is None else min(high, kind.high),
            )

        made = self._merged(other, lambda a, b: a.widen(b, thresholds=thresholds), ranges)
        made._set_gaps(
            self,
            other,
            lambda a, b: a if a >= b else min((t for t in thresholds if t >= b), default=None),
        )
        return made

    def _set_gaps(
        self, one: OctagonPacks, other: OctagonPacks, merged: Callable[[int, int], int | None]
    ) -> None:
        """Set the gaps of what was merged from two values, of which one has NaN."""
        for key in {*one.gaps, *other.gaps, *_only_numbers(self, one), *_only_numbers(self, other)}:
            nan = self.layout.kinds[key].high
            if self.range(key)[1] == nan:
                ends = one.greatest_number(key), other.greatest_number(key)
                known = [end for end in ends if end is not None]
                gap = merged(*known) if len(known) == 2 else known[0] if known else None
                if gap is not None and gap < nan - 1:
                    self.gaps[key] = gap

    def _merged(
        self,
        other: OctagonPacks,
        octagons: Callable[[Octagon, Octagon], Octagon],
        ranges: Callable[[Range, Range, Kind], Range],
    ) -> OctagonPacks:
        kinds = self.layout.kinds
        merged = {
            key: ranges(one, other.ranges[key], kinds[key])
            for key, one in self.ranges.items()
            if key in other.ranges
        }
        pairs = zip(self.octagons, other.octagons, strict=True)
        return OctagonPacks(self.layout, merged, [octagons(a, b) for a, b in pairs])

    def narrow(self, other: OctagonPacks) -> OctagonPacks:
        """Return a value between this and the smaller other."""
        made = other.copy()
        for key, (low, high) in self.ranges.items():
            kind, (least, most) = self.layout.kinds[key], other.range(key)
            made.ranges[key] = (
                least if low == kind.low else max(low, least) if low > least else low,
                most if high == kind.high else min(high, most) if high < most else high,
            )
        pairs = zip(self.octagons, other.octagons, strict=True)
        made.octagons = [b for _, b in pairs]
        return made


def _only_numbers(merged: OctagonPacks, one: OctagonPacks) -> Iterator[int]:
    """Yield the ranks that are of numbers only in one value, and may be NaN when it is merged."""
    for key, (_, high) in one.ranges.items():
        kind = merged.layout.kinds[key]
        if kind.format is not None and high < kind.high:
            yield key


def _hull(a: Range, b: Range, _: Kind) -> Range:
    return min(a[0], b[0]), max(a[1], b[1])


@lru_cache(4096)
def _linear(terms: Terms, low: int, high: int) -> Linear:
    factors = tuple((key, Fraction(factor)) for key, factor in terms)
    return Linear(factors, Fraction(low), Fraction(high))


@lru_cache(4096)
def _at_most(terms: Terms, bound: int) -> Constraint:
    """Return the constraint that a sum of terms is at most a number."""
    factors = tuple((key, Fraction(factor)) for key, factor in terms)
    return Constraint(Linear(factors, Fraction(-bound), Fraction(-bound)))
