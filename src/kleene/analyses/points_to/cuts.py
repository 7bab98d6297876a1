"""Storage cut into places: arrays and starts. `shapes` says what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from kleene.analyses.points_to.landings import UNBOUNDED

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
