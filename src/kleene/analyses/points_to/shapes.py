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
from dataclasses import dataclass, field
from itertools import pairwise

from kleene.analyses.points_to.landings import UNBOUNDED
from kleene.analyses.points_to.layout import Layout, lay_out
from kleene.analyses.points_to.moves import Moves
from kleene.ir.codes import TypeKind
from kleene.ir.tables import Strings, Types

_CELL = 8  # bytes of a pointer, and of a cell in storage of unknown type
_UNION_CELL = 4
_UNION_BYTES = 256  # a larger union is folded
_RAW_BYTES = 128  # of storage of unknown type and size: exact up to here
_SIZED_RAW_BYTES = 1024  # of storage of unknown type, if it is no larger: all of it is exact
_DEEPEST = 6  # arrays in one another; what lies deeper is folded into cells
_MOST_UNROLLED = 1 << 14  # elements


@dataclass(frozen=True, slots=True)
class Array:
    """Elements that share their starts."""

    start: int  # byte of the first element, in the first element of the array around
    stride: int  # bytes of an element
    count: int  # elements, or UNBOUNDED
    parent: int  # row of the array around, or -1
    is_real: bool  # an array of the source, rather than cells: indexing does not leave it


@dataclass(frozen=True, slots=True)
class Start:
    """A byte where something begins."""

    byte: int
    n_bytes: int
    array: int  # row of the innermost array around, or -1


@dataclass(slots=True)
class Shape:
    """One way to cut storage into places; `n_bytes` is UNBOUNDED where it has no known end."""

    n_bytes: int
    arrays: list[Array] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    has_contents: bool = True

    def depth(self, array: int) -> int:
        """Return how many arrays there are around the elements of `array`."""
        n_around = 0
        while array >= 0:
            n_around, array = n_around + 1, self.arrays[array].parent
        return n_around

    def add_array(self, start: int, stride: int, count: int, parent: int, *, real: bool) -> int:
        """Add an array and return its row."""
        self.arrays.append(Array(start, stride, count, parent, real))
        return len(self.arrays) - 1

    def add_cells(self, begin: int, end: int, size: int, array: int) -> None:
        """Cut the bytes from `begin` to `end` into exact cells."""
        for byte in range(begin, end, size):
            self.starts.append(Start(byte, min(size, end - byte), array))

    def fold_cells(self, begin: int, end: int, parent: int) -> None:
        """Cut the bytes from `begin` to `end` into an array of cells, each like the others."""
        if end - begin <= _CELL:
            self.add_cells(begin, end, _CELL, parent)
            return
        count = UNBOUNDED if end == UNBOUNDED else (end - begin) // _CELL
        array = self.add_array(begin, _CELL, count, parent, real=False)
        self.starts.append(Start(begin, _CELL, array))
        if end != UNBOUNDED:
            self.add_cells(begin + count * _CELL, end, _CELL, parent)

    def widths(self) -> list[int]:
        """Return how many arrays of more than one element are around the root, and each array."""
        found = [0]
        for array in self.arrays:  # arrays around come first
            found.append(found[array.parent + 1] + (array.count > 1))
        return found

    def all_starts(self) -> list[Start]:
        """Return the starts in order, such that every byte belongs to one.

        Padding belongs to the start in front of it, or is a start of its own behind an array.
        """
        inside: dict[int, list[tuple[int, int, bool]]] = {-1: []}
        for row, array in enumerate(self.arrays):
            end = min(array.start + array.count * array.stride, self.n_bytes)
            inside[array.parent].append((array.start, end, False))
            inside[row] = []
        for start in self.starts:
            inside[start.array].append((start.byte, start.byte, True))
        found = []
        for row, items in inside.items():
            begin = self.arrays[row].start if row >= 0 else 0
            end = begin + self.arrays[row].stride if row >= 0 else self.n_bytes
            bounds = [(begin, begin, False), *sorted(items), (end, end, False)]
            for (_, byte, is_start), (following, _, _) in pairwise(bounds):
                if is_start or byte < following:
                    found.append(Start(byte, following - byte, row))
        return sorted(found, key=lambda start: start.byte)

    def outline(self) -> set[tuple[int, int, int]]:
        """Return where the starts and arrays are, without what is around them."""
        starts = {(start.byte, 0, 0) for start in self.starts if start.array < 0}
        return starts | {(array.start, array.stride, array.count) for array in self.arrays}

    def has_start(self, byte: int) -> bool:
        """Return whether something begins at `byte`, or it lies outside."""
        if not 0 <= byte < self.n_bytes:
            return True
        for array in self.arrays:
            if array.start <= byte < array.start + array.count * array.stride:
                byte -= (byte - array.start) // array.stride * array.stride
        return any(start.byte == byte for start in self.starts)


