"""Storage cut into places: arrays and starts. `shapes` says what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from kleene.ir.codes import TypeKind
from kleene.ir.tables import Strings, Types

UNBOUNDED = 1 << 60  # bytes or elements where no end is known
CELL = 8  # bytes of a pointer, and of a cell in storage of unknown type
RAW_BYTES = 128  # of storage of unknown type and size: exact up to here
SIZED_RAW_BYTES = 1024  # of storage of unknown type, if it is no larger: all of it is exact

NOT_CALLED, ANY_NUMBER = -2, -1  # in `Shape.n_arguments`


class Hold(IntEnum):
    """What does not lead a pointer out of an array."""

    NOTHING = 0  # bytes that a walk over the bytes of an object around them goes through
    INDICES = 1  # cells
    CONSTANTS = 2  # indices and constants: an array of the source


@dataclass(frozen=True, slots=True)
class Array:
    """Elements that share their starts."""

    start: int  # byte of the first element, in the first element of the array around
    stride: int  # bytes of an element
    count: int  # elements, or UNBOUNDED
    parent: int  # row of the array around, or -1
    hold: Hold


class Start(NamedTuple):
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
    is_raw: bool = False  # some of it is of unknown type
    n_arguments: int = NOT_CALLED  # that it is called with, or ANY_NUMBER

    def depth(self, array: int) -> int:
        """Return how many arrays there are around the elements of `array`."""
        n_around = 0
        while array >= 0:
            n_around, array = n_around + 1, self.arrays[array].parent
        return n_around

    def add_array(self, start: int, stride: int, count: int, parent: int, hold: Hold) -> int:
        """Add an array and return its row."""
        self.arrays.append(Array(start, stride, count, parent, hold))
        return len(self.arrays) - 1

    def add_cells(self, begin: int, end: int, size: int, array: int) -> None:
        """Cut the bytes from `begin` to `end` into exact cells."""
        for byte in range(begin, end, size):
            self.starts.append(Start(byte, min(size, end - byte), array))

    def fold_cells(self, begin: int, end: int, parent: int) -> None:
        """Cut the bytes from `begin` to `end` into an array of cells, each like the others."""
        if end - begin <= CELL:
            self.add_cells(begin, end, CELL, parent)
            return
        count = UNBOUNDED if end == UNBOUNDED else (end - begin) // CELL
        array = self.add_array(begin, CELL, count, parent, Hold.INDICES)
        self.starts.append(Start(begin, CELL, array))
        if end != UNBOUNDED:
            self.add_cells(begin + count * CELL, end, CELL, parent)

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


def raw(end: int, offsets: Sequence[int]) -> Shape:
    """Return storage of unknown type that ends at `end`, with places at `offsets`."""
    shape = Shape(end)
    add_raw(shape, 0, end, offsets)
    return shape


def add_raw(shape: Shape, begin: int, end: int, offsets: Sequence[int] = ()) -> None:
    """Add cells of unknown type: exact at the beginning and at `offsets`, folded behind."""
    shape.is_raw = True
    limit = begin + (RAW_BYTES if end - begin > SIZED_RAW_BYTES else SIZED_RAW_BYTES)
    exact_end = min(end, limit)
    if offsets and offsets[-1] >= exact_end:
        exact_end = min(end, -(-(offsets[-1] + 1) // CELL) * CELL)
    cells = range(begin, min(end, limit), CELL)
    bytes_ = sorted({*cells, *(offset for offset in offsets if offset >= begin)})
    for byte, following in zip(bytes_, [*bytes_[1:], exact_end], strict=True):
        shape.starts.append(Start(byte, following - byte, -1))
    if exact_end < end:
        shape.fold_cells(exact_end, end, -1)


_UNION_CELL = 4
_UNION_BYTES = 256  # a larger union is folded
_DEEPEST = 6  # arrays in one another; what lies deeper is folded into cells
_MOST_UNROLLED = 1 << 14  # elements


class Spot(NamedTuple):
    """Where a part of a type lies."""

    byte: int = 0
    array: int = -1  # row of the array in whose element it is
    reach: int = 0  # end of the largest object that a walk by bytes can come from, to here
    unroll: bool = False  # arrays element by element
    open_end: bool = False  # a last array goes on


class Listed:
    """Types as lists, of which Python reads single items ten times as fast as of arrays."""

    def __init__(self, types: Types) -> None:
        self.kind: list[int] = types.kind.tolist()
        self.bits: list[int] = types.bits.tolist()
        self.size: list[int] = types.size.tolist()
        self.name: list[int] = types.name.tolist()
        self._offsets: list[int] = types.offsets.tolist()
        self._elements: list[int] = types.elements.tolist()
        self._field_offset: list[int] = types.field_offset.tolist()

    def elements_of(self, type_id: int) -> list[int]:
        """Return the fields or element of a type."""
        return self._elements[self._offsets[type_id] : self._offsets[type_id + 1]]

    def field_offsets_of(self, type_id: int) -> list[int]:
        """Return the byte offset of each element."""
        return self._field_offset[self._offsets[type_id] : self._offsets[type_id + 1]]


class Cutter:
    """Cuts storage of the types of a program."""

    def __init__(self, types: Listed, strings: Strings) -> None:
        self._types, self._strings = types, strings
        self._is_union: dict[int, bool] = {}
        self._is_bytes: dict[int, bool] = {}

    def one(self, type_id: int, *, unroll: bool = False) -> Shape:
        """Return storage of exactly this type, which has a size."""
        shape = Shape(self._types.size[type_id])
        self.cut(shape, type_id, Spot(unroll=unroll))
        return shape

    def many(self, type_id: int) -> Shape:
        """Return storage of an unknown number of elements of this type."""
        shape = Shape(UNBOUNDED)
        element, _ = self.flattened(type_id)
        n_bytes = self._types.size[element]
        if n_bytes <= 0:
            shape.fold_cells(0, UNBOUNDED, -1)
        elif self._is_flexible(element):
            self.cut(shape, element, Spot(open_end=True))
        else:
            array = shape.add_array(0, n_bytes, UNBOUNDED, -1, Hold.CONSTANTS)
            self.cut(shape, element, Spot(array=array, reach=UNBOUNDED))
        return shape

    def cut(self, shape: Shape, type_id: int, spot: Spot) -> None:
        """Add the starts and arrays of a type that lies at a spot."""
        kind, end = self._types.kind[type_id], spot.byte + self._types.size[type_id]
        if kind == TypeKind.ARRAY:
            self._cut_array(shape, type_id, spot)
        elif kind != TypeKind.STRUCT:
            shape.add_cells(spot.byte, end, self._cell_bytes(type_id), spot.array)
        elif shape.depth(spot.array) >= _DEEPEST:
            shape.fold_cells(spot.byte, end, spot.array)
        elif not self._names_union(type_id):
            self._cut_struct(shape, type_id, spot)
        elif end - spot.byte <= _UNION_BYTES:
            shape.add_cells(spot.byte, end, _UNION_CELL, spot.array)
        else:
            shape.fold_cells(spot.byte, end, spot.array)

    def _cut_struct(self, shape: Shape, type_id: int, spot: Spot) -> None:
        fields = self._types.elements_of(type_id)
        offsets = self._types.field_offsets_of(type_id)
        reach = max(spot.reach, spot.byte + self._types.size[type_id])
        for row, (part, offset) in enumerate(zip(fields, offsets, strict=True)):
            is_open = spot.open_end and row == len(fields) - 1
            there = Spot(spot.byte + offset, spot.array, reach, spot.unroll, is_open)
            self.cut(shape, part, there)
            if not self._has_bytes_only(part):  # from here on, a walk by bytes comes from a blur
                reach = 0

    def _cut_array(self, shape: Shape, type_id: int, spot: Spot) -> None:
        element, count = self.flattened(type_id)
        n_bytes = self._types.size[element]
        if n_bytes <= 0 or (count == 0 and not spot.open_end):
            return
        if spot.unroll and count <= _MOST_UNROLLED:
            for row in range(count):
                there = Spot(spot.byte + row * n_bytes, spot.array, unroll=True)
                self.cut(shape, element, there)
            return
        count = UNBOUNDED if spot.open_end and count <= 1 else count
        end = spot.byte + n_bytes * count
        is_walked = n_bytes == 1 and end < spot.reach
        hold = Hold.NOTHING if is_walked else Hold.CONSTANTS
        inner = shape.add_array(spot.byte, n_bytes, count, spot.array, hold)
        self.cut(shape, element, Spot(spot.byte, inner, max(end, spot.reach)))

    def flattened(self, type_id: int) -> tuple[int, int]:
        """Return the innermost element of arrays in arrays, and how many there are."""
        count = 1
        while self._types.kind[type_id] == TypeKind.ARRAY:
            count *= self._types.bits[type_id]
            type_id = self._types.elements_of(type_id)[0]
        return type_id, count

    def _is_flexible(self, type_id: int) -> bool:
        """Return whether a struct ends with an array of one element or none."""
        while self._types.kind[type_id] == TypeKind.STRUCT and not self._names_union(type_id):
            parts = self._types.elements_of(type_id)
            if not parts:
                return False
            type_id = parts[-1]
            if self._types.kind[type_id] == TypeKind.ARRAY:
                element, count = self.flattened(type_id)
                return count <= 1 and self._types.size[element] > 0
        return False

    def _has_bytes_only(self, type_id: int) -> bool:
        """Return whether a type consists of single bytes, all the way down."""
        if type_id not in self._is_bytes:
            if self._types.kind[type_id] in (TypeKind.ARRAY, TypeKind.STRUCT):
                parts = self._types.elements_of(type_id)
                answer = not self._names_union(type_id) and all(map(self._has_bytes_only, parts))
            else:
                answer = self._types.size[type_id] == 1
            self._is_bytes[type_id] = answer
        return self._is_bytes[type_id]

    def _names_union(self, type_id: int) -> bool:
        if type_id not in self._is_union:
            name = self._strings.raw(self._types.name[type_id])
            self._is_union[type_id] = name.startswith(b"union.")
        return self._is_union[type_id]

    def _cell_bytes(self, type_id: int) -> int:
        """Return how far apart the starts in a scalar or vector are."""
        if self._types.kind[type_id] != TypeKind.VECTOR:
            return CELL
        element = self._types.elements_of(type_id)[0]
        is_even = self._types.size[element] * self._types.bits[type_id] == self._types.size[type_id]
        return min(CELL, self._types.size[element]) if is_even else CELL
