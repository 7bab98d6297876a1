"""How storage of each type is cut into places: the shapes of allocations.

A shape is described by *starts* and *arrays*. A start is a byte at which something begins: a scalar
field, or a cell of storage whose type is not known. An array says that what lies in its first
element lies in its other elements too, so starts are listed for first elements only. Each array
around a start that has more than one element doubles the start's places: one in the first element
(exact), one in the others (repeating). All places of a start contain the same.

- Arrays of arrays are one array of the innermost elements.
- Unions, and storage of unknown type, have cells: exact ones up to some size, then an array of
  8-byte cells.
- Storage of unknown size ends with an array without end. That is the storage itself, a struct's
  last array if it has one element or none (the ways to write a flexible array member), or cells.
- Every byte belongs to a start. A pointer to a byte at which nothing begins is one to the place
  around it and to the blur.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from kleene.analyses.points_to.images import Layout, lay_out
from kleene.analyses.points_to.object_layout import (
    CELL,
    RAW_BYTES,
    SIZED_RAW_BYTES,
    UNBOUNDED,
    Cutter,
    Listed,
    Shape,
    Spot,
    Start,
    add_raw,
    raw,
)
from kleene.analyses.points_to.offset_edges import Moves
from kleene.base.arrays import I32
from kleene.ir.codes import TypeKind
from kleene.ir.tables import Strings, Types


class Shapes:
    """Collects the shapes of a program, each distinct one once; ids are dense."""

    def __init__(self, types: Types, strings: Strings) -> None:
        self.types = Listed(types)
        self._cutter = Cutter(self.types, strings)
        self._ids: dict[tuple[object, ...], int] = {}
        self._shapes: list[Shape] = []

    @cached_property
    def innermost(self) -> I32:
        """For each type, what it is an array of, at any depth; or itself."""
        types = range(len(self.types.kind))
        return np.array([self._cutter.flattened(type_id)[0] for type_id in types], np.int32)

    def plain(self, type_id: int) -> int:
        """Return the shape of storage of exactly this type; without a size it is raw."""
        return self._typed("plain", type_id, unroll=False)

    def unrolled(self, type_id: int) -> int:
        """Return the shape of storage of this type with arrays element by element."""
        return self._typed("unrolled", type_id, unroll=True)

    def repeated(self, type_id: int) -> int:
        """Return the shape of an unknown number of elements of this type."""
        if self.types.size[type_id] <= 0 and self.types.kind[type_id] != TypeKind.ARRAY:
            return self.raw(-1)
        key = ("repeated", type_id)
        return self._ids[key] if key in self._ids else self._put(key, self._cutter.many(type_id))

    def raw(self, n_bytes: int, offsets: Sequence[int] = ()) -> int:
        """Return the shape of storage of unknown type: cells, and places at `offsets` too.

        `n_bytes` is -1 where the size is not known.
        """
        end = UNBOUNDED if n_bytes < 0 else max(n_bytes, 1)
        exact = SIZED_RAW_BYTES if end <= SIZED_RAW_BYTES else RAW_BYTES
        wanted = {offset for offset in offsets if 0 <= offset < end}
        inside = tuple(sorted(o for o in wanted if o % CELL or o >= exact))
        key = ("raw", end, inside)
        return self._ids[key] if key in self._ids else self._put(key, raw(end, inside))

    def merged(self, type_ids: Sequence[int], offsets: Sequence[int], n_bytes: int) -> int:
        """Return the shape of heap storage that is used as each of the types, and at `offsets`.

        The first type that has a place wherever the others have one speaks for all; where none
        does, storage is raw, with places at all their starts.
        """
        wanted = sorted(set(type_ids), key=lambda t: (-self.types.size[t], t))
        sized = [t for t in wanted if self.types.size[t] > 0]
        key = ("merged", tuple(sized), tuple(sorted(set(offsets))), n_bytes)
        if key not in self._ids:
            self._ids[key] = self._merge(sized, offsets, n_bytes)
        return self._ids[key]

    def starts_of(self, type_ids: Iterable[int], offsets: Iterable[int] = ()) -> list[int]:
        """Return the bytes at which the types, or the code, have something."""
        found = {offset for offset in offsets if offset >= 0}
        for type_id in type_ids:
            shape = self._shapes[self.plain(type_id)]
            found |= {start.byte for start in shape.starts}
        return sorted(found)

    def cells(self) -> int:
        """Return the shape of one place that repeats every 8 bytes."""
        key = ("cells",)
        if key in self._ids:
            return self._ids[key]
        shape = Shape(UNBOUNDED)
        shape.fold_cells(0, UNBOUNDED, -1)
        return self._put(key, shape)

    def function(self, n_arguments: int) -> int:
        """Return the shape of a function (-1: of variable arguments): one place, no contents."""
        key = ("function", n_arguments)
        if key in self._ids:
            return self._ids[key]
        shape = Shape(1, [], [Start(0, 1, -1)], has_contents=False, n_arguments=n_arguments)
        return self._put(key, shape)

    def finish(
        self, moves: Moves, *, only: Iterable[int] | None = None, has_unknown: bool = True
    ) -> Layout:
        """Return all shapes, or only these, as arrays, with what each move does in each.

        `has_unknown` says that the program also moves pointers by `ANY`: then a shape has a blur
        even if no move of `moves` needs it.
        """
        shapes = self._shapes if only is None else [self._shapes[shape] for shape in only]
        return lay_out(shapes, moves, has_unknown)

    def _put(self, key: tuple[object, ...], shape: Shape) -> int:
        self._ids[key] = len(self._shapes)
        self._shapes.append(shape)
        return self._ids[key]

    def _typed(self, word: str, type_id: int, *, unroll: bool) -> int:
        key = (word, type_id)
        if key in self._ids:
            return self._ids[key]
        n_bytes = self.types.size[type_id]
        if n_bytes < 0:
            return self.raw(-1)
        if n_bytes == 0:  # `extern T a[]`, whose end is elsewhere
            is_array = self.types.kind[type_id] == TypeKind.ARRAY
            return self.repeated(type_id) if is_array else self.raw(1)
        return self._put(key, self._cutter.one(type_id, unroll=unroll))

    def _merge(self, type_ids: list[int], offsets: Iterable[int], n_bytes: int) -> int:
        if not type_ids:
            return self.raw(n_bytes, sorted(offsets))
        for type_id in type_ids:
            if self._speaks_for(type_id, type_ids, offsets):
                return self._as_heap(type_id, n_bytes)
        found = self.starts_of(type_ids, offsets)
        return self.raw(n_bytes, found)

    def _speaks_for(self, type_id: int, others: Iterable[int], offsets: Iterable[int]) -> bool:
        """Return whether a type has what the other types have, and places at `offsets`."""
        shape = self._shapes[self.plain(type_id)]
        own = shape.outline()
        outlines = (self._shapes[self.plain(other)].outline() for other in others)
        return all(o <= own for o in outlines) and all(shape.has_start(o) for o in offsets)

    def _as_heap(self, type_id: int, n_bytes: int) -> int:
        """Return the shape of `n_bytes` (-1: unknown) of storage that holds this type."""
        size = self.types.size[type_id]
        if n_bytes == size:
            return self.plain(type_id)
        if n_bytes < 0 or n_bytes % size == 0:
            return self.repeated(type_id)
        key = ("prefix", type_id, n_bytes)
        if key in self._ids:
            return self._ids[key]
        if n_bytes < size:
            return self.raw(n_bytes, self.starts_of([type_id]))
        shape = Shape(n_bytes)
        self._cutter.cut(shape, type_id, Spot())
        add_raw(shape, size, n_bytes)
        return self._put(key, shape)
