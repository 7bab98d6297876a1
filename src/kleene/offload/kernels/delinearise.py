"""Linearised subscripts as those of an array with several dimensions: `i*n + j` as `[i][j]`.

With strides s0, s1, ..., 1, each a multiple of the next, a subscript is

    f = s0*f0 + s1*f1 + ... + fm,     the extent of dimension t is s(t-1) / s(t).

Two subscripts are equal exactly if all their parts are, provided that every part but the first
stays in 0 ... extent - 1, which has to be proved: `within` says it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import gcd

from kleene.ir.loops import polynomial
from kleene.ir.loops.polynomial import Atom, Monomial, Polynomial
from kleene.ir.loops.tables import Compare, Condition

Parts = tuple[Polynomial, ...]


def delinearised(subscripts: Sequence[Polynomial]) -> tuple[list[Parts], Parts] | None:
    """Return the parts of each subscript, and the extents from the second dimension on.

    None if no stride is symbolic, or if the strides are not multiples of each other.
    """
    factors: dict[Monomial, int] = {(): 1}
    for subscript in subscripts:
        for monomial, factor in subscript.terms.items():
            stride, rest = _split(monomial)
            if len(rest) > 1:
                return None
            if stride:
                factors[stride] = gcd(factors.get(stride, 0), factor)
    strides = sorted(factors, key=len, reverse=True)
    if len(strides) == 1:
        return None
    extents: list[Polynomial] = []
    for outer, inner in pairwise(strides):
        quotient = _quotient(outer, inner)
        if quotient is None or factors[outer] % factors[inner]:
            return None
        factor = factors[outer] // factors[inner]
        extents.append(Polynomial({quotient: factor}))
    return [_parts(one, strides, factors) for one in subscripts], tuple(extents)


def _split(monomial: Monomial) -> tuple[Monomial, Monomial]:
    """Return the part of a product that never changes, and the rest."""
    fixed = tuple(one for one in monomial if _is_fixed(one))
    rest = tuple(one for one in monomial if not _is_fixed(one))
    # A lone invariant is an offset, unless other terms make it a stride: `a[i*n + m]`.
    return fixed, rest


def _is_fixed(atom: Atom) -> bool:
    return not atom.loops and atom.kind != "counter" and not atom.operands


def _quotient(product: Monomial, divisor: Monomial) -> Monomial | None:
    remaining = list(product)
    for atom in divisor:
        if atom not in remaining:
            return None
        remaining.remove(atom)
    return tuple(remaining) if remaining else None


def _parts(subscript: Polynomial, strides: list[Monomial], factors: dict[Monomial, int]) -> Parts:
    sums: dict[Monomial, Polynomial] = dict.fromkeys(strides, polynomial.ZERO)
    for monomial, factor in subscript.terms.items():
        stride, rest = _split(monomial)
        sums[stride] = sums[stride] + Polynomial({rest: factor // factors[stride]})
    return tuple(sums[stride] for stride in strides)


def within(parts: Parts, extents: Parts) -> tuple[Condition, ...]:
    """Return that every part but the first is at least 0 and below its extent."""
    found: list[Condition] = []
    for part, extent in zip(parts[1:], extents, strict=False):
        found += [Compare(">=", part), Compare(">=", extent - part - 1)]
    return tuple(found)
