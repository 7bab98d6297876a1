"""The tables of images of all edges in all layouts; equal blocks of rows are kept once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kleene.analyses.points_to.compiled import device_function, entry_point
from kleene.analyses.points_to.images.constants import add_constant
from kleene.analyses.points_to.images.indices import early_index_images, index_images
from kleene.analyses.points_to.images.layout_arrays import (
    OUTSIDE,
    LayoutArrays,
    count_locations,
    count_rows,
    location_at,
)
from kleene.analyses.points_to.images.scratch import (
    Scratch,
    begin_layout,
    clear,
    pack,
    scratch_for,
)
from kleene.analyses.points_to.object_layout import UNBOUNDED
from kleene.analyses.points_to.offset_edges import EdgeKind, OffsetEdges
from kleene.base.arrays import I32, I64, U8
from kleene.kernels.bits import product
from kleene.kernels.pointers import as_pointers

_BYTES, _EARLY_INDEX = int(EdgeKind.BYTES), int(EdgeKind.EARLY_INDEX)
_N_KNOWN = 1 << 13  # constants remembered at a time
_MIXED = 0x5851F42D4C957F2D  # bits without a pattern
_POSITIVE = (1 << 63) - 1

_LAYOUT, _EDGE, _N_ROWS = range(3)  # cells of `Tables.at`


class Edges(NamedTuple):
    """Offset edges as columns."""

    n_edges: int
    constants: I64
    kinds: U8
    stride_offsets: I64
    strides: I64


class Tables(NamedTuple):
    """The images of all edges in all layouts, and what is needed to find more of them.

    Edge e has in layout l a block of rows, one for each location, the first of them
    `rows[e * n_layouts + l]`. Row r is `images[offsets[r]:offsets[r + 1]]`.
    """

    rows: I32
    n_offsets: int  # the length of `offsets`, not all of it used
    offsets: I32
    n_images: int
    images: I32
    has_end: U8  # per layout: whether the end is in an image
    has_unknown: U8  # per layout: whether the unknown offset is
    n_slots: int  # a power of two
    slots: I32  # by hash: the first row of a block, or -1
    known_in: I32  # per kind and constant: the layout whose images were found last
    known_row: I32  # per kind and constant: the first row of these
    at: I64  # the layout and edge to go on with, and how many rows are used


@device_function
def _same_for(a: LayoutArrays, layout: int, constant: int) -> int:
    """Return the smallest constant that has the same images in a layout as this one."""
    # - Outside: more than the size leads out of the allocation from every location.
    # - One array is the whole allocation: the first element and the others both have images in the
    #   others while constants are larger than two elements and four elements remain; which fields
    #   these are depends on the constant mod t alone. What leaves the array leaves the allocation.
    # - Storage without end: behind the beginning of its last array, plus two elements, all that is
    #   reached are the others of that array; below the mirror image, all is in front.
    size, first, end = a.n_bytes[layout], a.first_array[layout], a.first_array[layout + 1]
    if size < UNBOUNDED:
        if first < end and a.span[first] == size:
            stride = a.stride[first]  # all of it is one array
            if 2 * stride < abs(constant) < size - 4 * stride:
                rest = (abs(constant) - 2 * stride) % stride + 2 * stride
                constant = rest if constant > 0 else -rest
        return int(min(max(constant, -size - 1), size + 1))
    last = end - 1
    while a.span[last] != UNBOUNDED:
        last -= 1
    stride = a.stride[last]
    limit = a.begin[last] + 2 * stride
    if constant > limit:
        return int(limit + (constant - limit) % stride)
    if constant < -limit:
        return int(-limit - (-limit - constant) % stride)
    return constant


@device_function
def _write(a: LayoutArrays, s: Scratch, e: Edges, t: Tables, edge: int, constant: int) -> None:
    """Write the images of each location under an edge, behind the rows that are used."""
    row, n, kind = t.at[_N_ROWS], s.n_locations, e.kinds[edge]
    n_used = int(t.offsets[row])
    first, end = e.stride_offsets[edge], e.stride_offsets[edge + 1]
    if first < end and kind == _EARLY_INDEX:
        early_index_images(a, s, constant, e.strides[first])
    elif first < end:
        index_images(a, s, constant, kind == _BYTES, e.strides, first, end)
    for location in range(n):
        field = a.field[a.first_location[s.layout] + location] if location < s.n_regular else -1
        if first < end or location == n - 1:
            n_used = pack(s, location, t.images, n_used)
        elif field >= 0 and a.array[field] < 0:
            image, is_within = location_at(a, s.layout, a.byte[field] + constant)
            t.images[n_used] = image
            n_used += image != OUTSIDE
            t.images[n_used] = n - 1
            n_used += is_within
        else:
            clear(s, location)
            add_constant(a, s, location, constant, kind == _BYTES, location)
            n_used = pack(s, location, t.images, n_used)
        t.offsets[row + 1 + location] = n_used


@device_function
def _hash(t: Tables, row: int, n_rows: int) -> int:
    """Return a hash of the block of rows from `row` on."""
    first, code = int(t.offsets[row]), n_rows
    for i in range(t.offsets[row + n_rows] - first):  # a sum in any order: several at a time
        code = (code + product(int(t.images[first + i]) + _MIXED, i + _MIXED)) & _POSITIVE
    for i in range(n_rows):
        code = (code + product(int(t.offsets[row + i] - first) + _MIXED, i + 1)) & _POSITIVE
    return product(code, _MIXED) >> 33


@device_function
def _is_equal(t: Tables, left: int, right: int, n_rows: int) -> bool:
    """Return whether the rows from the left one on are those from the right one on."""
    if left + n_rows > right:
        return False
    here, there = int(t.offsets[left]), int(t.offsets[right])
    for i in range(n_rows + 1):
        if t.offsets[right + i] - there != t.offsets[left + i] - here:
            return False
    for i in range(t.offsets[left + n_rows] - here):
        if t.images[here + i] != t.images[there + i]:
            return False
    return True


@device_function
def _slot_of(t: Tables, row: int, n_rows: int) -> int:
    """Return the slot of the hash table where the block of rows from `row` on is, or would be."""
    slot = _hash(t, row, n_rows) & (t.n_slots - 1)
    while t.slots[slot] >= 0 and not _is_equal(t, t.slots[slot], row, n_rows):
        slot = (slot + 1) & (t.n_slots - 1)
    return slot


@device_function
def _note(s: Scratch, t: Tables, first: int, end: int) -> None:
    """Note whether images `first` to `end` - 1 have the end, and whether the unknown offset."""
    n_ends, n_unknown = 0, 0
    for i in range(first, end):
        n_ends += t.images[i] == s.n_regular
        n_unknown += t.images[i] == s.n_locations - 1
    t.has_end[s.layout] |= n_ends > 0
    t.has_unknown[s.layout] |= n_unknown > 0


@device_function
def _row_of(a: LayoutArrays, s: Scratch, e: Edges, t: Tables, edge: int, constant: int) -> int:
    """Find the images of an edge in a layout; return the first row of the block they are in."""
    row, n_rows = t.at[_N_ROWS], s.n_locations
    _write(a, s, e, t, edge, constant)
    end = t.offsets[row + n_rows] - n_rows  # the last row is the unknown offset's: all
    _note(s, t, t.offsets[row], end)
    slot = _slot_of(t, row, n_rows)
    if t.slots[slot] < 0:
        t.slots[slot] = row
        t.at[_N_ROWS] += n_rows
    return int(t.slots[slot])


@device_function
def _go_on(a: LayoutArrays, memory: Scratch, e: Edges, t: Tables) -> bool:
    for layout in range(t.at[_LAYOUT], a.n_layouts):
        n_rows = count_rows(a, layout)
        s = begin_layout(memory, layout, count_locations(a, layout), n_rows)
        for edge in range(t.at[_EDGE], e.n_edges):
            constant, known = e.constants[edge], -1
            if e.stride_offsets[edge] == e.stride_offsets[edge + 1]:
                constant = _same_for(a, layout, constant)
                if abs(constant) < _N_KNOWN // 2:
                    known = int(e.kinds[edge]) * _N_KNOWN + constant + _N_KNOWN // 2
            if known >= 0 and t.known_in[known] == layout:
                t.rows[edge * a.n_layouts + layout] = t.known_row[known]
                continue
            n_used = t.at[_N_ROWS]
            if (
                n_used + 1 + n_rows > t.n_offsets
                or int(t.offsets[n_used]) + n_rows * n_rows > t.n_images
            ):
                t.at[_LAYOUT], t.at[_EDGE] = layout, edge
                return False
            row = _row_of(a, s, e, t, edge, constant)
            t.rows[edge * a.n_layouts + layout] = row
            if known >= 0:
                t.known_in[known], t.known_row[known] = layout, row
        t.at[_EDGE] = 0
    return True


@entry_point
def _fill(a: LayoutArrays, memory: Scratch, e: Edges, t: Tables) -> bool:
    """Find images from where the tables end; return False where there is no room for more."""
    return _go_on(as_pointers(a), as_pointers(memory), as_pointers(e), as_pointers(t))


def image_tables(a: LayoutArrays, edges: OffsetEdges) -> Tables:
    """Return the images of the edges in all layouts."""
    e = Edges(len(edges), *edges.columns())
    n_locations = np.diff(a.first_location) + np.where(a.n_bytes[:-1] < UNBOUNDED, 2, 1)
    n_blocks = e.n_edges * a.n_layouts
    slots = np.full(1 << n_blocks.bit_length(), -1, np.int32)
    known_in, known_row = np.full((2, len(EdgeKind) * _N_KNOWN), -1, np.int32)
    has_end, has_unknown = np.zeros((2, a.n_layouts), np.uint8)
    t = Tables(
        np.empty(n_blocks, np.int32),
        *(1, np.zeros(1, np.int32)),
        *(0, np.empty(0, np.int32)),
        *(has_end, has_unknown),
        *(len(slots), slots),
        *(known_in, known_row),
        np.zeros(3, np.int64),
    )
    memory = scratch_for(int(n_locations.max(initial=0)))
    while not _fill(a, memory, e, t):
        n_used, n_rows = int(t.at[_N_ROWS]), int(n_locations[t.at[_LAYOUT]])
        offsets = _longer(t.offsets, n_used + 1, n_rows)
        images = _longer(t.images, int(t.offsets[n_used]), n_rows * n_rows)
        t = t._replace(n_offsets=len(offsets), offsets=offsets, n_images=len(images), images=images)
    n_used = int(t.at[_N_ROWS])
    return t._replace(offsets=t.offsets[: n_used + 1], images=t.images[: t.offsets[n_used]])


def _longer(values: I32, n_used: int, n_more: int) -> I32:
    """Return the values that are used in an array that has room for more."""
    if n_used + n_more <= len(values):
        return values
    longer = np.empty(2 * (n_used + n_more), values.dtype)
    longer[:n_used] = values[:n_used]
    return longer
