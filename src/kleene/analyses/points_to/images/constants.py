"""The images of locations under the addition of a constant number of bytes.

A location inside arrays stands for many addresses, x + e1·t1 + e2·t2 + …, with an element e from 1
to count - 1 for each array that it is in the others of. Following all of them would take as long as
the arrays are: a few elements stand for all (`boundary_elements`, `residue_period`).
"""

from __future__ import annotations

from math import gcd

from kleene.analyses.points_to.compiled import device_function
from kleene.analyses.points_to.images.layout_arrays import OUTSIDE, LayoutArrays, location_at
from kleene.analyses.points_to.images.scratch import Scratch, Walk, put
from kleene.analyses.points_to.object_layout import UNBOUNDED, Confines

_CONFINES_CONSTANTS = int(Confines.CONSTANTS)
_MOST_ELEMENTS = 1 << 8  # of one array; where more are chosen, every element counts instead


@device_function
def arrays_around(a: LayoutArrays, field: int, walk: Walk) -> int:
    """List the arrays around a field, innermost first, and return how many there are."""
    depth, array = 0, a.array[field]
    while array >= 0:
        walk.around[depth] = array
        depth, array = depth + 1, a.parent[array]
    return depth


@device_function
def is_in_others(a: LayoutArrays, array: int, mask: int) -> bool:
    """Return whether locations with this mask lie in elements 1, 2, … of an array."""
    return bool(a.bit[array] >= 0 and (mask >> a.bit[array]) & 1)


@device_function
def choose(walk: Walk, i: int, low: int, high: int) -> None:
    """Choose elements `low` to `high` of the i-th array, `low` first."""
    walk.low[i], walk.high[i], walk.element[i] = low, high, low


