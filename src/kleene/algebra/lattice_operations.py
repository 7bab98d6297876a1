"""Two states into one: join, meet, widening, narrowing; and whether one includes the other.

Components that two states share, being the same object, are not looked at. The others are
regrouped, so that every bound on two variables that can come out of the operation lies inside a
group; then the operation is the dense one on each group, and the result is split again.

Join and widening find bounds between variables of different components as well. Let the bound of an
end (x, or -x) grow from the one state to the other, and that of another end shrink: then the bound
on their sum grows by less than the sum of both bounds, and is a relation. {x=0, y=0} and {x=1, y=1}
join to x=y in this way. All variables with a growing end and all with a shrinking one are a group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from kleene.algebra import dbm
from kleene.algebra.linear import Bound, Variable
from kleene.algebra.memory import Cells, beside
from kleene.algebra.partition import (
    Component,
    Kinds,
    Partition,
    Table,
    UnionFind,
    are_same,
    distinct,
    same_scale,
    table_of,
)
from kleene.algebra.state import ALL, BEST, DIFFERENCES, NONE, OVER, Relations, State
from kleene.algebra.transfer import TransferFunctions
from kleene.kernels.minplus import infinity, n_variables
from kleene.kernels.minplus.cpu import operations
from kleene.kernels.minplus.cpu.components import ALONE, COMPONENTS, MOVING


class Pair(NamedTuple):
    """The variables that both states bound and that are not in a shared component."""

    a: Table
    b: Table
    shared: Partition
    dtype: np.dtype[Any] | None  # of all elements, or None where compiled code cannot read them

    def names_of(self, at: Sequence[int]) -> tuple[Variable, ...]:
        """Return the names of a group."""
        names = self.a.names
        return names if len(at) == len(names) else tuple(names[k] for k in at)

    def groups(self, relations: Relations, relate: bool) -> list[Sequence[int]]:
        """Return the groups, each the numbers of its variables; by components if not `relate`."""
        a, b = self.a, self.b
        n = len(a.names)
        if relations is NONE or not n:
            return [[k] for k in range(n)]
        if len(a.parts) == len(b.parts) == 1:
            return [range(n)]
        if not relate:
            return a.groups(b, np.zeros(0, np.int64))
        return a.groups(b, self._moves() if self.dtype is None else None)

    def _moves(self) -> Any:
        """Return whether the bound of each end grows (1), shrinks (-1) or neither (0)."""
        ones, others = (_ends(table) for table in (self.a, self.b))
        found = [
            0 if x is None or y is None else (x < y) - (y < x)
            for x, y in zip(ones, others, strict=True)
        ]
        return np.array(found)


def pair_of(state: State, b: State, *, raw: bool = False) -> Pair:
    """Return the pair of the components of a state, or those before closing, and those of `b`.

    Where the two share components, which most states that meet do, only the variables of the others
    are looked at; otherwise both keep the tables that are made here.
    """
    partition = state.raw if raw and state.raw is not None else state.partition
    common = {part for part in partition.parts if part is not None}
    common.intersection_update(b.partition.parts)
    shared = partition.restricted(common) if common else Partition()
    if not common:
        of_b = b.table()
        a = state.table(of_b.dtype) if partition is state.partition else table_of(partition)
        other = b.table(a.dtype)
    if common or not are_same(a.names, other.names):
        parts = (part for part in partition.parts if part is not None and part not in common)
        names = tuple(sorted(x for part in parts for x in part.names if x in b.partition))
        a, other = table_of(partition, names), table_of(b.partition, names)
    if a.dtype is not other.dtype:
        a = a.widened(other.dtype)
        other = other.widened(a.dtype)
    return Pair(a, other, shared, a.dtype if other.dtype is not None else None)


def _ends(table: Table) -> list[Any]:
    """Return the bounds of 2x and -2x for each variable x, None where there is none."""
    found = {
        name: [
            None if x is None else x / Fraction(part.scale) for x in part.ends()[2 * k : 2 * k + 2]
        ]
        for part in table.parts
        for k, name in enumerate(part.names)
    }
    return [x for name in table.names for x in found[name]]


def includes(a: State, b: State) -> bool:
    """Return whether every point of `b` is in `a`."""
    if a.is_empty or b.is_empty:
        return b.is_empty
    for component in a.partition.parts:
        if component is None or _covers(component, b):
            continue
        return False
    return True


def _covers(component: Component, b: State) -> bool:
    """Return whether all bounds of a component hold in `b`."""
    other = b.partition.get(component.names[0])
    if other is component:
        return True
    if other is not None and _is_alike(component, other):
        return operations.covers(component.cells, other.cells)
    if len(component.names) < len(b.partition.slots):
        table = table_of(b.partition, component.names)
    else:
        table = b.table(component.cells.dtype if component.is_plain else None)
        if not are_same(table.names, component.names):
            table = table_of(b.partition, component.names)
    if table.dtype is not None and component.is_plain and component.scale == 1:
        return table.widened(component.cells.dtype).is_within(component.cells)
    m, other_m, _ = same_scale((component.cells, component.scale), b.assembled(component.names))
    return dbm.includes(m, other_m)


def _is_alike(a: Component, b: Component) -> bool:
    """Return whether two components have the same variables and go together in compiled code."""
    if not are_same(a.names, b.names) or not a.is_plain or not b.is_plain:
        return False
    return a.dtype is b.dtype and a.scale == b.scale


def join(builder: TransferFunctions, a: State, b: State, *, relate: bool = True) -> None:
    """Make `builder`, which is `a` or a copy of it, the least state around both."""
    if b.is_empty:
        return
    if a.is_empty:
        builder.partition, builder.is_empty = b.partition.copy(), False
        return
    builder.note(BEST, "the least value around both")
    if not relate and a.relations is not NONE:
        builder.note(OVER, "bounds between components were not looked for")
    if _raised(builder, b):
        return
    pair = pair_of(a, b)
    found = _joined(a, b, pair, relate)
    builder.partition = pair.shared
    for names, m, scale, kinds in found:
        if a.relations is DIFFERENCES:
            _drop_sums(m, kinds.tighten)
        builder.store(names, m, scale, kinds)


def _raised(builder: TransferFunctions, b: State) -> bool:
    """Return whether the join could be made in place: of a builder's only component, its own."""
    component = builder.partition.parts[0] if len(builder.partition.parts) == 1 else None
    if component is None or component.owner is not builder.owner:
        return False
    other = b.partition.get(component.names[0])
    if other is None or not _is_alike(component, other) or builder.relations is not ALL:
        return False
    np.maximum(component.cells, other.cells, out=component.cells)
    component.greatest = None
    builder.loosen(component)
    return True


