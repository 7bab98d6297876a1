"""The blocks of a state as compiled code reads them: see `kleene.kernels.minplus.cpu.blocks`.

Not every state can be read so: its cells must be machine's numbers in host memory, and halves of
sums of them must be exact, as they are between integers, or rounded upwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kleene.algebra.block import Block, Kinds, distinct
from kleene.algebra.cells import FLOAT, grouped, widened
from kleene.algebra.residence import Cells
from kleene.kernels.minplus import size
from kleene.kernels.minplus.cpu import blocks as compiled
from kleene.kernels.minplus.cpu import groups
from kleene.kernels.minplus.cpu.types import outer_of


class Table(NamedTuple):
    """Some variables of a state, in ascending order; `dtype` is None where it cannot be read."""

    names: tuple[str, ...]
    dtype: np.dtype[Any] | None
    kinds: Kinds  # of the variables of all parts
    rows: Any
    parts: tuple[Block, ...]
    blocks: frozenset[Block]  # the parts
    cells: tuple[Cells, ...]  # those of the parts in `dtype`: the rows have their addresses

    def only(self, at: Sequence[int]) -> Table:
        """Return the table of some of its variables, by their numbers."""
        chosen = np.array(at, np.int64)
        n, end = len(self.names), 2 + len(self.parts)
        slots, places = self.rows[end : end + n], self.rows[end + n :]
        rows = np.concatenate([self.rows[:end], slots[chosen], places[chosen]])
        rows[0] = len(at)
        names = tuple(self.names[k] for k in at)
        return self._replace(names=names, rows=rows)

    def widened(self, dtype: Any) -> Table:
        """Return the table with elements no narrower than `dtype`, if there is one."""
        if self.dtype is None or dtype is None or self.dtype.itemsize >= dtype.itemsize:
            return self
        sizes = np.array([len(part.cells) for part in self.parts])
        rows, cells = self.rows.copy(), np.empty(int(sizes.sum()), dtype)
        compiled.widen(cells, rows, sizes, outer_of(self.dtype), outer_of(dtype))
        return self._replace(dtype=dtype, rows=rows, cells=(cells,))

    def whole(self) -> Cells:
        """Return the cells of all variables."""
        out = np.empty(size(len(self.names)), self.dtype)
        compiled.assemble(out, self.rows, outer_of(out.dtype))
        return out

    def joined(self, other: Table) -> Cells:
        """Return the cells of the least octagon around both."""
        if self.is_block() and other.is_block():
            return np.maximum(self.cells[0], other.cells[0])
        out = np.empty(size(len(self.names)), self.dtype)
        compiled.join(out, self.rows, other.rows, outer_of(out.dtype))
        return out

    def is_block(self) -> bool:
        """Return whether the variables are all those of one block."""
        return len(self.parts) == 1 and len(self.parts[0].names) == len(self.names)

    def groups(self, other: Table, signs: Any = None) -> list[Sequence[int]]:
        """Return the variables by their numbers, grouped as a join with `other` relates them.

        `signs` say of each end whether its bound grows, shrinks or neither: 1, -1 or 0.
        """
        labels = np.empty(len(self.names), np.int64)
        if signs is None and self.dtype is not None:
            n_groups = groups.group_moving(labels, self.rows, other.rows, outer_of(self.dtype))
        else:
            n_groups = groups.group(labels, self.rows, other.rows, signs)
        if n_groups == 1:
            return [range(len(labels))]
        return list(grouped(labels))

    def is_within(self, m: Cells) -> bool:
        """Return whether no bound of `m`, of a type no wider, is less than that of here."""
        assert self.dtype is not None
        return bool(compiled.covers(widened(m, self.dtype), self.rows, outer_of(self.dtype)))


def table_of(blocks: Mapping[str, Block], names: tuple[str, ...] | None = None) -> Table:
    """Return a table of these variables or of all."""
    found = blocks.values() if names is None else map(blocks.get, names)
    parts = tuple(distinct(found))
    if names is None:
        names = parts[0].names if len(parts) == 1 else tuple(sorted(blocks))
    dtype = _dtype_of(parts)
    cells = () if dtype is None else tuple(widened(part.cells, dtype) for part in parts)
    addresses = [0] * len(parts) if dtype is None else map(_address, parts, cells)
    slots, places = _where(parts, names)
    rows = np.array([len(names), len(parts), *addresses, *slots, *places])
    return Table(names, dtype, _kinds_of(parts), rows, parts, frozenset(parts), cells)


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
    return part.address() if m is part.cells else m.ctypes.data


def _where(
    parts: tuple[Block, ...], names: tuple[str, ...]
) -> tuple[list[int] | range, list[int] | range]:
    """Return for each variable the number of its block and its place in it."""
    if len(parts) == 1 and are_same(parts[0].names, names):
        return [0] * len(names), range(len(names))
    at = {name: k for k, name in enumerate(names)}
    slots, places = [-1] * len(names), [0] * len(names)
    for slot, part in enumerate(parts):
        for place, name in enumerate(part.names):
            k = at.get(name)
            if k is not None:
                slots[k], places[k] = slot, place
    return slots, places
