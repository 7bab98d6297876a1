"""The tables of images of all edges in all layouts; equal blocks of rows are kept once."""

from __future__ import annotations

import numpy as np

from kleene.analyses.points_to.compiled import device_function, entry_point, no_refcount
from kleene.analyses.points_to.images.constants import Scratch, add_constant, scratch_for
from kleene.analyses.points_to.images.indices import early_index_images, index_images
from kleene.analyses.points_to.images.layout_arrays import (
    ARRAY,
    BEGIN,
    BYTE,
    BYTES,
    EARLY_INDEX,
    FIELD,
    FIRST_ARRAY,
    FIRST_LOCATION,
    N_BYTES,
    N_KINDS,
    OUTSIDE,
    SPAN,
    STRIDE,
    LayoutArrays,
    count_locations,
    count_rows,
    location_at,
    pack,
)
from kleene.analyses.points_to.object_layout import UNBOUNDED
from kleene.base.arrays import I32, I64, U8
from kleene.kernels.bits import product

_N_KNOWN = 1 << 13  # constants remembered at a time
_MIXED = 0x5851F42D4C957F2D  # bits without a pattern
_POSITIVE = (1 << 63) - 1


@device_function
def _grown(values: I32, n_used: int, n_more: int) -> I32:
    """Return the values in an array that has room for more."""
    if n_used + n_more <= len(values):
        return values
    larger = np.empty(2 * (n_used + n_more), values.dtype)
    larger[:n_used] = values[:n_used]
    return larger


@no_refcount
def _same_for(a: LayoutArrays, layout: int, constant: int) -> int:
    """Return the smallest constant that has the same images in a layout as this one."""
    # - Outside: more than the size leads out of the allocation from every location.
    # - One array is the whole allocation: the first element and the others both have images in the
    #   others while constants are larger than two elements and four elements remain; which fields
    #   these are depends on the constant mod t alone. What leaves the array leaves the allocation.
    # - Storage without end: behind the beginning of its last array, plus two elements, all that is
    #   reached are the others of that array; below the mirror image, all is in front.
    size, first = a.layouts[layout, N_BYTES], a.layouts[layout, FIRST_ARRAY]
    if size < UNBOUNDED:
        if first < a.layouts[layout + 1, FIRST_ARRAY] and a.arrays[first, SPAN] == size:
            stride = a.arrays[first, STRIDE]  # all of it is one array
            if 2 * stride < abs(constant) < size - 4 * stride:
                rest = (abs(constant) - 2 * stride) % stride + 2 * stride
                constant = rest if constant > 0 else -rest
        return int(min(max(constant, -size - 1), size + 1))
    last = a.layouts[layout + 1, FIRST_ARRAY] - 1
    while a.arrays[last, SPAN] != UNBOUNDED:
        last -= 1
    stride = a.arrays[last, STRIDE]
    limit = a.arrays[last, BEGIN] + 2 * stride
    if constant > limit:
        return int(limit + (constant - limit) % stride)
    if constant < -limit:
        return int(-limit - (-limit - constant) % stride)
    return constant


@no_refcount
def _write(
    a: LayoutArrays,
    layout: int,
    constant: int,
    kind: int,
    strides: I64,
    s: Scratch,
    offsets: I32,
    row: int,
    images: I32,
) -> None:
    """Append the images of each location, from row `row` of a table on."""
    n_used, n_rows = offsets[row], len(s.image)
    if len(strides) and kind == EARLY_INDEX:
        early_index_images(a, layout, constant, strides[0], s)
    elif len(strides):
        index_images(a, layout, constant, kind == BYTES, strides, s)
    for location in range(n_rows):
        at = a.layouts[layout, FIRST_LOCATION] + location
        is_exact = (
            location < count_locations(a, layout) and a.fields[a.locations[at, FIELD], ARRAY] < 0
        )
        if len(strides) or location == n_rows - 1:
            n_used = pack(s.image[location], images, n_used)
        elif is_exact:
            address = a.fields[a.locations[at, FIELD], BYTE] + constant
            image, is_within = location_at(a, layout, address)
            images[n_used] = image
            n_used += image != OUTSIDE
            images[n_used] = n_rows - 1
            n_used += is_within
        else:
            s.image[location] = 0
            add_constant(a, layout, location, constant, kind == BYTES, s.image[location], s.walks)
            n_used = pack(s.image[location], images, n_used)
        offsets[row + 1 + location] = n_used