def _joined(
    a: State, b: State, pair: Pair, relate: bool
) -> list[tuple[tuple[Variable, ...], Cells, int, Kinds]]:
    """Return groups of variables with their joined cells, scale and kinds."""
    if pair.dtype is not None:
        related = ALONE if a.relations is NONE else MOVING if relate else COMPONENTS
        found, kinds = pair.a.joined(pair.b, related), pair.a.kinds
        return [(names, m, 1, kinds) for names, m in found]
    by_group = map(pair.names_of, pair.groups(a.relations, relate))
    return [(names, *_joined_apart(a, b, names)) for names in by_group]


def _joined_apart(a: State, b: State, names: tuple[Variable, ...]) -> tuple[Cells, int, Kinds]:
    """Return the joined cells of some variables where compiled code cannot read the components."""
    by = _evenly(a, names, a.relations is DIFFERENCES)
    m, other, scale = same_scale(a.assembled(names), b.assembled(names), by)
    return dbm.join(m, other), scale, a.kinds_of(names)


def meet(builder: TransferFunctions, b: State) -> None:
    """Keep the points of `b`."""
    _combine(builder, b, dbm.meet)


def narrow(builder: TransferFunctions, b: State) -> None:
    """Take the bounds of `b` where `builder` has none."""
    builder.note(OVER, "narrowing")
    _combine(builder, b, dbm.narrow)


def _combine(
    builder: TransferFunctions, b: State, combined: Callable[[Cells, Cells], Cells]
) -> None:
    """Close what an operation that keeps only common points makes of the groups of both."""
    if builder.is_empty or b.is_empty:
        return builder.clear()
    for names in _touching(builder.partition, b.partition):
        cells = builder.assembled(names), b.assembled(names)
        m, other, scale = same_scale(*cells, _evenly(builder, names))
        _close_into(builder, names, combined(m, other), scale)


