"""Linear addresses as subscripts of an array with several dimensions: `i*n + j` as `[i][j]`.

With strides s0, s1, ..., sm, each a multiple of the next, an address is

    f = s0*f0 + s1*f1 + ... + sm*fm + rest,     the extent of dimension t is s(t-1) / s(t).

Two addresses are equal exactly if all their parts are, provided that every part but the first
stays in 0 ... extent - 1, which has to be proved: `within` says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import gcd

from kleene.base.expression import Atom, Expression, Monomial, of
from kleene.ir.loops.symbols import loops_of
from kleene.ir.loops.tables import Compare, Condition

Parts = tuple[Expression, ...]


def delinearised(subscripts: Sequence[Expression]) -> tuple[list[Parts], Parts] | None:
    """Return the parts of each subscript, and the extents from the second dimension on.

    None if no stride is symbolic, or if the strides are not multiples of each other.
    """
    found = [_coefficients(one) for one in subscripts]
    coefficients = [one for each in found if each is not None for one in each.values()]
    if None in found:
        return None
    strides = strides_of([of(1), *coefficients])
    if strides is None or len(strides) == 1:
        return None
    extents = tuple(divided(outer, inner)[0] for outer, inner in pairwise(strides))
    return [parts_of(one, strides)[0] for one in subscripts], extents


def _coefficients(value: Expression) -> dict[Atom, Expression] | None:
    """Return the factor of each atom that changes in a loop, or None if two are multiplied."""
    found: dict[Atom, Expression] = {}
    for monomial, factor in value.terms.items():
        changing = [(atom, power) for atom, power in monomial if loops_of(of(atom))]
        if not changing:
            continue
        if len(changing) > 1 or changing[0][1] > 1:
            return None
        ((atom, _),) = changing
        fixed = tuple(one for one in monomial if one[0] != atom)
        found[atom] = found.get(atom, of(0)) + Expression({fixed: factor})
    return found


def within(parts: Parts, extents: Parts) -> tuple[Condition, ...]:
    """Return that every part but the first is at least 0 and below its extent."""
    found: list[Condition] = []
    for part, extent in zip(parts[1:], extents, strict=False):
        found += [Compare(">=", part), Compare(">=", extent - part - 1)]
    return tuple(found)


def strides_of(coefficients: Iterable[Expression]) -> list[Expression] | None:
    """Return the strides of the dimensions, greatest first; None if they are no chain of divisors.

    Coefficients that differ by a rational factor share a dimension, whose stride is their greatest
    common divisor: 4*n and -6*n have the stride 2*n.
    """
    contents: dict[Expression, int] = {}
    for coefficient in coefficients:
        if coefficient:
            content = gcd(*(int(factor) for factor in coefficient.terms.values()))
            _, lead = max(coefficient.terms.items(), key=lambda term: _rank(term[0]))
            primitive = coefficient.over(content if lead > 0 else -content)
            contents[primitive] = gcd(contents.get(primitive, 0), content)
    ordered: list[Expression] = []
    for stride in (primitive * content for primitive, content in contents.items()):
        place = sum(divided(known, stride)[1] == 0 for known in ordered)
        ordered.insert(place, stride)
    is_chain = all(divided(large, small)[1] == 0 for large, small in pairwise(ordered))
    return ordered if is_chain else None


def parts_of(value: Expression, strides: Iterable[Expression]) -> tuple[Parts, Expression]:
    """Return how often each stride, greatest first, is in a value, and what remains."""
    parts = []
    for stride in strides:
        part, value = divided(value, stride)
        parts.append(part)
    return tuple(parts), value


def divided(value: Expression, divisor: Expression) -> tuple[Expression, Expression]:
    """Return polynomials q, r with value = q·divisor + r, r without multiples of the lead term.

    Coefficients of q and r are integers where those of `value` and `divisor` are: a number that the
    lead's does not divide leaves its remainder, from 0 up.
    """
    lead, lead_factor = max(divisor.terms.items(), key=lambda term: _rank(term[0]))
    assert isinstance(lead_factor, int)
    quotient, rest = of(0), of(0)
    while value != 0:
        monomial, factor = max(value.terms.items(), key=lambda term: _rank(term[0]))
        over = _without(monomial, lead)
        whole = 0 if over is None or not isinstance(factor, int) else factor // lead_factor
        if over is None or not whole:
            one = Expression({monomial: factor})
            rest, value = rest + one, value - one
        else:
            part = Expression({over: whole})
            quotient, value = quotient + part, value - part * divisor
    return quotient, rest


def _rank(monomial: Monomial) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return an order of monomials that multiplication keeps: by degree, then by atoms."""
    return sum(power for _, power in monomial), tuple((atom.order, -p) for atom, p in monomial)


def _without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """Return the quotient of two monomials, if it is one."""
    powers = dict(monomial)
    for atom, power in divisor:
        powers[atom] = powers.get(atom, 0) - power
    if any(power < 0 for power in powers.values()):
        return None
    return tuple((atom, power) for atom, power in powers.items() if power)
