"""Constraints on C pointers: the layer above `ConstraintBuilder` that knows bytes and layouts.

An offset in an allocation is a byte here. The objects that bytes belong to exist once all layouts
and offset edges of the program are known: `generated` has them laid out then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.analyses.points_to.memory_model import AllocationKind, Allocations, Locations
from kleene.analyses.points_to.offset_edges import Way
from kleene.base.arrays import I32, I64, Ints, offsets_of, ragged
from kleene.solvers.inclusion import ANY, BY_LAYOUT, NONE, Problem
from kleene.solvers.inclusion.builder import (
    ConstraintBuilder,
    Images,
    Origins,
    broadcast_columns,
)

if TYPE_CHECKING:
    from kleene.analyses.points_to.images import Layout
    from kleene.analyses.points_to.layouts import Shapes
    from kleene.analyses.points_to.offset_edges import Moves


class Generated(NamedTuple):
    """What was added, with the objects of memory."""

    problem: Problem
    allocations: Allocations
    locations: Locations
    origins: Origins


class PointerBuilder(ConstraintBuilder):
    """Adds constraints on the values of a program, which are the first nodes.

    Every argument is a column or one number for all rows. Origins are instructions, -1 for none.
    """

    def __init__(self, n_values: int, moves: Moves) -> None:
        super().__init__(n_values, allocation=("kind", "site", "callee", "type", "n_bytes", "part"))
        self.has_unknown = False  # some pointer is moved by no known amount
        self._moves = moves

    def allocate(
        self,
        kind: AllocationKind,
        site: ArrayLike,
        shape: ArrayLike,
        *,
        callee: ArrayLike = -1,
        type: ArrayLike = -1,
        n_bytes: ArrayLike = -1,
        part: ArrayLike = 0,
    ) -> I64:
        """Return new allocations, one for each site."""
        return self.allocations(shape, kind, site, callee, type, n_bytes, part)

    def anywhere(self, destination: ArrayLike, source: ArrayLike, origin: ArrayLike = -1) -> None:
        """Let destinations point anywhere into what the sources point to."""
        self.has_unknown = True
        self.offset(destination, source, ANY, origin)

    def move(
        self,
        destination: ArrayLike,
        source: ArrayLike,
        constant: ArrayLike,
        stride: ArrayLike = 0,
        origin: ArrayLike = -1,
    ) -> None:
        """Let destinations point `constant` bytes and any number of strides behind the sources."""
        to, source, constant, stride, origin = broadcast_columns(
            destination, source, constant, stride, origin
        )
        ways = np.full(len(to), Way.BYTES, np.int64)
        self.reach(to, source, constant, stride.reshape(-1, 1), ways, origin)

    def reach(
        self,
        destination: Ints,
        source: Ints,
        constant: Ints,
        strides: Ints,
        ways: I64,
        origin: Ints,
    ) -> None:
        """Do the same with several strides each, a row of them; -1 in its first: anywhere."""
        distinct, index = distinct_rows(np.column_stack([ways, constant, strides]))
        amounts = np.array([self._amount(*row) for row in distinct.tolist()], np.int64)
        amount = amounts[index]
        stays = amount == 0
        self.copy(destination[stays], source[stays], origin[stays])
        self.offset(*(c[~stays] for c in (destination, source, amount, origin)))

    def _amount(self, way: int, constant: int, *strides: int) -> int:
        """Return the amount of an offset that leads so far."""
        if strides[0] < 0:
            self.has_unknown = True
            return ANY
        if not constant and not any(strides):
            return 0
        return BY_LAYOUT - self._moves.number(constant, *strides, way=Way(way))

    def moved(
        self, source: ArrayLike, constant: ArrayLike, stride: ArrayLike, origin: ArrayLike
    ) -> NDArray[Any]:
        """Return nodes that point `constant` bytes and any number of strides behind the sources."""
        source, constant, stride, origin = broadcast_columns(source, constant, stride, origin)
        stays = (constant == 0) & (stride == 0)
        found = source.copy()
        found[~stays] = self.nodes(int(np.count_nonzero(~stays)))
        if not stays.all():
            self.move(*(c[~stays] for c in (found, source, constant, stride, origin)))
        return found

    def called(self, callee: ArrayLike, n_arguments: ArrayLike, origin: ArrayLike) -> I64:
        """Return nodes that hold the functions among the callees that so many arguments suffice."""
        callee, n_arguments, origin = broadcast_columns(callee, n_arguments, origin)
        distinct, index = np.unique(n_arguments, return_inverse=True)
        moves = np.array([self._moves.called_with(n) for n in distinct.tolist()], np.int64)
        found = self.nodes(len(callee))
        self.offset(found, callee, BY_LAYOUT - moves[index.reshape(-1)], origin)
        return found

    def somewhere(self, source: ArrayLike, origin: ArrayLike = -1) -> I64:
        """Return nodes that point anywhere into what the sources point to."""
        source, origin = broadcast_columns(source, origin)
        found = self.nodes(len(source))
        self.anywhere(found, source, origin)
        return found

    def loaded(self, pointer: ArrayLike, origin: ArrayLike = -1) -> I64:
        """Return nodes that hold what is in memory at the pointers."""
        pointer, origin = broadcast_columns(pointer, origin)
        found = self.nodes(len(pointer))
        self.load(found, pointer, origin)
        return found

    def generated(self, shapes: Shapes) -> Generated:
        """Return everything added, with the objects of the layouts that are there."""
        used, shape = np.unique(self.layouts(), return_inverse=True)
        layout = shapes.finish(self._moves, only=used.tolist(), has_unknown=self.has_unknown)
        memory = _Memory(shape, layout, self.n_nodes)
        images = Images(memory.layout_of, layout.image_rows, layout.image_offsets, layout.images)
        problem, origins = self.finish(memory, images)
        notes = self.notes("allocation")
        allocations = Allocations(
            kind=notes.pop("kind").astype(np.uint8),
            n_bytes=notes.pop("n_bytes").astype(np.int64),
            **{name: column.astype(np.int32) for name, column in notes.items()},
        )
        return Generated(problem, allocations, memory.places(), origins)


class _Memory:
    """The objects of all allocations; their contents nodes come behind all other nodes."""

    def __init__(self, shape: I64, layout: Layout, n_nodes: int) -> None:
        self.layout_of, self._layout = shape.astype(np.int32), layout
        self.offsets = offsets_of(layout.n_places[shape]).astype(np.int32)
        self._first_contents = n_nodes + offsets_of(layout.n_classes[shape])
        self.n_nodes = int(self._first_contents[-1])
        offsets = layout.place_offsets
        self._owner, self._row = ragged(offsets[shape], offsets[shape + 1])
        inside = layout.contents_class[self._row]
        contents = np.where(inside < 0, NONE, self._first_contents[self._owner] + inside)
        self.contents: I32 = contents.astype(np.int32)

    def places(self) -> Locations:
        """Return every place."""
        layout, row = self._layout, self._row
        owner = self._owner.astype(np.int32)
        return Locations(owner, layout.byte[row], layout.n_bytes[row], layout.stride[row])

    def find(self, allocation: Ints, offset: Ints) -> Ints:
        """Return the object at a byte of each allocation."""
        inside = self._layout.places(self.layout_of[allocation], offset)
        assert (inside >= 0).all(), "an address lies outside its allocation"
        return self.offsets[allocation] + inside

    def contents_at(self, allocation: Ints, offset: Ints) -> tuple[Ints, Ints]:
        """Return pairs (row, contents node): of one place, or of all where none has that byte."""
        exact = offset >= 0
        inside = np.full(len(offset), -1, np.int32)
        inside[exact] = self._layout.places(self.layout_of[allocation[exact]], offset[exact])
        node = self.contents[self.offsets[allocation] + np.maximum(inside, 0)]
        exact = (inside >= 0) & (node >= 0)
        rest = allocation[~exact]
        owner, everywhere = ragged(self._first_contents[rest], self._first_contents[rest + 1])
        row = np.concatenate([np.flatnonzero(exact), np.flatnonzero(~exact)[owner]])
        return row, np.concatenate([node[exact], everywhere])


def distinct_rows(rows: Ints) -> tuple[Ints, I64]:
    """Return the distinct rows, and which of them each row is."""
    mixed = rows.astype(np.int64) @ (0x9E3779B97F4A7C1 ** np.arange(1, rows.shape[1] + 1))
    _, first, index = np.unique(mixed, return_index=True, return_inverse=True)
    if (rows[first[index]] == rows).all():
        return rows[first], index
    distinct, index = np.unique(rows, axis=0, return_inverse=True)  # two rows mixed alike
    return distinct, index.reshape(-1)
