"""What users write, and what they ask of a value or of a draft."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import inf
from typing import NamedTuple

from kleene.algebra import parse
from kleene.algebra.linear import Bound, Constraint, Linear, Number, row_of
from kleene.algebra.state import State
from kleene.base.errors import SourceError

Expression = str | Linear | Number
Condition = str | Constraint | Iterable[Constraint]
Names = str | Iterable[str]


class Bounds(NamedTuple):
    """The least and the greatest value, infinite where there is none; (inf, -inf) of nothing."""

    low: Bound
    high: Bound


def linear(value: Expression) -> Linear:
    """Return an expression given as text, number or object."""
    return parse.expression(value) if isinstance(value, str) else Linear.of(value)


def conditions(given: Iterable[Condition]) -> Iterable[Constraint]:
    """Yield the constraints given as text or objects.

    Raises:
        SourceError: `algebra/bad-syntax`, for what is no constraint.
    """
    for one in given:
        if isinstance(one, Constraint):
            yield one
        elif isinstance(one, str):
            yield from parse.constraints(one)
        elif isinstance(one, Iterable):
            yield from conditions(one)
        else:
            raise SourceError(None, "algebra/bad-syntax", f"{one!r} is no constraint")


def named(names: Names) -> tuple[str, ...]:
    """Return names given as one text, separated by blanks, or one by one."""
    return tuple(names.split() if isinstance(names, str) else names)


class Questions(State):
    """What is asked of a value or of a draft."""

    __slots__ = ()

    def is_bottom(self) -> bool:
        """Return whether there is no point."""
        return self.is_empty

    def bound(self, value: Expression) -> Bounds:
        """Return bounds of an expression: the best, if it has at most two variables."""
        asked = linear(value)
        self.are_integers(asked.names())
        if self.is_empty:
            return Bounds(inf, -inf)
        return Bounds(-self.greatest(-asked), self.greatest(asked))

    def satisfies(self, *given: Condition) -> bool:
        """Return whether it is known that every point meets the constraints."""
        return all(self._satisfies(constraint) for constraint in conditions(given))

    def _satisfies(self, constraint: Constraint) -> bool:
        value = constraint.linear
        is_integer = self.are_integers(value.names())
        if self.is_empty:
            return True
        value = self.above(value)
        wanted = row_of(value.terms, -value.high, constraint.is_strict)
        if is_integer and wanted.terms:
            wanted = wanted.tightened()
        greatest = self.upper(wanted.terms)
        return greatest < wanted.bound if wanted.is_strict else greatest <= wanted.bound

    def to_box(self) -> dict[str, Bounds]:
        """Return the bounds of every variable that has some."""
        found = {name: self.bound(Linear(((name, Fraction(1)),))) for name in self.blocks.names()}
        return {name: both for name, both in found.items() if both != (-inf, inf)}
