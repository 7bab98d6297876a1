"""The tables of all moves in all shapes, equal blocks of rows kept once."""

from __future__ import annotations

import numpy as np

from kleene.analyses.points_to.compiled import device_function, entry_point, no_refcount
from kleene.analyses.points_to.images.constants import Scratch, add, scratch_for
from kleene.analyses.points_to.images.indices import land, sweep_all
from kleene.analyses.points_to.images.layout_arrays import (
    ARRAY,
    BEGIN,
    BYTE,
    BYTES,
    FIRST_ARRAY,
    FIRST_PLACE,
    LOOSE,
    N_BYTES,
    N_WAYS,
    OUTSIDE,
    SPAN,
    START,
    STRIDE,
    Frame,
    count_places,
    count_rows,
    pack,
    place_of,
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
def _same_for(f: Frame, shape: int, constant: int) -> int:
    """Return the least constant, in size, that moves the places of a shape as this one does."""
    size, first = f.shapes[shape, N_BYTES], f.shapes[shape, FIRST_ARRAY]
    if size < UNBOUNDED:
        if first < f.shapes[shape + 1, FIRST_ARRAY] and f.arrays[first, SPAN] == size:
            stride = f.arrays[first, STRIDE]  # all of it is one array
            if 2 * stride < abs(constant) < size - 4 * stride:
                rest = (abs(constant) - 2 * stride) % stride + 2 * stride
                constant = rest if constant > 0 else -rest
        return int(min(max(constant, -size - 1), size + 1))
    last = f.shapes[shape + 1, FIRST_ARRAY] - 1
    while f.arrays[last, SPAN] != UNBOUNDED:
        last -= 1
    stride = f.arrays[last, STRIDE]
    limit = f.arrays[last, BEGIN] + 2 * stride
    if constant > limit:
        return int(limit + (constant - limit) % stride)
    if constant < -limit:
        return int(-limit - (-limit - constant) % stride)
    return constant


@no_refcount
def _write(
    f: Frame,
    shape: int,
    constant: int,
    way: int,
    strides: I64,
    s: Scratch,
    offsets: I32,
    row: int,
    landings: I32,
) -> None:
    """Write the landings of each place, one after the other, and where they end, from a row on."""
    n_used, n_rows = offsets[row], len(s.landing)
    if len(strides) and way == LOOSE:
        sweep_all(f, shape, constant, strides[0], s)
    elif len(strides):
        land(f, shape, constant, way == BYTES, strides, s)
    for place in range(n_rows):
        at = f.shapes[shape, FIRST_PLACE] + place
        is_exact = place < count_places(f, shape) and f.starts[f.places[at, START], ARRAY] < 0
        if len(strides) or place == n_rows - 1:
            n_used = pack(s.landing[place], landings, n_used)
        elif is_exact:
            address = f.starts[f.places[at, START], BYTE] + constant
            landing, is_within = place_of(f, shape, address)
            landings[n_used] = landing
            n_used += landing != OUTSIDE
            landings[n_used] = n_rows - 1
            n_used += is_within
        else:
            s.landing[place] = 0
            add(f, shape, place, constant, way == BYTES, s.landing[place], s.walks)
            n_used = pack(s.landing[place], landings, n_used)
        offsets[row + 1 + place] = n_used


@no_refcount
def _hash(offsets: I32, landings: I32, row: int, n_rows: int) -> int:
    starts = offsets[row : row + n_rows]
    block = landings[starts[0] : offsets[row + n_rows]]
    code = n_rows
    for i in range(len(block)):  # a sum mod 2^63, in any order: several at a time
        code = (code + product(int(block[i]) + _MIXED, i + _MIXED)) & _POSITIVE
    for i in range(n_rows):
        code = (code + product(int(starts[i] - starts[0]) + _MIXED, i + 1)) & _POSITIVE
    return product(code, _MIXED) >> 33


@no_refcount
def _is_equal(offsets: I32, landings: I32, left: int, right: int, n_rows: int) -> bool:
    """Return whether the rows from the left one on are those from the right one on."""
    if left + n_rows > right:
        return False
    mine, theirs = offsets[left : left + n_rows + 1], offsets[right : right + n_rows + 1]
    shift = theirs[0] - mine[0]
    for i in range(n_rows + 1):
        if theirs[i] - mine[i] != shift:
            return False
    here, there = landings[mine[0] : mine[n_rows]], landings[theirs[0] : theirs[n_rows]]
    for i in range(len(here)):  # noqa: SIM110 -- Numba compiles loops, not generators
        if here[i] != there[i]:
            return False
    return True


@no_refcount
def _slot_of(slots: I32, offsets: I32, landings: I32, row: int, n_rows: int) -> int:
    """Return where the block that starts at a row is in the hash table, or would be."""
    last = len(slots) - 1  # a power of two less one
    slot = _hash(offsets, landings, row, n_rows) & last
    while slots[slot] >= 0 and not _is_equal(offsets, landings, slots[slot], row, n_rows):
        slot = (slot + 1) & last
    return slot


@no_refcount
def _note(block: I32, n_places: int, n_rows: int, occurs: U8) -> None:
    """Note whether some landing is the end, or the blur."""
    n_ends, n_blurs = 0, 0
    for i in range(len(block)):
        n_ends += block[i] == n_places
        n_blurs += block[i] == n_rows - 1
    occurs[0] |= n_ends > 0
    occurs[1] |= n_blurs > 0


@entry_point
def land_all(
    f: Frame, constants: I64, ways: U8, stride_offsets: I64, strides: I64
) -> tuple[I32, I32, I32, U8]:
    """Return rows per move and shape, the rows' offsets and landings, and what occurs per shape.

    The last has two columns: whether a move leads to the end, and whether one leads to the blur.
    """
    n_shapes, n_moves = len(f.shapes) - 1, len(constants)
    rows = np.empty(n_moves * n_shapes, np.int32)
    offsets, landings = np.zeros(1, np.int32), np.empty(1, np.int32)
    n_used, n_slots = 0, 1  # rows of blocks that are kept
    while n_slots <= len(rows):
        n_slots *= 2
    slots = np.full(n_slots, -1, np.int32)  # blocks by hash
    occurs = np.zeros((n_shapes, 2), np.uint8)
    known = np.full((N_WAYS, _N_KNOWN), -1, np.int32)
    for shape in range(n_shapes):
        n_rows = count_rows(f, shape)
        s = scratch_for(n_rows)
        far = min(f.shapes[shape, N_BYTES] + 1, _N_KNOWN // 2 - 1)
        known[:, _N_KNOWN // 2 - far : _N_KNOWN // 2 + far + 1] = -1
        for move in range(n_moves):
            own = strides[stride_offsets[move] : stride_offsets[move + 1]]
            constant = _same_for(f, shape, constants[move]) if len(own) == 0 else constants[move]
            at, way = constant + _N_KNOWN // 2, ways[move]
            is_simple = len(own) == 0 and abs(constant) <= far
            if is_simple and known[way, at] >= 0:
                rows[move * n_shapes + shape] = known[way, at]
                continue
            offsets = _grown(offsets, n_used + 1, n_rows)
            landings = _grown(landings, offsets[n_used], n_rows * n_rows)
            _write(f, shape, constant, way, own, s, offsets, n_used, landings)
            end = offsets[n_used + n_rows] - n_rows  # the last row is the blur's: all
            _note(landings[offsets[n_used] : end], count_places(f, shape), n_rows, occurs[shape])
            slot = _slot_of(slots, offsets, landings, n_used, n_rows)
            if slots[slot] < 0:
                slots[slot] = n_used
                n_used += n_rows
            rows[move * n_shapes + shape] = slots[slot]
            if is_simple:
                known[way, at] = slots[slot]
    return rows, offsets[: n_used + 1], landings[: offsets[n_used]], occurs