def widen(builder: TransferFunctions, a: State, b: State, thresholds: Iterable[Bound]) -> None:
    """Make `builder`, a copy of `a`, hold `b` too, so that a chain of widenings ends.

    What is kept for the next one is not closed, only strengthened: that never lowers the bound on
    one variable, so each of those is given up once, and then the sums of two at most once more.
    """
    builder.note(OVER, "widening")
    if b.is_empty:
        builder.raw = a.raw
        return
    if a.is_empty:
        builder.partition, builder.is_empty = b.partition.copy(), False
        return
    steps = [step for step in sorted(set(thresholds)) if isinstance(step, Fraction)]
    pair = pair_of(a, b, raw=True)
    builder.raw, builder.partition = pair.shared, pair.shared.copy()
    for at in pair.groups(a.relations, True):
        names = pair.names_of(at)
        tighten = builder.kinds_of(names).tighten
        by = _evenly(a, names) * (1 if tighten or a.is_float else lcm(*_denominators(steps)))
        m, other, scale = same_scale(a.assembled(names, raw=True), b.assembled(names), by)
        raw = _widened(builder, m, other, [step * scale for step in steps], tighten)
        for group in dbm.components(raw, len(names)):
            part, inner = tuple(names[k] for k in group), dbm.select(raw, group)
            builder.raw.put(Component(part, inner, scale, builder.kinds_of(part)))
            _close_into(builder, part, inner, scale)


def _denominators(steps: list[Fraction]) -> list[int]:
    return [step.denominator for step in steps]


def _widened(
    builder: TransferFunctions, m: Cells, other: Cells, steps: list[Fraction], tighten: bool
) -> Cells:
    """Return the widened cells, strengthened."""
    values = [builder.cell_of(step, tighten) for step in steps]
    if values and not builder.is_float:
        n, greatest = n_variables(len(m)), 2 * max(map(abs, values))
        m, other = dbm.common(dbm.with_room(m, n, greatest), dbm.with_room(other, n, greatest))
    raw = dbm.widen(m, other, values)
    if builder.relations is DIFFERENCES:
        raw[beside(raw, _sums(n_variables(len(raw))))] = infinity(raw.dtype)
    dbm.strengthen(raw, tighten)
    return raw


def _close_into(
    builder: TransferFunctions, names: tuple[Variable, ...], m: Cells, scale: int
) -> None:
    """Close cells and store them for these variables."""
    if builder.is_empty:
        return
    kinds = builder.kinds_of(names)
    m = dbm.with_room(m, len(names))
    if dbm.close(m, kinds.tighten):
        builder.store(names, m, scale, kinds)
    else:
        builder.clear()


def _evenly(state: State, names: Iterable[Variable], is_halved: bool = True) -> int:
    """Return 2 if cells must be even for their halves to be exact, else 1."""
    return 2 if is_halved and not (state.is_float or state.are_integers(names)) else 1


def _touching(a: Partition, b: Partition) -> list[tuple[Variable, ...]]:
    """Return the variables of components that are not shared, grouped by the components of both."""
    groups = UnionFind()
    for component in distinct((*a, *b)):
        if not a.get(component.names[0]) is b.get(component.names[0]) is component:
            groups.unite(component.names)
    parts: dict[Any, list[Variable]] = {}
    for name in groups.parent:
        parts.setdefault(groups.find(name), []).append(name)
    return [tuple(sorted(names)) for names in parts.values()]


@lru_cache(64)
def _sums(n: int) -> Any:
    """Return where the bounds on sums of two variables lie."""
    i, j = dbm.stored(n)
    return np.flatnonzero(((i ^ j) & 1 == 1) & (i >> 1 != j >> 1))


def _drop_sums(m: Cells, tighten: bool) -> None:
    """Leave of the bounds on sums what those on single variables say."""
    m[beside(m, _sums(n_variables(len(m))))] = infinity(m.dtype)
    dbm.strengthen(m, tighten)