class Shapes:
    """Collects the shapes of a program, each distinct one once; ids are dense."""

    def __init__(self, types: Types, strings: Strings) -> None:
        self._types, self._strings = types, strings
        self._ids: dict[tuple[object, ...], int] = {}
        self._shapes: list[Shape] = []
        self._is_union: dict[int, bool] = {}

    def plain(self, type_id: int) -> int:
        """Return the shape of storage of exactly this type; without a size it is raw."""
        return self._typed("plain", type_id, unroll=False)

    def unrolled(self, type_id: int) -> int:
        """Return the shape of storage of this type with arrays element by element."""
        return self._typed("unrolled", type_id, unroll=True)

    def repeated(self, type_id: int) -> int:
        """Return the shape of an unknown number of elements of this type."""
        if self._types.size[type_id] <= 0 and self._types.kind[type_id] != TypeKind.ARRAY:
            return self.raw(-1)
        key = ("repeated", type_id)
        return self._ids[key] if key in self._ids else self._put(key, self._repeated(type_id))

    def raw(self, n_bytes: int, offsets: Sequence[int] = ()) -> int:
        """Return the shape of storage of unknown type: cells, and places at `offsets` too.

        `n_bytes` is -1 where the size is not known.
        """
        end = UNBOUNDED if n_bytes < 0 else max(n_bytes, 1)
        exact = _SIZED_RAW_BYTES if end <= _SIZED_RAW_BYTES else _RAW_BYTES
        wanted = {offset for offset in offsets if 0 <= offset < end}
        inside = tuple(sorted(o for o in wanted if o % _CELL or o >= exact))
        key = ("raw", end, inside)
        return self._ids[key] if key in self._ids else self._put(key, _raw(end, inside))

    def merged(self, type_ids: Sequence[int], offsets: Sequence[int], n_bytes: int) -> int:
        """Return the shape of heap storage that is used as each of the types, and at `offsets`.

        The first type that has a place wherever the others have one speaks for all; where none
        does, storage is raw, with places at all their starts.
        """
        wanted = sorted(set(type_ids), key=lambda t: (-int(self._types.size[t]), t))
        sized = [t for t in wanted if self._types.size[t] > 0]
        key = ("merged", tuple(sized), tuple(sorted(set(offsets))), n_bytes)
        if key not in self._ids:
            self._ids[key] = self._merge(sized, offsets, n_bytes)
        return self._ids[key]

    def cells(self) -> int:
        """Return the shape of one place that repeats every 8 bytes."""
        key = ("cells",)
        if key in self._ids:
            return self._ids[key]
        shape = Shape(UNBOUNDED)
        shape.fold_cells(0, UNBOUNDED, -1)
        return self._put(key, shape)

    def function(self) -> int:
        """Return the shape of a function: one place, which contains nothing."""
        key = ("function",)
        if key in self._ids:
            return self._ids[key]
        return self._put(key, Shape(1, [], [Start(0, 1, -1)], has_contents=False))

    def finish(self, moves: Moves, *, has_unknown: bool = True) -> Layout:
        """Return all shapes as arrays, with what each move does in each.

        `has_unknown` says that the program also moves pointers by `ANY`: then a shape has a blur
        even if no move of `moves` needs it.
        """
        return lay_out(self._shapes, moves, has_unknown)

    def _put(self, key: tuple[object, ...], shape: Shape) -> int:
        self._ids[key] = len(self._shapes)
        self._shapes.append(shape)
        return self._ids[key]

    def _typed(self, word: str, type_id: int, *, unroll: bool) -> int:
        key = (word, type_id)
        if key in self._ids:
            return self._ids[key]
        n_bytes = int(self._types.size[type_id])
        if n_bytes < 0:
            return self.raw(-1)
        if n_bytes == 0:  # `extern T a[]`, whose end is elsewhere
            is_array = self._types.kind[type_id] == TypeKind.ARRAY
            return self.repeated(type_id) if is_array else self.raw(1)
        shape = Shape(n_bytes)
        self._walk(shape, type_id, 0, -1, unroll=unroll)
        return self._put(key, shape)

    def _repeated(self, type_id: int) -> Shape:
        shape = Shape(UNBOUNDED)
        element, _ = self._flattened(type_id)
        n_bytes = int(self._types.size[element])
        if n_bytes <= 0:
            shape.fold_cells(0, UNBOUNDED, -1)
        elif self._is_flexible(element):
            self._walk(shape, element, 0, -1, open_end=True)
        else:
            array = shape.add_array(0, n_bytes, UNBOUNDED, -1, real=True)
            self._walk(shape, element, 0, array)
        return shape

    def _merge(self, type_ids: list[int], offsets: Iterable[int], n_bytes: int) -> int:
        if not type_ids:
            return self.raw(n_bytes, sorted(offsets))
        for type_id in type_ids:
            if self._speaks_for(type_id, type_ids, offsets):
                return self._as_heap(type_id, n_bytes)
        found = self._starts_of(type_ids, offsets)
        return self.raw(n_bytes, found)

    def _speaks_for(self, type_id: int, others: Iterable[int], offsets: Iterable[int]) -> bool:
        """Return whether a type has what the other types have, and places at `offsets`."""
        shape = self._shapes[self.plain(type_id)]
        own = shape.outline()
        outlines = (self._shapes[self.plain(other)].outline() for other in others)
        return all(o <= own for o in outlines) and all(shape.has_start(o) for o in offsets)

    def _starts_of(self, type_ids: Iterable[int], offsets: Iterable[int]) -> list[int]:
        """Return the bytes at which the types, or the code, have something."""
        found = {offset for offset in offsets if offset >= 0}
        for type_id in type_ids:
            shape = self._shapes[self.plain(type_id)]
            found |= {start.byte for start in shape.starts}
        return sorted(found)

    def _as_heap(self, type_id: int, n_bytes: int) -> int:
        """Return the shape of `n_bytes` (-1: unknown) of storage that holds this type."""
        size = int(self._types.size[type_id])
        if n_bytes == size:
            return self.plain(type_id)
        if n_bytes < 0 or n_bytes % size == 0:
            return self.repeated(type_id)
        key = ("prefix", type_id, n_bytes)
        if key in self._ids:
            return self._ids[key]
        if n_bytes < size:
            return self.raw(n_bytes, self._starts_of([type_id], ()))
        shape = Shape(n_bytes)
        self._walk(shape, type_id, 0, -1)
        _add_raw(shape, size, n_bytes)
        return self._put(key, shape)

    def _walk(
        self,
        shape: Shape,
        type_id: int,
        byte: int,
        array: int,
        *,
        unroll: bool = False,
        open_end: bool = False,
    ) -> None:
        """Add the starts and arrays of a type that lies at `byte`, in an element of `array`."""
        types = self._types
        kind, n_bytes = types.kind[type_id], int(types.size[type_id])
        if kind == TypeKind.STRUCT and not self._is_raw(shape, type_id, array):
            fields = types.elements_of(type_id).tolist()
            places = types.field_offsets_of(type_id).tolist()
            for row, (part, offset) in enumerate(zip(fields, places, strict=True)):
                is_last = open_end and row == len(fields) - 1
                self._walk(shape, part, byte + offset, array, unroll=unroll, open_end=is_last)
        elif kind == TypeKind.ARRAY:
            self._walk_array(shape, type_id, byte, array, unroll=unroll, open_end=open_end)
        elif kind == TypeKind.STRUCT:
            if n_bytes <= _UNION_BYTES and shape.depth(array) < _DEEPEST:
                shape.add_cells(byte, byte + n_bytes, _UNION_CELL, array)
            else:
                shape.fold_cells(byte, byte + n_bytes, array)
        else:
            size = self._scalar_bytes(type_id)
            shape.add_cells(byte, byte + n_bytes, size, array)

    def _walk_array(
        self, shape: Shape, type_id: int, byte: int, array: int, *, unroll: bool, open_end: bool
    ) -> None:
        element, count = self._flattened(type_id)
        n_bytes = int(self._types.size[element])
        if n_bytes <= 0 or (count == 0 and not open_end):
            return
        if unroll and count <= _MOST_UNROLLED:
            for row in range(count):
                self._walk(shape, element, byte + row * n_bytes, array, unroll=True)
            return
        count = UNBOUNDED if open_end and count <= 1 else count
        inner = shape.add_array(byte, n_bytes, count, array, real=True)
        self._walk(shape, element, byte, inner)

    def _flattened(self, type_id: int) -> tuple[int, int]:
        """Return the innermost element of arrays in arrays, and how many there are."""
        count = 1
        while self._types.kind[type_id] == TypeKind.ARRAY:
            count *= int(self._types.bits[type_id])
            type_id = int(self._types.elements_of(type_id)[0])
        return type_id, count

    def _is_flexible(self, type_id: int) -> bool:
        """Return whether a struct ends with an array of one element or none."""
        while self._types.kind[type_id] == TypeKind.STRUCT and not self._names_union(type_id):
            parts = self._types.elements_of(type_id)
            if not len(parts):
                return False
            type_id = int(parts[-1])
            if self._types.kind[type_id] == TypeKind.ARRAY:
                element, count = self._flattened(type_id)
                return count <= 1 and int(self._types.size[element]) > 0
        return False

    def _is_raw(self, shape: Shape, type_id: int, array: int) -> bool:
        return self._names_union(type_id) or shape.depth(array) >= _DEEPEST

    def _names_union(self, type_id: int) -> bool:
        if type_id not in self._is_union:
            name = self._strings.raw(int(self._types.name[type_id]))
            self._is_union[type_id] = name.startswith(b"union.")
        return self._is_union[type_id]

    def _scalar_bytes(self, type_id: int) -> int:
        """Return how far apart the starts in a scalar or vector are."""
        if self._types.kind[type_id] != TypeKind.VECTOR:
            return _CELL
        element = int(self._types.elements_of(type_id)[0])
        is_even = self._types.size[element] * self._types.bits[type_id] == self._types.size[type_id]
        return min(_CELL, int(self._types.size[element])) if is_even else _CELL


def _raw(end: int, offsets: Sequence[int]) -> Shape:
    shape = Shape(end)
    _add_raw(shape, 0, end, offsets)
    return shape


def _add_raw(shape: Shape, begin: int, end: int, offsets: Sequence[int] = ()) -> None:
    """Add cells of unknown type: exact at the beginning and at `offsets`, folded behind."""
    limit = begin + (_RAW_BYTES if end - begin > _SIZED_RAW_BYTES else _SIZED_RAW_BYTES)
    exact_end = min(end, limit)
    if offsets and offsets[-1] >= exact_end:
        exact_end = min(end, -(-(offsets[-1] + 1) // _CELL) * _CELL)
    cells = range(begin, min(end, limit), _CELL)
    bytes_ = sorted({*cells, *(offset for offset in offsets if offset >= begin)})
    for byte, following in zip(bytes_, [*bytes_[1:], exact_end], strict=True):
        shape.starts.append(Start(byte, following - byte, -1))
    if exact_end < end:
        shape.fold_cells(exact_end, end, -1)
