"""The images of locations under the addition of a constant number of bytes.

A location inside arrays stands for many addresses, x + e1·t1 + e2·t2 + …, with an element e from 1
to count - 1 for each array that it is in the others of. Following all of them would take as long as
the arrays are: a few elements stand for all (`boundary_elements`, `residue_period`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kleene.analyses.points_to.compiled import device_function, no_refcount
from kleene.analyses.points_to.images.layout_arrays import (
    ARRAY,
    BEGIN,
    BIT,
    BYTE,
    CONFINES,
    CONFINES_CONSTANTS,
    COUNT,
    EXTENT,
    FIELD,
    FIRST_FIELD,
    FIRST_LOCATION,
    HAS_END,
    LOCATION,
    MASK,
    N_BYTES,
    PARENT,
    SPAN,
    STRIDE,
    WIDTH,
    Grid,
    LayoutArrays,
    Set,
    add_location,
    count_locations,
    count_rows,
    n_words,
    put,
    put_all,
)
from kleene.analyses.points_to.object_layout import UNBOUNDED
from kleene.base.arrays import I64

# Rows of a *walk*, an enumeration of the addresses of a location. Column i is for the i-th array
# around it, innermost first: which array, its first element to choose, how many there are to
# choose, and which of these is chosen now. Row PAST has in column 0 the array that is taken past
# its end, or -1, and in column 1 whether elements were left out that leave the allocation.
AROUND, LOW, CHOICES, CHOSEN, PAST, N_WALK = range(6)
DEEPEST = 16  # arrays in one another; object layouts have no more than seven
N_RESIDUES = 1 << 8  # remembered at a time, of a stride and of one divisor of it


class Scratch(NamedTuple):
    """Memory to work in while the images under the edges of one layout are found."""

    image: Set  # per location: its image
    following: Set  # per location: its image under one more stride
    between: Set  # two sets, of what is reached in between
    swept: Set  # two per residue: the locations that have addresses of it
    swept_modulus: I64  # per row of `swept`: which modulus it is of, 0 before there is one
    walks: Grid  # two enumerations of addresses


@device_function
def scratch_for(n_rows: int) -> Scratch:
    """Return memory for a layout of `n_rows` locations.

    The last location is the unknown offset: its image is every location, under every edge.
    """
    width = n_words(n_rows)
    image, following = np.zeros((n_rows, width), np.uint64), np.zeros((n_rows, width), np.uint64)
    put_all(image[n_rows - 1], n_rows)
    put_all(following[n_rows - 1], n_rows)
    return Scratch(
        image,
        following,
        np.empty((2, width), np.uint64),
        np.empty((2 * N_RESIDUES, width), np.uint64),
        np.zeros(2 * N_RESIDUES, np.int64),
        np.zeros((2, N_WALK, DEEPEST), np.int64),
    )


@no_refcount
def arrays_around(a: LayoutArrays, field: int, walk: Grid) -> int:
    """List the arrays around a field, innermost first, and return how many there are."""
    depth, array = 0, a.fields[field, ARRAY]
    while array >= 0:
        walk[AROUND, depth] = array
        depth, array = depth + 1, a.arrays[array, PARENT]
    return depth


@no_refcount
def is_in_others(a: LayoutArrays, array: int, mask: int) -> bool:
    """Return whether locations with this mask lie in elements 1, 2, … of an array."""
    return bool(a.arrays[array, BIT] >= 0 and (mask >> a.arrays[array, BIT]) & 1)


@no_refcount
def boundary_elements(
    a: LayoutArrays, size: int, depth: int, mask: int, constant: int, walk: Grid
) -> int:
    """Choose the array elements that stand for all when `constant` bytes are added to each.

    Returns how many elements are chosen of one array at most. Those not chosen behave like one that
    is, or leave the allocation of `size` bytes, which is noted in `walk[PAST, 1]`.
    """
    # Let an array have elements of t bytes, 0 … last, and c = constant >= 0 (c < 0 is its mirror).
    # The address in element e goes to element e + c/t, in whole elements one more or less, since
    # the field may lie anywhere in its element.
    # - Up to e = last - c//t - 2 it stays in elements 1 … last: all of these have one image, as c
    #   mod t is the same for them, and the others are one location for each field. One such element
    #   is chosen: `low`.
    # - The array leaves `room` = size - span bytes of the allocation to others, in front and behind
    #   together. So from e = last - c//t + room//t + 2 on, the address is behind the allocation,
    #   and is dropped. Elements in between are all chosen.
    # For c < 0 the bounds are those of elements that go below 1: from |c|//t - room//t - 2 (before
    # them the address is in front of the allocation) to |c|//t + 2 (from there on it stays in the
    # others). An array without end is left downwards alone, and `begin` bytes lie in front of it.
    # The choice for one array of several is the same whichever elements of the others are chosen:
    # an address that leaves an inner array is somewhere else in the same `size` bytes.
    # Nothing is over-approximated, and each bound is needed: without `low` for c > 0 fails
    # test_steps_in_bytes_come_to_every_byte, without `high` for c < 0
    # test_raw_storage_covers_every_use, without `room` test_counting_down_stays_in_an_inner_array
    # and test_every_element_that_leaves_an_array_but_not_its_storage_is_followed.
    walk[PAST, 0], walk[PAST, 1] = -1, 0
    most = 1
    for i in range(depth):
        array = walk[AROUND, i]
        walk[LOW, i], walk[CHOSEN, i], walk[CHOICES, i] = 1, 0, 1
        if is_in_others(a, array, mask):
            stride, last = a.arrays[array, STRIDE], a.arrays[array, COUNT] - 1
            is_open = a.arrays[array, SPAN] == UNBOUNDED
            room = a.arrays[array, BEGIN] if is_open else size - a.arrays[array, SPAN]
            if constant < 0:
                low = -constant // stride - room // stride - 2
                high = -constant // stride + 2
            else:
                low = last - constant // stride - 2
                high = last - constant // stride + room // stride + 2
            if is_open and constant > 0:
                low, high = 1, 2
            elif (low > 1 and constant < 0) or (high < last and constant > 0):
                walk[PAST, 1] = 1
            low, high = min(max(low, 1), last), max(min(high, last), 1)
            walk[LOW, i], walk[CHOICES, i] = low, high - low + 1
            most = max(most, high - low + 1)
    return most


@no_refcount
def residue_period(
    a: LayoutArrays, depth: int, mask: int, stride: int, n_past: int, walk: Grid
) -> int:
    """Choose array elements whose addresses have all the residues that a location's have.

    Returns the modulus to take residues by: `stride`, or a divisor of it. `n_past` more elements
    are chosen past the end of each array, for pointers that may be there.
    """
    # Let g = gcd(stride, t), t the element size. The residues of e·t mod stride, e = 1, 2, …, are
    # multiples of g, and repeat after stride/g elements, when all of them have occurred. So in an
    # array of more than stride/g elements, an address of the location is congruent to y mod stride
    # for some element if and only if element 1's is congruent to y mod g: it alone is chosen, with
    # modulus g. This is exact. In shorter arrays all elements are chosen; with modulus g there,
    # too, test_a_stride_that_fits_no_array_finds_each_element fails.
    walk[PAST, 0] = -1
    for i in range(depth):
        array = walk[AROUND, i]
        walk[LOW, i], walk[CHOSEN, i], walk[CHOICES, i] = 1, 0, 1
        if is_in_others(a, array, mask):
            divisor, rest = stride, a.arrays[array, STRIDE]
            while rest:
                divisor, rest = rest, divisor % rest
            walk[CHOICES, i] = a.arrays[array, COUNT] - 1 + n_past
            if a.arrays[array, COUNT] > stride // divisor:
                stride, walk[CHOICES, i] = divisor, 1
    return stride


@no_refcount
def next_choice(depth: int, walk: Grid) -> bool:
    """Choose the next combination of elements; return False if the last one was chosen before."""
    for i in range(depth):
        if i != walk[PAST, 0]:
            walk[CHOSEN, i] += 1
            if walk[CHOSEN, i] < walk[CHOICES, i]:
                return True
            walk[CHOSEN, i] = 0
    return False


@no_refcount
def chosen_offset(a: LayoutArrays, first: int, depth: int, mask: int, walk: Grid) -> int:
    """Return Σ e·t over the arrays `first` to `depth` - 1: chosen element times element size."""
    n_bytes = 0
    for i in range(first, depth):
        array = walk[AROUND, i]
        if i == walk[PAST, 0]:
            n_bytes += a.arrays[array, SPAN]
        elif is_in_others(a, array, mask):
            n_bytes += a.arrays[array, STRIDE] * (walk[LOW, i] + walk[CHOSEN, i])
    return n_bytes


@no_refcount
def add_residue_class(
    a: LayoutArrays, layout: int, residue: int, stride: int, found: Set, walk: Grid
) -> None:
    """Add every location that has an address y with y = residue (mod stride), or contains one."""
    size = a.layouts[layout, N_BYTES]
    low, high = a.layouts[layout, FIRST_FIELD], a.layouts[layout + 1, FIRST_FIELD]
    if size // stride <= high - low:
        for address in range(residue, size + 1, stride):
            add_location(a, layout, address, found)
        return
    if size < UNBOUNDED and a.layouts[layout, HAS_END] and (size - residue) % stride == 0:
        put(found, count_locations(a, layout))
    for field in range(low, high):
        depth = arrays_around(a, field, walk)
        for mask in range(1 << a.fields[field, WIDTH]):
            _add_residue(a, layout, field, depth, mask, residue, stride, found, walk)


@no_refcount
def _add_residue(
    a: LayoutArrays,
    layout: int,
    field: int,
    depth: int,
    mask: int,
    residue: int,
    stride: int,
    found: Set,
    walk: Grid,
) -> None:
    """Add the location of a field if an address y of it has y = residue (mod stride).

    If some such y is not the first byte of the field, the unknown offset is added too.
    """
    stride = residue_period(a, depth, mask, stride, 0, walk)
    going = True
    while going:
        address = a.fields[field, BYTE] + chosen_offset(a, 0, depth, mask, walk)
        # The first address of the residue from the field's beginning on is `distance` further. The
        # field has one inside if that is not its beginning, or if one more fits.
        distance = (residue - address) % stride
        if distance < a.fields[field, EXTENT]:
            put(found, a.fields[field, LOCATION] + mask)
            if distance or stride < a.fields[field, EXTENT]:
                put(found, count_rows(a, layout) - 1)
        going = next_choice(depth, walk)


_MOST_ELEMENTS = 1 << 8  # of one array; where more are chosen, every element counts instead


@no_refcount
def add_constant(
    a: LayoutArrays,
    layout: int,
    location: int,
    constant: int,
    in_bytes: bool,
    found: Set,
    walks: Grid,
) -> bool:
    """Add the locations of x + constant, for all addresses x of a location.

    Returns whether all x + constant are inside the allocation.
    """
    size = a.layouts[layout, N_BYTES]
    if location == count_locations(a, layout):
        return add_location(a, layout, size + constant, found)
    row = a.layouts[layout, FIRST_LOCATION] + location
    field, mask = a.locations[row, FIELD], a.locations[row, MASK]
    if a.fields[field, ARRAY] < 0:
        return add_location(a, layout, a.fields[field, BYTE] + constant, found)
    depth = arrays_around(a, field, walks[0])
    if constant == 0 or (not in_bytes and _stays(a, depth, mask, constant, walks[0])):
        put(found, location)
        return True
    if boundary_elements(a, size, depth, mask, constant, walks[0]) > _MOST_ELEMENTS:
        _add_every_element(a, layout, field, depth, mask, constant, found, walks)
        return False
    all_inside, going = not walks[0, PAST, 1], True
    while going:
        address = a.fields[field, BYTE] + chosen_offset(a, 0, depth, mask, walks[0]) + constant
        all_inside &= add_location(a, layout, address, found)
        going = next_choice(depth, walks[0])
    if constant < 0:
        for i in range(depth):
            _add_from_past_end(a, layout, row, depth, i, constant, found, walks[0])
    return all_inside


@no_refcount
def _add_every_element(
    a: LayoutArrays,
    layout: int,
    field: int,
    depth: int,
    mask: int,
    constant: int,
    found: Set,
    walks: Grid,
) -> None:
    """Add the locations of x + constant + Σ j·t, for all j: t are the element sizes around x."""
    # An over-approximation: with g the gcd of the element sizes, every address of the location plus
    # the constant is congruent to the field's byte plus the constant mod g.
    stride = 0
    for i in range(depth):
        rest = a.arrays[walks[0, AROUND, i], STRIDE]
        while rest:
            stride, rest = rest, stride % rest
    add_residue_class(
        a, layout, (a.fields[field, BYTE] + constant) % stride, stride, found, walks[1]
    )


@no_refcount
def _stays(a: LayoutArrays, depth: int, mask: int, constant: int, walk: Grid) -> bool:
    """Return whether the constant leads from elements 1, 2, … of an array to such elements.

    It does if it is a positive multiple of the element size, smaller than the array.
    """
    for i in range(depth):
        array = walk[AROUND, i]
        fits = constant % a.arrays[array, STRIDE] == 0 and 0 < constant < a.arrays[array, SPAN]
        if (
            fits
            and a.arrays[array, CONFINES] >= CONFINES_CONSTANTS
            and is_in_others(a, array, mask)
        ):
            return True
    return False


@no_refcount
def _add_from_past_end(
    a: LayoutArrays,
    layout: int,
    row: int,
    depth: int,
    i: int,
    constant: int,
    found: Set,
    walk: Grid,
) -> None:
    """Add the locations that a negative constant reaches from past the end of an array.

    That is the i-th array around the location in `row`, of which pointers past its end are kept as
    pointers to its elements 1, 2, …: p - 4 with p = a + 3 of `int a[3]` is &a[2].
    """
    field, mask, array = a.locations[row, FIELD], a.locations[row, MASK], walk[AROUND, i]
    may_be_past = a.arrays[array, COUNT] == 1 or is_in_others(a, array, mask)
    if not may_be_past or a.arrays[array, SPAN] == UNBOUNDED:
        return
    boundary_elements(a, a.layouts[layout, N_BYTES], depth, mask, constant, walk)
    # The pointer is `span` bytes behind the array's beginning, in the same field of an element that
    # is none. The elements of the arrays around are chosen as for the addresses inside.
    walk[PAST, 0] = i
    going = True
    while going:
        address = a.fields[field, BYTE] + chosen_offset(a, 0, depth, mask, walk) + constant
        inside = address - a.arrays[array, BEGIN] - chosen_offset(a, i + 1, depth, mask, walk)
        if 0 <= inside < a.arrays[array, SPAN]:
            add_location(a, layout, address, found)
        going = next_choice(depth, walk)
