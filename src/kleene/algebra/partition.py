"""Which variables are related: components with a bound for every pair, a partition of the state.

`Table` is how compiled code reads the components of a state: see
`kleene.kernels.minplus.cpu.partition`. Not every state can be read so: its cells must be machine's
numbers in host memory, and halves of sums of them must be exact, as they are between integers, or
rounded upwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from math import inf, lcm
from typing import Any, NamedTuple

import numpy as np

from kleene.algebra import dbm
from kleene.algebra.dbm import FLOAT, INDEX, grouped, widened
from kleene.algebra.linear import Bound, Variable
from kleene.algebra.memory import CPU, Cells, beside, here, is_here, settled
from kleene.base.device import Device
from kleene.kernels.minplus import OBJECT, cell, infinity, limit, n_variables, size, top
from kleene.kernels.minplus.cpu import components as compiled
from kleene.kernels.minplus.cpu import operations
from kleene.kernels.minplus.cpu.partition import table_of as rows_of


class Kinds(NamedTuple):
    """Whether all variables are integers, and whether some are and some are not."""

    tighten: bool
    is_mixed: bool


class Component:
    """Variables, in ascending order, with a bound for every pair; a cell c says c / `scale`.

    The cells are closed, but for those of a widening (see `state.State.raw`). Between integers
    (`tighten`) the scale is 1; in a mixed component some variables are integers, some reals. About
    so many variables as `loose` says may be unrelated to the others. Only the builder that made a
    component, its owner, may change it.
    """

    __slots__ = (
        "_address", "alone", "cells", "dtype", "greatest", "index", "is_mixed", "is_plain", "limit",
        "loose", "names", "owner", "scale", "tighten", "twice",
    )  # fmt: skip

    def __init__(
        self,
        names: tuple[Variable, ...],
        cells: Cells,
        scale: int,
        kinds: Kinds,
        owner: object = None,
    ) -> None:
        self.names, self.index, self.alone = known(names)
        self.tighten, self.is_mixed = kinds
        self.owner, self.loose = owner, 0
        self.put(cells, scale)

    def put(self, cells: Cells, scale: int, greatest: int | None = None) -> None:
        """Take new cells, none of them greater than `greatest` where that is known.

        `is_plain` says whether compiled code can work on them, and `limit` up to which magnitude.
        """
        self.cells, self.scale, self.greatest = cells, scale, greatest
        self.twice: list[Any] | None = None
        self._address = 0
        if type(cells) is np.ndarray:
            self.is_plain, self.dtype, self.limit = _about(cells.dtype, len(self.names))
        else:
            self.is_plain = False

    def kinds(self) -> Kinds:
        """Return what the variables are."""
        return Kinds(self.tighten, self.is_mixed)

    def address(self) -> int:
        """Return where the cells are in memory."""
        self._address = self._address or operations.address(self.cells)
        return self._address

    def has_room(self, more: int) -> bool:
        """Return whether plain cells may become that much greater, and still be closed exactly."""
        if self.greatest is None or self.greatest + more > self.limit:
            self.greatest = 0 if self.cells.dtype == FLOAT else dbm.magnitude(self.cells)
        return self.greatest + more <= self.limit

    def __reduce__(self) -> Any:
        return Component, (self.names, self.cells, self.scale, self.kinds())  # addresses stay here

    def copy(self, owner: object) -> Component:
        """Return a component of another owner with the same bounds."""
        made = Component(self.names, self.cells.copy(), self.scale, self.kinds(), owner)
        made.greatest, made.loose = self.greatest, self.loose
        return made

    def here(self) -> Component:
        """Return the component in host memory: itself, if it is there."""
        if type(self.cells) is np.ndarray:
            return self
        return Component(self.names, here(self.cells), self.scale, self.kinds())

    def bound(self, j: int, i: int) -> Bound:
        """Return the bound of V'[j] - V'[i]: V'[2k] is variable k, V'[2k+1] its negation."""
        if i == j ^ 1 and (self.twice is not None or not is_here(self.cells)):
            value = self.ends()[j]
            return inf if value is None else Fraction(value) / self.scale
        value = self.cells[cell(i, j)]
        if value == infinity(self.cells.dtype):
            return inf
        return Fraction(value if self.cells.dtype == OBJECT else value.item()) / self.scale

    def ends(self) -> list[Any]:
        """Return the cells of 2x and -2x for each variable x, None where there is no bound."""
        if self.twice is None:
            i = np.arange(2 * len(self.names)) ^ 1
            found = here(self.cells[beside(self.cells, (i ^ 1) + (i + 1) ** 2 // 2)])
            free = (found == infinity(found.dtype)).tolist()
            both = zip(found.tolist(), free, strict=True)
            self.twice = [None if is_free else x for x, is_free in both]
        return self.twice


@lru_cache(1024)
def known(
    names: tuple[Variable, ...],
) -> tuple[tuple[Variable, ...], Mapping[Variable, int], dict[Variable, int]]:
    """Return the names, mostly the same object for the same names, the place of each, and 0s."""
    return names, {name: k for k, name in enumerate(names)}, dict.fromkeys(names, 0)


@lru_cache(1024)
def _about(dtype: np.dtype[Any], n: int) -> tuple[bool, np.dtype[Any], float]:
    one = np.dtype(dtype.type)  # the same object for each type, also after unpickling
    return dtype != OBJECT, one, limit(dtype, n) if dtype.kind == "i" else inf


def same_scale(a: tuple[Cells, int], b: tuple[Cells, int], by: int = 1) -> tuple[Cells, Cells, int]:
    """Return two sets of cells of one size with one scale, and it: a multiple of `by`."""
    (m, scale), (other, other_scale) = a, b
    if by == 1 and scale == other_scale:
        return *dbm.common(m, other), scale
    joint = lcm(scale, other_scale) * by
    n = n_variables(len(m))
    m = dbm.with_room(m, n, factor=joint // scale)
    other = dbm.with_room(other, n, factor=joint // other_scale)
    return *dbm.common(m, other), joint


class Partition:
    """Disjoint components of variables; a variable without bounds may be in none.

    `slots` has for each variable the number of its component in `parts`; one that is gone leaves
    None there. Copies share `slots`, which follow from the names alone, until one of them is given
    a component of other variables: to copy costs what a list of the components does, to change one
    O(1).
    """

    __slots__ = ("is_shared", "n_gone", "parts", "slots")

    def __init__(self, components: Iterable[Component] = ()) -> None:
        self.slots: dict[Variable, int] = {}
        self.parts: list[Component | None] = []
        self.is_shared, self.n_gone = False, 0
        for component in components:
            self.put(component)

    def get(self, name: Variable) -> Component | None:
        """Return the component of a variable."""
        slot = self.slots.get(name)
        return None if slot is None else self.parts[slot]

    def __contains__(self, name: Variable) -> bool:
        return self.get(name) is not None

    def __iter__(self) -> Iterator[Component]:
        return filter(None, self.parts)

    def names(self) -> Iterator[Variable]:
        """Yield the variables, component by component."""
        return (name for component in self for name in component.names)

    def copy(self) -> Partition:
        """Return the same components, to be changed."""
        made = Partition()
        made.slots, made.parts, made.n_gone = self.slots, self.parts.copy(), self.n_gone
        made.is_shared = self.is_shared = True
        return made

    def restricted(self, kept: Collection[Component]) -> Partition:
        """Return a partition with only these of its components."""
        made = self.copy()
        made.parts = [part if part in kept else None for part in self.parts]
        made.n_gone = made.parts.count(None)
        return made

    def put(self, component: Component) -> None:
        """Put a component in the place of all that have variables of it."""
        parts, names = self.parts, component.names
        if not parts:
            self.slots, self.is_shared = component.alone, True
            parts.append(component)
            return
        slot = self.slots.get(names[0], 0)
        old = parts[slot]
        if old is not None and (old.names is names or old.names == names):
            parts[slot] = component
            return
        if self.is_shared:
            self.slots, self.is_shared = self.slots.copy(), False
        for name in names:
            self.drop(name)
        self.slots.update(dict.fromkeys(names, len(parts)))
        parts.append(component)

    def drop(self, name: Variable) -> None:
        """Drop the component of a variable, if there is one."""
        slot = self.slots.get(name)
        if slot is not None and self.parts[slot] is not None:
            self.parts[slot] = None
            self.n_gone += 1

    def tidied(self) -> Partition:
        """Return the same without the places of components that are gone, if they are many."""
        return Partition(self) if 2 * self.n_gone > len(self.parts) else self


class UnionFind:
    """Disjoint sets of things."""

    def __init__(self) -> None:
        self.parent: dict[Any, Any] = {}

    def find(self, one: Any) -> Any:
        """Return the thing that stands for the set of `one`."""
        root = one
        while (above := self.parent.get(root, root)) != root:
            root = above
        while (above := self.parent.get(one, one)) != root:
            self.parent[one], one = root, above
        return root

    def unite(self, things: Iterable[Any]) -> None:
        """Make one set of the sets of all these."""
        first: Any = None
        for thing in things:
            root = self.find(thing)
            self.parent.setdefault(root, root)
            if first is None:
                first = root
            else:
                self.parent[root] = first


def distinct(components: Iterable[Component | None]) -> list[Component]:
    """Return each component once."""
    return [component for component in dict.fromkeys(components) if component is not None]


def assemble(
    partition: Partition,
    names: tuple[Variable, ...],
    tighten: bool,
    is_float: bool = False,
    device: Device = CPU,
) -> tuple[Cells, int]:
    """Return the cells of just these variables, closed if the components are, and their scale.

    Variables of no component have no bounds. The cells may be those of a component: change a copy.
    """
    parts = distinct(map(partition.get, names))
    if len(parts) == 1 and parts[0].names == names:
        return parts[0].cells, parts[0].scale
    if len(parts) == 1:
        index = parts[0].index
        return dbm.select(parts[0].cells, [index.get(x, -1) for x in names]), parts[0].scale
    scale = 1 if tighten or is_float else 2 * lcm(*(part.scale for part in parts))
    dtype = FLOAT if is_float else _room(parts, len(names), scale)
    out = settled(top(len(names), dtype), device)
    at = {name: k for k, name in enumerate(names)}
    places = [[at.get(name, -1) for name in part.names] for part in parts]
    dbm.place(out, [_scaled(part, dtype, scale) for part in parts], places)
    dbm.strengthen(out, tighten)
    return out, scale


def _scaled(part: Component, dtype: Any, scale: int) -> Cells:
    if part.cells.dtype == dtype and part.scale == scale:
        return part.cells
    return dbm.converted(part.cells, dtype, scale // part.scale)


def _room(parts: list[Component], n: int, scale: int) -> Any:
    greatest = (dbm.magnitude(part.cells) * (scale // part.scale) for part in parts)
    return dbm.room_for(n, max(greatest, default=0))


@dataclass(slots=True, eq=False)
class Table:
    """Some variables of a state, in ascending order; `dtype` is None where it cannot be read."""

    names: tuple[Variable, ...]
    dtype: np.dtype[Any] | None
    kinds: Kinds  # of the variables of all parts
    rows: Any
    parts: tuple[Component, ...]
    components: frozenset[Component]  # the parts
    cells: tuple[Cells, ...]  # those of the parts in `dtype`: the rows have their addresses

    def widened(self, dtype: Any) -> Table:
        """Return the table with elements no narrower than `dtype`, if there is one."""
        if dtype is self.dtype or dtype is None or self.dtype is None:
            return self
        if self.dtype.itemsize >= dtype.itemsize:
            return self
        sizes = np.array([len(part.cells) for part in self.parts])
        rows, cells = self.rows.copy(), np.empty(int(sizes.sum()), dtype)
        compiled.widen(cells, rows, sizes, self.cells[0])
        return replace(self, dtype=dtype, rows=rows, cells=(cells,))

    def whole(self) -> Cells:
        """Return the cells of all variables."""
        out = np.empty(size(len(self.names)), self.dtype)
        compiled.assemble(out, self.rows)
        return out

    def joined(self, other: Table, related: int) -> list[tuple[tuple[Variable, ...], Cells]]:
        """Return the names and cells of the groups in the least octagon around both.

        Which variables are in a group `related` says: see `kleene.kernels.minplus.cpu.groups`.
        """
        names, n = self.names, len(self.names)
        if self.is_component() and other.is_component() and (related or n == 1):
            return [(names, np.maximum(self.cells[0], other.cells[0]))]
        out, labels = np.empty(size(n), self.dtype), np.empty(n, INDEX)
        if compiled.join(out, labels, self.rows, other.rows, related) == 1:
            return [(names, out)]
        found, start = [], 0
        for at in grouped(labels):
            end = start + size(len(at))
            found.append((tuple(names[k] for k in at), out[start:end].copy()))
            start = end
        return found

    def is_component(self) -> bool:
        """Return whether the variables are all those of one component."""
        return len(self.parts) == 1 and are_same(self.parts[0].names, self.names)

    def groups(self, other: Table, signs: Any = None) -> list[Sequence[int]]:
        """Return the variables by their numbers, grouped as a join with `other` relates them.

        `signs` say of each end whether its bound grows, shrinks or neither: 1, -1 or 0.
        """
        n = len(self.names)
        labels = np.empty(n, INDEX)
        if signs is None:
            n_groups = compiled.group_moving(labels, self.rows, other.rows, self.cells[0])
        else:
            n_groups = compiled.group(labels, self.rows, other.rows, signs)
        return [range(n)] if n_groups == 1 else list(grouped(labels))

    def is_within(self, m: Cells) -> bool:
        """Return whether no bound of `m`, of a type no wider, is less than that of here."""
        assert self.dtype is not None
        return compiled.covers(widened(m, self.dtype), self.rows)


def table_of(partition: Partition, names: tuple[Variable, ...] | None = None) -> Table:
    """Return a table of these variables or of all."""
    parts = tuple(partition if names is None else distinct(map(partition.get, names)))
    names, layout = _layout(tuple([part.names for part in parts]), names)
    dtype, rows = _dtype_of(parts), layout.copy()
    cells: tuple[Cells, ...] = ()
    if dtype is not None:
        cells = tuple([widened(part.cells, dtype) for part in parts])
        rows[2 : 2 + len(parts)] = list(map(_address, parts, cells))
    return Table(names, dtype, _kinds_of(parts), rows, parts, frozenset(parts), cells)


@lru_cache(256)
def _layout(
    groups: tuple[tuple[Variable, ...], ...], names: tuple[Variable, ...] | None
) -> tuple[tuple[Variable, ...], Any]:
    """Return the variables of a table, and its rows without addresses: mostly known already."""
    if names is None:
        names = known(tuple(sorted(chain.from_iterable(groups))))[0]
    at = {name: k for k, name in enumerate(names)}
    slots, places = [-1] * len(names), [0] * len(names)
    for slot, group in enumerate(groups):
        for place, name in enumerate(group):
            k = at.get(name)
            if k is not None:
                slots[k], places[k] = slot, place
    return names, rows_of([0] * len(groups), slots, places)


def are_same(a: tuple[Variable, ...], b: tuple[Variable, ...]) -> bool:
    """Return whether names are the same; mostly they are one object."""
    return a is b or a == b


def _kinds_of(parts: tuple[Component, ...]) -> Kinds:
    tighten = all(part.tighten for part in parts)
    return Kinds(tighten, not tighten and any(part.is_mixed or part.tighten for part in parts))


def _dtype_of(parts: tuple[Component, ...]) -> Any:
    """Return the type of element that all parts can have, if compiled code can read them."""
    dtype = None
    for part in parts:
        if not part.is_plain or not (part.tighten or part.cells.dtype == FLOAT):
            return None
        if dtype is None or part.cells.dtype.itemsize > dtype.itemsize:
            dtype = part.cells.dtype
    return dtype


def _address(part: Component, m: Cells) -> int:
    return part.address() if m is part.cells else operations.address(m)
