"""The images of locations under a constant and indices that are not known: p + c + i·t + j·u."""

from __future__ import annotations

from kleene.analyses.points_to.compiled import device_function
from kleene.analyses.points_to.images.constants import (
    add_constant,
    add_residue_class,
    arrays_around,
    chosen_offset,
    next_choice,
    residue_period,
)
from kleene.analyses.points_to.images.layout_arrays import LayoutArrays, location_at
from kleene.analyses.points_to.images.scratch import (
    N_RESIDUES,
    Scratch,
    clear,
    following,
    has,
    join,
    put,
    put_all,
)
from kleene.analyses.points_to.object_layout import UNBOUNDED, Confines
from kleene.base.arrays import I64

_CONFINES_INDICES = int(Confines.INDICES)


@device_function
def _array_of(a: LayoutArrays, s: Scratch, location: int, stride: int) -> int:
    """Return the outermost array around a location that confines an index of `stride`, or -1."""
    if location >= s.n_regular:
        return -1
    found = -1
    array = a.array[a.field[a.first_location[s.layout] + location]]
    while array >= 0:
        fits = stride % a.stride[array] == 0 and stride <= a.span[array]
        if fits and a.confines[array] >= _CONFINES_INDICES:
            found = array
        array = a.parent[array]
    return found


@device_function
def _add_elements(a: LayoutArrays, s: Scratch, location: int, array: int, found: int) -> None:
    """Add the locations of a field in all elements of an array around it.

    The end is added if the array ends there and the field is the first of an element: a + n.
    """
    row, bit = a.first_location[s.layout] + location, a.bit[array]
    put(s, found, location)
    if bit >= 0:
        first = location - (a.mask[row] & (1 << bit))
        put(s, found, first)
        put(s, found, first + (1 << bit))
    begin, span = a.begin[array], a.span[array]
    is_last = begin + span == a.n_bytes[s.layout] and a.parent[array] < 0
    if is_last and span < UNBOUNDED and a.byte[a.field[row]] == begin:
        put(s, found, s.n_regular)


@device_function
def _add_multiples(
    a: LayoutArrays, s: Scratch, location: int, constant: int, stride: int, found: int
) -> None:
    """Add what is at x + constant + j·stride, for all addresses x of a location and all j."""
    mask, depth, byte = 0, 0, a.n_bytes[s.layout]
    if location < s.n_regular:
        row = a.first_location[s.layout] + location
        field, mask = a.field[row], a.mask[row]
        depth, byte = arrays_around(a, field, s.walk), a.byte[field]
    modulus = residue_period(a, depth, mask, stride, 1, s.walk)
    going = True
    while going:
        residue = (byte + chosen_offset(a, 0, depth, s.walk) + constant) % modulus
        if modulus > N_RESIDUES:
            add_residue_class(a, s, residue, modulus, found)
        else:
            slot = residue if modulus == stride else residue + N_RESIDUES
            swept, swept_for = 2 * s.n_locations + 2 + slot, s.layout * (N_RESIDUES + 1) + modulus
            if s.swept[slot] != swept_for:
                s.swept[slot] = swept_for
                clear(s, swept)
                add_residue_class(a, s, residue, modulus, swept)
            join(s, found, swept)
        going = next_choice(depth, s.walk)