@no_refcount
def _hash(offsets: I32, images: I32, row: int, n_rows: int) -> int:
    """Return a hash of the block of rows from `row` on."""
    starts = offsets[row : row + n_rows]
    block = images[starts[0] : offsets[row + n_rows]]
    code = n_rows
    for i in range(len(block)):  # a sum mod 2^63, in any order: several at a time
        code = (code + product(int(block[i]) + _MIXED, i + _MIXED)) & _POSITIVE
    for i in range(n_rows):
        code = (code + product(int(starts[i] - starts[0]) + _MIXED, i + 1)) & _POSITIVE
    return product(code, _MIXED) >> 33


@no_refcount
def _is_equal(offsets: I32, images: I32, left: int, right: int, n_rows: int) -> bool:
    """Return whether the rows from the left one on are those from the right one on."""
    if left + n_rows > right:
        return False
    mine, theirs = offsets[left : left + n_rows + 1], offsets[right : right + n_rows + 1]
    shift = theirs[0] - mine[0]
    for i in range(n_rows + 1):
        if theirs[i] - mine[i] != shift:
            return False
    here, there = images[mine[0] : mine[n_rows]], images[theirs[0] : theirs[n_rows]]
    for i in range(len(here)):  # noqa: SIM110 -- Numba compiles loops, not generators
        if here[i] != there[i]:
            return False
    return True


@no_refcount
def _slot_of(slots: I32, offsets: I32, images: I32, row: int, n_rows: int) -> int:
    """Return the slot of the hash table where the block of rows from `row` on is, or would be."""
    last = len(slots) - 1  # a power of two less one
    slot = _hash(offsets, images, row, n_rows) & last
    while slots[slot] >= 0 and not _is_equal(offsets, images, slots[slot], row, n_rows):
        slot = (slot + 1) & last
    return slot


@no_refcount
def _note(block: I32, n_locations: int, n_rows: int, occurs: U8) -> None:
    """Set whether some image has the end, and whether some image has the unknown offset."""
    n_ends, n_unknown = 0, 0
    for i in range(len(block)):
        n_ends += block[i] == n_locations
        n_unknown += block[i] == n_rows - 1
    occurs[0] |= n_ends > 0
    occurs[1] |= n_unknown > 0


@entry_point
def image_tables(
    a: LayoutArrays, constants: I64, kinds: U8, stride_offsets: I64, strides: I64
) -> tuple[I32, I32, I32, U8]:
    """Return the first row of each edge and layout, the rows' offsets, the images, and what occurs.

    What occurs are two columns by layout: whether the end is in an image, and the unknown offset.
    """
    n_layouts, n_edges = len(a.layouts) - 1, len(constants)
    rows = np.empty(n_edges * n_layouts, np.int32)
    offsets, images = np.zeros(1, np.int32), np.empty(1, np.int32)
    n_used, n_slots = 0, 1  # rows of blocks that are kept
    while n_slots <= len(rows):
        n_slots *= 2
    slots = np.full(n_slots, -1, np.int32)  # blocks by hash
    occurs = np.zeros((n_layouts, 2), np.uint8)
    known = np.full((N_KINDS, _N_KNOWN), -1, np.int32)
    for layout in range(n_layouts):
        n_rows = count_rows(a, layout)
        s = scratch_for(n_rows)
        far = min(a.layouts[layout, N_BYTES] + 1, _N_KNOWN // 2 - 1)
        known[:, _N_KNOWN // 2 - far : _N_KNOWN // 2 + far + 1] = -1
        for edge in range(n_edges):
            own = strides[stride_offsets[edge] : stride_offsets[edge + 1]]
            constant = _same_for(a, layout, constants[edge]) if len(own) == 0 else constants[edge]
            at, kind = constant + _N_KNOWN // 2, kinds[edge]
            is_simple = len(own) == 0 and abs(constant) <= far
            if is_simple and known[kind, at] >= 0:
                rows[edge * n_layouts + layout] = known[kind, at]
                continue
            offsets = _grown(offsets, n_used + 1, n_rows)
            images = _grown(images, offsets[n_used], n_rows * n_rows)
            _write(a, layout, constant, kind, own, s, offsets, n_used, images)
            end = offsets[n_used + n_rows] - n_rows  # the last row is the unknown offset's: all
            _note(images[offsets[n_used] : end], count_locations(a, layout), n_rows, occurs[layout])
            slot = _slot_of(slots, offsets, images, n_used, n_rows)
            if slots[slot] < 0:
                slots[slot] = n_used
                n_used += n_rows
            rows[edge * n_layouts + layout] = slots[slot]
            if is_simple:
                known[kind, at] = slots[slot]
    return rows, offsets[: n_used + 1], images[: offsets[n_used]], occurs
