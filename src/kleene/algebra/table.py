"""The blocks of a state as compiled code reads them: see `kleene.kernels.minplus.cpu.table`.

Not every state can be read so: its cells must be machine's numbers in host memory, and halves of
sums of them must be exact, as they are between integers, or rounded upwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from kleene.algebra.block import Block, Kinds, known
from kleene.algebra.blocks import Blocks, distinct
from kleene.algebra.cells import FLOAT, INDEX, grouped, widened
from kleene.algebra.residence import Cells
from kleene.kernels.minplus import size
from kleene.kernels.minplus.cpu import components as compiled
from kleene.kernels.minplus.cpu import entry_points
from kleene.kernels.minplus.cpu.compiled import outer_of
from kleene.kernels.minplus.cpu.partition import table_of as rows_of


@dataclass(slots=True, eq=False)
class Table:
    """Some variables of a state, in ascending order; `dtype` is None where it cannot be read."""

    names: tuple[str, ...]
    dtype: np.dtype[Any] | None
    outer: Any  # what compiled code must know of that type
    kinds: Kinds  # of the variables of all parts
    rows: Any
    parts: tuple[Block, ...]
    blocks: frozenset[Block]  # the parts
    cells: tuple[Cells, ...]  # those of the parts in `dtype`: the rows have their addresses

    def widened(self, dtype: Any) -> Table:
        """Return the table with elements no narrower than `dtype`, if there is one."""
        if dtype is self.dtype or dtype is None or self.dtype is None:
            return self
        if self.dtype.itemsize >= dtype.itemsize:
            return self
        sizes = np.array([len(part.cells) for part in self.parts])
        rows, cells = self.rows.copy(), np.empty(int(sizes.sum()), dtype)
        outer = outer_of(dtype)
        compiled.widen(cells, rows, sizes, self.outer, outer)
        return replace(self, dtype=dtype, outer=outer, rows=rows, cells=(cells,))

    def whole(self) -> Cells:
        """Return the cells of all variables."""
        out = np.empty(size(len(self.names)), self.dtype)
        compiled.assemble(out, self.rows, self.outer)
        return out

    def joined(self, other: Table, related: int) -> list[tuple[tuple[str, ...], Cells]]:
        """Return the names and cells of the groups in the least octagon around both.

        Which variables are in a group `related` says: see `kleene.kernels.minplus.cpu.groups`.
        """
        names, n = self.names, len(self.names)
        if self.is_block() and other.is_block() and (related or n == 1):
            return [(names, np.maximum(self.cells[0], other.cells[0]))]
        out, labels = np.empty(size(n), self.dtype), np.empty(n, INDEX)
        if compiled.join(out, labels, self.rows, other.rows, related, self.outer) == 1:
            return [(names, out)]
        found, start = [], 0
        for at in grouped(labels):
            end = start + size(len(at))
            found.append((tuple(names[k] for k in at), out[start:end].copy()))
            start = end
        return found

    def is_block(self) -> bool:
        """Return whether the variables are all those of one block."""
        return len(self.parts) == 1 and are_same(self.parts[0].names, self.names)

    def groups(self, other: Table, signs: Any = None) -> list[Sequence[int]]:
        """Return the variables by their numbers, grouped as a join with `other` relates them.

        `signs` say of each end whether its bound grows, shrinks or neither: 1, -1 or 0.
        """
        n = len(self.names)
        labels = np.empty(n, INDEX)
        if signs is None:
            n_groups = compiled.group_moving(labels, self.rows, other.rows, self.outer)
        else:
            n_groups = compiled.group(labels, self.rows, other.rows, signs)
        return [range(n)] if n_groups == 1 else list(grouped(labels))

    def is_within(self, m: Cells) -> bool:
        """Return whether no bound of `m`, of a type no wider, is less than that of here."""
        assert self.dtype is not None
        return compiled.covers(widened(m, self.dtype), self.rows, self.outer)


def table_of(blocks: Blocks, names: tuple[str, ...] | None = None) -> Table:
    """Return a table of these variables or of all."""
    parts = tuple(blocks if names is None else distinct(map(blocks.get, names)))
    names, layout = _layout(tuple([part.names for part in parts]), names)
    dtype, rows = _dtype_of(parts), layout.copy()
    outer, cells = None, ()
    if dtype is not None:
        outer, cells = outer_of(dtype), tuple([widened(part.cells, dtype) for part in parts])
        rows[2 : 2 + len(parts)] = list(map(_address, parts, cells))
    return Table(names, dtype, outer, _kinds_of(parts), rows, parts, frozenset(parts), cells)


@lru_cache(256)
def _layout(
    groups: tuple[tuple[str, ...], ...], names: tuple[str, ...] | None
) -> tuple[tuple[str, ...], Any]:
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


def are_same(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Return whether names are the same; mostly they are one object."""
    return a is b or a == b


def _kinds_of(parts: tuple[Block, ...]) -> Kinds:
    tighten = all(part.tighten for part in parts)
    return Kinds(tighten, not tighten and any(part.is_mixed or part.tighten for part in parts))


def _dtype_of(parts: tuple[Block, ...]) -> Any:
    """Return the type of element that all parts can have, if compiled code can read them."""
    dtype = None
    for part in parts:
        if not part.is_plain or not (part.tighten or part.cells.dtype == FLOAT):
            return None
        if dtype is None or part.cells.dtype.itemsize > dtype.itemsize:
            dtype = part.cells.dtype
    return dtype


def _address(part: Block, m: Cells) -> int:
    return part.address() if m is part.cells else entry_points.address(m)
