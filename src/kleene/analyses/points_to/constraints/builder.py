"""Constraints on C pointers: the layer above `ConstraintBuilder` that knows bytes and layouts.

An offset in an allocation is a byte here. The objects that bytes belong to exist once all layouts
and offset edges of the program are known: `generated` has them laid out then.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.images import LocationTable
from kleene.analyses.points_to.layouts import Layouts
from kleene.analyses.points_to.memory_model import AllocationKind, Allocations, Locations
from kleene.analyses.points_to.offset_edges import EdgeKind, OffsetEdges
from kleene.base.arrays import I32, I64, Ints, offsets_of, ragged
from kleene.solvers.inclusion import ANY, BY_LAYOUT, NONE, Problem
from kleene.solvers.inclusion.builder import ConstraintBuilder, Images, Origins, broadcast_columns

MOST_WORDS = 64  # pointers of a copy; larger ones go from anywhere to anywhere


class PointerBuilder(ConstraintBuilder):
    """Adds constraints on the values of a program, which are the first nodes.

    Every argument is a column or one number for all rows. Origins are instructions, -1 for none.
    """

    def __init__(self, columns: Columns, edges: OffsetEdges) -> None:
        program, notes = columns.program, ("kind", "site", "callee", "type", "n_bytes", "part")
        super().__init__(program.n_values, allocation=notes)
        self.columns, self.edges = columns, edges
        self.object_layouts = Layouts(program.types, program.strings)
        self.has_unknown = False  # some offset is of no known amount
        self.untested = np.arange(program.n_values)  # per value: its node before a type test

    def allocate(
        self,
        kind: AllocationKind,
        site: ArrayLike,
        layout: ArrayLike,
        *,
        callee: ArrayLike = -1,
        type: ArrayLike = -1,
        n_bytes: ArrayLike = -1,
        part: ArrayLike = 0,
    ) -> I64:
        """Return new allocations, one for each site."""
        return self.allocations(layout, kind, site, callee, type, n_bytes, part)

    def unknown_offset(
        self, destination: ArrayLike, source: ArrayLike, origin: ArrayLike = -1
    ) -> None:
        """Let destinations point anywhere into what the sources point to."""
        self.has_unknown = True
        self.offset(destination, source, ANY, origin)

    def byte_offset(
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
        kinds = np.full(len(to), EdgeKind.BYTES, np.int64)
        self.offset_edges(to, source, constant, stride.reshape(-1, 1), kinds, origin)

    def offset_edges(
        self,
        destination: Ints,
        source: Ints,
        constant: Ints,
        strides: Ints,
        kinds: I64,
        origin: Ints,
    ) -> None:
        """Do the same with a row of strides for each pointer; -1 in its first: anywhere."""
        distinct, index = distinct_rows(np.column_stack([kinds, constant, strides]))
        amounts = np.array([self._amount(*row) for row in distinct.tolist()], np.int64)
        amount = amounts[index]
        stays = amount == 0
        self.copy(destination[stays], source[stays], origin[stays])
        self.offset(*(c[~stays] for c in (destination, source, amount, origin)))

    def _amount(self, kind: int, constant: int, *strides: int) -> int:
        """Return the amount, as a `Problem` has it, of an edge."""
        if strides[0] < 0:
            self.has_unknown = True
            return ANY
        if not constant and not any(strides):
            return 0
        return BY_LAYOUT - self.edges.number(constant, *strides, kind=EdgeKind(kind))

    def at_offset(
        self, source: ArrayLike, constant: ArrayLike, stride: ArrayLike, origin: ArrayLike
    ) -> NDArray[Any]:
        """Return nodes that point `constant` bytes and any number of strides behind the sources."""
        source, constant, stride, origin = broadcast_columns(source, constant, stride, origin)
        stays = (constant == 0) & (stride == 0)
        found = source.copy()
        found[~stays] = self.nodes(int(np.count_nonzero(~stays)))
        if not stays.all():
            self.byte_offset(*(c[~stays] for c in (found, source, constant, stride, origin)))
        return found

    def callable_with(self, callee: I64, signature: I64, slot: I64, origin: I64) -> I64:
        """Return nodes that hold those of the callees that calls reach: see `is_reached`."""
        distinct, index = distinct_rows(np.column_stack([signature, slot]))
        edges = np.array([self.edges.called_with(*call) for call in distinct.tolist()], np.int64)
        found = self.nodes(len(callee))
        self.offset(found, callee, BY_LAYOUT - edges[index.reshape(-1)], origin)
        return found

    def of_class(self, destination: ArrayLike, source: ArrayLike, class_: Ints) -> None:
        """Let destinations hold what of the sources is a virtual table of a class (a symbol)."""
        distinct, index = np.unique(class_, return_inverse=True)
        edges = np.array([self.edges.of_class(c) for c in distinct.tolist()], np.int64)
        self.offset(destination, source, BY_LAYOUT - edges[index.reshape(-1)])

    def at_unknown_offset(self, source: ArrayLike, origin: ArrayLike = -1) -> I64:
        """Return nodes that point anywhere into what the sources point to."""
        source, origin = broadcast_columns(source, origin)
        found = self.nodes(len(source))
        self.unknown_offset(found, source, origin)
        return found

    def loaded(self, pointer: ArrayLike, origin: ArrayLike = -1) -> I64:
        """Return nodes that hold what is in memory at the pointers."""
        pointer, origin = broadcast_columns(pointer, origin)
        found = self.nodes(len(pointer))
        self.load(found, pointer, origin)
        return found

    def spanning(
        self, source: Ints, constant: Ints, stride: Ints, n_bytes: Ints, origin: Ints
    ) -> I64:
        """Return nodes that point to the first and to the last of `n_bytes` bytes behind sources.

        The bytes begin `constant` bytes and any number of strides behind the sources. They are no
        more than a word has, so one of the two lies in every word that they lie in.
        """
        repeats = np.flatnonzero(stride)  # the last byte lies in no element: it begins none
        source, constant = source.copy(), constant.copy()
        source[repeats] = self.at_offset(*(c[repeats] for c in (source, constant, stride, origin)))
        constant[repeats] = 0
        found = self.nodes(len(source))
        self.byte_offset(found, source, constant, 0, origin)
        self.byte_offset(found, source, constant + n_bytes - 1, 0, origin)
        return found

    def copy_bytes(self, to: Ints, source: Ints, n_bytes: Ints, stride: Ints, origin: Ints) -> None:
        """Add copies of `n_bytes` bytes, once (stride 0) or any number of times, `stride` apart.

        A negative size is any number of bytes. Nothing is known of where words begin: of a part of
        word size, two words of memory may have some bytes.
        """
        word = self.columns.word_bytes
        is_large = (n_bytes < 0) | (n_bytes > MOST_WORDS * word)
        from_, into, there = source[is_large], to[is_large], origin[is_large]
        value = self.loaded(self.at_unknown_offset(from_, there), there)
        self.store(self.at_unknown_offset(into, there), value, there)
        n_words = np.where(is_large, 0, -(-n_bytes // word))
        owner, number = ragged(np.zeros_like(n_words), n_words)
        byte, stride, origin = number * word, stride[owner], origin[owner]
        size = np.minimum(n_bytes[owner] - byte, word)
        value = self.loaded(self.spanning(source[owner], byte, stride, size, origin), origin)
        self.store(self.spanning(to[owner], byte, stride, size, origin), value, origin)

    def generated(self) -> tuple[Problem, Allocations, Locations, Origins]:
        """Return everything added, with the objects of the layouts that are there."""
        used, layout = np.unique(self.layouts(), return_inverse=True)
        table = self.object_layouts.finish(
            self.edges, only=used.tolist(), has_unknown=self.has_unknown
        )
        memory = _Memory(layout, table, self.n_nodes, self.columns.word_bytes)
        images = Images(memory.layout_of, table.image_rows, table.image_offsets, table.images)
        problem, origins = self.finish(memory, images)
        notes = self.notes("allocation")
        allocations = Allocations(
            kind=notes.pop("kind").astype(np.uint8),
            n_bytes=notes.pop("n_bytes").astype(np.int64),
            **{name: column.astype(np.int32) for name, column in notes.items()},
        )
        return problem, allocations, memory.locations(), origins


class _Memory:
    """The objects of all allocations; their contents nodes come behind all other nodes."""

    def __init__(self, layout: I64, table: LocationTable, n_nodes: int, word_bytes: int) -> None:
        self.layout_of, self._table = layout.astype(np.int32), table
        self._word_bytes = word_bytes
        self.offsets = offsets_of(table.n_locations[layout]).astype(np.int32)
        self._first_contents = n_nodes + offsets_of(table.n_classes[layout])
        self.n_nodes = int(self._first_contents[-1])
        offsets = table.location_offsets
        self._owner, self._row = ragged(offsets[layout], offsets[layout + 1])
        inside = table.contents_class[self._row]
        contents = np.where(inside < 0, NONE, self._first_contents[self._owner] + inside)
        self.contents: I32 = contents.astype(np.int32)

    def locations(self) -> Locations:
        """Return every location."""
        table, row = self._table, self._row
        owner = self._owner.astype(np.int32)
        return Locations(owner, table.byte[row], table.n_bytes[row], table.stride[row])

    def find(self, allocation: Ints, offset: Ints) -> Ints:
        """Return the object at a byte of each allocation."""
        inside = self._table.locations(self.layout_of[allocation], offset)
        assert (inside >= 0).all(), "an address lies outside its allocation"
        return self.offsets[allocation] + inside

    def contents_at(self, allocation: Ints, offset: Ints) -> tuple[Ints, Ints]:
        """Return pairs (row, contents node) of where a pointer lies; all where that is not known.

        A pointer that begins inside of a word also lies in the next one.
        """
        rows, word = np.arange(len(offset)), self._word_bytes
        node = self._contents_around(allocation, offset)
        is_open, straddles = node < 0, (offset >= 0) & (offset % word != 0)
        owners = allocation[is_open]
        owner, everywhere = ragged(self._first_contents[owners], self._first_contents[owners + 1])
        last = self._contents_around(allocation[straddles], offset[straddles] + word - 1)
        row = [rows[~is_open], rows[is_open][owner], rows[straddles][last >= 0]]
        return np.concatenate(row), np.concatenate([node[~is_open], everywhere, last[last >= 0]])

    def _contents_around(self, allocation: Ints, offset: Ints) -> I32:
        """Return the contents node of the field around a byte of each allocation, or NONE."""
        inside = self._table.locations(self.layout_of[allocation], offset, is_around=True)
        node = self.contents[self.offsets[allocation] + np.maximum(inside, 0)]
        return np.where(inside >= 0, node, np.int32(NONE))


def distinct_rows(rows: Ints) -> tuple[Ints, I64]:
    """Return the distinct rows, and which of them each row is."""
    mixed = rows.astype(np.int64) @ (0x9E3779B97F4A7C1 ** np.arange(1, rows.shape[1] + 1))
    _, first, index = np.unique(mixed, return_index=True, return_inverse=True)
    if (rows[first[index]] == rows).all():
        return rows[first], index
    distinct, index = np.unique(rows, axis=0, return_inverse=True)  # two rows mixed alike
    return distinct, index.reshape(-1)
