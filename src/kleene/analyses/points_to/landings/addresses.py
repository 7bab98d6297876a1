"""The addresses that a place stands for, and the places that have addresses of a residue."""

from __future__ import annotations

from kleene.analyses.points_to.compiled import no_refcount
from kleene.analyses.points_to.landings.frame import (
    ARRAY,
    BEGIN,
    BIT,
    BYTE,
    COUNT,
    EXTENT,
    FIRST_START,
    HAS_END,
    N_BYTES,
    PARENT,
    PLACE,
    SPAN,
    STRIDE,
    UNBOUNDED,
    WIDTH,
    Frame,
    Grid,
    count_places,
    count_rows,
    locate,
)
from kleene.analyses.points_to.landings.scratch import AROUND, CHOICES, CHOSEN, LOW, PAST
from kleene.analyses.points_to.landings.sets import Set, put


@no_refcount
def surround(f: Frame, start: int, walk: Grid) -> int:
    """List the arrays around a start, innermost first, and return how many there are."""
    depth, array = 0, f.starts[start, ARRAY]
    while array >= 0:
        walk[AROUND, depth] = array
        depth, array = depth + 1, f.arrays[array, PARENT]
    return depth


@no_refcount
def repeats(f: Frame, array: int, mask: int) -> bool:
    """Return whether places of a mask are in the others of an array."""
    return bool(f.arrays[array, BIT] >= 0 and (mask >> f.arrays[array, BIT]) & 1)


@no_refcount
def near(f: Frame, size: int, depth: int, mask: int, constant: int, walk: Grid) -> int:
    """Choose from elements that stand for all, when a constant is added in storage of a size.

    These are the elements that the constant takes out of their array but not of the allocation,
    and some that it leaves in; returns how many at most, of an array. Others move alike, or out
    of the allocation, which is noted behind `PAST`.
    """
    walk[PAST, 0], walk[PAST, 1] = -1, 0
    most = 1
    for i in range(depth):
        array = walk[AROUND, i]
        walk[LOW, i], walk[CHOSEN, i], walk[CHOICES, i] = 1, 0, 1
        if repeats(f, array, mask):
            stride, last = f.arrays[array, STRIDE], f.arrays[array, COUNT] - 1
            is_open = f.arrays[array, SPAN] == UNBOUNDED
            room = f.arrays[array, BEGIN] if is_open else size - f.arrays[array, SPAN]
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
def period(f: Frame, depth: int, mask: int, stride: int, n_past: int, walk: Grid) -> int:
    """Choose from elements that have every residue, with `n_past` elements past the array.

    Returns the stride, or a divisor of it: a long array has all residues that differ by multiples
    of its elements' size from the first one's, so that no element needs to be chosen.
    """
    walk[PAST, 0] = -1
    for i in range(depth):
        array = walk[AROUND, i]
        walk[LOW, i], walk[CHOSEN, i], walk[CHOICES, i] = 1, 0, 1
        if repeats(f, array, mask):
            divisor, rest = stride, f.arrays[array, STRIDE]
            while rest:
                divisor, rest = rest, divisor % rest
            walk[CHOICES, i] = f.arrays[array, COUNT] - 1 + n_past
            if f.arrays[array, COUNT] > stride // divisor:
                stride, walk[CHOICES, i] = divisor, 1
    return stride


@no_refcount
def advance(depth: int, walk: Grid) -> bool:
    """Go on to the next combination of elements; False after the last."""
    for i in range(depth):
        if i != walk[PAST, 0]:
            walk[CHOSEN, i] += 1
            if walk[CHOSEN, i] < walk[CHOICES, i]:
                return True
            walk[CHOSEN, i] = 0
    return False


@no_refcount
def shift(f: Frame, first: int, depth: int, mask: int, walk: Grid) -> int:
    """Return how far the chosen elements of some arrays are from the first ones, in bytes."""
    n_bytes = 0
    for i in range(first, depth):
        array = walk[AROUND, i]
        if i == walk[PAST, 0]:
            n_bytes += f.arrays[array, SPAN]
        elif repeats(f, array, mask):
            n_bytes += f.arrays[array, STRIDE] * (walk[LOW, i] + walk[CHOSEN, i])
    return n_bytes


@no_refcount
def sweep(f: Frame, shape: int, residue: int, stride: int, found: Set, walk: Grid) -> None:
    """Note every place that has an address of a residue."""
    size = f.shapes[shape, N_BYTES]
    low, high = f.shapes[shape, FIRST_START], f.shapes[shape + 1, FIRST_START]
    if size // stride <= high - low:
        for address in range(residue, size + 1, stride):
            locate(f, shape, address, found)
        return
    if size < UNBOUNDED and f.shapes[shape, HAS_END] and (size - residue) % stride == 0:
        put(found, count_places(f, shape))
    for start in range(low, high):
        depth = surround(f, start, walk)
        for mask in range(1 << f.starts[start, WIDTH]):
            _sweep_place(f, shape, start, depth, mask, residue, stride, found, walk)


@no_refcount
def _sweep_place(
    f: Frame,
    shape: int,
    start: int,
    depth: int,
    mask: int,
    residue: int,
    stride: int,
    found: Set,
    walk: Grid,
) -> None:
    """Note a place, and the blur, if an address of the residue is that of the place, or within."""
    stride = period(f, depth, mask, stride, 0, walk)
    going = True
    while going:
        address = f.starts[start, BYTE] + shift(f, 0, depth, mask, walk)
        distance = (residue - address) % stride  # to the next address of the residue
        if distance < f.starts[start, EXTENT]:
            put(found, f.starts[start, PLACE] + mask)
            if distance or stride < f.starts[start, EXTENT]:
                put(found, count_rows(f, shape) - 1)
        going = advance(depth, walk)
