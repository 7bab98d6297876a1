"""Shapes as arrays of integers, and which place each byte belongs to."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.points_to.compiled import entry_point, no_refcount
from kleene.analyses.points_to.object_layout import UNBOUNDED
from kleene.base.arrays import I32, I64
from kleene.kernels.bits import lowest

Set: TypeAlias = NDArray[np.uint64]

_WORD = 64  # bits
_ONE, _ALL = np.uint64(1), np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@no_refcount
def n_words(n_places: int) -> int:
    """Return how many words a set of so many places takes."""
    return (n_places + _WORD - 1) // _WORD


@no_refcount
def put(found: Set, place: int) -> None:
    """Add a place."""
    found[place // _WORD] |= _ONE << np.uint64(place % _WORD)


@no_refcount
def put_all(found: Set, n_places: int) -> None:
    """Make it the set of the first so many places."""
    found[:] = 0
    found[: n_places // _WORD] = _ALL
    if n_places % _WORD:
        found[n_places // _WORD] = (_ONE << np.uint64(n_places % _WORD)) - _ONE


@no_refcount
def join(found: Set, more: Set) -> None:
    """Add the places of another set."""
    for word in range(len(found)):
        found[word] |= more[word]


@no_refcount
def has(found: Set, place: int) -> bool:
    """Return whether a place is in a set."""
    return bool(found[place // _WORD] >> np.uint64(place % _WORD) & _ONE)


@no_refcount
def following(found: Set, place: int) -> int:
    """Return the first place of a set from the given one on; -1 where there is none."""
    word = place // _WORD
    if word < len(found):
        bits = found[word] >> np.uint64(place % _WORD)
        if bits:
            return int(place + lowest(bits))
        for later in range(word + 1, len(found)):
            if found[later]:
                return int(later * _WORD + lowest(found[later]))
    return -1


@no_refcount
def pack(found: Set, places: I32, n_used: int) -> int:
    """Append the places of a set to a list of so many; return how many these are now."""
    for word in range(len(found)):
        bits, first = found[word], word * _WORD
        if bits == _ALL:
            part = places[n_used : n_used + _WORD]
            for bit in range(_WORD):
                part[bit] = first + bit
            n_used += _WORD
            continue
        while bits:
            places[n_used] = first + lowest(bits)
            n_used += 1
            bits &= bits - _ONE
    return n_used


MOST_KNOWN = 1 << 12  # bytes of a shape whose places are looked up in a table
OUTSIDE = -1

# Columns of Frame.shapes, which has a row more than there are shapes, for the ends.
N_BYTES, HAS_END, IS_RAW, FIRST_ARRAY, FIRST_START, FIRST_PLACE, FIRST_KNOWN = range(7)
# Columns of Frame.arrays; arrays around an array come first.
BEGIN, STRIDE, COUNT, SPAN, PARENT, BIT, HOLD, N_ARRAY_COLUMNS = range(8)
HOLDS_INDICES, HOLDS_CONSTANTS = 1, 2  # at least, in column HOLD: see cuts.Hold
BYTES, LOOSE, N_WAYS = range(1, 4)  # ways of moves: see moves.Way
# Columns of Frame.starts, ascending by byte in a shape.
BYTE, EXTENT, ARRAY, WIDTH, PLACE, N_START_COLUMNS = range(6)
# Columns of Frame.places.
START, MASK = range(2)

Grid = NDArray[np.int64]


class Frame(NamedTuple):
    """The arrays and starts of all shapes; rows of arrays and starts count through all shapes."""

    shapes: Grid
    arrays: Grid
    starts: Grid
    places: Grid
    known: I32  # what is at the first bytes of each shape: the place, and whether it is within


@no_refcount
def count_places(f: Frame, shape: int) -> int:
    """Return how many places a shape has, without the end and the blur: also the end's number."""
    return int(f.shapes[shape + 1, FIRST_PLACE] - f.shapes[shape, FIRST_PLACE])


@no_refcount
def count_rows(f: Frame, shape: int) -> int:
    """Return how many places a shape has with the end, which open storage has not, and the blur."""
    return count_places(f, shape) + (2 if f.shapes[shape, N_BYTES] < UNBOUNDED else 1)


@no_refcount
def place_of(f: Frame, shape: int, byte: int) -> tuple[int, int]:
    """Return the place that an address belongs to, -1 outside, and 1 if it does not begin there."""
    size = f.shapes[shape, N_BYTES]
    if byte < 0 or byte > size:
        return OUTSIDE, 0
    if byte == size:
        return count_places(f, shape) if f.shapes[shape, HAS_END] else OUTSIDE, 0
    known = f.shapes[shape, FIRST_KNOWN] + byte
    if known < f.shapes[shape + 1, FIRST_KNOWN]:
        return f.known[known, 0], f.known[known, 1]
    return _search(f, shape, byte)


@no_refcount
def locate(f: Frame, shape: int, byte: int, found: Set) -> bool:
    """Note the place of an address, with the blur if it is within; False if it is outside."""
    place, is_within = place_of(f, shape, byte)
    if place == OUTSIDE:
        return False
    put(found, place)
    if is_within:
        put(found, count_rows(f, shape) - 1)
    return True


@no_refcount
def _search(f: Frame, shape: int, byte: int) -> tuple[int, int]:
    """Return the place that a byte belongs to, and 1 if it does not begin there."""
    mask = 0
    for array in range(f.shapes[shape, FIRST_ARRAY], f.shapes[shape + 1, FIRST_ARRAY]):
        inside = byte - f.arrays[array, BEGIN]
        if inside < 0:
            break
        if f.arrays[array, STRIDE] <= inside < f.arrays[array, SPAN]:
            byte = f.arrays[array, BEGIN] + inside % f.arrays[array, STRIDE]
            mask |= 1 << f.arrays[array, BIT]
    low, high = f.shapes[shape, FIRST_START], f.shapes[shape + 1, FIRST_START]
    while high - low > 1:
        middle = (low + high) // 2
        if f.starts[middle, BYTE] <= byte:
            low = middle
        else:
            high = middle
    return f.starts[low, PLACE] + mask, int(f.starts[low, BYTE] != byte)


@entry_point
def search_all(f: Frame, known: I32) -> None:
    """Write the answers of `_search` for the bytes at the beginning of each shape."""
    for shape in range(len(f.shapes) - 1):
        first, end = f.shapes[shape, FIRST_KNOWN], f.shapes[shape + 1, FIRST_KNOWN]
        for row in range(first, end):
            known[row, 0], known[row, 1] = _search(f, shape, row - first)


@entry_point
def find_places(f: Frame, shapes: I64, bytes_: I64) -> I64:
    """Return the place that starts at each byte of each shape, or the blur's; -1 outside."""
    places = np.empty(len(shapes), np.int64)
    for i in range(len(shapes)):
        place, is_within = place_of(f, shapes[i], bytes_[i])
        places[i] = count_rows(f, shapes[i]) - 1 if is_within else place
    return places
