"""How an allocation is divided into fields and arrays.

A *field* is a byte range in which one thing lies: a scalar of a struct, or a cell of storage whose
type is not known. An *array* says that what lies in its first element lies in its other elements
too, so fields are listed for first elements only. Each array of more than one element around a
field doubles the field's abstract locations: one in the first element (exact), one in the others.
All locations of a field have the same contents.

    struct { int n; struct { char *k, *v; } slot[3]; }       56 bytes on x86-64

    byte     0        8        16       24       32       40       48
             n  pad   k        v        k        v        k        v
    fields   n at 0 (8 bytes, with its padding), k at 8, v at 16
    arrays   begin 8, stride 16, count 3, around k and v

- Arrays of arrays are one array of the innermost elements.
- Unions, and storage of unknown type, have cells: exact ones up to some size, then an array of
  8-byte cells.
- Storage of unknown size ends with an array without end. That is the storage itself, a struct's
  last array if it has one element or none (the ways to write a flexible array member), or cells.
- Every byte belongs to a field. A pointer to a byte inside a field is one to that field, and one
  with unknown offset.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from kleene.ir.codes import TypeKind
from kleene.ir.tables import Strings, Types

UNBOUNDED = 1 << 60  # bytes or elements where no end is known
CELL = 8  # bytes of a pointer, and of a cell in storage of unknown type
RAW_BYTES = 128  # of storage of unknown type and size: exact up to here
SIZED_RAW_BYTES = 1024  # of storage of unknown type, if it is no larger: all of it is exact

NOT_CALLED, ANY_CALL = -2, -1  # in `ObjectLayout.signature`
NO_TABLE, ANY_SLOT = -2, -1  # instead of the slot that a virtual call reads


class Confines(IntEnum):
    """What stays inside an array: the arithmetic that leads no pointer out of it."""

    NOTHING = 0  # bytes that a walk over the bytes of a larger object passes through
    INDICES = 1  # an array of cells, of which the source may know nothing
    CONSTANTS = 2  # indices and constants: an array of the source


@dataclass(frozen=True, slots=True)
class Array:
    """An array; its fields are listed for the first element, and lie in all the others alike."""

    begin: int  # byte of the first element, in the first element of the array around
    stride: int  # bytes of an element
    count: int  # elements, or UNBOUNDED
    parent: int  # row of the array around, or -1
    confines: Confines


class Field(NamedTuple):
    """Bytes of one scalar or cell, in the first element of all arrays around."""

    byte: int
    n_bytes: int
    array: int  # row of the innermost array around, or -1


@dataclass(slots=True)
class ObjectLayout:
    """Fields and arrays of one kind of allocation; `n_bytes` may be UNBOUNDED."""

    n_bytes: int
    arrays: list[Array] = dataclasses.field(default_factory=list)
    fields: list[Field] = dataclasses.field(default_factory=list)
    has_contents: bool = True
    is_raw: bool = False  # some of it is of unknown type
    signature: int = NOT_CALLED  # of the calls that reach it, or ANY_CALL
    # Of a function in virtual tables: the slots, numbered, that it is at; None if that is unknown.
    slots: frozenset[int] | None = None
    only_in_tables: bool = False  # nothing else has the address of this function
    word_bytes: int = CELL  # of a pointer, and of storage that has one contents
    is_aligned: bool = True  # it begins at a multiple of `word_bytes`
    # Of a virtual table: the bytes where objects of a class point, by the symbol of its type. None
    # if there is no saying; empty if this is no table.
    address_points: dict[int, set[int]] | None = dataclasses.field(default_factory=dict)

    def depth(self, array: int) -> int:
        """Return how many arrays there are around the elements of `array`."""
        n_around = 0
        while array >= 0:
            n_around, array = n_around + 1, self.arrays[array].parent
        return n_around

    def add_array(
        self, begin: int, stride: int, count: int, parent: int, confines: Confines
    ) -> int:
        """Add an array and return its row."""
        self.arrays.append(Array(begin, stride, count, parent, confines))
        return len(self.arrays) - 1

    def add_cells(self, begin: int, end: int, size: int, array: int) -> None:
        """Divide the bytes from `begin` to `end` into exact cells."""
        for byte in range(begin, end, size):
            self.fields.append(Field(byte, min(size, end - byte), array))

    def fold_cells(self, begin: int, end: int, parent: int) -> None:
        """Divide the bytes from `begin` to `end` into an array of cells, each like the others."""
        if end - begin <= CELL:
            self.add_cells(begin, end, CELL, parent)
            return
        count = UNBOUNDED if end == UNBOUNDED else (end - begin) // CELL
        array = self.add_array(begin, CELL, count, parent, Confines.INDICES)
        self.fields.append(Field(begin, CELL, array))
        if end != UNBOUNDED:
            self.add_cells(begin + count * CELL, end, CELL, parent)

    def widths(self) -> list[int]:
        """Return in how many arrays of more than one element fields are.

        Number 0 is for fields in no array, number i + 1 for those in array i.
        """
        found = [0]
        for array in self.arrays:  # arrays around come first
            found.append(found[array.parent + 1] + (array.count > 1))
        return found

    def all_fields(self) -> list[Field]:
        """Return the fields in order, such that every byte belongs to one.

        Padding belongs to the field in front of it, or is a field of its own behind an array.
        """
        inside: dict[int, list[tuple[int, int, bool]]] = {-1: []}
        for row, array in enumerate(self.arrays):
            end = min(array.begin + array.count * array.stride, self.n_bytes)
            inside[array.parent].append((array.begin, end, False))
            inside[row] = []
        for field in self.fields:
            inside[field.array].append((field.byte, field.byte, True))
        found = []
        for row, items in inside.items():
            begin = self.arrays[row].begin if row >= 0 else 0
            end = begin + self.arrays[row].stride if row >= 0 else self.n_bytes
            bounds = [(begin, begin, False), *sorted(items), (end, end, False)]
            for (_, byte, is_field), (following, _, _) in pairwise(bounds):
                if is_field or byte < following:
                    found.append(Field(byte, following - byte, row))
        return sorted(found, key=lambda field: field.byte)

    def contents_of(self, fields: Sequence[Field]) -> list[int]:
        """Return the contents of each of `all_fields`: equal numbers, from 0 on, are one contents.

        Fields that share a word of memory (`word_bytes` at a multiple of that) share contents, and
        so do all in an array whose elements do not begin with a word. In `struct { int a, b; char
        *p; struct { int c, d, e; } t[2]; }` that is a and b, p, and c, d and e.
        """
        # Bytes of a pointer that is copied in parts then lie in contents which have it, whatever
        # the sizes and bounds of the parts: see `memory_accesses`. A field of a word or more keeps
        # its contents for itself, so nothing is lost where pointers are aligned.
        word = self.word_bytes
        is_shared: list[bool] = []  # per array: it, or one around it, has such elements
        for array in self.arrays:
            is_misaligned = array.begin % word != 0 or array.stride % word != 0
            is_inside = array.parent >= 0 and is_shared[array.parent]
            is_shared.append(is_inside or (is_misaligned and array.count > 1))
        found: list[int] = []
        number = -1
        previous = -1  # the outermost shared array around the last field
        for field in fields:
            outermost, around = -1, field.array
            while around >= 0:
                outermost = around if is_shared[around] else outermost
                around = self.arrays[around].parent
            joins = field.byte % word != 0 or (outermost >= 0 and outermost == previous)
            number += not (joins or (len(found) > 0 and not self.is_aligned))
            previous = outermost
            found.append(number)
        return found

    def outline(self) -> set[tuple[int, int, int]]:
        """Return (byte, 0, 0) for each field in no array, (begin, stride, count) for each array."""
        fields = {(field.byte, 0, 0) for field in self.fields if field.array < 0}
        return fields | {(array.begin, array.stride, array.count) for array in self.arrays}

    def has_field(self, byte: int) -> bool:
        """Return whether a field begins at `byte`, or `byte` lies outside the allocation."""
        if not 0 <= byte < self.n_bytes:
            return True
        for array in self.arrays:
            if array.begin <= byte < array.begin + array.count * array.stride:
                byte -= (byte - array.begin) // array.stride * array.stride
        return any(field.byte == byte for field in self.fields)


def raw(end: int, offsets: Sequence[int]) -> ObjectLayout:
    """Return the layout of storage of unknown type that ends at `end`, with fields at `offsets`."""
    layout = ObjectLayout(end)
    add_raw(layout, 0, end, offsets)
    return layout


def raw_elements(n_bytes: int) -> ObjectLayout:
    """Return the layout of an array without end, of elements of `n_bytes` and of unknown type."""
    layout = ObjectLayout(UNBOUNDED, is_raw=True)
    array = layout.add_array(0, n_bytes, UNBOUNDED, -1, Confines.INDICES)
    layout.add_cells(0, n_bytes, CELL, array)
    return layout


def endless_cells(address_points: dict[int, set[int]] | None) -> ObjectLayout:
    """Return the layout of an array of 8-byte cells without end."""
    layout = ObjectLayout(UNBOUNDED, address_points=address_points)
    layout.fold_cells(0, UNBOUNDED, -1)
    return layout


def function(signature: int, slots: frozenset[int] | None, only_in_tables: bool) -> ObjectLayout:
    """Return the layout of a function: one field, no contents."""
    layout = ObjectLayout(1, fields=[Field(0, 1, -1)], has_contents=False, signature=signature)
    layout.slots, layout.only_in_tables = slots, only_in_tables
    return layout


def is_reached(layout: ObjectLayout, signature: int, slot: int) -> bool:
    """Return whether a call with a signature, that reads a slot of a table, reaches a function."""
    if slot >= 0 and layout.slots is not None:
        return slot in layout.slots
    if layout.only_in_tables and slot == NO_TABLE:
        return False
    return signature == ANY_CALL or layout.signature in (signature, ANY_CALL)


def add_raw(layout: ObjectLayout, begin: int, end: int, offsets: Sequence[int] = ()) -> None:
    """Add the bytes from `begin` to `end`, of unknown type.

    The first bytes, and those up to the last of `offsets`, become cells with a location each; the
    bytes behind become one array of cells.
    """
    layout.is_raw = True
    limit = begin + (RAW_BYTES if end - begin > SIZED_RAW_BYTES else SIZED_RAW_BYTES)
    exact_end = min(end, limit)
    if offsets and offsets[-1] >= exact_end:
        exact_end = min(end, -(-(offsets[-1] + 1) // CELL) * CELL)
    cells = range(begin, min(end, limit), CELL)
    bytes_ = sorted({*cells, *(offset for offset in offsets if offset >= begin)})
    for byte, following in zip(bytes_, [*bytes_[1:], exact_end], strict=True):
        layout.fields.append(Field(byte, following - byte, -1))
    if exact_end < end:
        layout.fold_cells(exact_end, end, -1)


_UNION_CELL = 4
_UNION_BYTES = 256  # a larger union is folded
_DEEPEST = 6  # arrays in one another; what lies deeper is folded into cells
_MOST_UNROLLED = 1 << 14  # elements


class Position(NamedTuple):
    """Where a part of a type lies."""

    byte: int = 0
    array: int = -1  # row of the array in whose element it is
    walk_end: int = 0  # of the largest object around that a walk over its bytes comes here from
    unroll: bool = False  # arrays element by element
    open_end: bool = False  # a last array goes on


class Listed:
    """Types as lists, of which Python reads single items ten times as fast as of arrays."""

    def __init__(self, types: Types) -> None:
        self.kind: list[int] = types.kind.tolist()
        self.align: list[int] = types.align.tolist()
        self.word_bytes = types.word_bytes
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


class TypeLayouts:
    """Lays out the types of a program."""

    def __init__(self, types: Listed, strings: Strings) -> None:
        self._types, self._strings = types, strings
        self._is_union: dict[int, bool] = {}
        self._is_bytes: dict[int, bool] = {}

    def one(self, type_id: int, *, unroll: bool = False) -> ObjectLayout:
        """Return the layout of exactly this type, which has a size."""
        word_bytes, align = self._types.word_bytes, self._types.align[type_id]
        n_bytes, is_aligned = self._types.size[type_id], align >= word_bytes
        layout = ObjectLayout(n_bytes, word_bytes=word_bytes, is_aligned=is_aligned)
        self.add_type(layout, type_id, Position(unroll=unroll))
        return layout

    def with_tail(self, type_id: int, n_bytes: int) -> ObjectLayout:
        """Return the layout of a type at the beginning of `n_bytes`, the rest of unknown type."""
        layout = ObjectLayout(n_bytes, word_bytes=self._types.word_bytes)
        self.add_type(layout, type_id, Position())
        add_raw(layout, self._types.size[type_id], n_bytes)
        return layout

    def many(self, type_id: int) -> ObjectLayout:
        """Return the layout of an unknown number of elements of this type."""
        element, _ = self.flattened(type_id)
        n_bytes = self._types.size[element]
        if n_bytes <= 0:
            return endless_cells({})
        layout = ObjectLayout(UNBOUNDED, word_bytes=self._types.word_bytes)
        if self._is_flexible(element):
            self.add_type(layout, element, Position(open_end=True))
        else:
            array = layout.add_array(0, n_bytes, UNBOUNDED, -1, Confines.CONSTANTS)
            self.add_type(layout, element, Position(array=array, walk_end=UNBOUNDED))
        return layout

    def add_type(self, layout: ObjectLayout, type_id: int, position: Position) -> None:
        """Add the fields and arrays of a type that lies at a position."""
        kind, end = self._types.kind[type_id], position.byte + self._types.size[type_id]
        if kind == TypeKind.ARRAY:
            self._add_array(layout, type_id, position)
        elif kind != TypeKind.STRUCT:
            layout.add_cells(position.byte, end, self._cell_bytes(type_id), position.array)
        elif layout.depth(position.array) >= _DEEPEST:
            layout.fold_cells(position.byte, end, position.array)
        elif not self._names_union(type_id):
            self._add_struct(layout, type_id, position)
        elif end - position.byte <= _UNION_BYTES:
            layout.add_cells(position.byte, end, _UNION_CELL, position.array)
        else:
            layout.fold_cells(position.byte, end, position.array)

    def _add_struct(self, layout: ObjectLayout, type_id: int, position: Position) -> None:
        fields = self._types.elements_of(type_id)
        offsets = self._types.field_offsets_of(type_id)
        walk_end = max(position.walk_end, position.byte + self._types.size[type_id])
        for row, (part, offset) in enumerate(zip(fields, offsets, strict=True)):
            is_open = position.open_end and row == len(fields) - 1
            there = Position(
                position.byte + offset, position.array, walk_end, position.unroll, is_open
            )
            self.add_type(layout, part, there)
            if self._types.size[part] > 0 and not self._has_bytes_only(part):
                walk_end = 0  # a walk has passed the inside of a field, and leads everywhere

    def _add_array(self, layout: ObjectLayout, type_id: int, position: Position) -> None:
        element, count = self.flattened(type_id)
        n_bytes = self._types.size[element]
        if n_bytes <= 0 or (count == 0 and not position.open_end):
            return
        if position.unroll and count <= _MOST_UNROLLED:
            for row in range(count):
                there = Position(position.byte + row * n_bytes, position.array, unroll=True)
                self.add_type(layout, element, there)
            return
        count = UNBOUNDED if position.open_end and count <= 1 else count
        end = position.byte + n_bytes * count
        is_walked = n_bytes == 1 and end < position.walk_end
        confines = Confines.NOTHING if is_walked else Confines.CONSTANTS
        inner = layout.add_array(position.byte, n_bytes, count, position.array, confines)
        self.add_type(layout, element, Position(position.byte, inner, max(end, position.walk_end)))

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
        """Return the size of the cells that a scalar or vector is divided into."""
        if self._types.kind[type_id] != TypeKind.VECTOR:
            return CELL
        element = self._types.elements_of(type_id)[0]
        is_even = self._types.size[element] * self._types.bits[type_id] == self._types.size[type_id]
        return min(CELL, self._types.size[element]) if is_even else CELL
