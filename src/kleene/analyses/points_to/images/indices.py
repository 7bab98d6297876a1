"""The images of locations under a constant and indices that are not known: p + c + i·t + j·u."""

from __future__ import annotations

from kleene.analyses.points_to.compiled import no_refcount
from kleene.analyses.points_to.images.constants import (
    N_RESIDUES,
    Scratch,
    add_constant,
    add_residue_class,
    arrays_around,
    chosen_offset,
    next_choice,
    residue_period,
)
from kleene.analyses.points_to.images.layout_arrays import (
    ARRAY,
    BEGIN,
    BIT,
    BYTE,
    CONFINES,
    CONFINES_INDICES,
    FIELD,
    FIRST_ARRAY,
    FIRST_LOCATION,
    IS_RAW,
    MASK,
    N_BYTES,
    PARENT,
    SPAN,
    STRIDE,
    Grid,
    LayoutArrays,
    Set,
    count_locations,
    following,
    has,
    join,
    location_at,
    put,
    put_all,
)
from kleene.analyses.points_to.object_layout import UNBOUNDED
from kleene.base.arrays import I64


@no_refcount
def _array_of(a: LayoutArrays, layout: int, location: int, stride: int) -> int:
    """Return the outermost array around a location that confines an index of `stride`, or -1."""
    if location >= count_locations(a, layout):
        return -1
    found = -1
    array = a.fields[a.locations[a.layouts[layout, FIRST_LOCATION] + location, FIELD], ARRAY]
    while array >= 0:
        fits = stride % a.arrays[array, STRIDE] == 0 and stride <= a.arrays[array, SPAN]
        if fits and a.arrays[array, CONFINES] >= CONFINES_INDICES:
            found = array
        array = a.arrays[array, PARENT]
    return found


@no_refcount
def _add_elements(a: LayoutArrays, layout: int, location: int, array: int, found: Set) -> None:
    """Add the locations of a field in all elements of an array around it.

    The end is added if the array ends there and the field is the first of an element: a + n.
    """
    bit = a.arrays[array, BIT]
    put(found, location)
    if bit >= 0:
        mask = a.locations[a.layouts[layout, FIRST_LOCATION] + location, MASK]
        first = location - (mask & (1 << bit))
        put(found, first)
        put(found, first + (1 << bit))
    begin, span = a.arrays[array, BEGIN], a.arrays[array, SPAN]
    field = a.locations[a.layouts[layout, FIRST_LOCATION] + location, FIELD]
    is_last = begin + span == a.layouts[layout, N_BYTES] and a.arrays[array, PARENT] < 0
    if is_last and span < UNBOUNDED and a.fields[field, BYTE] == begin:
        put(found, count_locations(a, layout))


@no_refcount
def _add_multiples(
    a: LayoutArrays, layout: int, location: int, constant: int, stride: int, found: Set, s: Scratch
) -> None:
    """Add what is at x + constant + j·stride, for all addresses x of a location and all j."""
    field, mask, depth, byte = 0, 0, 0, a.layouts[layout, N_BYTES]
    if location < count_locations(a, layout):
        row = a.layouts[layout, FIRST_LOCATION] + location
        field, mask = a.locations[row, FIELD], a.locations[row, MASK]
        depth, byte = arrays_around(a, field, s.walks[0]), a.fields[field, BYTE]
    modulus = residue_period(a, depth, mask, stride, 1, s.walks[0])
    going = True
    while going:
        residue = (byte + chosen_offset(a, 0, depth, mask, s.walks[0]) + constant) % modulus
        if modulus > N_RESIDUES:
            add_residue_class(a, layout, residue, modulus, found, s.walks[1])
        else:
            slot = residue if modulus == stride else residue + N_RESIDUES
            if s.swept_modulus[slot] != modulus:
                s.swept_modulus[slot] = modulus
                s.swept[slot] = 0
                add_residue_class(a, layout, residue, modulus, s.swept[slot], s.walks[1])
            join(found, s.swept[slot])
        going = next_choice(depth, s.walks[0])


