"""Layouts as columns of integers, and which location each byte belongs to."""

from __future__ import annotations

from typing import NamedTuple

from kleene.analyses.points_to.compiled import device_function, entry_point
from kleene.analyses.points_to.object_layout import UNBOUNDED
from kleene.base.arrays import I32, I64
from kleene.kernels.pointers import as_pointers

MOST_KNOWN = 1 << 12  # bytes of a layout whose locations are looked up in a table
OUTSIDE = -1


class LayoutArrays(NamedTuple):
    """All layouts as columns; arrays, fields and locations are numbered through all layouts.

    Those of a layout are from `first_array[layout]` to `first_array[layout + 1]` - 1, and so on.
    """

    n_layouts: int
    # Per layout, and one more.
    n_bytes: I64
    has_end: I64
    is_raw: I64
    first_array: I64
    first_field: I64
    first_location: I64
    first_known: I64
    # Per array; arrays around an array come first.
    begin: I64
    stride: I64
    n_elements: I64
    span: I64
    parent: I64
    bit: I64
    confines: I64
    # Per field, ascending by byte in a layout. Locations count from 0 in each layout.
    byte: I64
    extent: I64
    array: I64
    width: I64
    location: I64
    # Per location.
    field: I64
    mask: I64
    # Per known byte of a layout: its location times two, plus one for a byte inside a field.
    known: I32


@device_function
def count_locations(a: LayoutArrays, layout: int) -> int:
    """Return how many locations the fields of a layout have; that is also the number of the end."""
    return int(a.first_location[layout + 1] - a.first_location[layout])


@device_function
def count_rows(a: LayoutArrays, layout: int) -> int:
    """Return how many locations a layout has, with the end (if bounded) and unknown offset."""
    return count_locations(a, layout) + (2 if a.n_bytes[layout] < UNBOUNDED else 1)


@device_function
def location_at(a: LayoutArrays, layout: int, byte: int) -> tuple[int, int]:
    """Return the location of a byte, and 1 if the byte is inside its field, 0 if it is the first.

    The location is OUTSIDE for a byte before or behind the allocation. In `struct { int n, m; }`
    byte 4 has (1, 0), byte 6 has (1, 1), byte 9 has (OUTSIDE, 0), and so has byte 8 unless the
    layout has an end: then that is (2, 0).
    """
    size = a.n_bytes[layout]
    if byte < 0 or byte > size:
        return OUTSIDE, 0
    if byte == size:
        return count_locations(a, layout) if a.has_end[layout] else OUTSIDE, 0
    known = a.first_known[layout] + byte
    if known < a.first_known[layout + 1]:
        return a.known[known] >> 1, a.known[known] & 1
    return _search(a, layout, byte)


@device_function
def _search(a: LayoutArrays, layout: int, byte: int) -> tuple[int, int]:
    """Return the location of a byte inside the allocation, as `location_at` does.

    Each array around the byte, outermost first, folds it into the first element: what lies there
    lies in the others too, and only the first is listed. Fields cover all bytes: `all_fields`.
    """
    mask = 0
    for array in range(a.first_array[layout], a.first_array[layout + 1]):
        inside = byte - a.begin[array]
        if inside < 0:
            break
        if a.stride[array] <= inside < a.span[array]:
            byte = a.begin[array] + inside % a.stride[array]
            mask |= 1 << a.bit[array]
    low, high = a.first_field[layout], a.first_field[layout + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if a.byte[middle] <= byte:
            low = middle
        else:
            high = middle
    return a.location[low] + mask, int(a.byte[low] != byte)


@entry_point
def search_all(a: LayoutArrays) -> None:
    """Set `known`: the answers of `_search` for the bytes at the beginning of each layout."""
    _search_all(as_pointers(a))


@device_function
def _search_all(a: LayoutArrays) -> None:
    for layout in range(a.n_layouts):
        first = a.first_known[layout]
        for known in range(first, a.first_known[layout + 1]):
            location, is_within = _search(a, layout, known - first)
            a.known[known] = 2 * location + is_within


@entry_point
def find_locations(
    a: LayoutArrays, layouts: I64, bytes_: I64, found: I64, n: int, is_around: bool
) -> None:
    """Set `found[i]` to the location of byte `bytes_[i]` of layout `layouts[i]`, for i < n.

    For a byte inside a field it is the field if `is_around`, else the unknown offset. It is OUTSIDE
    for a byte outside the allocation.
    """
    columns = as_pointers(layouts), as_pointers(bytes_), as_pointers(found)
    _find(as_pointers(a), *columns, n, is_around)


@device_function
def _find(a: LayoutArrays, layouts: I64, bytes_: I64, found: I64, n: int, is_around: bool) -> None:
    for i in range(n):
        location, is_within = location_at(a, layouts[i], bytes_[i])
        is_unknown = is_within and not is_around
        found[i] = count_rows(a, layouts[i]) - 1 if is_unknown else location
