"""Linear equalities between variables: Karr's domain, in whole numbers.

Karr, "Affine relationships among variables of a program", 1976. A value is a set of forms that are
0, in reduced row echelon form: each has a pivot, the greatest of its variables (of modular ones,
the greatest of those with an odd factor), which occurs in no other. There are no endless chains:
a join that loses something loses a dimension, or doubles a modular row, up to a number of bits.

*Modular* equalities are forms that are 0 modulo 2**n, for an n that the caller knows: wrapping
around changes nothing about them. Sums and multiples of rows are rows again; but of k times a form
that is 0, the form follows only for odd k, so rows are divided by odd numbers alone (Müller-Olm
and Seidl, "Analysis of modular arithmetic", 2007, have a more precise domain).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from kleene.analyses.invariants.expressions import Form, only

MOST_BITS = 80  # of a coefficient; a row with a larger one is given up


class Equalities:
    """Forms that are 0, by pivot. Values are shared: every change gives a new one."""

    __slots__ = ("is_modular", "rows")

    def __init__(self, rows: dict[int, Form] | None = None, is_modular: bool = False) -> None:
        self.rows: dict[int, Form] = rows if rows is not None else {}
        self.is_modular = is_modular

    def reduced(self, form: Form) -> tuple[int, Form]:
        """Return k > 0 and a form without pivots that equals k times the given one."""
        times = 1
        for key, _ in form.terms:
            row = self.rows.get(key)
            if row is not None:
                pivot, here = _factor(row, key), _factor(form, key)
                common = gcd(pivot, here)
                by = abs(pivot) // common
                form = form.scaled(by).plus(row, -here * by // pivot)
                times *= by
        return times, form

    def implies(self, form: Form) -> bool:
        """Return whether a form is known to be 0."""
        times, left = self.reduced(form)
        return left == Form() and (times % 2 == 1 or not self.is_modular)

    def __le__(self, other: Equalities) -> bool:
        return self.rows == other.rows or all(self.implies(row) for row in other.rows.values())

    def with_zero(self, form: Form) -> Equalities | None:
        """Return what holds where a form is 0 as well; None if it never is."""
        form = _primitive(self.reduced(form)[1], self.is_modular)
        if not form.terms:
            return None if form.constant and not self.is_modular else self
        if not _is_small(form):
            return self
        return Equalities(_inserted(self.rows, form, self.is_modular), self.is_modular)

    def without(self, keys: Iterable[int]) -> Equalities:
        """Return what is known without some variables."""
        rows = self.rows
        for key in keys:
            if key in rows:
                rows = {pivot: row for pivot, row in rows.items() if pivot != key}
                continue
            using = [pivot for pivot, row in rows.items() if key in row.keys]
            if using:
                changed = [rows[pivot] for pivot in using]
                kept = {pivot: row for pivot, row in rows.items() if pivot not in using}
                made = Equalities(kept, self.is_modular)
                for row in changed[1:]:
                    made = made.with_zero(_eliminated(row, changed[0], key)) or made
                rows = made.rows
        return self if rows is self.rows else Equalities(rows, self.is_modular)

    def assigned(self, key: int, form: Form) -> Equalities:
        """Return what holds after `key := form`."""
        factor = _factor(form, key)
        if abs(factor) != 1:
            kept = self.without((key,))
            if factor:
                return kept
            return kept.with_zero(only(key).plus(form, -1)) or kept
        if not any(key in row.keys for row in self.rows.values()):
            return self
        # new = factor * old + rest, so old = factor * (new - rest)
        old = only(key).plus(form.plus(only(key), -factor), -1).scaled(factor)
        made = Equalities(is_modular=self.is_modular)
        for row in self.rows.values():
            made = made.with_zero(row.replaced(lambda k: old if k == key else None)) or made
        return made

    def join(self, other: Equalities) -> Equalities:
        """Return what holds in both: the intersection of the spaces that the rows span.

        Of the rows that one has alone, modulo the common ones, a combination is in both spaces if
        it is one of each. Zassenhaus: rows (a, a) and (b, 0) are brought to echelon form by their
        left halves; right halves of rows whose left half is 0 span the intersection.
        """
        if self.rows == other.rows or not self.rows:
            return self
        if not other.rows:
            return other
        common = [row for row in self.rows.values() if other.implies(row)]
        common += [row for row in other.rows.values() if self.implies(row)]
        made = Equalities(is_modular=self.is_modular)
        for row in common:
            made = made.with_zero(row) or made
        mine = [made.reduced(row)[1] for row in self.rows.values()]
        theirs = [made.reduced(row)[1] for row in other.rows.values()]
        pairs = [(row, row) for row in mine if row.terms or row.constant]
        pairs += [(row, Form()) for row in theirs if row.terms or row.constant]
        for row in _intersection(pairs):
            made = made.with_zero(row) or made
        return made


def _intersection(pairs: list[tuple[Form, Form]]) -> list[Form]:
    """Return the right halves that are left where the left halves cancel.

    Of the rows with a variable, that one cancels it in the others whose factor has the fewest
    powers of two: the others are then multiplied by odd numbers only, which modulo 2**n loses
    nothing.
    """
    found, left = [], list(pairs)
    while left:
        first = next((row for row, _ in left if row.terms or row.constant), None)
        if first is None:
            break
        key = first.terms[-1][0] if first.terms else None
        with_key = [pair for pair in left if _coefficient(pair[0], key)]
        pivot = min(with_key, key=lambda pair: _powers_of_two(_coefficient(pair[0], key)))
        rest = []
        for pair in left:
            here = _coefficient(pair[0], key)
            if pair is pivot:
                continue
            if here:
                by = _coefficient(pivot[0], key)
                common = gcd(by, here)
                by, here = by // common, here // common
                pair = (
                    pair[0].scaled(by).plus(pivot[0], -here),
                    pair[1].scaled(by).plus(pivot[1], -here),
                )
            rest.append(pair)
        left = rest
    found += [right for _, right in left if right.terms]
    return found


def _powers_of_two(number: int) -> int:
    return (number & -number).bit_length()


def _coefficient(form: Form, key: int | None) -> int:
    return form.constant if key is None else _factor(form, key)


def _factor(form: Form, key: object) -> int:
    for one, factor in form.terms:
        if one == key:
            return factor
    return 0


def _eliminated(row: Form, by: Form, key: int) -> Form:
    """Return a combination of two rows without a variable that both have."""
    a, b = _factor(row, key), _factor(by, key)
    common = gcd(a, b)
    return row.scaled(b // common).plus(by, -a // common)


def _inserted(rows: dict[int, Form], form: Form, is_modular: bool) -> dict[int, Form]:
    """Return the rows with one more, which has no pivots of theirs."""
    pivot: int = form.terms[-1][0]
    if is_modular:
        pivot = min(form.terms, key=lambda term: (_powers_of_two(term[1]), -term[0]))[0]
    made = {}
    for key, row in rows.items():
        kept = row
        if pivot in row.keys:
            kept = _primitive(_eliminated(row, form, pivot), is_modular)
        if _is_small(kept):
            made[key] = kept
    made[pivot] = form
    return made


def _primitive(form: Form, is_modular: bool) -> Form:
    divisor = gcd(form.divisor, form.constant)
    if is_modular and divisor:
        divisor //= divisor & -divisor  # the odd part
    if divisor <= 1:
        return form
    terms = tuple((key, factor // divisor) for key, factor in form.terms)
    return Form(terms, form.constant // divisor)


def _is_small(form: Form) -> bool:
    most = 1 << MOST_BITS
    return abs(form.constant) < most and all(abs(factor) < most for _, factor in form.terms)
