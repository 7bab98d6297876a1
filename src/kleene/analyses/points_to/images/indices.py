"""Where a constant and multiples of strides take each place."""

from __future__ import annotations

from kleene.analyses.points_to.compiled import no_refcount
from kleene.analyses.points_to.images.constants import (
    N_RESIDUES,
    Scratch,
    add,
    advance,
    period,
    shift,
    surround,
    sweep,
)
from kleene.analyses.points_to.images.layout_arrays import (
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
    Frame,
    Grid,
    Set,
    count_places,
    following,
    has,
    join,
    place_of,
    put,
    put_all,
)
from kleene.analyses.points_to.object_layout import UNBOUNDED
from kleene.base.arrays import I64


@no_refcount
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


@no_refcount
def _index(f: Frame, shape: int, place: int, array: int, found: Set) -> None:
    """Note the same place in every element of an array around it, and the end behind it."""
    bit = f.arrays[array, BIT]
    put(found, place)
    if bit >= 0:
        mask = f.places[f.shapes[shape, FIRST_PLACE] + place, MASK]
        first = place - (mask & (1 << bit))
        put(found, first)
        put(found, first + (1 << bit))
    begin, span = f.arrays[array, BEGIN], f.arrays[array, SPAN]
    start = f.places[f.shapes[shape, FIRST_PLACE] + place, START]
    is_last = begin + span == f.shapes[shape, N_BYTES] and f.arrays[array, PARENT] < 0
    if is_last and span < UNBOUNDED and f.starts[start, BYTE] == begin:
        put(found, count_places(f, shape))


@no_refcount
def _sweep_from(
    f: Frame, shape: int, place: int, constant: int, stride: int, found: Set, s: Scratch
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
            join(found, s.swept[slot])
        going = advance(depth, s.walks[0])


@no_refcount
def _add_and_index(
    f: Frame,
    shape: int,
    place: int,
    constant: int,
    in_bytes: bool,
    stride: int,
    found: Set,
    s: Scratch,
) -> None:
    """Note where a constant and multiples of a stride take a place."""
    landed, indexed = s.between[0], s.between[1]
    landed[:] = 0
    is_elsewhere = not add(f, shape, place, constant, in_bytes, landed, s.walks)
    if has(landed, len(s.landing) - 1):
        put_all(found, len(s.landing))
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
        at = following(indexed, 0)
        while at >= 0:
            add(f, shape, at, constant, in_bytes, found, s.walks)
            add(f, shape, at, within, in_bytes, landed, s.walks)
            at = following(indexed, at + 1)
        _index_all(f, shape, stride, landed, found)


@no_refcount
def _index_from_end(
    f: Frame,
    shape: int,
    constant: int,
    in_bytes: bool,
    stride: int,
    found: Set,
    indexed: Set,
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
            at = following(indexed, 0)
            while at >= 0:
                add(f, shape, at, constant, in_bytes, found, walks)
                at = following(indexed, at + 1)


@no_refcount
def _index_all(f: Frame, shape: int, stride: int, places: Set, found: Set) -> bool:
    """Note all elements, for each of some places; return whether all are in arrays."""
    all_indexed = True
    place = following(places, 0)
    while place >= 0:
        array = _array_of(f, shape, place, stride)
        if array >= 0:
            _index(f, shape, place, array, found)
        else:
            all_indexed = False
            put(found, place)
        place = following(places, place + 1)
    return all_indexed


@no_refcount
def _index_everywhere(
    f: Frame, shape: int, constant: int, in_bytes: bool, stride: int, landing: Set, s: Scratch
) -> None:
    """Set where a constant and multiples of a stride take every place but the blur."""
    for place in range(len(landing) - 1):
        landing[place] = 0
        _add_and_index(f, shape, place, constant, in_bytes, stride, landing[place], s)


@no_refcount
def land(f: Frame, shape: int, constant: int, in_bytes: bool, strides: I64, s: Scratch) -> None:
    """Set which places every place of a shape is taken to by a move that has strides."""
    end, reached = len(s.landing) - 2, s.between[0]
    _index_everywhere(f, shape, constant, in_bytes, strides[0], s.landing, s)
    for k in range(1, len(strides)):
        _index_everywhere(f, shape, 0, in_bytes, strides[k], s.following, s)
        if f.shapes[shape, N_BYTES] < UNBOUNDED:
            s.following[end] = 0
            put(s.following[end], end)  # the end has no elements
        for place in range(len(s.landing) - 1):
            reached[:] = 0
            join(reached, s.landing[place])
            at = following(reached, 0)
            while at >= 0:
                join(s.landing[place], s.following[at])
                at = following(reached, at + 1)


@no_refcount
def sweep_all(f: Frame, shape: int, constant: int, stride: int, s: Scratch) -> None:
    """Set which places every place is taken to by a constant and an index that nothing holds."""
    for place in range(len(s.landing) - 1):
        s.landing[place] = 0
        _sweep_from(f, shape, place, constant, stride, s.landing[place], s)
