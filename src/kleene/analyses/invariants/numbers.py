"""What is known of the variables at one point: a reduced product of numeric domains.

    ranges      an interval for each variable outside of packs, between the ends of its kind
    octagons    one for each pack of variables that the program relates
    residues    x = r modulo m
    equalities  linear ones, among any number of variables
    modular     linear equalities modulo 2**n, which hold where integers wrap around, too
    not_zero    forms that are not 0, where that is inside of their bounds
    templates   further variables of a pack, each equal to a linear form of others

Every operation is sound for each part alone, and uses what the other parts say. Operations change
a value in place; whoever keeps one copies it first. `is_empty` says that no point is left, and then
nothing else counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import gcd, inf
from typing import Any

from kleene.algebra import Octagon
from kleene.algebra.linear import Constraint, Linear
from kleene.analyses.invariants.equalities import Equalities
from kleene.analyses.invariants.expressions import Form, Kind, only

Range = tuple[int, int]
Templates = frozenset[int]
Residue = tuple[int, int]  # (m, r): m > 1 and 0 <= r < m
_MOST_TERMS = 4  # of a constraint that octagons approximate
_WIDE = 1 << 40  # bounds from here on are those of wide types, and not kept in octagons
_MOST_NOT_ZERO = 8
_NO_EQUALITIES = Equalities()
_NO_MODULAR = Equalities(is_modular=True)


@dataclass
class Layout:
    """How the variables of one function are followed.

    Attributes:
        kinds: how each variable is read.
        names: what each is called.
        packs: the variables of each octagon.
        templates: forms that further variables stand for, by variable.
        has_equalities: whether linear equalities are followed.
        has_residues: whether residues are.
        modular_bits: n, if equalities modulo 2**n are followed; else 0.
    """

    kinds: list[Kind]
    names: list[str]
    packs: list[tuple[int, ...]] = field(default_factory=list)
    templates: dict[int, Form] = field(default_factory=dict)
    has_equalities: bool = False
    has_residues: bool = True
    modular_bits: int = 0

    def __post_init__(self) -> None:
        self.pack_of = {key: place for place, pack in enumerate(self.packs) for key in pack}
        self.tops = [Octagon.top(pack) for pack in self.packs]
        self.by_terms: dict[tuple[tuple[int, int], ...], tuple[int, int]] = {}
        self.using: dict[int, list[int]] = {}
        for key, form in self.templates.items():
            for sign in (1, -1):
                self.by_terms[form.scaled(sign).terms] = (key, sign)
            for used in form.keys:
                self.using.setdefault(used, []).append(key)


class Numbers:
    """The points that are possible, described by each domain."""

    __slots__ = (
        "equalities", "is_empty", "layout", "modular", "not_zero", "octagons", "ranges", "residues",
    )  # fmt: skip

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.ranges: dict[int, Range] = {}
        self.octagons: list[Octagon] = list(layout.tops)
        self.residues: dict[int, Residue] = {}
        self.equalities = _NO_EQUALITIES
        self.modular = _NO_MODULAR
        self.not_zero: frozenset[Form] = frozenset()
        self.is_empty = False

    def copy(self) -> Numbers:
        """Return an equal value of its own."""
        made = Numbers.__new__(Numbers)
        made.layout, made.is_empty = self.layout, self.is_empty
        made.ranges, made.residues = dict(self.ranges), dict(self.residues)
        made.octagons, made.equalities = list(self.octagons), self.equalities
        made.not_zero, made.modular = self.not_zero, self.modular
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
        """Return the least and the greatest value of a form, as far as is known."""
        low, high = self._bounds(form)
        if self.equalities.rows and low < high and form.terms:
            times, other = self.equalities.reduced(form)
            if other.terms != form.terms:
                least, most = self._bounds(other)
                low, high = max(low, -(-least // times)), min(high, most // times)
        if self.modular.rows and low < high and form.terms:
            low, high = self._modular_bounds(form, low, high)
        return low, high

    def _modular_bounds(self, form: Form, low: int, high: int) -> Range:
        """Move bounds of a form to values that it may have modulo 2**n."""
        times, other = self.modular.reduced(form)
        if other.terms or times % 2 == 0:
            return low, high
        modulus = 1 << self.layout.modular_bits
        rest = other.constant * pow(times, -1, modulus) % modulus
        return low + (rest - low) % modulus, high - (high - rest) % modulus

    def _bounds(self, form: Form) -> Range:
        low = high = form.constant
        for key, factor in form.terms:
            least, most = self.range(key)
            low += factor * (least if factor > 0 else most)
            high += factor * (most if factor > 0 else least)
        if len(form.terms) > 1 and low < high:
            above, below = self._related(form.terms), self._related(form.scaled(-1).terms)
            if above is not None:
                high = min(high, above + form.constant)
            if below is not None:
                low = max(low, form.constant - below)
        return low, high

    def _related(self, terms: tuple[tuple[Any, int], ...]) -> int | None:
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
            found, short = octagon.upper(terms), self._by_templates(terms)
            if short is not terms:
                found = min(found, octagon.upper(short))
        return None if found == inf else found.__floor__() * divisor

    def _by_templates(
        self, terms: tuple[tuple[Any, int], ...], usable: Templates | None = None
    ) -> tuple[tuple[Any, int], ...]:
        """Return the same sum, shorter, with a template in it if there is one that does that."""
        if len(terms) < 2 or not self.layout.templates:
            return terms
        best, wanted = terms, Form(terms)
        for known, (key, sign) in self.layout.by_terms.items():
            if usable is None or key in usable:
                rest = wanted.plus(Form(known), -1).terms
                if len(rest) + 1 < len(best):
                    best = tuple(sorted((*rest, (key, sign))))
        return best

    def residue(self, form: Form) -> Residue | None:
        """Return m and r with form = r modulo m; None if only m = 1 is known, m = 0 of a number."""
        modulus, rest = 0, form.constant
        for key, factor in form.terms:
            m, r = self._residue(key)
            modulus, rest = gcd(modulus, factor * m), rest + factor * r
            if modulus == 1:
                return None
        return (modulus, rest % modulus) if modulus else (0, rest)

    def _residue(self, key: int) -> Residue:
        low, high = self.range(key)
        return (0, low) if low == high else self.residues.get(key, (1, 0))

    # Assignments

    def assign(
        self, key: int, form: Form, before: Numbers | None = None, usable: Templates | None = None
    ) -> None:
        """Set a variable to the value of a form, which is one of its kind.

        Of several assignments at once, `before` is the value before all of them, and `usable` has
        the templates that none of them has changed so far; the variables of the form must not have
        been changed either.
        """
        kind = self.layout.kinds[key]
        before = before or self
        low, high = before.bounds(form)
        if high < kind.low or low > kind.high:
            self.is_empty = True
            return
        residue = before.residue(form) if self.layout.has_residues else None
        self._keep_not_zero((key,))
        is_cut = low < kind.low or high > kind.high
        place = self.layout.pack_of.get(key)
        if place is None:
            self.ranges[key] = max(low, kind.low), min(high, kind.high)
        else:
            source = self._source(place, form, before, usable)
            self.octagons[place] = self.octagons[place].assign(key, source)
        if self.layout.has_equalities:
            self.equalities = self.equalities.assigned(key, form)
        if self.layout.modular_bits:
            self.modular = self.modular.assigned(key, form)
        self._keep_residue(key, residue)
        if place is not None and (is_cut or source.step is None):
            self.restrict(key, max(low, kind.low), min(high, kind.high))

    def _source(self, place: int, form: Form, before: Numbers, usable: Templates | None) -> Linear:
        """Return a form as the octagon of a pack takes it: ranges in place of variables outside."""
        inside = tuple(term for term in form.terms if self.layout.pack_of.get(term[0]) == place)
        short = self._by_templates(inside, usable)
        if len(inside) == len(form.terms):
            return _linear(short, form.constant, form.constant)
        rest = Form(tuple(term for term in form.terms if term not in inside), form.constant)
        return _linear(short, *before.bounds(rest))

    def assign_wrapped(
        self, key: int, form: Form, low: int, high: int, residue: Residue | None
    ) -> None:
        """Set a variable of at least `modular_bits` bits to a form, modulo a power of two."""
        before = self.modular
        self.assign_range(key, low, high, residue)
        if self.layout.modular_bits and self.layout.kinds[key].width >= self.layout.modular_bits:
            self.modular = before.assigned(key, form)

    def assign_range(self, key: int, low: int, high: int, residue: Residue | None = None) -> None:
        """Set a variable to any value of a range, and of a residue."""
        if low > high:
            self.is_empty = True
            return
        self._keep_not_zero((key,))
        place = self.layout.pack_of.get(key)
        if place is None:
            self.ranges[key] = low, high
        elif max(-low, high) < _WIDE:
            self.octagons[place] = self.octagons[place].assign(key, _linear((), low, high))
        else:  # bounds of that size, doubled, would not fit the machine's integers
            self.octagons[place] = self.octagons[place].forget([key])
            if -_WIDE < low < _WIDE:
                self.octagons[place] = self.octagons[place].meet(_at_most(((key, -1),), -low))
        if self.layout.has_equalities:
            self.equalities = self.equalities.without((key,))
            if low == high:
                found = self.equalities.with_zero(only(key).shifted(-low))
                self.equalities = found or self.equalities
        if self.layout.modular_bits:
            self.modular = self.modular.without((key,))
            if low == high:
                self.modular = self.modular.with_zero(only(key).shifted(-low)) or self.modular
        self._keep_residue(key, residue)

    def _keep_residue(self, key: int, residue: Residue | None) -> None:
        if residue is not None and residue[0] > 1 and self.layout.has_residues:
            self.residues[key] = residue
        else:
            self.residues.pop(key, None)

    def forget(self, keys: Sequence[int]) -> None:
        """Let some variables have any value."""
        if self.equalities.rows or self.modular.rows:
            self._use_constants(keys)
        self._keep_not_zero(keys)
        for key in keys:
            self.ranges.pop(key, None)
            self.residues.pop(key, None)
        for place, pack in enumerate(self.layout.packs):
            octagon = self.octagons[place]
            found = [key for key in keys if key in pack and key in octagon.partition]
            if found:
                self.octagons[place] = octagon.forget(found)
        if self.modular.rows:
            self.modular = self.modular.without(keys)
        if self.equalities.rows:
            self.equalities = self.equalities.without(keys)

    def _use_constants(self, keys: Sequence[int]) -> None:
        """Put variables that are numbers into equalities, and what these say into octagons.

        Whoever forgets x keeps y = n of x + y = n and x = 0, and y <= n of x >= 0.
        """
        for key in keys:
            low, high = self.range(key)
            if low == high:
                self._add_equality(only(key).shifted(-low))
            for form in [one for one in self.not_zero if key in one.keys]:
                self._pass_on(form, key)
        for row in list(self.equalities.rows.values()):
            if len(row.terms) == 3 and not self.is_empty and set(keys) & set(row.keys):
                divisor = row.divisor
                terms = tuple((key, factor // divisor) for key, factor in row.terms)
                self._relate(terms, -row.constant // divisor)
                if not self.is_empty:
                    opposite = tuple((key, -factor) for key, factor in terms)
                    self._relate(opposite, row.constant // divisor)

    def _pass_on(self, form: Form, key: int) -> None:
        """Keep what is not 0 in terms of other variables, by equalities of the one forgotten."""
        factor = dict(form.terms)[key]
        for row in self.equalities.rows.values():
            here = dict(row.terms).get(key, 0)
            if abs(here) == 1:
                other = form.plus(row, -factor * here)
                if 0 < len(other.terms) <= 2:
                    self.not_zero |= {other}

    def _add_equality(self, form: Form) -> None:
        """Keep the points where a form is 0, as equalities know them."""
        if self.layout.modular_bits:
            self.modular = self.modular.with_zero(form) or self.modular
        if not self.layout.has_equalities:
            return
        before = self.equalities.rows
        found = self.equalities.with_zero(form)
        if found is None:
            self.is_empty = True
            return
        self.equalities = found
        for row in found.rows.values():
            if row not in before.values():
                self._use_row(row)
                if self.is_empty:
                    return
        for one in self.not_zero:
            if found.implies(one):
                self.is_empty = True

    def _use_row(self, row: Form) -> None:
        """Tell the other domains what a new equality says, where they can hold it.

        A row of two variables, a*x + b*y = c, makes bounds of x - y and x + y bounds of x and y.
        """
        for key, factor in row.terms if abs(row.divisor) == 1 else ():
            others = gcd(*(other for one, other in row.terms if one != key))
            if abs(factor) == 1 and others > 1 and not self.is_empty:
                self.assume_residue(key, others, -factor * row.constant % others)
        if row.constant % row.divisor:
            self.is_empty = True
        elif len(row.terms) == 1:
            ((key, factor),) = row.terms
            self.restrict(key, -row.constant // factor, -row.constant // factor)
        elif len(row.terms) == 2:
            (x, a), (y, b) = row.terms
            if abs(a) == abs(b) == 1:
                self._relate(row.terms, -row.constant)
                if not self.is_empty:
                    self._relate(((x, -a), (y, -b)), row.constant)
            elif self.layout.pack_of.get(x, -1) == self.layout.pack_of.get(y, -2):
                for sign in (1, -1):
                    self._solve(row, Form(((x, 1), (y, sign))))

    def _solve(self, row: Form, pair: Form) -> None:
        """Bound the two variables of an equality by the bounds of their sum or difference."""
        low, high = self._bounds(pair)
        for key, other in ((row.keys[0], row.keys[1]), (row.keys[1], row.keys[0])):
            # k * pair = pair without `other`, by the row
            here, there = dict(row.terms)[other], dict(pair.terms)[other]
            single = pair.scaled(here).plus(row, -there)
            factor = dict(single.terms).get(key, 0)
            if not factor or self.is_empty:
                continue
            ends = sorted((here * low - single.constant, here * high - single.constant))
            if factor < 0:
                factor, ends = -factor, [-ends[1], -ends[0]]
            least, most = self.range(key)
            self.restrict(key, max(least, -(-ends[0] // factor)), min(most, ends[1] // factor))

    def _keep_not_zero(self, changed: Sequence[int]) -> None:
        """Drop what is known not to be 0 of variables that change."""
        if self.not_zero:
            gone = set(changed)
            self.not_zero = frozenset(one for one in self.not_zero if not gone & set(one.keys))

    # Guards

    def restrict(self, key: int, low: int, high: int) -> None:
        """Keep the points with a variable in a range."""
        least, most = self.range(key)
        if low <= least and most <= high:
            return
        low, high = max(low, least), min(high, most)
        if (known := self.residues.get(key)) is not None:
            low += (known[1] - low) % known[0]
            high -= (high - known[1]) % known[0]
        if low > high:
            self.is_empty = True
            return
        place = self.layout.pack_of.get(key)
        if place is None:
            self.ranges[key] = low, high
            return
        octagon = self.octagons[place]
        if high < most and abs(high) < _WIDE:
            octagon = octagon.meet(_at_most(((key, 1),), high))
        if low > least and abs(low) < _WIDE:
            octagon = octagon.meet(_at_most(((key, -1),), -low))
        self._put(place, octagon)

    def _put(self, place: int, octagon: Octagon) -> None:
        self.octagons[place] = octagon
        self.is_empty = self.is_empty or octagon.is_empty

    def assume_at_most_zero(self, form: Form) -> None:
        """Keep the points where a form is 0 or less."""
        low, high = self.bounds(form)
        if low > 0:
            self.is_empty = True
        if low > 0 or high <= 0:
            return
        divisor = form.divisor
        terms: Any = tuple((key, factor // divisor) for key, factor in form.terms)
        bound = -form.constant // divisor
        if len(terms) > 1:
            self._relate(terms, bound)
        if not self.is_empty:
            self._propagate(form)
        if self.layout.has_equalities and not self.is_empty:
            self._use_bound(form)
        for one in self.not_zero:  # a bound that is excluded moves on
            if not self.is_empty and set(one.keys) & set(form.keys):
                self._exclude_zero(one)

    def _use_bound(self, form: Form) -> None:
        """Tell equalities what a new bound makes equal, and the reverse."""
        low, high = self.bounds(form)
        if low == high:
            self._add_equality(form.shifted(-low))
            return
        if self.equalities.rows:
            _, other = self.equalities.reduced(form)
            if other.terms and len(other.terms) < len(form.terms):
                self._propagate(other)
            for row in self.equalities.rows.values():
                if len(row.terms) == 2 and set(row.keys) == set(form.keys) and not self.is_empty:
                    self._use_row(row)

    def _propagate(self, form: Form) -> None:
        """Bound each variable of a form that is 0 or less by the ranges of the others."""
        ranges = [self.range(key) for key in form.keys]
        least = [
            factor * (low if factor > 0 else high)
            for (_, factor), (low, high) in zip(form.terms, ranges, strict=True)
        ]
        total = form.constant + sum(least)
        for (key, factor), (low, high), mine in zip(form.terms, ranges, least, strict=True):
            room = mine - total  # factor * key <= room
            if factor > 0:
                self.restrict(key, low, room // factor)
            else:
                self.restrict(key, -(room // -factor), high)
            if self.is_empty:
                return

    def _relate(self, terms: tuple[tuple[int, int], ...], bound: int) -> None:
        places = {self.layout.pack_of.get(key, -1) for key, _ in terms}
        if len(places) != 1 or -1 in places or len(terms) > _MOST_TERMS:
            return
        place = places.pop()
        short = self._by_templates(terms)
        self._put(place, self.octagons[place].meet(_at_most(short, bound)))

    def assume_zero(self, form: Form) -> None:
        """Keep the points where a form is 0."""
        if not form.terms or form.constant % form.divisor:
            self.is_empty = self.is_empty or bool(form.constant)
            return
        if (known := self.residue(form)) is not None and known[1] != 0:
            self.is_empty = True
            return
        if form in self.not_zero or form.scaled(-1) in self.not_zero:
            self.is_empty = True
            return
        self.assume_at_most_zero(form)
        if not self.is_empty:
            self.assume_at_most_zero(form.scaled(-1))
        if not self.is_empty:
            self._add_equality(form)

    def assume_not_zero(self, form: Form) -> None:
        """Keep the points where a form is not 0."""
        low, high = self.bounds(form)
        if low < 0 < high and len(form.terms) <= 2 and len(self.not_zero) < _MOST_NOT_ZERO:
            self.not_zero |= {form}
        else:
            self._exclude_zero(form)

    def _exclude_zero(self, form: Form) -> None:
        """Move a bound of a form that is 0."""
        low, high = self.bounds(form)
        if low == high == 0:
            self.is_empty = True
        elif low == 0:
            self.assume_at_most_zero(form.scaled(-1).shifted(1))
        elif high == 0:
            self.assume_at_most_zero(form.shifted(1))

    def assume_residue(self, key: int, modulus: int, rest: int) -> None:
        """Keep the points with key = rest modulo modulus."""
        m, r = self._residue(key)
        common = gcd(m, modulus)
        if (r - rest) % common:
            self.is_empty = True
            return
        if not m or not self.layout.has_residues:
            return
        made = m * modulus // common
        r = next(x for x in range(r, made + m, m) if x % modulus == rest) if made < 1 << 16 else -1
        if r >= 0:
            self.residues[key] = made, r % made

    # The lattice

    def is_within(self, other: Numbers) -> bool:
        """Return whether every point of this is known to be one of the other."""
        for key, (low, high) in other.ranges.items():
            least, most = self.range(key)
            if least < low or most > high:
                return False
        for key, (m, r) in other.residues.items():
            mine = self._residue(key)
            if (mine[0] % m if mine[0] else 0) or (mine[1] - r) % m:
                return False
        if not all(self._is_not_zero(one) for one in other.not_zero):
            return False
        both = zip(self.octagons, other.octagons, strict=True)
        if not all(a is b or a <= b for a, b in both):
            return False
        return self.equalities <= other.equalities and self.modular <= other.modular

    def _is_not_zero(self, form: Form) -> bool:
        if form in self.not_zero or form.scaled(-1) in self.not_zero:
            return True
        low, high = self.bounds(form)
        return low > 0 or high < 0

    def join(self, other: Numbers) -> Numbers:
        """Return a value that holds the points of both."""
        return self._merged(other, lambda a, b: a if a is b else a.join(b), _hull)

    def widen(self, other: Numbers, thresholds: Sequence[int]) -> Numbers:
        """Return a value around both; repeated, it becomes stable."""

        def ranges(a: Range, b: Range, kind: Kind) -> Range:
            low = a[0] if a[0] <= b[0] else max((t for t in thresholds if t <= b[0]), default=None)
            high = a[1] if a[1] >= b[1] else min((t for t in thresholds if t >= b[1]), default=None)
            return (
                kind.low if low is None else max(low, kind.low),
                kind.high if high is None else min(high, kind.high),
            )

        return self._merged(other, lambda a, b: a.widen(b, thresholds=thresholds), ranges)

    def _merged(self, other: Numbers, octagons: Any, ranges: Any) -> Numbers:
        made = Numbers.__new__(Numbers)
        made.layout, made.is_empty = self.layout, False
        kinds = self.layout.kinds
        made.ranges = {
            key: ranges(one, other.ranges[key], kinds[key])
            for key, one in self.ranges.items()
            if key in other.ranges
        }
        made.residues = {}
        if self.layout.has_residues:
            for key in self.residues.keys() | other.residues.keys() | made.ranges.keys():
                if (both := _common(self._residue(key), other._residue(key))) is not None:
                    made.residues[key] = both
            for pack in self.layout.packs:
                for key in pack:
                    if key not in made.residues:
                        both = _common(self._residue(key), other._residue(key))
                        if both is not None:
                            made.residues[key] = both
        pairs = zip(self.octagons, other.octagons, strict=True)
        made.octagons = [octagons(a, b) for a, b in pairs]
        made.equalities = self.equalities.join(other.equalities)
        made.modular = self.modular.join(other.modular)
        made.not_zero = frozenset(
            [one for one in self.not_zero if other._is_not_zero(one)]
            + [one for one in other.not_zero if self._is_not_zero(one)]
        )
        return made

    def narrow(self, other: Numbers) -> Numbers:
        """Return a value between this and the smaller other."""
        made = other.copy()
        for key, (low, high) in self.ranges.items():
            kind, (least, most) = self.layout.kinds[key], other.range(key)
            made.ranges[key] = (
                least if low == kind.low else max(low, least) if low > least else low,
                most if high == kind.high else min(high, most) if high < most else high,
            )
        pairs = zip(self.octagons, other.octagons, strict=True)
        made.octagons = [a if a is b else a.narrow(b) for a, b in pairs]
        return made


def _hull(a: Range, b: Range, _: Kind) -> Range:
    return min(a[0], b[0]), max(a[1], b[1])


def _common(a: Residue, b: Residue) -> Residue | None:
    """Return the greatest modulus for which both have one residue; none of equal numbers."""
    modulus = gcd(a[0], b[0], a[1] - b[1])
    return (modulus, a[1] % modulus) if modulus > 1 else None


@lru_cache(4096)
def _linear(terms: tuple[tuple[int, int], ...], low: int, high: int) -> Linear:
    factors = tuple((key, Fraction(factor)) for key, factor in terms)
    return Linear(factors, Fraction(low), Fraction(high))


@lru_cache(4096)
def _at_most(terms: tuple[tuple[int, int], ...], bound: int) -> Constraint:
    """Return the constraint that a sum of terms is at most a number."""
    factors = tuple((key, Fraction(factor)) for key, factor in terms)
    return Constraint(Linear(factors, Fraction(-bound), Fraction(-bound)))