@device_function
def boundary_elements(
    a: LayoutArrays, size: int, depth: int, mask: int, constant: int, walk: Walk
) -> tuple[int, bool]:
    """Choose the array elements that stand for all when `constant` bytes are added to each.

    Returns how many elements are chosen of one array at most, and whether those not chosen behave
    like one that is: otherwise some leave the allocation of `size` bytes.
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
    most, all_inside = 1, True
    for i in range(depth):
        array, low, high = walk.around[i], 0, 0
        if is_in_others(a, array, mask):
            stride, last = a.stride[array], a.n_elements[array] - 1
            is_open = a.span[array] == UNBOUNDED
            room = a.begin[array] if is_open else size - a.span[array]
            if constant < 0:
                low = -constant // stride - room // stride - 2
                high = -constant // stride + 2
            else:
                low = last - constant // stride - 2
                high = last - constant // stride + room // stride + 2
            if is_open and constant > 0:
                low, high = 1, 2
            elif (low > 1 and constant < 0) or (high < last and constant > 0):
                all_inside = False
            low, high = min(max(low, 1), last), max(min(high, last), 1)
            most = max(most, high - low + 1)
        choose(walk, i, low, high)
    return most, all_inside


@device_function
def residue_period(
    a: LayoutArrays, depth: int, mask: int, stride: int, n_past: int, walk: Walk
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
    for i in range(depth):
        array, low, high = walk.around[i], 0, 0
        if is_in_others(a, array, mask):
            divisor = gcd(stride, a.stride[array])
            low, high = 1, a.n_elements[array] - 1 + n_past
            if a.n_elements[array] > stride // divisor:
                stride, high = divisor, 1
        choose(walk, i, low, high)
    return stride


@device_function
def next_choice(depth: int, walk: Walk) -> bool:
    """Choose the next combination of elements; the first one and False after the last."""
    for i in range(depth):
        if walk.element[i] < walk.high[i]:
            walk.element[i] += 1
            return True
        walk.element[i] = walk.low[i]
    return False


@device_function
def chosen_offset(a: LayoutArrays, first: int, depth: int, walk: Walk) -> int:
    """Return Σ e·t over the arrays `first` to `depth` - 1: chosen element times element size."""
    n_bytes = 0
    for i in range(first, depth):
        n_bytes += a.stride[walk.around[i]] * walk.element[i]
    return n_bytes


@device_function
def add_location(a: LayoutArrays, s: Scratch, byte: int, found: int) -> bool:
    """Add the location of a byte to a set; return False if the byte is outside the allocation.

    A byte inside a field, not its first, adds the unknown offset too.
    """
    location, is_within = location_at(a, s.layout, byte)
    if location == OUTSIDE:
        return False
    put(s, found, location)
    if is_within:
        put(s, found, s.n_locations - 1)
    return True


@device_function
def add_residue_class(a: LayoutArrays, s: Scratch, residue: int, stride: int, found: int) -> None:
    """Add every location that has an address y with y = residue (mod stride), or contains one."""
    size = a.n_bytes[s.layout]
    low, high = a.first_field[s.layout], a.first_field[s.layout + 1]
    if size // stride <= high - low:
        for address in range(residue, size + 1, stride):
            add_location(a, s, address, found)
        return
    if size < UNBOUNDED and a.has_end[s.layout] and (size - residue) % stride == 0:
        put(s, found, s.n_regular)
    for field in range(low, high):
        depth = arrays_around(a, field, s.inner_walk)
        for mask in range(1 << a.width[field]):
            _add_residue(a, s, field, depth, mask, residue, stride, found)


@device_function
def _add_residue(
    a: LayoutArrays,
    s: Scratch,
    field: int,
    depth: int,
    mask: int,
    residue: int,
    stride: int,
    found: int,
) -> None:
    """Add the location of a field if an address y of it has y = residue (mod stride).

    If some such y is not the first byte of the field, the unknown offset is added too.
    """
    stride = residue_period(a, depth, mask, stride, 0, s.inner_walk)
    going = True
    while going:
        address = a.byte[field] + chosen_offset(a, 0, depth, s.inner_walk)
        # The first address of the residue from the field's beginning on is `distance` further. The
        # field has one inside if that is not its beginning, or if one more fits.
        distance = (residue - address) % stride
        if distance < a.extent[field]:
            put(s, found, a.location[field] + mask)
            if distance or stride < a.extent[field]:
                put(s, found, s.n_locations - 1)
        going = next_choice(depth, s.inner_walk)


@device_function
def add_constant(
    a: LayoutArrays, s: Scratch, location: int, constant: int, in_bytes: bool, found: int
) -> bool:
    """Add the locations of x + constant, for all addresses x of a location.

    Returns whether all x + constant are inside the allocation.
    """
    size = a.n_bytes[s.layout]
    if location == s.n_regular:
        return add_location(a, s, size + constant, found)
    row = a.first_location[s.layout] + location
    field, mask = a.field[row], a.mask[row]
    if a.array[field] < 0:
        return add_location(a, s, a.byte[field] + constant, found)
    depth = arrays_around(a, field, s.walk)
    if constant == 0 or (not in_bytes and _stays(a, depth, mask, constant, s.walk)):
        put(s, found, location)
        return True
    most, all_inside = boundary_elements(a, size, depth, mask, constant, s.walk)
    if most > _MOST_ELEMENTS:
        _add_every_element(a, s, field, depth, constant, found)
        return False
    going = True
    while going:
        address = a.byte[field] + chosen_offset(a, 0, depth, s.walk) + constant
        all_inside &= add_location(a, s, address, found)
        going = next_choice(depth, s.walk)
    if constant < 0:
        for i in range(depth):
            _add_from_past_end(a, s, row, depth, i, constant, found)
    return all_inside


@device_function
def _add_every_element(
    a: LayoutArrays, s: Scratch, field: int, depth: int, constant: int, found: int
) -> None:
    """Add the locations of x + constant + Σ j·t, for all j: t are the element sizes around x."""
    # An over-approximation: with g the gcd of the element sizes, every address of the location plus
    # the constant is congruent to the field's byte plus the constant mod g.
    stride = 0
    for i in range(depth):
        stride = gcd(stride, a.stride[s.walk.around[i]])
    add_residue_class(a, s, (a.byte[field] + constant) % stride, stride, found)


@device_function
def _stays(a: LayoutArrays, depth: int, mask: int, constant: int, walk: Walk) -> bool:
    """Return whether the constant leads from elements 1, 2, … of an array to such elements.

    It does if it is a positive multiple of the element size, smaller than the array.
    """
    for i in range(depth):
        array = walk.around[i]
        fits = constant % a.stride[array] == 0 and 0 < constant < a.span[array]
        if fits and a.confines[array] >= _CONFINES_CONSTANTS and is_in_others(a, array, mask):
            return True
    return False


@device_function
def _add_from_past_end(
    a: LayoutArrays, s: Scratch, row: int, depth: int, i: int, constant: int, found: int
) -> None:
    """Add the locations that a negative constant reaches from past the end of an array.

    That is the i-th array around the location in `row`, of which pointers past its end are kept as
    pointers to its elements 1, 2, …: p - 4 with p = a + 3 of `int a[3]` is &a[2].
    """
    field, mask, array = a.field[row], a.mask[row], s.walk.around[i]
    may_be_past = a.n_elements[array] == 1 or is_in_others(a, array, mask)
    if not may_be_past or a.span[array] == UNBOUNDED:
        return
    # The pointer is to the same field of element `n_elements`, which is none. The elements of the
    # arrays around are chosen as for the addresses inside.
    boundary_elements(a, a.n_bytes[s.layout], depth, mask, constant, s.walk)
    choose(s.walk, i, a.n_elements[array], a.n_elements[array])
    going = True
    while going:
        address = a.byte[field] + chosen_offset(a, 0, depth, s.walk) + constant
        inside = address - a.begin[array] - chosen_offset(a, i + 1, depth, s.walk)
        if 0 <= inside < a.span[array]:
            add_location(a, s, address, found)
        going = next_choice(depth, s.walk)
