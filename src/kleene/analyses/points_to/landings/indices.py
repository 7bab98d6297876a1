"""Where a constant and multiples of strides take each place."""

from __future__ import annotations

from kleene.analyses.points_to.compiled import borrower
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
    place_of,
)
from kleene.analyses.points_to.landings.scratch import N_RESIDUES, Scratch
from kleene.ir.tables import I64, U8


@borrower
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


@borrower
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


@borrower
def _sweep_from(
    f: Frame, shape: int, place: int, constant: int, stride: int, found: U8, s: Scratch
) -> None:
    """Note all that a constant and any multiple of a stride can reach from a place."""
    start, mask, depth, byte = 0, 0, 0, f.shapes[shape, N_BYTES]
    if place < count_places(f, shape):
        row = f.shapes[shape, FIRST_PLACE] + place
        start, mask = f.places[row, START], f.places[row, MASK]
        depth, byte = surround(f, start, s.walks[0]), f.starts[start, BYTE]
    modulus = period(f, depth, mask, stride, 1, s.walks[0])
    going = True
    while going:
        residue = (byte + shift(f, 0, depth, mask, s.walks[0]) + constant) % modulus
        if modulus > N_RESIDUES:
            sweep(f, shape, residue, modulus, found, s.walks[1])
        else:
            slot = residue if modulus == stride else residue + N_RESIDUES
            if s.swept_modulus[slot] != modulus:
                s.swept_modulus[slot] = modulus
                s.swept[slot] = 0
                sweep(f, shape, residue, modulus, s.swept[slot], s.walks[1])
            _join(found, s.swept[slot])
        going = advance(depth, s.walks[0])


@borrower
def _join(found: U8, more: U8) -> None:
    """Note more places."""
    for place in range(len(found)):
        found[place] |= more[place]


@borrower
def _add_and_index(
    f: Frame,
    shape: int,
    place: int,
    constant: int,
    in_bytes: bool,
    stride: int,
    found: U8,
    s: Scratch,
) -> None:
    """Note where a constant and multiples of a stride take a place."""
    landed, indexed = s.between[0], s.between[1]
    landed[:] = 0
    is_elsewhere = not add(f, shape, place, constant, in_bytes, landed, s.walks)
    if landed[-1]:
        found[:] = 1
        return
    is_elsewhere |= not _index_all(f, shape, stride, landed, found)
    if place == count_places(f, shape) and stride > 1 and not f.shapes[shape, IS_RAW]:
        _index_from_end(f, shape, constant, in_bytes, stride, found, indexed, s.walks)
        return
    own = _array_of(f, shape, place, stride)
    if own < 0 and is_elsewhere:
        _sweep_from(f, shape, place, constant, stride, found, s)
    elif own >= 0 and (is_elsewhere or constant < 0):
        start = f.places[f.shapes[shape, FIRST_PLACE] + place, START]
        inside = f.starts[start, BYTE] - f.arrays[own, BEGIN]
        within = (inside + constant) % f.arrays[own, STRIDE] - inside  # without whole elements
        indexed[:] = 0
        landed[:] = 0
        _index(f, shape, place, own, indexed)
        for at in range(len(indexed)):
            if indexed[at]:
                add(f, shape, at, constant, in_bytes, found, s.walks)
                add(f, shape, at, within, in_bytes, landed, s.walks)
        _index_all(f, shape, stride, landed, found)


@borrower
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


@borrower
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


@borrower
def _index_everywhere(
    f: Frame, shape: int, constant: int, in_bytes: bool, stride: int, landing: U8, s: Scratch
) -> None:
    """Note where a constant and multiples of a stride take every place; the blur, everywhere."""
    landing[:] = 0
    landing[-1] = 1
    for place in range(len(landing) - 1):
        _add_and_index(f, shape, place, constant, in_bytes, stride, landing[place], s)


@borrower
def land(f: Frame, shape: int, constant: int, in_bytes: bool, strides: I64, s: Scratch) -> None:
    """Set which places every place of a shape is taken to by a move that has strides."""
    n_rows, reached = len(s.landing), s.between[0]
    _index_everywhere(f, shape, constant, in_bytes, strides[0], s.landing, s)
    for k in range(1, len(strides)):
        _index_everywhere(f, shape, 0, in_bytes, strides[k], s.following, s)
        if f.shapes[shape, N_BYTES] < UNBOUNDED:
            s.following[n_rows - 2] = 0
            s.following[n_rows - 2, n_rows - 2] = 1  # the end has no elements
        for place in range(n_rows - 1):
            reached[:] = 0
            _join(reached, s.landing[place])
            for at in range(n_rows):
                if reached[at]:
                    _join(s.landing[place], s.following[at])


@borrower
def sweep_all(f: Frame, shape: int, constant: int, stride: int, s: Scratch) -> None:
    """Set which places every place is taken to by a constant and an index that nothing holds."""
    s.landing[:] = 0
    s.landing[-1] = 1
    for place in range(len(s.landing) - 1):
        _sweep_from(f, shape, place, constant, stride, s.landing[place], s)
