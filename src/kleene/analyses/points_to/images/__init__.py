"""The abstract locations of every layout, and the image of each of them under every offset edge.

A *location* stands for one address or for many. Those of a field inside arrays are two for each
array: one in the first element (exact), one in all the *others*. The locations of a layout are
numbered from 0: those of each field, by the set of arrays whose others they are in (bit 0 is the
outermost array of more than one element); then, where they are needed, the end (one past the last
byte) and the location with unknown offset. For
`struct { int n; struct { char *k, *v; } slot[3]; }`:

    byte       0        8        16       24       32       40       48       56
               n        slot[0].k  .v     slot[1].k  .v     slot[2].k  .v     (end)
    location   0        1        3        2        4        2        4        5

An edge adds c bytes and multiples of strides t: p + c + j·t. Its *image* of a location is the set
of locations of all x + c + j·t inside the allocation, over all addresses x of the location and all
j that ISO C allows (6.5.6):

- A variable index stays in its array. That is the outermost array around x + c whose element size
  divides t and which is not smaller than t; else the one around x (`a[i - 1]`). For negative c both
  are taken. Where there is none, every multiple counts. So it does where a compiler has put the
  index before the constant that leads to the array: `s->b[i]` as s + i·t + b.
- A positive constant that is a multiple of the element size and smaller than the array takes the
  others to the others: so many elements on. Every other constant is added to every address, so that
  pointers to members lead back to their struct. So is a constant *in bytes*, of which no type says
  that it counts elements: a walk over bytes, once a compiler unrolls it, takes eight at once.
- The bytes of an object may be walked over, whatever it contains (6.3.2.3). So an array of bytes to
  which such a walk can come from the beginning of a larger object, one byte at a time, confines
  nothing. Elsewhere a walk has passed through the inside of a field, and thus leads everywhere.
- A pointer past an array is kept as one to its others (to its first element if that is the only
  one), from where it may come back. One past the allocation has a location of its own, the end; an
  index leads from there into arrays that end there.
- An address inside a field gives that field and the unknown offset, whose image is everything.
  Addresses before or behind the allocation are dropped.

Cost: a few elements at both ends of an array stand for all of it (`constants`), and equal blocks of
images are kept once (`tables`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.points_to.images.layout_arrays import (
    MOST_KNOWN,
    LayoutArrays,
    find_locations,
    search_all,
)
from kleene.analyses.points_to.images.tables import image_tables
from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET
from kleene.analyses.points_to.object_layout import NOT_CALLED, UNBOUNDED, ObjectLayout, is_reached
from kleene.analyses.points_to.offset_edges import OffsetEdges
from kleene.base.arrays import I32, I64, Ints, offsets_of


@dataclass(frozen=True, slots=True, eq=False)
class LocationTable:
    """The locations of all layouts, and the images of edges as an inclusion problem has them."""

    n_locations: I32  # per layout
    location_offsets: I32  # n_layouts + 1
    byte: I64  # per location: its offset, in the others that in element 1; or UNKNOWN_OFFSET
    n_bytes: I32  # per location: its size; 0 for the end and the unknown offset
    stride: I32  # per location: divides the distances of its addresses; 0 where exact
    contents_class: I32  # per location: equal numbers share contents, -1 contains nothing
    n_classes: I32  # per layout
    image_rows: I32  # per edge and layout
    image_offsets: I32
    images: I32
    arrays: LayoutArrays

    def location(self, layout: int, byte: int) -> int:
        """Return the location at a byte: -1 outside, the unknown offset inside a field."""
        return int(self.locations(np.array([layout], np.int32), np.array([byte], np.int64))[0])

    def locations(self, layouts: Ints, bytes_: Ints, *, is_around: bool = False) -> I32:
        """Return the location at each byte of each layout: see `location`.

        Inside a field, that is the field if asked for what `is_around`, else the unknown offset.
        """
        found = np.empty(len(layouts), np.int64)
        columns = layouts.astype(np.int64), bytes_.astype(np.int64)
        find_locations(self.arrays, *columns, found, len(found), is_around)
        return np.where(found < self.n_locations[layouts], found, -1).astype(np.int32)


def location_table(
    layouts: Sequence[ObjectLayout], edges: OffsetEdges, has_unknown: bool
) -> LocationTable:
    """Return the locations of the layouts, and the images of every edge in every layout."""
    arrays, contents_of = _layout_arrays(layouts)
    tables = image_tables(arrays, edges)
    nowhere = len(tables.offsets) - 1
    found = _with_calls(layouts, edges, arrays, tables.rows, tables.offsets)
    rows, row_offsets, images = _with_classes(layouts, edges, *found, tables.images, nowhere)
    n_bytes, has_contents = arrays.n_bytes[:-1], arrays.has_end[:-1] > 0
    n_regular = np.diff(arrays.first_location)
    n_classes = contents_of[np.maximum(arrays.first_field[1:] - 1, 0)] + 1  # each has a field
    is_bounded = n_bytes < UNBOUNDED
    wants_unknown = (tables.has_unknown > 0) | (has_unknown & has_contents & _has_interior(arrays))
    n_extra = np.where(is_bounded, np.where(wants_unknown, 2, tables.has_end), wants_unknown)
    n_locations = n_regular + n_extra
    offsets = offsets_of(n_locations).astype(np.int32)
    layout = np.repeat(np.arange(len(layouts)), n_locations)
    within = np.arange(offsets[-1]) - offsets[layout]
    is_regular = within < n_regular[layout]

    def spread(values: I64, extra: I64 | int) -> I64:
        column = np.where(is_regular, 0, extra)
        column[is_regular] = values
        return column

    byte, stride = _bytes_and_strides(arrays)
    contents = contents_of[arrays.field]
    contents[~np.repeat(has_contents, n_regular)] = -1
    is_end = is_bounded[layout] & (within == n_regular[layout])
    return LocationTable(
        n_locations.astype(np.int32),
        offsets,
        spread(byte, np.where(is_end, n_bytes[layout], UNKNOWN_OFFSET)),
        spread(np.minimum(arrays.extent[arrays.field], 1 << 30), 0).astype(np.int32),
        spread(stride, 0).astype(np.int32),
        spread(contents, -1).astype(np.int32),
        np.where(has_contents, n_classes, 0).astype(np.int32),
        rows,
        row_offsets,
        images,
        arrays,
    )


def _layout_arrays(layouts: Sequence[ObjectLayout]) -> tuple[LayoutArrays, I64]:
    """Return the layouts as arrays, and the contents of each field, from 0 on in each layout."""
    layout_rows: list[tuple[int, ...]] = []
    array_rows: list[tuple[int, ...]] = []
    field_rows: list[tuple[int, ...]] = []
    contents: list[int] = []
    n_locations = n_known = 0
    for layout in layouts:
        kind = (int(layout.has_contents), int(layout.is_raw))
        counts = (len(array_rows), len(field_rows), n_locations, n_known)
        n_known += min(layout.n_bytes, MOST_KNOWN)
        layout_rows.append((layout.n_bytes, *kind, *counts))
        first_array, first_location = len(array_rows), n_locations
        widths = layout.widths()
        for array, width in zip(layout.arrays, widths[1:], strict=True):
            parent = array.parent + first_array if array.parent >= 0 else -1
            bit = width - 1 if array.count > 1 else -1
            span = min(array.count * array.stride, UNBOUNDED)
            sizes = (array.begin, array.stride, array.count, span)
            array_rows.append((*sizes, parent, bit, int(array.confines)))
        fields = layout.all_fields()
        contents += layout.contents_of(fields)
        for field in fields:
            width = widths[field.array + 1]
            around = field.array + first_array if field.array >= 0 else -1
            first = n_locations - first_location
            field_rows.append((field.byte, field.n_bytes, around, width, first))
            n_locations += 1 << width
    layout_rows.append((0, 0, 0, len(array_rows), len(field_rows), n_locations, n_known))
    field_columns = _columns(field_rows, 5)
    n_of_field = 1 << field_columns[3]
    field_of = np.repeat(np.arange(len(field_rows)), n_of_field)
    mask = np.arange(n_locations) - (np.cumsum(n_of_field) - n_of_field)[field_of]
    columns = (*_columns(layout_rows, 7), *_columns(array_rows, 7), *field_columns, field_of, mask)
    arrays = LayoutArrays._make((len(layouts), *columns, np.empty(n_known, np.int32)))
    search_all(arrays)
    return arrays, np.array(contents, np.int64)


def _columns(rows: list[tuple[int, ...]], n_columns: int) -> I64:
    """Return the columns of a table."""
    return np.array(rows, np.int64).reshape(-1, n_columns).T.copy()


def _with_calls(
    layouts: Sequence[ObjectLayout],
    edges: OffsetEdges,
    arrays: LayoutArrays,
    rows: I32,
    offsets: I32,
) -> tuple[I32, I32]:
    """Return the rows and offsets of images; a call has images of what it can call alone."""
    functions = [i for i, layout in enumerate(layouts) if layout.signature != NOT_CALLED]
    nowhere = len(offsets) - 1
    n_regular = np.diff(arrays.first_location)
    n_most = int(n_regular.max(initial=0)) + 2  # the end, the unknown offset
    table = rows.reshape(-1, max(len(layouts), 1))
    for call, edge in edges.calls().items():
        reached = [i for i in functions if is_reached(layouts[i], *call)]
        kept = table[edge, reached]
        table[edge] = nowhere
        table[edge, reached] = kept
    return table.ravel(), np.append(offsets, np.repeat(offsets[-1:], n_most))


def _with_classes(
    layouts: Sequence[ObjectLayout],
    edges: OffsetEdges,
    rows: I32,
    offsets: I32,
    images: I32,
    nowhere: int,
) -> tuple[I32, I32, I32]:
    """Return rows, offsets and images; a table of a class has images of its points there alone.

    The image of a point is itself, that of the unknown offset is every point of the class. Storage
    that may be a table of any class (`address_points` is None) keeps the images of 0 bytes.
    `nowhere` is the first row of a block without images.
    """
    if not edges.classes():
        return rows, offsets, images
    table = rows.reshape(-1, len(layouts)).copy()
    is_open = np.array([layout.address_points is None for layout in layouts])
    more: list[int] = []
    lengths: list[int] = []
    for class_, edge in edges.classes().items():
        table[edge, ~is_open] = nowhere
        for number, layout in enumerate(layouts):
            bytes_ = layout.address_points.get(class_) if layout.address_points else None
            if not bytes_:
                continue
            table[edge, number] = len(offsets) - 1 + len(lengths)
            fields = [field.byte for field in layout.all_fields()]
            points = [i for i, byte in enumerate(fields) if byte in bytes_]
            lengths += [int(byte in bytes_) for byte in fields] + [0, len(points)]
            more += points + points
    ends = offsets[-1] + np.cumsum(lengths, dtype=np.int64)
    both = np.append(images, np.array(more, images.dtype))
    return table.ravel(), np.append(offsets, ends.astype(offsets.dtype)), both


def _has_interior(arrays: LayoutArrays) -> NDArray[np.bool_]:
    """Return for each layout whether it has bytes at which nothing begins."""
    found = offsets_of(arrays.extent > 1)
    return np.diff(found[arrays.first_field]) > 0


def _bytes_and_strides(arrays: LayoutArrays) -> tuple[I64, I64]:
    """Return the byte of each location, and a stride: it divides distances of its addresses."""
    byte, array = arrays.byte[arrays.field], arrays.array[arrays.field]
    stride = np.zeros(len(byte), np.int64)
    while (array >= 0).any():
        bit, element = arrays.bit[array], arrays.stride[array]
        repeats = (array >= 0) & (bit >= 0) & ((arrays.mask >> np.maximum(bit, 0)) & 1 > 0)
        byte = byte + np.where(repeats, element, 0)
        stride = np.where(repeats, np.gcd(stride, element), stride)
        array = np.where(array >= 0, arrays.parent[array], -1)
    return byte, stride
