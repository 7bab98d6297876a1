"""The layouts of a program's allocations, each distinct one once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np

from kleene.analyses.points_to.images import LocationTable, location_table
from kleene.analyses.points_to.object_layout import (
    CELL,
    RAW_BYTES,
    SIZED_RAW_BYTES,
    UNBOUNDED,
    Listed,
    ObjectLayout,
    TypeLayouts,
    endless_cells,
    function,
    raw,
    raw_elements,
)
from kleene.analyses.points_to.offset_edges import OffsetEdges
from kleene.base.arrays import I32, I64
from kleene.ir.codes import TypeKind
from kleene.ir.tables import Strings, Types

_OF_TYPE = ("repeated", "prefix")  # first words of keys that a type follows


class Layouts:
    """Numbers layouts as they are asked for, by type, size or use; ids are dense."""

    def __init__(self, types: Types, strings: Strings) -> None:
        self.types = Listed(types)
        self._type_layouts = TypeLayouts(self.types, strings)
        self._ids: dict[tuple[object, ...], int] = {}
        self._layouts: list[ObjectLayout] = []

    @cached_property
    def innermost(self) -> I32:
        """For each type, what it is an array of, at any depth; or itself."""
        types = range(len(self.types.kind))
        return np.array([self._type_layouts.flattened(type_id)[0] for type_id in types], np.int32)

    def plain(self, type_id: int) -> int:
        """Return the layout of storage of exactly this type; without a size it is raw."""
        return self._typed(type_id, unroll=False)

    def unrolled(self, type_id: int) -> int:
        """Return the layout of storage of this type with arrays element by element."""
        return self._typed(type_id, unroll=True)

    def virtual_table(self, type_id: int, points: Iterable[tuple[int, int]]) -> int:
        """Return the layout of a virtual table of this type, given (byte, class) of its points.

        Without any, there is no saying which classes it is of.
        """
        found = tuple(points)
        return self._kept(("table", type_id, found), lambda: self._table(type_id, found))

    def repeated(self, type_id: int) -> int:
        """Return the layout of an unknown number of elements of this type."""
        if self.types.size[type_id] <= 0 and self.types.kind[type_id] != TypeKind.ARRAY:
            return self.raw(-1)
        return self._kept(("repeated", type_id), lambda: self._type_layouts.many(type_id))

    def raw(self, n_bytes: int, offsets: Sequence[int] = ()) -> int:
        """Return the layout of storage of unknown type: cells, and fields at `offsets` too.

        `n_bytes` is -1 where the size is not known.
        """
        end = UNBOUNDED if n_bytes < 0 else max(n_bytes, 1)
        exact = SIZED_RAW_BYTES if end <= SIZED_RAW_BYTES else RAW_BYTES
        wanted = {offset for offset in offsets if 0 <= offset < end}
        inside = tuple(sorted(o for o in wanted if o % CELL or o >= exact))
        return self._kept(("raw", end, inside), lambda: raw(end, inside))

    def elements(self, n_bytes: int) -> int:
        """Return the layout of an unknown number of elements of `n_bytes`, of unknown type."""
        if not CELL <= n_bytes <= SIZED_RAW_BYTES:
            return self.raw(-1)
        return self._kept(("elements", n_bytes), lambda: raw_elements(n_bytes))

    def merged(self, type_ids: Sequence[int], offsets: Sequence[int], n_bytes: int) -> int:
        """Return the layout of heap storage that is used as each of the types, and at `offsets`.

        The first type that has a field wherever the others have one is taken for all; where none
        has, storage is of unknown type, with fields where any of them has one.
        """
        wanted = sorted(set(type_ids), key=lambda t: (-self.types.size[t], t))
        sized = [t for t in wanted if self.types.size[t] > 0]
        key = ("merged", tuple(sized), tuple(sorted(set(offsets))), n_bytes)
        if key not in self._ids:
            self._ids[key] = self._merge(sized, offsets, n_bytes)
        return self._ids[key]

    def field_bytes_of(self, type_ids: Iterable[int], offsets: Iterable[int] = ()) -> list[int]:
        """Return the bytes at which the types have fields, and `offsets`."""
        found = {offset for offset in offsets if offset >= 0}
        for type_id in type_ids:
            layout = self._layouts[self.plain(type_id)]
            found |= {field.byte for field in layout.fields}
        return sorted(found)

    def cells(self) -> int:
        """Return the layout of an endless array of 8-byte cells."""
        return self._kept(("cells",), lambda: endless_cells({}))

    def unknown_table(self) -> int:
        """Return the layout of cells that may be a virtual table of any class."""
        return self._kept(("table",), lambda: endless_cells(None))

    def function(
        self, signature: int, slots: frozenset[int] | None = None, *, only_in_tables: bool = False
    ) -> int:
        """Return the layout of a function that calls of a signature reach: one field, no contents.

        ANY_CALL stands for all signatures; see `ObjectLayout` for the others.
        """
        key = (signature, slots, only_in_tables)
        return self._kept(("function", *key), lambda: function(*key))

    def finish(
        self, edges: OffsetEdges, *, only: Iterable[int] | None = None, has_unknown: bool = True
    ) -> LocationTable:
        """Return the locations of all layouts, or of `only` these, and the images under edges.

        `has_unknown` says that the program also has offsets of `ANY` amount: then a layout has a
        location with unknown offset even if no image needs it.
        """
        layouts = self._layouts if only is None else [self._layouts[layout] for layout in only]
        return location_table(layouts, edges, has_unknown)

    def structs_of(self, layouts: I64) -> I64:
        """Return the struct that storage of each layout holds one or more of, -1 for none."""
        found = np.full(len(self._layouts), -1)
        for key, layout in self._ids.items():
            type_id = key[0] if isinstance(key[0], int) else key[1] if key[0] in _OF_TYPE else -1
            if isinstance(type_id, int) and self.types.kind[type_id] == TypeKind.STRUCT:
                found[layout] = type_id
        return found[layouts]

    def _kept(self, key: tuple[object, ...], make: Callable[[], ObjectLayout]) -> int:
        """Return the number of the layout known by a key; it is made if there is none yet."""
        if key not in self._ids:
            self._ids[key] = len(self._layouts)
            self._layouts.append(make())
        return self._ids[key]

    def _table(self, type_id: int, points: tuple[tuple[int, int], ...]) -> ObjectLayout:
        if self.types.size[type_id] <= 0:
            return endless_cells(None)
        layout = self._type_layouts.one(type_id, unroll=True)
        by_class: dict[int, set[int]] = {}
        for byte, class_ in points:
            by_class.setdefault(class_, set()).add(byte)
        layout.address_points = by_class if by_class and not layout.arrays else None
        return layout

    def _typed(self, type_id: int, *, unroll: bool) -> int:
        n_bytes = self.types.size[type_id]
        if n_bytes < 0:
            return self.raw(-1)
        if n_bytes == 0:  # `extern T a[]`, whose end is elsewhere
            is_array = self.types.kind[type_id] == TypeKind.ARRAY
            return self.repeated(type_id) if is_array else self.raw(1)
        make = self._type_layouts.one
        return self._kept((type_id, unroll), lambda: make(type_id, unroll=unroll))

    def _merge(self, type_ids: list[int], offsets: Iterable[int], n_bytes: int) -> int:
        if not type_ids:
            return self.raw(n_bytes, sorted(offsets))
        for type_id in type_ids:
            if self._has_fields_of(type_id, type_ids, offsets):
                return self._as_heap(type_id, n_bytes)
        found = self.field_bytes_of(type_ids, offsets)
        return self.raw(n_bytes, found)

    def _has_fields_of(self, type_id: int, others: Iterable[int], offsets: Iterable[int]) -> bool:
        """Return whether a type has the fields of the other types, and fields at `offsets`."""
        layout = self._layouts[self.plain(type_id)]
        own = layout.outline()
        outlines = (self._layouts[self.plain(other)].outline() for other in others)
        return all(o <= own for o in outlines) and all(layout.has_field(o) for o in offsets)

    def _as_heap(self, type_id: int, n_bytes: int) -> int:
        """Return the layout of `n_bytes` (-1: unknown) of storage that holds this type."""
        size = self.types.size[type_id]
        if n_bytes == size:
            return self.plain(type_id)
        if n_bytes < 0 or n_bytes % size == 0:
            return self.repeated(type_id)
        if n_bytes < size:
            return self.raw(n_bytes, self.field_bytes_of([type_id]))
        make = self._type_layouts.with_tail
        return self._kept(("prefix", type_id, n_bytes), lambda: make(type_id, n_bytes))
