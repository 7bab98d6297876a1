"""Reductions of the product of domains: what equalities tell the others, and are told by them."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import TYPE_CHECKING

from kleene.analyses.invariants.expressions import Form, only

_MOST_UNWRAPPED = 3  # terms of a modular equality that is told to the others

if TYPE_CHECKING:
    from kleene.analyses.invariants.numbers import Numbers


def add_equality(numbers: Numbers, form: Form) -> None:
    """Keep the points where a form is 0, as equalities know them."""
    if numbers.layout.modular_bits:
        numbers.modular = numbers.modular.with_zero(form) or numbers.modular
    if not numbers.layout.has_equalities:
        return
    before = numbers.equalities.rows
    found = numbers.equalities.with_zero(form)
    if found is None:
        numbers.is_empty = True
        return
    numbers.equalities = found
    for row in found.rows.values():
        if row not in before.values():
            _use_row(numbers, row)
            if numbers.is_empty:
                return
    for one in numbers.not_zero:
        if found.implies(one):
            numbers.is_empty = True


def use_bound(numbers: Numbers, form: Form) -> None:
    """Tell equalities what a new bound makes equal, and the reverse."""
    low, high = numbers.bounds(form)
    if low == high:
        add_equality(numbers, form.shifted(-low))
        return
    if numbers.equalities.rows:
        _, other = numbers.equalities.reduced(form)
        if other.terms and len(other.terms) < len(form.terms):
            numbers.propagate(other)
        changed = set(form.keys)
        for row in numbers.equalities.rows.values():
            if len(row.terms) != 2 or numbers.is_empty:
                continue
            if changed.issuperset(row.keys):
                _use_row(numbers, row)
            elif not changed.isdisjoint(row.keys):
                numbers.propagate(row)
                if not numbers.is_empty:
                    numbers.propagate(row.scaled(-1))


def use_templates(numbers: Numbers, keys: Sequence[int]) -> None:
    """Bound templates by the variables of which some got new bounds, and these by the templates."""
    layout = numbers.layout
    for template in dict.fromkeys(one for key in keys for one in layout.using.get(key, ())):
        for relation in layout.relations[template]:
            for sign in (1, -1):
                if not numbers.is_empty:
                    numbers.propagate(relation.scaled(sign))


def unwrap(numbers: Numbers, keys: Sequence[int]) -> None:
    """Turn modular equalities into plain ones, where new bounds say that nothing wraps around.

    From x = e modulo 2**n, x of n bits, and e within one range of 2**n numbers follows x = e - k *
    2**n. In `while (i-- > 0)` that is so behind the test, but not where i is changed.
    """
    modulus, changed = 1 << numbers.layout.modular_bits, set(keys)
    for row in list(numbers.modular.rows.values()):
        if not 2 <= len(row.terms) <= _MOST_UNWRAPPED or changed.isdisjoint(row.keys):
            continue
        for key, factor in row.terms:
            kind = numbers.layout.kinds[key]
            if abs(factor) != 1 or kind.width != numbers.layout.modular_bits or kind.format:
                continue
            other = only(key).plus(row, -factor)
            low, high = numbers.bounds(other)
            times = (low - kind.low) // modulus
            if (high - kind.low) // modulus == times:
                exact = only(key).plus(other, -1).shifted(times * modulus)
                if numbers.bounds(exact) != (0, 0):
                    _use_exact(numbers, exact)
                break
        if numbers.is_empty:
            return


def _use_exact(numbers: Numbers, form: Form) -> None:
    """Keep the points where a form is 0, in all domains."""
    for one in (form, form.scaled(-1)):
        if not numbers.is_empty:
            numbers.relate(one.terms, -one.constant)
        if not numbers.is_empty:
            numbers.propagate(one)
    if not numbers.is_empty:
        add_equality(numbers, form)


def use_constants(numbers: Numbers, keys: Sequence[int]) -> None:
    """Put variables that are numbers into equalities, and what these say into octagons.

    Whoever forgets x keeps y = n of x + y = n and x = 0, and y <= n of x >= 0.
    """
    for key in keys:
        low, high = numbers.range(key)
        if low == high:
            add_equality(numbers, only(key).shifted(-low))
        for form in [one for one in numbers.not_zero if key in one.keys]:
            _pass_on(numbers, form, key)
    for row in list(numbers.equalities.rows.values()):
        if len(row.terms) == 3 and not numbers.is_empty and set(keys) & set(row.keys):
            divisor = row.divisor
            terms = tuple((key, factor // divisor) for key, factor in row.terms)
            numbers.relate(terms, -row.constant // divisor)
            if not numbers.is_empty:
                opposite = tuple((key, -factor) for key, factor in terms)
                numbers.relate(opposite, row.constant // divisor)


def _pass_on(numbers: Numbers, form: Form, key: int) -> None:
    """Keep what is not 0 in terms of other variables, by equalities of the one forgotten."""
    factor = dict(form.terms)[key]
    for row in numbers.equalities.rows.values():
        here = dict(row.terms).get(key, 0)
        if abs(here) == 1:
            other = form.plus(row, -factor * here)
            if 0 < len(other.terms) <= 2:
                numbers.not_zero |= {other}


def _use_row(numbers: Numbers, row: Form) -> None:
    """Tell the other domains what a new equality says, where they can hold it.

    A row of two variables, a*x + b*y = c, makes bounds of x - y and x + y bounds of x and y.
    """
    for key, factor in row.terms if abs(row.divisor) == 1 else ():
        others = gcd(*(other for one, other in row.terms if one != key))
        if abs(factor) == 1 and others > 1 and not numbers.is_empty:
            numbers.assume_residue(key, others, -factor * row.constant % others)
    if row.constant % row.divisor:
        numbers.is_empty = True
    elif len(row.terms) == 1:
        ((key, factor),) = row.terms
        numbers.restrict(key, -row.constant // factor, -row.constant // factor)
    elif len(row.terms) == 2:
        (x, a), (y, b) = row.terms
        if abs(a) == abs(b) == 1:
            numbers.relate(row.terms, -row.constant)
            if not numbers.is_empty:
                numbers.relate(((x, -a), (y, -b)), row.constant)
        elif numbers.layout.pack_of.get(x, -1) == numbers.layout.pack_of.get(y, -2):
            for sign in (1, -1):
                _solve(numbers, row, Form(((x, 1), (y, sign))))


def _solve(numbers: Numbers, row: Form, pair: Form) -> None:
    """Bound the two variables of an equality by the bounds of their sum or difference."""
    low, high = numbers.packs.bounds(pair)
    for key, other in ((row.keys[0], row.keys[1]), (row.keys[1], row.keys[0])):
        # k * pair = pair without `other`, by the row
        here, there = dict(row.terms)[other], dict(pair.terms)[other]
        single = pair.scaled(here).plus(row, -there)
        factor = dict(single.terms).get(key, 0)
        if not factor or numbers.is_empty:
            continue
        ends = sorted((here * low - single.constant, here * high - single.constant))
        if factor < 0:
            factor, ends = -factor, [-ends[1], -ends[0]]
        least, most = numbers.range(key)
        numbers.restrict(key, max(least, -(-ends[0] // factor)), min(most, ends[1] // factor))
