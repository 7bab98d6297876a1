"""Layouts as arrays of integers, sets of their locations, and which location each byte belongs to.

Sets are bits: location l is bit l % 64 of word l // 64 of a row.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.points_to.compiled import entry_point, no_refcount
from kleene.analyses.points_to.object_layout import UNBOUNDED, Confines
from kleene.analyses.points_to.offset_edges import EdgeKind
from kleene.base.arrays import I32, I64
from kleene.kernels.bits import lowest

Set: TypeAlias = NDArray[np.uint64]

_WORD = 64  # bits
_ONE, _ALL = np.uint64(1), np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@no_refcount
def n_words(n_locations: int) -> int:
    """Return how many 64-bit words a set of `n_locations` locations takes."""
    return (n_locations + _WORD - 1) // _WORD


@no_refcount
def put(found: Set, location: int) -> None:
    """Add a location to a set."""
    found[location // _WORD] |= _ONE << np.uint64(location % _WORD)


@no_refcount
def put_all(found: Set, n_locations: int) -> None:
    """Make `found` the set of locations 0 to `n_locations` - 1."""
    found[:] = 0
    found[: n_locations // _WORD] = _ALL
    if n_locations % _WORD:
        found[n_locations // _WORD] = (_ONE << np.uint64(n_locations % _WORD)) - _ONE


@no_refcount
def join(found: Set, more: Set) -> None:
    """Add the locations of another set."""
    for word in range(len(found)):
        found[word] |= more[word]


@no_refcount
def has(found: Set, location: int) -> bool:
    """Return whether a location is in a set."""
    return bool(found[location // _WORD] >> np.uint64(location % _WORD) & _ONE)


@no_refcount
def following(found: Set, location: int) -> int:
    """Return the first location of a set from the given one on; -1 where there is none."""
    word = location // _WORD
    if word < len(found):
        bits = found[word] >> np.uint64(location % _WORD)
        if bits:
            return int(location + lowest(bits))
        for later in range(word + 1, len(found)):
            if found[later]:
                return int(later * _WORD + lowest(found[later]))
    return -1


@no_refcount
def pack(found: Set, locations: I32, n_used: int) -> int:
    """Write the locations of a set behind the first `n_used` of a list; return its new length."""
    for word in range(len(found)):
        bits, first = found[word], word * _WORD
        if bits == _ALL:
            part = locations[n_used : n_used + _WORD]
            for bit in range(_WORD):
                part[bit] = first + bit
            n_used += _WORD
            continue
        while bits:
            locations[n_used] = first + lowest(bits)
            n_used += 1
            bits &= bits - _ONE
    return n_used


MOST_KNOWN = 1 << 12  # bytes of a layout whose locations are looked up in a table
OUTSIDE = -1

# Columns of LayoutArrays.layouts, which has a row more than there are layouts, for the ends.
N_BYTES, HAS_END, IS_RAW, FIRST_ARRAY, FIRST_FIELD, FIRST_LOCATION, FIRST_KNOWN = range(7)
# Columns of LayoutArrays.arrays; arrays around an array come first.
BEGIN, STRIDE, COUNT, SPAN, PARENT, BIT, CONFINES, N_ARRAY_COLUMNS = range(8)
CONFINES_INDICES, CONFINES_CONSTANTS = int(Confines.INDICES), int(Confines.CONSTANTS)
BYTES, EARLY_INDEX = int(EdgeKind.BYTES), int(EdgeKind.EARLY_INDEX)
N_KINDS = len(EdgeKind)
# Columns of LayoutArrays.fields, ascending by byte in a layout.
BYTE, EXTENT, ARRAY, WIDTH, LOCATION, N_FIELD_COLUMNS = range(6)
# Columns of LayoutArrays.locations.
FIELD, MASK = range(2)

Grid = NDArray[np.int64]


class LayoutArrays(NamedTuple):
    """All layouts as columns; rows of arrays, fields and locations count through all layouts."""

    layouts: Grid
    arrays: Grid
    fields: Grid
    locations: Grid
    known: I32  # what `location_at` returns for the first bytes of each layout


@no_refcount
def count_locations(a: LayoutArrays, layout: int) -> int:
    """Return how many locations the fields of a layout have; that is also the number of the end."""
    return int(a.layouts[layout + 1, FIRST_LOCATION] - a.layouts[layout, FIRST_LOCATION])


@no_refcount
def count_rows(a: LayoutArrays, layout: int) -> int:
    """Return how many locations a layout has, with the end (if bounded) and unknown offset."""
    return count_locations(a, layout) + (2 if a.layouts[layout, N_BYTES] < UNBOUNDED else 1)


@no_refcount
def location_at(a: LayoutArrays, layout: int, byte: int) -> tuple[int, int]:
    """Return the location of a byte, and 1 if the byte is inside its field, 0 if it is the first.

    The location is OUTSIDE for a byte before or behind the allocation. In `struct { int n, m; }`
    byte 4 has (1, 0), byte 6 has (1, 1), byte 9 has (OUTSIDE, 0), and so has byte 8 unless the
    layout has an end: then that is (2, 0).
    """
    size = a.layouts[layout, N_BYTES]
    if byte < 0 or byte > size:
        return OUTSIDE, 0
    if byte == size:
        return count_locations(a, layout) if a.layouts[layout, HAS_END] else OUTSIDE, 0
    known = a.layouts[layout, FIRST_KNOWN] + byte
    if known < a.layouts[layout + 1, FIRST_KNOWN]:
        return a.known[known, 0], a.known[known, 1]
    return _search(a, layout, byte)


@no_refcount
def add_location(a: LayoutArrays, layout: int, byte: int, found: Set) -> bool:
    """Add the location of a byte to a set; return False if the byte is outside the allocation.

    A byte inside a field, not its first, adds the unknown offset too.
    """
    location, is_within = location_at(a, layout, byte)
    if location == OUTSIDE:
        return False
    put(found, location)
    if is_within:
        put(found, count_rows(a, layout) - 1)
    return True


@no_refcount
def _search(a: LayoutArrays, layout: int, byte: int) -> tuple[int, int]:
    """Return the location of a byte inside the allocation, as `location_at` does.

    Each array around the byte, outermost first, folds it into the first element: what lies there
    lies in the others too, and only the first is listed. Fields cover all bytes: `all_fields`.
    """
    mask = 0
    for array in range(a.layouts[layout, FIRST_ARRAY], a.layouts[layout + 1, FIRST_ARRAY]):
        inside = byte - a.arrays[array, BEGIN]
        if inside < 0:
            break
        if a.arrays[array, STRIDE] <= inside < a.arrays[array, SPAN]:
            byte = a.arrays[array, BEGIN] + inside % a.arrays[array, STRIDE]
            mask |= 1 << a.arrays[array, BIT]
    low, high = a.layouts[layout, FIRST_FIELD], a.layouts[layout + 1, FIRST_FIELD]
    while high - low > 1:
        middle = (low + high) // 2
        if a.fields[middle, BYTE] <= byte:
            low = middle
        else:
            high = middle
    return a.fields[low, LOCATION] + mask, int(a.fields[low, BYTE] != byte)


@entry_point
def search_all(a: LayoutArrays, known: I32) -> None:
    """Write the answers of `_search` for the bytes at the beginning of each layout."""
    for layout in range(len(a.layouts) - 1):
        first, end = a.layouts[layout, FIRST_KNOWN], a.layouts[layout + 1, FIRST_KNOWN]
        for row in range(first, end):
            known[row, 0], known[row, 1] = _search(a, layout, row - first)


@entry_point
def find_locations(a: LayoutArrays, layouts: I64, bytes_: I64) -> I64:
    """Return for each i the location of byte `bytes_[i]` of layout `layouts[i]`.

    It is the unknown offset for a byte inside a field, and OUTSIDE for one outside the allocation.
    """
    locations = np.empty(len(layouts), np.int64)
    for i in range(len(layouts)):
        location, is_within = location_at(a, layouts[i], bytes_[i])
        locations[i] = count_rows(a, layouts[i]) - 1 if is_within else location
    return locations
