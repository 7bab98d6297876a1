"""Where a constant and multiples of strides take each place."""

from __future__ import annotations

import numpy as np

from kleene.analyses.points_to.compiled import piece
from kleene.analyses.points_to.landings.addresses import advance, period, shift, surround, sweep
from kleene.analyses.points_to.landings.constants import add
from kleene.analyses.points_to.landings.frame import (
    ARRAY,
    BEGIN,
    BIT,
    BYTE,
    FIRST_ARRAY,
    FIRST_PLACE,
    HOLD,
    HOLDS_INDICES,
    IS_RAW,
    MASK,
    N_BYTES,
    PARENT,
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
from kleene.ir.tables import I64, U8

_N_RESIDUES = 1 << 8  # residues remembered at a time, of a stride and of one divisor of it


@piece
def _array_of(f: Frame, shape: int, place: int, stride: int) -> int:
    """Return the outermost array around a place in which an index of that stride works, or -1."""
    if place >= count_places(f, shape):
        return -1
    found = -1
    array = f.starts[f.places[f.shapes[shape, FIRST_PLACE] + place, START], ARRAY]
    while array >= 0:
        fits = stride % f.arrays[array, STRIDE] == 0 and stride <= f.arrays[array, SPAN]
        if fits and f.arrays[array, HOLD] >= HOLDS_INDICES:
            found = array
        array = f.arrays[array, PARENT]
    return found


@piece
def _index(f: Frame, shape: int, place: int, array: int, found: U8) -> None:
    """Note the same place in every element of an array around it, and the end behind it."""
    bit = f.arrays[array, BIT]
    found[place] = 1
    if bit >= 0:
        mask = f.places[f.shapes[shape, FIRST_PLACE] + place, MASK]
        first = place - (mask & (1 << bit))
        found[first] = 1
        found[first + (1 << bit)] = 1
    begin, span = f.arrays[array, BEGIN], f.arrays[array, SPAN]
    start = f.places[f.shapes[shape, FIRST_PLACE] + place, START]
    is_last = begin + span == f.shapes[shape, N_BYTES] and f.arrays[array, PARENT] < 0
    if is_last and span < UNBOUNDED and f.starts[start, BYTE] == begin:
        found[count_places(f, shape)] = 1


@piece
def _sweep_from(
    f: Frame,
    shape: int,
    place: int,
    constant: int,
    stride: int,
    found: U8,
    swept: U8,
    swept_modulus: I64,
    walks: Grid,
) -> None:
    """Note all that a constant and any multiple of a stride can reach from a place."""
    start, mask, depth, byte = 0, 0, 0, f.shapes[shape, N_BYTES]
    if place < count_places(f, shape):
        row = f.shapes[shape, FIRST_PLACE] + place
        start, mask = f.places[row, START], f.places[row, MASK]
        depth, byte = surround(f, start, walks[0]), f.starts[start, BYTE]
    modulus = period(f, depth, mask, stride, 1, walks[0])
    going = True
    while going:
        residue = (byte + shift(f, 0, depth, mask, walks[0]) + constant) % modulus
        if modulus > _N_RESIDUES:
            sweep(f, shape, residue, modulus, found, walks[1])
        else:
            slot = residue if modulus == stride else residue + _N_RESIDUES
            if swept_modulus[slot] != modulus:
                swept_modulus[slot] = modulus
                swept[slot] = 0
                sweep(f, shape, residue, modulus, swept[slot], walks[1])
            for i in range(len(found)):
                found[i] |= swept[slot, i]
        going = advance(depth, walks[0])


@piece
def _add_and_index(
    f: Frame,
    shape: int,
    place: int,
    constant: int,
    in_bytes: bool,
    stride: int,
    found: U8,
    between: U8,
    swept: U8,
    swept_modulus: I64,
    walks: Grid,
) -> None:
    """Note where a constant and multiples of a stride take a place."""
    landed, indexed = between[0], between[1]
    landed[:] = 0
    is_elsewhere = not add(f, shape, place, constant, in_bytes, landed, walks)
    if landed[-1]:
        found[:] = 1
        return
    is_elsewhere |= not _index_all(f, shape, stride, landed, found)
    if place == count_places(f, shape) and stride > 1 and not f.shapes[shape, IS_RAW]:
        _index_from_end(f, shape, constant, in_bytes, stride, found, indexed, walks)
        return
    own = _array_of(f, shape, place, stride)
    if own < 0 and is_elsewhere:
        _sweep_from(f, shape, place, constant, stride, found, swept, swept_modulus, walks)
    elif own >= 0 and (is_elsewhere or constant < 0):
        start = f.places[f.shapes[shape, FIRST_PLACE] + place, START]
        inside = f.starts[start, BYTE] - f.arrays[own, BEGIN]
        within = (inside + constant) % f.arrays[own, STRIDE] - inside  # without whole elements
        indexed[:] = 0
        landed[:] = 0
        _index(f, shape, place, own, indexed)
        for at in range(len(indexed)):
            if indexed[at]:
                add(f, shape, at, constant, in_bytes, found, walks)
                add(f, shape, at, within, in_bytes, landed, walks)
        _index_all(f, shape, stride, landed, found)


@piece
def _index_from_end(
    f: Frame,
    shape: int,
    constant: int,
    in_bytes: bool,
    stride: int,
    found: U8,
    indexed: U8,
    walks: Grid,
) -> None:
    """Note where an index leads from the end: into arrays that end there."""
    size = f.shapes[shape, N_BYTES]
    for array in range(f.shapes[shape, FIRST_ARRAY], f.shapes[shape + 1, FIRST_ARRAY]):
        end, around = f.arrays[array, BEGIN] + f.arrays[array, SPAN], f.arrays[array, PARENT]
        while around >= 0 and end == f.arrays[around, BEGIN] + f.arrays[around, STRIDE]:
            end, around = f.arrays[around, BEGIN] + f.arrays[around, SPAN], f.arrays[around, PARENT]
        if around < 0 and end == size and stride % f.arrays[array, STRIDE] == 0:
            indexed[:] = 0
            first, _ = place_of(f, shape, size - f.arrays[array, SPAN])
            _index(f, shape, first, array, indexed)
            for at in range(len(indexed)):
                if indexed[at]:
                    add(f, shape, at, constant, in_bytes, found, walks)


@piece
def _index_all(f: Frame, shape: int, stride: int, places: U8, found: U8) -> bool:
    """Note all elements, for each of some places; return whether all are in arrays."""
    all_indexed = True
    for place in range(len(places)):
        if places[place]:
            array = _array_of(f, shape, place, stride)
            if array >= 0:
                _index(f, shape, place, array, found)
            else:
                all_indexed = False
                found[place] = 1
    return all_indexed


@piece
def _index_everywhere(
    f: Frame, shape: int, constant: int, in_bytes: bool, stride: int, is_landing: U8, walks: Grid
) -> None:
    """Note where a constant and multiples of a stride take every place but the blur."""
    n_rows = count_rows(f, shape)
    between = np.zeros((2, n_rows), np.uint8)
    swept_modulus = np.zeros(2 * _N_RESIDUES, np.int64)
    swept = np.empty((2 * _N_RESIDUES, n_rows), np.uint8)
    for place in range(n_rows - 1):
        found = is_landing[place]
        _add_and_index(
            f, shape, place, constant, in_bytes, stride, found, between, swept, swept_modulus, walks
        )


@piece
def land(
    f: Frame,
    shape: int,
    constant: int,
    in_bytes: bool,
    strides: I64,
    is_landing: U8,
    walks: Grid,
) -> None:
    """Set which places every place of a shape is taken to by a move that has strides."""
    n_rows = count_rows(f, shape)
    is_landing[:] = 0
    is_landing[n_rows - 1] = 1
    _index_everywhere(f, shape, constant, in_bytes, strides[0], is_landing, walks)
    for stride in strides[1:]:
        following = np.zeros((n_rows, n_rows), np.uint8)
        following[n_rows - 1] = 1
        _index_everywhere(f, shape, 0, in_bytes, stride, following, walks)
        if f.shapes[shape, N_BYTES] < UNBOUNDED:
            following[n_rows - 2] = 0
            following[n_rows - 2, n_rows - 2] = 1  # the end has no elements
        for place in range(n_rows - 1):
            reached = is_landing[place].copy()
            for at in range(n_rows):
                if reached[at]:
                    is_landing[place] |= following[at]


@piece
def sweep_all(
    f: Frame, shape: int, constant: int, stride: int, is_landing: U8, walks: Grid
) -> None:
    """Set which places every place is taken to by a constant and an index that nothing holds."""
    n_rows = count_rows(f, shape)
    is_landing[:] = 0
    is_landing[n_rows - 1] = 1
    swept_modulus = np.zeros(2 * _N_RESIDUES, np.int64)
    swept = np.empty((2 * _N_RESIDUES, n_rows), np.uint8)
    for place in range(n_rows - 1):
        _sweep_from(
            f, shape, place, constant, stride, is_landing[place], swept, swept_modulus, walks
        )
