"""The tables of all moves in all shapes, equal blocks of rows kept once."""

from __future__ import annotations

import numpy as np

from kleene.analyses.points_to.compiled import entry, piece
from kleene.analyses.points_to.landings.addresses import DEEPEST, N_WALK
from kleene.analyses.points_to.landings.constants import add
from kleene.analyses.points_to.landings.frame import (
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
    UNBOUNDED,
    Frame,
    Grid,
    count_places,
    count_rows,
    place_of,
)
from kleene.analyses.points_to.landings.indices import land, sweep_all
from kleene.ir.tables import I32, I64, U8

_N_KNOWN = 1 << 13  # constants remembered at a time


@piece
def _grown(values: I32, n_used: int, n_more: int) -> I32:
    """Return the values in an array that has room for more."""
    if n_used + n_more <= len(values):
        return values
    larger = np.empty(2 * (n_used + n_more), values.dtype)
    larger[:n_used] = values[:n_used]
    return larger


@piece
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


@piece
def _pack(found: U8, block: I32, n_used: int) -> int:
    """Append the places found to a block; return how long it is now."""
    for place in range(len(found)):
        if found[place]:
            block[n_used] = place
            n_used += 1
    return n_used


@piece
def _write(
    f: Frame,
    shape: int,
    constant: int,
    way: int,
    strides: I64,
    is_landing: U8,
    block: I32,
    lengths: I32,
    walks: Grid,
) -> tuple[I32, int]:
    """Write the landings of each place, one after the other; return them, and how many."""
    n_used, n_rows = 0, len(lengths)
    if len(strides) and way == LOOSE:
        sweep_all(f, shape, constant, strides[0], is_landing, walks)
    elif len(strides):
        land(f, shape, constant, way == BYTES, strides, is_landing, walks)
    for place in range(n_rows):
        block = _grown(block, n_used, n_rows)
        before, row = n_used, f.shapes[shape, FIRST_PLACE] + place
        is_exact = place < count_places(f, shape) and f.starts[f.places[row, START], ARRAY] < 0
        if len(strides) or place == n_rows - 1:
            n_used = _pack(is_landing[place], block, n_used)
        elif is_exact:
            address = f.starts[f.places[row, START], BYTE] + constant
            landing, is_within = place_of(f, shape, address)
            block[n_used] = landing
            n_used += landing != OUTSIDE
            block[n_used] = n_rows - 1
            n_used += is_within
        else:
            is_landing[place] = 0
            add(f, shape, place, constant, way == BYTES, is_landing[place], walks)
            n_used = _pack(is_landing[place], block, n_used)
        lengths[place] = n_used - before
    return block, n_used


@piece
def _hash(block: I32, n_used: int, lengths: I32) -> int:
    code = np.uint64(len(lengths))
    for i in range(n_used):
        code = (code ^ np.uint64(block[i])) * np.uint64(0x100000001B3)
    for i in range(len(lengths)):
        code = (code ^ np.uint64(lengths[i])) * np.uint64(0x100000001B3)
    return int((code ^ (code >> np.uint64(29))) & np.uint64((1 << 31) - 1))


@piece
def _is_at(row: int, lengths: I32, block: I32, n_used: int, offsets: I32, landings: I32) -> bool:
    """Return whether the block that starts at a row is the given one."""
    if row + len(lengths) >= len(offsets):
        return False
    first = offsets[row]
    if offsets[row + len(lengths)] - first != n_used:
        return False
    for i in range(len(lengths)):
        if offsets[row + i + 1] - offsets[row + i] != lengths[i]:
            return False
    for i in range(n_used):  # noqa: SIM110 -- Numba compiles loops, not generators
        if landings[first + i] != block[i]:
            return False
    return True


@piece
def _slot_of(slots: I32, lengths: I32, block: I32, n_used: int, offsets: I32, landings: I32) -> int:
    """Return where a block is in the hash table, or would be."""
    last = len(slots) - 1  # a power of two less one
    slot = _hash(block, n_used, lengths) & last
    while slots[slot] >= 0 and not _is_at(slots[slot], lengths, block, n_used, offsets, landings):
        slot = (slot + 1) & last
    return slot


@entry
def land_all(
    f: Frame, constants: I64, ways: U8, stride_offsets: I64, strides: I64
) -> tuple[I32, I32, I32, U8]:
    """Return rows per move and shape, the rows' offsets and landings, and what occurs per shape.

    The last has two columns: whether a move leads to the end, and whether one leads to the blur.
    """
    n_shapes, n_moves = len(f.shapes) - 1, len(constants)
    rows = np.empty(n_moves * n_shapes, np.int32)
    offsets, landings, block = np.zeros(1, np.int32), np.empty(1, np.int32), np.empty(1, np.int32)
    n_rows, n_landings, n_slots = 0, 0, 1
    while n_slots <= len(rows):
        n_slots *= 2
    slots = np.full(n_slots, -1, np.int32)  # blocks by hash
    occurs = np.zeros((n_shapes, 2), np.uint8)
    walks = np.zeros((2, N_WALK, DEEPEST), np.int64)
    known = np.full((N_WAYS, _N_KNOWN), -1, np.int32)
    for shape in range(n_shapes):
        lengths = np.empty(count_rows(f, shape), np.int32)
        is_landing = np.ones((len(lengths), len(lengths)), np.uint8)
        known[:] = -1
        for move in range(n_moves):
            own = strides[stride_offsets[move] : stride_offsets[move + 1]]
            constant = _same_for(f, shape, constants[move]) if len(own) == 0 else constants[move]
            at, way = constant + _N_KNOWN // 2, ways[move]
            is_simple = len(own) == 0 and 0 <= at < _N_KNOWN
            if is_simple and known[way, at] >= 0:
                rows[move * n_shapes + shape] = known[way, at]
                continue
            block, n_used = _write(f, shape, constant, way, own, is_landing, block, lengths, walks)
            for i in range(n_used - len(lengths)):  # the last row is the blur's: all
                occurs[shape, 0] |= block[i] == count_places(f, shape)
                occurs[shape, 1] |= block[i] == len(lengths) - 1
            slot = _slot_of(slots, lengths, block, n_used, offsets[: n_rows + 1], landings)
            if slots[slot] < 0:
                slots[slot] = n_rows
                offsets = _grown(offsets, n_rows + 1, len(lengths))
                landings = _grown(landings, n_landings, n_used)
                landings[n_landings : n_landings + n_used] = block[:n_used]
                for i in range(len(lengths)):
                    n_landings += lengths[i]
                    offsets[n_rows + 1 + i] = n_landings
                n_rows += len(lengths)
            rows[move * n_shapes + shape] = slots[slot]
            if is_simple:
                known[way, at] = slots[slot]
    return rows, offsets[: n_rows + 1], landings[:n_landings], occurs
