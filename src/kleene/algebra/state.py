"""What is known about named variables: components of related ones, and nothing between components.

    variables  name -> whether it is an integer
    partition  the components, and which one a variable is in; those without bounds may be in none
    raw        the same before closing, after a widening: the next widening needs it, to end

A bound on two variables of different components is the sum of the bounds on each. So the components
and these sums are the closed octagon, and no cell of it is stored that says no more than they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

from kleene.algebra.linear import (
    Bound,
    Constraint,
    Linear,
    Number,
    Variable,
    constraints,
    expression,
    in_order,
    row_of,
    times,
)
from kleene.algebra.memory import Cells
from kleene.algebra.partition import Kinds, Partition, Table, assemble, table_of
from kleene.base.device import Device
from kleene.base.errors import SourceError


class Relations(StrEnum):
    """Which bounds on two variables a domain holds."""

    NONE = "none"
    DIFFERENCES = "differences"
    ALL = "all"


# To read a member off its class takes as long as a whole step of an operation on few variables.
NONE, DIFFERENCES, ALL = Relations


class Precision(StrEnum):
    """How near an answer is to the set of states that was asked for."""

    EXACT = "exact"  # just these states
    BEST = "best"  # the least value of the domain that holds them
    OVER = "over-approximated"  # a value that holds them


_, BEST, OVER = Precision


class Exactness(NamedTuple):
    """The precision of an operation, and why it is no better."""

    precision: Precision
    why: str = ""


EXACT = Exactness(Precision.EXACT)
Terms = Iterable[tuple[Variable, Fraction | int]]
Fact = tuple[tuple[tuple[Variable, int], ...], Bound]  # variables with signs, and their sum's bound

Expression = str | Linear | Number
Condition = str | Constraint | Iterable[Constraint]
Names = str | Iterable[Variable]


class Bounds(NamedTuple):
    """The least and the greatest value, infinite where there is none; (inf, -inf) of nothing."""

    low: Bound
    high: Bound


def linear(value: Expression) -> Linear:
    """Return an expression given as text, number or object."""
    return expression(value) if isinstance(value, str) else Linear.of(value)


def conditions(given: Iterable[Condition]) -> Iterable[Constraint]:
    """Yield the constraints given as text or objects.

    Raises:
        SourceError: `algebra/bad-syntax`, for what is no constraint.
    """
    for one in given:
        if isinstance(one, Constraint):
            yield one
        elif isinstance(one, str):
            yield from constraints(one)
        elif isinstance(one, Iterable):
            yield from conditions(one)
        else:
            raise SourceError(None, "algebra/bad-syntax", f"{one!r} is no constraint")


def fact_of(names: Sequence[Variable], i: int, j: int, bound: Bound) -> Fact:
    """Return what a bound of V'[j] - V'[i] says; on the diagonal it is about no variable."""
    plus, minus = (names[j >> 1], -1 if j & 1 else 1), (names[i >> 1], 1 if i & 1 else -1)
    if i == j:
        return (), bound
    return ((plus,), bound / 2) if i == j ^ 1 else ((plus, minus), bound)


def named(names: Names) -> tuple[Variable, ...]:
    """Return names given as one text, separated by blanks, or one by one."""
    return tuple(names.split() if isinstance(names, str) else names)


class State:
    """The facts, and questions about single bounds."""

    __slots__ = (
        "device", "exactness", "is_empty", "is_float", "kept", "partition", "raw", "relations",
        "variables",
    )  # fmt: skip

    def __init__(
        self,
        variables: Mapping[Variable, bool],
        partition: Partition,
        relations: Relations,
        *,
        is_empty: bool = False,
        is_float: bool = False,
        device: Device = Device.CPU,
    ) -> None:
        self.variables, self.partition, self.relations = variables, partition, relations
        self.is_empty, self.is_float, self.device = is_empty, is_float, device
        self.raw: Partition | None = None
        self.exactness = EXACT
        self.kept: Table | None = None

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        slots = super().__getstate__()[1]  # type: ignore[index]
        return None, slots | {"kept": None}  # it has addresses, which are of this process

    def table(self, at_least: Any = None) -> Table:
        """Return the state as compiled code reads it, no element narrower than `at_least`."""
        kept = self.kept
        if kept is None:
            kept = self.kept = table_of(self.partition)
        if at_least is not None and at_least is not kept.dtype:
            kept = self.kept = kept.widened(at_least)
        return kept

    def is_integer(self, name: Variable) -> bool:
        """Return whether a variable is an integer.

        Raises:
            SourceError: `algebra/unknown-variable`.
        """
        try:
            return self.variables[name]
        except KeyError:
            raise unknown(name, self.variables) from None

    def are_integers(self, names: Iterable[Variable]) -> bool:
        """Return whether all of these are integers."""
        chosen = tuple(names)
        try:
            return all(list(map(self.variables.__getitem__, chosen)))
        except KeyError:
            return all(list(map(self.is_integer, chosen)))

    def kinds_of(self, names: Iterable[Variable]) -> Kinds:
        """Return what these variables are."""
        found = set(map(self.variables.__getitem__, names))
        return Kinds(False not in found, len(found) == 2)

    def assembled(self, names: tuple[Variable, ...], *, raw: bool = False) -> tuple[Cells, int]:
        """Return the closed cells of just these variables, and their scale; others are free."""
        partition = self.raw if raw and self.raw is not None else self.partition
        if self.device is Device.CPU:
            table = table_of(partition, names)
            if table.dtype is not None and len(table.parts) > 1:
                return table.whole(), 1
        tighten = all(self.variables.get(name, True) for name in names)
        return assemble(partition, names, tighten, self.is_float, self.device)

    def here(self) -> State:
        """Return the same facts, all in host memory: to read many of their bounds."""
        partition = Partition(component.here() for component in self.partition)
        return State(self.variables, partition, self.relations)

    def single(self, name: Variable, sign: int) -> Bound:
        """Return the bound of ±x."""
        component = self.partition.get(name)
        if component is None:
            return inf
        end = 2 * component.index[name] + (sign < 0)
        return component.bound(end, end ^ 1) / 2

    def pair(self, x: Variable, x_sign: int, y: Variable, y_sign: int) -> Bound:
        """Return the bound of ±x ±y, two variables."""
        component = self.partition.get(x)
        if component is not None and y in component.index:
            i = 2 * component.index[y] + (y_sign > 0)
            return component.bound(2 * component.index[x] + (x_sign < 0), i)
        one = self.single(x, x_sign)
        return one if one == inf else one + self.single(y, y_sign)

    def above(self, value: Linear) -> Linear:
        """Return an expression with one coefficient each that is nowhere less than this one.

        It is the least such over each variable's bounds, and has one constant.
        """
        terms, total = dict(value.terms), value.high
        for name, radius in value.spread:
            self.is_integer(name)
            middle = terms.get(name, Fraction(0))
            ends = -self.single(name, -1), self.single(name, 1)
            terms[name], more = _chord(middle - radius, middle + radius, *ends)
            total += more
        return Linear(in_order(terms), total, total)

    def greatest(self, value: Linear) -> Bound:
        """Return an upper bound of an expression."""
        line = self.above(value)
        return line.high + self.upper(line.terms)

    def upper(self, terms: Terms) -> Bound:
        """Return an upper bound of a sum of terms: the least one, if there are at most two.

        Larger sums are split: the two terms with the largest factors are taken together as often as
        the smaller factor says, then what is left.
        """
        left = {name: Fraction(factor) for name, factor in terms if factor}
        total: Bound = Fraction(0)
        while len(left) > 1 and total != inf:
            x = max(left, key=lambda name: abs(left[name]))
            y = self._partner(x, left)
            times = min(abs(left[x]), abs(left[y]))
            total += times * self.pair(x, _sign(left[x]), y, _sign(left[y]))
            for name in (x, y):
                left[name] -= times * _sign(left[name])
                if not left[name]:
                    del left[name]
        for name, factor in left.items():
            total = (
                total if total == inf else total + abs(factor) * self.single(name, _sign(factor))
            )
        return total

    def _partner(self, x: Variable, terms: Mapping[Variable, Fraction]) -> Variable:
        """Return the other term to take with x: one of its component before others, a large one."""
        component = self.partition.get(x)
        near = component.index if component else ()
        others = (name for name in terms if name != x)
        return max(others, key=lambda name: (name in near, abs(terms[name])))

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

    def to_box(self) -> dict[Variable, Bounds]:
        """Return the bounds of every variable that has some."""
        found = {
            name: self.bound(Linear(((name, Fraction(1)),))) for name in self.partition.names()
        }
        return {name: both for name, both in found.items() if both != (-inf, inf)}


def _chord(a: Fraction, b: Fraction, low: Bound, high: Bound) -> tuple[Fraction, Bound]:
    """Return the slope and constant of the least line above a*x and b*x, a <= b, low <= x <= high.

    Both are below the line through the greater of them at either end. Its slope tends to that of
    the greater one where an end is infinite; no line is above two on all numbers.
    """
    if low >= 0 or low == -inf:
        return (b, Fraction(0)) if low >= 0 else (a, times(max(high, Fraction(0)), b - a))
    if high <= 0 or high == inf:
        return (a, Fraction(0)) if high <= 0 else (b, times(low, a - b))
    assert isinstance(low, Fraction)
    assert isinstance(high, Fraction)
    slope = (b * high - a * low) / (high - low)
    return slope, (b - slope) * high


def _sign(value: Fraction) -> int:
    return 1 if value > 0 else -1


def unknown(name: Variable, variables: Mapping[Variable, bool]) -> SourceError:
    """Return the error for a variable that there is not."""
    some = ", ".join(map(str, list(variables)[:8])) + (", ..." if len(variables) > 8 else "")
    note = f"the variables are {some}" if variables else "there are no variables"
    return SourceError(None, "algebra/unknown-variable", f"there is no variable {name!r}", note)
