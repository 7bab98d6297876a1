"""The library that `Interval`, `Zone` and `Octagon` share: values, and every operation on them.

A value is a set of points of named variables, each an integer or a real. Values never change, and
operations give new ones; `builder()` gives a builder to change in place, where many operations
follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import inf
from typing import Any, ClassVar, NamedTuple, Self

from kleene.algebra import lattice_operations as operations
from kleene.algebra import memory, rendering, serialization
from kleene.algebra.builder import Builder, one_kind, same_domain, union
from kleene.algebra.linear import Bound, Constraint, Number, Variable, exactly, row_of
from kleene.algebra.partition import Component, Partition
from kleene.algebra.state import Condition, Expression, Names, Relations, State, conditions, named
from kleene.base.device import Device
from kleene.base.errors import SourceError
from kleene.kernels.minplus import OBJECT


class Placement(NamedTuple):
    """Where the component of some variables lies."""

    names: tuple[Variable, ...]
    device: Device
    why: str


class NumericDomain(State):
    """A set of points, described by bounds; what they may be on is said by the subclass."""

    __slots__ = ("_hash",)
    _RELATIONS: ClassVar[Relations]
    _hash: int

    # Making values

    @classmethod
    def top(
        cls,
        integers: Names | int = (),
        *,
        reals: Names = (),
        floats: bool = False,
        device: Device | str = Device.CPU,
    ) -> Self:
        """Return all points.

        Args:
            integers: names of integer variables, or ids, which are integers from 0 on; a number n
                stands for the ids 0 to n - 1.
            reals: names of real variables.
            floats: hold bounds as float64, rounded upwards: sound but not exact.
            device: where the value lies and is computed with; see `placement`.

        Raises:
            SourceError: `algebra/bad-variables`, for a name that comes twice; `algebra/no-device`.
        """
        names = tuple(range(integers)) if isinstance(integers, int) else named(integers)
        kinds = dict.fromkeys(names, True)
        kinds |= dict.fromkeys(named(reals), False)
        if len(kinds) < len(names) + len(named(reals)):
            raise SourceError(None, "algebra/bad-variables", "a variable is named twice")
        one_kind(kinds)
        where = memory.checked(device)
        return cls(kinds, Partition(), cls._RELATIONS, is_float=floats, device=where)

    @classmethod
    def bottom(cls, integers: Names = (), **options: Any) -> Self:
        """Return no points; the arguments are those of `top`."""
        builder = cls.top(integers, **options).builder()
        builder.clear()
        return builder.build()

    @classmethod
    def of_constraints(cls, *given: Condition, **options: Any) -> Self:
        """Return the points that the constraints allow.

        Variables that `options`, the arguments of `top`, do not name are integers.
        """
        found = tuple(conditions(given))
        integers, reals = named(options.pop("integers", ())), named(options.get("reals", ()))
        seen = (name for constraint in found for name, _ in constraint.linear.terms)
        names = dict.fromkeys((*integers, *seen))
        start = cls.top([name for name in names if name not in reals], **options)
        return start.meet(*found)

    @classmethod
    def of_box(cls, box: Mapping[Variable, tuple[Number, Number]], **options: Any) -> Self:
        """Return the points with each variable between its two bounds, which may be infinite."""
        reals = named(options.get("reals", ()))
        builder = cls.top([name for name in box if name not in reals], **options).builder()
        for name, ends in box.items():
            low, high = _two(name, ends)
            if exactly(low) == inf or exactly(high) == -inf or exactly(low) > exactly(high):
                builder.clear()
            above = row_of(((name, Fraction(1)),), exactly(high))
            below = row_of(((name, Fraction(-1)),), -exactly(low))
            builder.guard_rows((above, below))
        return builder.build()

    @classmethod
    def of(cls, other: NumericDomain) -> Self:
        """Return the least value of this domain around a value of another."""
        made = cls.top(**other.options())
        if isinstance(other, cls):
            return other
        if other.is_empty:
            return cls.bottom(**other.options())
        builder = made.builder()
        found = other.constraints(minimal=False)
        builder.guard(*(one for one in found if builder.holds(one.row.terms)))
        return builder.build()

    def options(self) -> dict[str, Any]:
        """Return the arguments of `top` for the same variables and numbers."""
        return {
            "integers": [name for name, is_integer in self.variables.items() if is_integer],
            "reals": [name for name, is_integer in self.variables.items() if not is_integer],
            "floats": self.is_float,
            "device": self.device,
        }

    def builder(self, *, strict: bool = False) -> Builder[Self]:
        """Return a builder of this value, to be changed in place."""
        return Builder(self, strict=strict)

    def _after(self, change: Callable[..., None], *given: Any, strict: bool = False) -> Self:
        """Return the value after a change of its builder."""
        builder = self.builder(strict=strict)
        change(builder, *given)
        return builder.build()

    # Operations on one value

    def meet(self, *given: Condition | Self, strict: bool = False) -> Self:
        """Return the points that also meet the constraints, or are in the other values.

        Constraints that the domain does not hold are over-approximated, and `exactness` says so;
        with `strict` they are refused.

        Raises:
            SourceError: `algebra/not-representable`, `algebra/unknown-variable`, or of the parser.
        """
        builder = self.builder(strict=strict)
        builder.meet(*given)
        return builder.build()

    def assign(
        self,
        target: Variable | Mapping[Variable, Expression],
        value: Expression = 0,
        *,
        strict: bool = False,
    ) -> Self:
        """Return the points after `target := value`; a mapping assigns to several at once.

        An integer that is given a fraction leaves no points: nothing is rounded.
        """
        builder = self.builder(strict=strict)
        builder.set(target, value)
        return builder.build()

    def substitute(
        self,
        target: Variable | Mapping[Variable, Expression],
        value: Expression = 0,
        *,
        strict: bool = False,
    ) -> Self:
        """Return the points from which `target := value`, or several at once, can lead here."""
        return self._after(Builder.substitute, target, value, strict=strict)

    def forget(self, names: Names) -> Self:
        """Return the points with any values for some variables."""
        builder = self.builder()
        for name in named(names):
            builder.forget(name)
        return builder.build()

    def project(self, names: Names) -> Self:
        """Return the value without all variables but some."""
        return self._after(Builder.project, named(names))

    def extend(self, integers: Names = (), *, reals: Names = ()) -> Self:
        """Return the value with more variables, without bounds."""
        builder = self.builder()
        builder.variables = union(self, type(self).top(integers, reals=reals))
        return builder.build()

    def rename(self, names: Mapping[Variable, Variable]) -> Self:
        """Return the value with other names for some variables, all renamed at once."""
        return self._after(Builder.rename_variables, names)

    def expand(self, name: Variable, copies: Names) -> Self:
        """Return the value with more variables, each with all that is known about `name`.

        Nothing relates the copies to each other but what others say about each.
        """
        builder = self.builder()
        for copy in named(copies):
            builder.expand(self, name, copy)
        return builder.build()

    def fold(self, names: Names) -> Self:
        """Return the value with one variable, the first named, for any of several."""
        if not named(names):
            raise SourceError(None, "algebra/bad-variables", "fold takes a variable or more")
        first, *others = named(names)
        alone = self.forget(others)
        for other in others:
            rest = self.forget([name for name in (first, *others) if name != other])
            alone = alone.join(rest.rename({other: first, first: other}))
        kept = [name for name in self.variables if name not in others]
        return alone.project(kept)

    # Operations on two values

    def join(self, other: Self, *, relate: bool = True) -> Self:
        """Return the least value around both; variables that one of them lacks have no bounds.

        Without `relate` variables of different components stay apart: cheaper, and less precise.
        """
        builder = self._with_variables_of(other)
        operations.join(builder, self, other, relate=relate)  # of values, which keep their tables
        return builder.build()

    def widen(self, other: Self, *, thresholds: Iterable[Number | Condition] = ()) -> Self:
        """Return a value around both; `x = x.widen(f(x))` becomes stable after some steps.

        A bound that grew goes on to the next of the thresholds that are numbers, or is given up.
        Thresholds that are constraints hold as long as they do in both. The result keeps what the
        next widening must know; any other operation on it forgets that. Numbers are for single
        variables, and for two where a component or an opposite movement relates them.
        """
        steps: list[Bound] = []
        limits: list[Constraint] = []
        for one in thresholds:
            if isinstance(one, str | Constraint | Iterable):
                limits.extend(conditions([one]))
            else:
                steps.append(exactly(one))
        builder = self._with_variables_of(other)
        operations.widen(builder, self, other, steps)
        builder.guard(*(one for one in limits if self.satisfies(one) and other.satisfies(one)))
        return builder.build()

    def narrow(self, other: Self) -> Self:
        """Return this value with bounds of `other`, which is smaller, where it has none itself."""
        return self._after(Builder.narrow, other)

    def __le__(self, other: Self) -> bool:
        """Return whether every point of this is in `other`."""
        return operations.includes(other, self) if isinstance(other, State) else NotImplemented

    def __ge__(self, other: Self) -> bool:
        return operations.includes(self, other) if isinstance(other, State) else NotImplemented

    def __lt__(self, other: Self) -> bool:
        """Return whether every point of this is in `other`, and not the other way round."""
        return self <= other and not other <= self

    def __gt__(self, other: Self) -> bool:
        return other < self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self.variables == other.variables and self <= other <= self

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            box = frozenset(self.to_box().items())
            self._hash = hash((type(self), self.is_empty, box))
        return self._hash

    def __or__(self, other: Self) -> Self:
        return self.join(other)

    def __and__(self, other: Condition | Self) -> Self:
        return self.meet(other)

    def _with_variables_of(self, other: Self) -> Builder[Self]:
        same_domain(self, other)
        builder = self.builder()
        builder.variables = union(self, other)
        return builder

    # State

    def is_top(self) -> bool:
        """Return whether every point is in."""
        return operations.includes(self, State(self.variables, Partition(), self.relations))

    def contains(self, point: Mapping[Variable, Number]) -> bool:
        """Return whether a point, with a value for every variable, is in.

        Raises:
            SourceError: `algebra/bad-variables`, if a variable has no value.
        """
        for name in self.variables.keys() - point.keys():
            message = f"the point has no value for {name!r}"
            raise SourceError(None, "algebra/bad-variables", message)
        values = {name: exactly(point[name]) for name in self.variables}
        if any(self.variables[name] and value != int(value) for name, value in values.items()):
            return False
        return not self.is_empty and all(
            sum(factor * values[name] for name, factor in row.terms) <= row.bound
            for row in (one.row for one in self.constraints(minimal=False))
        )

    def constraints(self, *, minimal: bool = True) -> tuple[Constraint, ...]:
        """Return constraints that describe the value: a smallest set, or all of each component."""
        return rendering.constraints(self, minimal)

    def placement(self) -> tuple[Placement, ...]:
        """Return where each component of related variables lies and is computed with, and why."""
        return tuple(Placement(one.names, *self._place_of(one)) for one in self.partition)

    def _place_of(self, component: Component) -> tuple[Device, str]:
        found = memory.where(component.cells)
        wanted, why = memory.plan(len(component.names), self.device)
        if component.cells.dtype == OBJECT:
            why = "its bounds fit no machine integer"
        return found, why if found is wanted or component.cells.dtype == OBJECT else "not moved yet"

    # Other forms

    def __str__(self) -> str:
        return rendering.text(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def to_latex(self) -> str:
        """Return the value as LaTeX, for math mode."""
        return rendering.latex(self)

    def _repr_latex_(self) -> str:
        return f"${self.to_latex()}$"

    def picture(self, x: Variable, y: Variable, *, view: tuple[Number, ...] | None = None) -> str:
        """Return a picture of two variables as SVG; `view` is (left, right, below, above)."""
        self.are_integers((x, y))
        return rendering.svg(self, x, y, view and tuple(map(exactly, view)))

    def draw(
        self, x: Variable, y: Variable, axes: Any, *, view: tuple[Number, ...] | None = None
    ) -> None:
        """Draw two variables on the axes of matplotlib."""
        self.are_integers((x, y))
        rendering.draw(self, x, y, axes, view and tuple(map(exactly, view)))

    def to_json(self) -> str:
        """Return the value as JSON; what a widening keeps for the next one is left out."""
        return serialization.to_text(serialization.as_data(self, type(self).__name__))

    def to_bytes(self) -> bytes:
        """Return the value as bytes."""
        return serialization.to_bytes(serialization.as_data(self, type(self).__name__))

    @classmethod
    def of_json(cls, text: str) -> Self:
        """Return the value that `to_json` wrote.

        Raises:
            SourceError: `algebra/bad-data`.
        """
        return cls._of_data(serialization.of_text(text))

    @classmethod
    def of_bytes(cls, packed: bytes) -> Self:
        """Return the value that `to_bytes` wrote.

        Raises:
            SourceError: `algebra/bad-data`.
        """
        return cls._of_data(serialization.of_bytes(packed))

    @classmethod
    def _of_data(cls, data: Any) -> Self:
        data = serialization.checked(data, cls.__name__)
        wanted = {key: data.get(key, ()) for key in ("integers", "reals")}
        builder = cls.top(**wanted, floats=bool(data.get("floats"))).builder()
        serialization.read_components(builder, data)
        return builder.build()


def _two(name: Variable, ends: Iterable[Number]) -> tuple[Number, Number]:
    """Return the two bounds of a variable.

    Raises:
        SourceError: `algebra/bad-number`, if they are not two.
    """
    found = tuple(ends)
    if len(found) != 2:
        message = f"{name!r} takes a least and a greatest value, not {len(found)} numbers"
        raise SourceError(None, "algebra/bad-number", message)
    return found[0], found[1]


class Interval(NumericDomain):
    """Bounds on each variable: a box. Operations cost O(1) a variable."""

    __slots__ = ()
    _RELATIONS = Relations.NONE


class Zone(NumericDomain):
    """Bounds on variables and their differences: x <= c, x - y <= c.

    A zone is an octagon whose bounds on sums say no more than those on single variables; that is
    kept by every operation, and costs what the octagon costs.
    """

    __slots__ = ()
    _RELATIONS = Relations.DIFFERENCES


class Octagon(NumericDomain):
    """Bounds on variables, their differences and sums: ±x <= c, ±x ± y <= c (Miné, 2006)."""

    __slots__ = ()
    _RELATIONS = Relations.ALL

    @classmethod
    def of_matrix(cls, names: Names, square: Any, **options: Any) -> Self:
        """Return the octagon of a coherent square matrix; variables not in `reals` are integers.

        Entry [i][j] bounds V'[j] - V'[i], where V'[2k] is variable k and V'[2k+1] its negation.

        Raises:
            SourceError: `algebra/bad-matrix` or `algebra/bad-number`.
        """
        chosen, reals = named(names), named(options.get("reals", ()))
        builder = cls.top([name for name in chosen if name not in reals], **options).builder()
        serialization.read_matrix(builder, chosen, square)
        return builder.build()

    def to_matrix(self, names: Names | None = None) -> list[list[Bound]]:
        """Return the closed square matrix of some variables, or of all."""
        chosen: Sequence[Variable] = tuple(self.variables) if names is None else named(names)
        self.are_integers(chosen)
        return serialization.write_matrix(self, chosen)
