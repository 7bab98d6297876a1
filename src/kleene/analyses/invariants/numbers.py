"""What is known of the variables at one point: a reduced product of numeric domains.

    packs       an interval for each variable outside of packs, between the ends of its kind, of
                ranks also the greatest number below NaN; an octagon for each pack of variables that
                the program relates
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
from math import gcd

from kleene.algebra import FloatFormat, FloatInterval
from kleene.analyses.invariants import reductions
from kleene.analyses.invariants.equalities import Equalities
from kleene.analyses.invariants.expressions import Form, only
from kleene.analyses.invariants.layout import Layout, Templates, Terms
from kleene.analyses.invariants.octagon_packs import OctagonPacks, Range, Residue

_MOST_NOT_ZERO = 8
_NO_EQUALITIES = Equalities()
_NO_MODULAR = Equalities(is_modular=True)


class Numbers:
    """The points that are possible, described by each domain."""

    __slots__ = (
        "equalities", "is_empty", "layout", "modular", "not_zero", "packs", "residues",
    )  # fmt: skip

    def __init__(self, layout: Layout, packs: OctagonPacks | None = None) -> None:
        self.layout = layout
        self.packs = packs or OctagonPacks(layout, {}, list(layout.tops))
        self.residues: dict[int, Residue] = {}
        self.equalities = _NO_EQUALITIES
        self.modular = _NO_MODULAR
        self.not_zero: frozenset[Form] = frozenset()
        self.is_empty = False

    def copy(self) -> Numbers:
        """Return an equal value of its own."""
        made = Numbers(self.layout, self.packs.copy())
        made.residues, made.is_empty = dict(self.residues), self.is_empty
        made.equalities, made.modular = self.equalities, self.modular
        made.not_zero = self.not_zero
        return made

    # Questions

    def range(self, key: int) -> Range:
        """Return the least and the greatest value of a variable."""
        return self.packs.range(key)

    def bounds(self, form: Form) -> Range:
        """Return the least and the greatest value of a form, as far as is known."""
        low, high = self.packs.bounds(form)
        if self.equalities.rows and low < high and form.terms:
            times, other = self.equalities.reduced(form)
            if other.terms != form.terms:
                least, most = self.packs.bounds(other)
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

    def residue(self, form: Form) -> Residue | None:
        """Return m and r with form = r modulo m; None if only m = 1 is known, m = 0 of a number."""
        modulus, rest = 0, form.constant
        for key, factor in form.terms:
            m, r = self.residue_of(key)
            modulus, rest = gcd(modulus, factor * m), rest + factor * r
            if modulus == 1:
                return None
        return (modulus, rest % modulus) if modulus else (0, rest)

    def residue_of(self, key: int) -> Residue:
        """Return m and r with key = r modulo m: m is 0 of a number, and 1 if none is known."""
        low, high = self.range(key)
        return (0, low) if low == high else self.residues.get(key, (1, 0))

    def floats(self, form: Form, format: FloatFormat) -> FloatInterval:
        """Return the floating-point numbers whose rank is a form: a variable or a number."""
        low, high = self.bounds(form)
        if high < format.nan or not form.terms:
            return FloatInterval.of_range(format, low, high)
        greatest = self.packs.greatest_number(form.keys[0])
        return FloatInterval(format, low, low - 1 if greatest is None else greatest, True)

    # Assignments

    def assign_floats(self, key: int, given: FloatInterval) -> None:
        """Set a rank to those of some floating-point numbers."""
        self.assign_range(key, *given.range())
        if given.has_nan and given.has_number and given.high < given.format.infinity:
            self.packs.gaps[key] = given.high

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
        is_copy = len(form.terms) == 1 and form == only(form.keys[0])
        gap = before.packs.gaps.get(form.keys[0]) if is_copy and kind.format else None
        self._keep_not_zero((key,))
        is_cut = low < kind.low or high > kind.high
        ends = max(low, kind.low), min(high, kind.high)
        is_known = self.packs.assign(key, form, ends, before.bounds, usable)
        if self.layout.has_equalities:
            self.equalities = self.equalities.assigned(key, form)
        if self.layout.modular_bits:
            self.modular = self.modular.assigned(key, form)
        self._keep_residue(key, residue)
        if is_cut or not is_known:
            self.restrict(key, *ends)
        if gap is not None:
            self.packs.gaps[key] = gap

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
        self.packs.assign_range(key, low, high)
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
        """Let some variables have any value; what they tell of others is kept."""
        if self.equalities.rows or self.modular.rows:
            reductions.use_constants(self, keys)
        self.drop(keys)

    def drop(self, keys: Sequence[int]) -> None:
        """Let some variables have any value."""
        self._keep_not_zero(keys)
        for key in keys:
            self.residues.pop(key, None)
        self.packs.forget(keys)
        if self.modular.rows:
            self.modular = self.modular.without(keys)
        if self.equalities.rows:
            self.equalities = self.equalities.without(keys)

    def _keep_not_zero(self, changed: Sequence[int]) -> None:
        """Drop what is known not to be 0 of variables that change."""
        if self.not_zero:
            gone = set(changed)
            self.not_zero = frozenset(one for one in self.not_zero if not gone & set(one.keys))

    # Guards

    def restrict(self, key: int, low: int, high: int) -> None:
        """Keep the points with a variable in a range."""
        if not self.packs.restrict(key, low, high, self.residues.get(key)):
            self.is_empty = True

    def relate(self, terms: Terms, bound: int) -> None:
        """Keep the points where a sum is at most a bound, as far as octagons can."""
        if not self.packs.relate(terms, bound):
            self.is_empty = True

    def assume_at_most_zero(self, form: Form) -> None:
        """Keep the points where a form is 0 or less."""
        self._assume_at_most_zero(form)
        if self.not_zero and not self.is_empty:
            self._move_excluded(set(form.keys))

    def _assume_at_most_zero(self, form: Form) -> None:
        low, high = self.bounds(form)
        if low > 0:
            self.is_empty = True
        if low > 0 or high <= 0:
            return
        divisor = form.divisor
        terms = tuple((key, factor // divisor) for key, factor in form.terms)
        bound = -form.constant // divisor
        if len(terms) > 1:
            self.relate(terms, bound)
        if not self.is_empty:
            self.propagate(form)
        if self.layout.templates and not self.is_empty:
            reductions.use_templates(self, form.keys)
        if self.layout.has_equalities and not self.is_empty:
            reductions.use_bound(self, form)
        if self.modular.rows and not self.is_empty:
            reductions.unwrap(self, form.keys)

    def _move_excluded(self, keys: set[int]) -> None:
        """Move bounds that are excluded, of forms of some variables, as long as one moves.

        A form whose bound has moved from 0 has none there any more, so each does so once at most.
        """
        todo = list(self.not_zero)
        moved = True
        while moved:
            moved = False
            for one in list(todo):
                if not self.is_empty and keys.intersection(one.keys) and self._exclude_zero(one):
                    todo.remove(one)
                    keys.update(one.keys)
                    moved = True

    def propagate(self, form: Form) -> None:
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
            reductions.add_equality(self, form)

    def assume_not_zero(self, form: Form) -> None:
        """Keep the points where a form is not 0."""
        low, high = self.bounds(form)
        if low < 0 < high and len(form.terms) <= 2 and len(self.not_zero) < _MOST_NOT_ZERO:
            self.not_zero |= {form}
        else:
            self._exclude_zero(form)

    def _exclude_zero(self, form: Form) -> bool:
        """Move a bound of a form that is 0; return whether it has moved."""
        low, high = self.bounds(form)
        if low == high == 0:
            self.is_empty = True
        elif low == 0:
            self._assume_at_most_zero(form.scaled(-1).shifted(1))
        elif high == 0:
            self._assume_at_most_zero(form.shifted(1))
        return not self.is_empty and (low, high) != self.bounds(form)

    def assume_residue(self, key: int, modulus: int, rest: int) -> None:
        """Keep the points with key = rest modulo modulus."""
        m, r = self.residue_of(key)
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
        for key, (m, r) in other.residues.items():
            mine = self.residue_of(key)
            if (mine[0] % m if mine[0] else 0) or (mine[1] - r) % m:
                return False
        return (
            all(self.is_not_zero(one) for one in other.not_zero)
            and self.packs.is_within(other.packs)
            and self.equalities <= other.equalities
            and self.modular <= other.modular
        )

    def is_not_zero(self, form: Form) -> bool:
        """Return whether a form is known not to be 0."""
        if form in self.not_zero or form.scaled(-1) in self.not_zero:
            return True
        low, high = self.bounds(form)
        return low > 0 or high < 0

    def join(self, other: Numbers) -> Numbers:
        """Return a value that holds the points of both."""
        return self._merged(other, self.packs.join(other.packs))

    def widen(self, other: Numbers, thresholds: Sequence[int]) -> Numbers:
        """Return a value around both; repeated, it becomes stable."""
        return self._merged(other, self.packs.widen(other.packs, thresholds))

    def _merged(self, other: Numbers, packs: OctagonPacks) -> Numbers:
        """Return the packs given, with what holds in both of the other domains."""
        made = Numbers(self.layout, packs)
        if self.layout.has_residues:
            for key in self.residues.keys() | other.residues.keys() | packs.ranges.keys():
                if (both := _common(self.residue_of(key), other.residue_of(key))) is not None:
                    made.residues[key] = both
            for pack in self.layout.packs:
                for key in pack:
                    if key not in made.residues:
                        both = _common(self.residue_of(key), other.residue_of(key))
                        if both is not None:
                            made.residues[key] = both
        made.equalities = self.equalities.join(other.equalities)
        made.modular = self.modular.join(other.modular)
        made.not_zero = frozenset(
            [one for one in self.not_zero if other.is_not_zero(one)]
            + [one for one in other.not_zero if self.is_not_zero(one)]
        )
        return made

    def narrow(self, other: Numbers) -> Numbers:
        """Return a value between this and the smaller other."""
        made = other.copy()
        made.packs = self.packs.narrow(other.packs)
        return made


def _common(a: Residue, b: Residue) -> Residue | None:
    """Return the greatest modulus for which both have one residue; none of equal numbers."""
    modulus = gcd(a[0], b[0], a[1] - b[1])
    return (modulus, a[1] % modulus) if modulus > 1 else None
