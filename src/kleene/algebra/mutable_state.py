"""The components of a builder: which are its own, how they are merged, split, stored and forgotten.

Components that the builder did not make are shared with the value it came from, and are copied
before they are changed: an operation costs what its components cost, plus copying a list of them
when the builder is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kleene.algebra import dbm
from kleene.algebra.linear import Variable
from kleene.algebra.memory import CPU, Cells, settled
from kleene.algebra.partition import Component, Kinds, Partition, Table, distinct, table_of
from kleene.algebra.state import EXACT, NONE, OVER, Exactness, Precision, State
from kleene.kernels.minplus import size
from kleene.kernels.minplus.cpu import operations

_FEW = 16  # variables of a component that is not split to save cells: calls cost more than they do
_ROUNDED = Exactness(OVER, "float64 bounds are rounded upwards")


class MutableState(State):
    """A state whose components can be changed, merged and split."""

    __slots__ = ("domain", "loose", "owner", "strict")

    def __init__(self, state: State, *, strict: bool = False) -> None:
        self.variables, self.partition = state.variables, state.partition.copy()
        self.relations, self.is_empty = state.relations, state.is_empty
        self.is_float, self.device = state.is_float, state.device
        self.raw, self.kept = None, None
        self.exactness = _ROUNDED if state.is_float else EXACT
        self.domain: Any = type(state)
        self.owner = object()
        self.loose: list[Component] = []  # own components in which variables have become unrelated
        self.strict = strict

    def table(self, at_least: Any = None) -> Table:
        """Return the components as compiled code reads them; they change, so it is not kept."""
        return table_of(self.partition).widened(at_least)

    def loosen(self, component: Component) -> None:
        """Note that one more variable of an own component may be unrelated to the others."""
        component.loose += 1
        component.twice = None
        if not self.loose or self.loose[-1] is not component:
            self.loose.append(component)

    def tidy(self, *, exactly: bool = False) -> None:
        """Split the components in which many variables have become unrelated."""
        for component in self.loose:
            # To take out an eighth of many variables saves a quarter of the cells.
            share = 2 if len(component.names) <= _FEW else 8
            is_due = exactly or share * component.loose >= len(component.names)
            if is_due or component.is_mixed:
                self._split(component)
        self.loose = []

    def _split(self, component: Component) -> None:
        if self.partition.get(component.names[0]) is component:
            self.store(
                component.names, component.cells, component.scale, component.kinds(), exactly=True
            )

    def note(self, precision: Precision, why: str) -> None:
        """Lower the exactness of what is being done: it is the best that there is, or not."""
        now = self.exactness
        if now is EXACT or (precision is OVER and now.precision is not OVER):
            self.exactness = Exactness(precision, why)

    def clear(self) -> None:
        """Become empty."""
        self.partition, self.is_empty = Partition(), True

    def copied(self, component: Component) -> Component:
        """Return a copy in the place of a component that is not the builder's own."""
        component = component.copy(self.owner)
        self.partition.put(component)
        return component

    def together(self, names: tuple[Variable, ...]) -> Component:
        """Return one component that has all these variables, having merged theirs if need be."""
        parts = distinct(map(self.partition.get, names))
        free = [name for name in names if name not in self.partition]
        if len(parts) == 1 and not free:
            return parts[0]
        loose = [part for part in parts if part.loose]
        if not loose:
            return self._merged(parts, free)
        for part in loose:  # so that nothing is merged without need
            self._split(part)
        return self.together(names)

    def _merged(self, parts: list[Component], free: list[Variable]) -> Component:
        every = tuple(sorted((*(name for part in parts for name in part.names), *free)))
        kinds = self.kinds_of(every)
        if kinds.is_mixed:
            self.note(OVER, "related to reals, integers are treated as reals")
        cells, scale = self.assembled(every)
        component = Component(every, cells, scale, kinds, self.owner)
        self.partition.put(component)
        return component

    def writable(self, component: Component, bound: int = 0, factor: int = 1) -> Cells:
        """Return the cells of a component times `factor`, to be changed, with room for a bound."""
        is_own = component.owner is self.owner
        n = len(component.names)
        return dbm.with_room(component.cells, n, bound, factor, in_place=is_own)

    def replace(self, component: Component, m: Cells, scale: int) -> None:
        """Store new cells for the variables of a component."""
        by = dbm.divisor(m, scale)
        if by > 1:
            m, scale = dbm.divided(m, by), scale // by
        m = settled(m, self.device)
        if component.owner is self.owner:
            component.put(m, scale)
        else:
            new = Component(component.names, m, scale, component.kinds(), self.owner)
            self.partition.put(new)

    def store(
        self,
        names: tuple[Variable, ...],
        m: Cells,
        scale: int,
        kinds: Kinds,
        *,
        exactly: bool = False,
    ) -> None:
        """Store closed cells of variables of no component, split where that saves enough."""
        n = len(names)
        if self.is_empty or not n:
            return None
        exactly = exactly or kinds.is_mixed or self.relations is NONE or n == 1
        if n <= _FEW and not exactly:
            return self._store(names, m, scale, kinds, 1)
        n_cells, labels = dbm.survey(m, n, exactly)
        least = size(n) if exactly else 3 * size(n) // 4
        if n_cells >= least and not kinds.is_mixed:
            return self._store(names, m, scale, kinds, 1 if n_cells < size(n) else 0)
        if n_cells == size(n):
            return self._store_part(names, m, scale, kinds)
        for group in dbm.grouped(labels):
            part, inner = tuple(names[k] for k in group), dbm.select(m, group)
            self._store_part(part, inner, scale, kinds)
        return None

    def _store_part(self, names: tuple[Variable, ...], m: Cells, scale: int, kinds: Kinds) -> None:
        if kinds.is_mixed:
            kinds = self.kinds_of(names)
            if kinds.tighten:  # what is left of a mixed component is all integers
                m, scale = dbm.divided(m, scale), 1
                if not dbm.close(m, True):
                    return self.clear()
        if not self.is_empty:
            self._store(names, m, scale, kinds, 0)
        return None

    def _store(
        self, names: tuple[Variable, ...], m: Cells, scale: int, kinds: Kinds, loose: int
    ) -> None:
        component = Component(names, m, scale, kinds, self.owner)
        component.loose = loose
        if len(names) == 1 and component.ends() == [None, None]:
            return self.partition.drop(names[0])
        self.partition.put(component)
        if scale > 1 or self.device is not CPU:
            self.replace(component, m, scale)

    def forget(self, name: Variable) -> None:
        """Drop what is known about a variable."""
        component = self.partition.get(name)
        if component is None:
            self.is_integer(name)
            return None
        if not component.is_plain or len(component.names) == 1:
            return self._take_out(name, component)
        if component.owner is not self.owner:
            component = self.copied(component)
        operations.forget(component.cells, None, component.index[name])
        self.loosen(component)
        return None

    def _take_out(self, name: Variable, component: Component) -> None:
        """Make a component without one of its variables."""
        self.partition.drop(name)
        rest = tuple(other for other in component.names if other != name)
        cells = dbm.select(component.cells, [component.index[other] for other in rest])
        self.store(rest, cells, component.scale, component.kinds(), exactly=True)

    def rename(self, names: Mapping[Variable, Variable]) -> None:
        """Give variables other names, all at once."""
        moved = []
        for component in distinct(map(self.partition.get, names)):
            self.partition.drop(component.names[0])
            new = [names.get(name, name) for name in component.names]
            order = sorted(range(len(new)), key=new.__getitem__)
            cells = dbm.select(component.cells, order)
            ascending = tuple(new[k] for k in order)
            moved.append(
                Component(ascending, cells, component.scale, component.kinds(), self.owner)
            )
        for component in moved:
            self.partition.put(component)