@device_function
def _add_and_index(
    a: LayoutArrays,
    s: Scratch,
    location: int,
    constant: int,
    in_bytes: bool,
    stride: int,
    found: int,
) -> None:
    """Add the image of a location under a constant and an index that stays in its array."""
    offset_locations, indexed = 2 * s.n_locations, 2 * s.n_locations + 1
    clear(s, offset_locations)
    is_elsewhere = not add_constant(a, s, location, constant, in_bytes, offset_locations)
    if has(s, offset_locations, s.n_locations - 1):
        put_all(s, found)
        return
    is_elsewhere |= not _index_all(a, s, stride, offset_locations, found)
    if location == s.n_regular and stride > 1 and not a.is_raw[s.layout]:
        _index_from_end(a, s, constant, in_bytes, stride, found, indexed)
        return
    # The index has been tried in the arrays around x + c. Where there is none, or x + c is outside
    # the allocation, its array is one around x: `a[i - 1]` has x = a, c = -t, and an index of at
    # least 1. Then the constant is added to every element, as it is and without the whole elements
    # in it (the index may make up for these), and the index is tried again from there. A negative
    # constant may lead into another array than the index means: both are taken.
    own = _array_of(a, s, location, stride)
    if own < 0 and is_elsewhere:
        _add_multiples(a, s, location, constant, stride, found)
    elif own >= 0 and (is_elsewhere or constant < 0):
        inside = a.byte[a.field[a.first_location[s.layout] + location]] - a.begin[own]
        within = (inside + constant) % a.stride[own] - inside  # without whole elements
        clear(s, indexed)
        clear(s, offset_locations)
        _add_elements(a, s, location, own, indexed)
        at = following(s, indexed, 0)
        while at >= 0:
            add_constant(a, s, at, constant, in_bytes, found)
            add_constant(a, s, at, within, in_bytes, offset_locations)
            at = following(s, indexed, at + 1)
        _index_all(a, s, stride, offset_locations, found)


@device_function
def _index_from_end(
    a: LayoutArrays,
    s: Scratch,
    constant: int,
    in_bytes: bool,
    stride: int,
    found: int,
    indexed: int,
) -> None:
    """Add what an index reaches from the end of the allocation: arrays that end there."""
    size = a.n_bytes[s.layout]
    for array in range(a.first_array[s.layout], a.first_array[s.layout + 1]):
        end, around = a.begin[array] + a.span[array], a.parent[array]
        while around >= 0 and end == a.begin[around] + a.stride[around]:
            end, around = a.begin[around] + a.span[around], a.parent[around]
        if around < 0 and end == size and stride % a.stride[array] == 0:
            clear(s, indexed)
            first, _ = location_at(a, s.layout, size - a.span[array])
            _add_elements(a, s, first, array, indexed)
            at = following(s, indexed, 0)
            while at >= 0:
                add_constant(a, s, at, constant, in_bytes, found)
                at = following(s, indexed, at + 1)


@device_function
def _index_all(a: LayoutArrays, s: Scratch, stride: int, locations: int, found: int) -> bool:
    """Add for each location its field in all elements of the array that confines the index.

    A location in no such array is added itself. Returns whether all are in one.
    """
    all_indexed = True
    location = following(s, locations, 0)
    while location >= 0:
        array = _array_of(a, s, location, stride)
        if array >= 0:
            _add_elements(a, s, location, array, found)
        else:
            all_indexed = False
            put(s, found, location)
        location = following(s, locations, location + 1)
    return all_indexed


@device_function
def _index_everywhere(
    a: LayoutArrays, s: Scratch, constant: int, in_bytes: bool, stride: int, first: int
) -> None:
    """Set the images under a constant and one index, from set `first` on.

    Those are of all locations but the unknown offset.
    """
    for location in range(s.n_locations - 1):
        clear(s, first + location)
        _add_and_index(a, s, location, constant, in_bytes, stride, first + location)


@device_function
def index_images(
    a: LayoutArrays, s: Scratch, constant: int, in_bytes: bool, strides: I64, first: int, end: int
) -> None:
    """Set the images of all locations of a layout under a constant and an index for each stride.

    Indices are added one after the other, the largest stride first: the outermost array's. They are
    `strides[first]` to `strides[end - 1]`.
    """
    n, reached = s.n_locations, 2 * s.n_locations
    _index_everywhere(a, s, constant, in_bytes, strides[first], 0)
    for k in range(first + 1, end):
        _index_everywhere(a, s, 0, in_bytes, strides[k], n)
        if a.n_bytes[s.layout] < UNBOUNDED:
            clear(s, n + n - 2)
            put(s, n + n - 2, n - 2)  # the end has no elements
        for location in range(n - 1):
            clear(s, reached)
            join(s, reached, location)
            at = following(s, reached, 0)
            while at >= 0:
                join(s, location, n + at)
                at = following(s, reached, at + 1)


@device_function
def early_index_images(a: LayoutArrays, s: Scratch, constant: int, stride: int) -> None:
    """Set the images of all locations under a constant and an index that no array confines."""
    for location in range(s.n_locations - 1):
        clear(s, location)
        _add_multiples(a, s, location, constant, stride, location)