@no_refcount
def _add_and_index(
    a: LayoutArrays,
    layout: int,
    location: int,
    constant: int,
    in_bytes: bool,
    stride: int,
    found: Set,
    s: Scratch,
) -> None:
    """Add the image of a location under a constant and an index that stays in its array."""
    offset_locations, indexed = s.between[0], s.between[1]
    offset_locations[:] = 0
    is_elsewhere = not add_constant(
        a, layout, location, constant, in_bytes, offset_locations, s.walks
    )
    if has(offset_locations, len(s.image) - 1):
        put_all(found, len(s.image))
        return
    is_elsewhere |= not _index_all(a, layout, stride, offset_locations, found)
    if location == count_locations(a, layout) and stride > 1 and not a.layouts[layout, IS_RAW]:
        _index_from_end(a, layout, constant, in_bytes, stride, found, indexed, s.walks)
        return
    # The index has been tried in the arrays around x + c. Where there is none, or x + c is outside
    # the allocation, its array is one around x: `a[i - 1]` has x = a, c = -t, and an index of at
    # least 1. Then the constant is added to every element, as it is and without the whole elements
    # in it (the index may make up for these), and the index is tried again from there. A negative
    # constant may lead into another array than the index means: both are taken.
    own = _array_of(a, layout, location, stride)
    if own < 0 and is_elsewhere:
        _add_multiples(a, layout, location, constant, stride, found, s)
    elif own >= 0 and (is_elsewhere or constant < 0):
        field = a.locations[a.layouts[layout, FIRST_LOCATION] + location, FIELD]
        inside = a.fields[field, BYTE] - a.arrays[own, BEGIN]
        within = (inside + constant) % a.arrays[own, STRIDE] - inside  # without whole elements
        indexed[:] = 0
        offset_locations[:] = 0
        _add_elements(a, layout, location, own, indexed)
        at = following(indexed, 0)
        while at >= 0:
            add_constant(a, layout, at, constant, in_bytes, found, s.walks)
            add_constant(a, layout, at, within, in_bytes, offset_locations, s.walks)
            at = following(indexed, at + 1)
        _index_all(a, layout, stride, offset_locations, found)


@no_refcount
def _index_from_end(
    a: LayoutArrays,
    layout: int,
    constant: int,
    in_bytes: bool,
    stride: int,
    found: Set,
    indexed: Set,
    walks: Grid,
) -> None:
    """Add what an index reaches from the end of the allocation: arrays that end there."""
    size = a.layouts[layout, N_BYTES]
    for array in range(a.layouts[layout, FIRST_ARRAY], a.layouts[layout + 1, FIRST_ARRAY]):
        end, around = a.arrays[array, BEGIN] + a.arrays[array, SPAN], a.arrays[array, PARENT]
        while around >= 0 and end == a.arrays[around, BEGIN] + a.arrays[around, STRIDE]:
            end, around = a.arrays[around, BEGIN] + a.arrays[around, SPAN], a.arrays[around, PARENT]
        if around < 0 and end == size and stride % a.arrays[array, STRIDE] == 0:
            indexed[:] = 0
            first, _ = location_at(a, layout, size - a.arrays[array, SPAN])
            _add_elements(a, layout, first, array, indexed)
            at = following(indexed, 0)
            while at >= 0:
                add_constant(a, layout, at, constant, in_bytes, found, walks)
                at = following(indexed, at + 1)


@no_refcount
def _index_all(a: LayoutArrays, layout: int, stride: int, locations: Set, found: Set) -> bool:
    """Add for each location its field in all elements of the array that confines the index.

    A location in no such array is added itself. Returns whether all are in one.
    """
    all_indexed = True
    location = following(locations, 0)
    while location >= 0:
        array = _array_of(a, layout, location, stride)
        if array >= 0:
            _add_elements(a, layout, location, array, found)
        else:
            all_indexed = False
            put(found, location)
        location = following(locations, location + 1)
    return all_indexed


@no_refcount
def _index_everywhere(
    a: LayoutArrays, layout: int, constant: int, in_bytes: bool, stride: int, image: Set, s: Scratch
) -> None:
    """Set the images of all locations but the unknown offset under a constant and one index."""
    for location in range(len(image) - 1):
        image[location] = 0
        _add_and_index(a, layout, location, constant, in_bytes, stride, image[location], s)


@no_refcount
def index_images(
    a: LayoutArrays, layout: int, constant: int, in_bytes: bool, strides: I64, s: Scratch
) -> None:
    """Set the images of all locations of a layout under a constant and an index for each stride.

    Indices are added one after the other, the largest stride first: the outermost array's.
    """
    end, reached = len(s.image) - 2, s.between[0]
    _index_everywhere(a, layout, constant, in_bytes, strides[0], s.image, s)
    for k in range(1, len(strides)):
        _index_everywhere(a, layout, 0, in_bytes, strides[k], s.following, s)
        if a.layouts[layout, N_BYTES] < UNBOUNDED:
            s.following[end] = 0
            put(s.following[end], end)  # the end has no elements
        for location in range(len(s.image) - 1):
            reached[:] = 0
            join(reached, s.image[location])
            at = following(reached, 0)
            while at >= 0:
                join(s.image[location], s.following[at])
                at = following(reached, at + 1)


@no_refcount
def early_index_images(
    a: LayoutArrays, layout: int, constant: int, stride: int, s: Scratch
) -> None:
    """Set the images of all locations under a constant and an index that no array confines."""
    for location in range(len(s.image) - 1):
        s.image[location] = 0
        _add_multiples(a, layout, location, constant, stride, s.image[location], s)
