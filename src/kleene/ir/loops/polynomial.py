"""Integer polynomials over atoms: the values of subscripts, bounds and guards.

    2*i*n + j - 1    is    {(i, n): 2, (j,): 1, (): -1}

An atom is anything that is not a sum or product: the counter of a loop, a value from before it, a
load, a quotient. Each atom knows in which loops its value changes; in all others it is a constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf

AtomKind = OneOf["counter", "value", "load", "quotient", "remainder", "condition"]
Monomial = tuple["Atom", ...]


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """An integer that is not taken apart: `name` is how people read it.

    `loops` are the numbers of the loops in which it changes, `low` and `high` the range of its
    type. A quotient or remainder, rounded towards zero as in C, has its `operands`.
    """

    number: int
    name: str
    kind: AtomKind
    loops: frozenset[int]
    low: int | None = None
    high: int | None = None
    operands: tuple[Polynomial, ...] = ()

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of products of atoms with integer coefficients; equal sums are equal values."""

    terms: Mapping[Monomial, int]
    _key: frozenset[tuple[Monomial, int]] = field(init=False, compare=True, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_key", frozenset(self.terms.items()))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self._key == other._key

    def __add__(self, other: Polynomial | int) -> Polynomial:
        terms = dict(self.terms)
        for monomial, factor in of(other).terms.items():
            total = terms.get(monomial, 0) + factor
            if total:
                terms[monomial] = total
            else:
                terms.pop(monomial, None)
        return Polynomial(terms)

    def __neg__(self) -> Polynomial:
        return Polynomial({monomial: -factor for monomial, factor in self.terms.items()})

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self + -of(other)

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        total = ZERO
        for left, factor in self.terms.items():
            products: dict[Monomial, int] = {}
            for right, by in of(other).terms.items():
                product = tuple(sorted((*left, *right), key=_number))
                products[product] = products.get(product, 0) + factor * by
            total = total + Polynomial({key: value for key, value in products.items() if value})
        return total

    @property
    def constant(self) -> int | None:
        """The number that this is, or None."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 else None

    @property
    def atoms(self) -> set[Atom]:
        """The atoms in it, not those inside of quotients and remainders."""
        return {atom for monomial in self.terms for atom in monomial}

    @property
    def all_atoms(self) -> set[Atom]:
        """The atoms in it, and in the operands of its quotients and remainders."""
        found = self.atoms
        inner = [one.all_atoms for atom in self.atoms for one in atom.operands]
        return found.union(*inner)

    @property
    def loops(self) -> frozenset[int]:
        """The loops in which its value changes."""
        return frozenset().union(*(atom.loops for atom in self.atoms))

    def coefficient(self, atom: Atom) -> Polynomial | None:
        """Return the factor of `atom`, or None if this is not linear in it."""
        terms: dict[Monomial, int] = {}
        for monomial, factor in self.terms.items():
            count = monomial.count(atom)
            if count > 1 or any(atom in one.all_atoms for a in monomial for one in a.operands):
                return None
            if count:
                terms[tuple(one for one in monomial if one is not atom)] = factor
        return Polynomial(terms)

    def substitute(self, values: Mapping[Atom, Polynomial]) -> Polynomial | None:
        """Return this with atoms replaced; None if one of them is inside of a quotient."""
        if not values:
            return self
        total = ZERO
        for monomial, factor in self.terms.items():
            product = of(factor)
            for atom in monomial:
                if atom in values:
                    product = product * values[atom]
                elif any(one.all_atoms & values.keys() for one in atom.operands):
                    return None
                else:
                    product = product * of(atom)
            total = total + product
        return total

    def evaluate(self, values: Mapping[Atom, int]) -> int:
        """Return the number for these values of the atoms."""
        total = 0
        for monomial, factor in self.terms.items():
            for atom in monomial:
                factor *= _value(atom, values)
            total += factor
        return total

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        parts = []
        for monomial, factor in sorted(self.terms.items(), key=_order):
            names = "*".join(atom.name for atom in monomial)
            size = abs(factor)
            text = names if names and size == 1 else "*".join(filter(None, [str(size), names]))
            parts.append(("-" if factor < 0 else "+", text))
        (sign, first), *rest = parts
        return ("-" if sign == "-" else "") + first + "".join(f" {s} {t}" for s, t in rest)


def of(value: Polynomial | Atom | int) -> Polynomial:
    """Return the polynomial that is a number, an atom, or the polynomial itself."""
    if isinstance(value, Polynomial):
        return value
    if isinstance(value, Atom):
        return Polynomial({(value,): 1})
    return Polynomial({(): value} if value else {})


def total(values: Iterable[Polynomial]) -> Polynomial:
    """Return the sum."""
    result = ZERO
    for value in values:
        result = result + value
    return result


def _value(atom: Atom, values: Mapping[Atom, int]) -> int:
    if atom in values or not atom.operands:
        return values[atom]
    left, right = (one.evaluate(values) for one in atom.operands)
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if atom.kind == "quotient" else left - quotient * right


def _number(atom: Atom) -> int:
    return atom.number


def _order(term: tuple[Monomial, int]) -> tuple[int, list[int]]:
    monomial, _ = term
    return (-len(monomial), [atom.number for atom in monomial])


ZERO = Polynomial({})
