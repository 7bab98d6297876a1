"""Memory to work in while the moves of one shape are followed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kleene.analyses.points_to.compiled import device_function, no_refcount
from kleene.analyses.points_to.images.layout_arrays import (
    ARRAY,
    BEGIN,
    BIT,
    BYTE,
    COUNT,
    EXTENT,
    FIRST_PLACE,
    FIRST_START,
    HAS_END,
    HOLD,
    HOLDS_CONSTANTS,
    MASK,
    N_BYTES,
    PARENT,
    PLACE,
    SPAN,
    START,
    STRIDE,
    WIDTH,
    Frame,
    Grid,
    Set,
    count_places,
    count_rows,
    locate,
    n_words,
    put,
    put_all,
)
from kleene.analyses.points_to.object_layout import UNBOUNDED
from kleene.base.arrays import I64

# Rows of an enumeration of addresses: per array around a place, innermost first, its row, the first
# element to choose, how many there are to choose, and which of these is chosen. The last row has
# the array that is taken past its end, or -1, and whether elements were left out that go outside.
AROUND, LOW, CHOICES, CHOSEN, PAST, N_WALK = range(6)
DEEPEST = 16  # arrays in one another: see shapes
N_RESIDUES = 1 << 8  # remembered at a time, of a stride and of one divisor of it


class Scratch(NamedTuple):
    """What the pieces write on: sets of places of the shape, and addresses."""

    landing: Set  # per place: where a move takes it
    following: Set  # per place: where one more stride takes it
    between: Set  # two: on the way
    swept: Set  # two per residue: the places that have addresses of it
    swept_modulus: I64  # per row of `swept`: which modulus it is of, 0 before there is one
    walks: Grid  # two enumerations of addresses


@device_function
def scratch_for(n_rows: int) -> Scratch:
    """Return memory for a shape of so many places, of which the last, the blur, leads to all."""
    width = n_words(n_rows)
    landing, following = np.zeros((n_rows, width), np.uint64), np.zeros((n_rows, width), np.uint64)
    put_all(landing[n_rows - 1], n_rows)
    put_all(following[n_rows - 1], n_rows)
    return Scratch(
        landing,
        following,
        np.empty((2, width), np.uint64),
        np.empty((2 * N_RESIDUES, width), np.uint64),
        np.zeros(2 * N_RESIDUES, np.int64),
        np.zeros((2, N_WALK, DEEPEST), np.int64),
    )


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


_MOST_ELEMENTS = 1 << 8  # of an array looked at; where more matter, places of any element do


@no_refcount
def add(
    f: Frame, shape: int, place: int, constant: int, in_bytes: bool, found: Set, walks: Grid
) -> bool:
    """Note where a constant takes a place; return whether all of it stays in the allocation."""
    size = f.shapes[shape, N_BYTES]
    if place == count_places(f, shape):
        return locate(f, shape, size + constant, found)
    row = f.shapes[shape, FIRST_PLACE] + place
    start, mask = f.places[row, START], f.places[row, MASK]
    if f.starts[start, ARRAY] < 0:
        return locate(f, shape, f.starts[start, BYTE] + constant, found)
    depth = surround(f, start, walks[0])
    if constant == 0 or (not in_bytes and _stays(f, depth, mask, constant, walks[0])):
        put(found, place)
        return True
    if near(f, size, depth, mask, constant, walks[0]) > _MOST_ELEMENTS:
        _sweep_more(f, shape, start, depth, mask, constant, found, walks)
        return False
    all_inside, going = not walks[0, PAST, 1], True
    while going:
        address = f.starts[start, BYTE] + shift(f, 0, depth, mask, walks[0]) + constant
        all_inside &= locate(f, shape, address, found)
        going = advance(depth, walks[0])
    if constant < 0:
        for i in range(depth):
            _come_back(f, shape, row, depth, i, constant, found, walks[0])
    return all_inside


@no_refcount
def _sweep_more(
    f: Frame,
    shape: int,
    start: int,
    depth: int,
    mask: int,
    constant: int,
    found: Set,
    walks: Grid,
) -> None:
    """Note all that lies any number of elements from where a constant takes a place, and more."""
    stride = 0
    for i in range(depth):
        rest = f.arrays[walks[0, AROUND, i], STRIDE]
        while rest:
            stride, rest = rest, stride % rest
    sweep(f, shape, (f.starts[start, BYTE] + constant) % stride, stride, found, walks[1])


@no_refcount
def _stays(f: Frame, depth: int, mask: int, constant: int, walk: Grid) -> bool:
    """Return whether a constant takes the others of an array to the others."""
    for i in range(depth):
        array = walk[AROUND, i]
        fits = constant % f.arrays[array, STRIDE] == 0 and 0 < constant < f.arrays[array, SPAN]
        if fits and f.arrays[array, HOLD] >= HOLDS_CONSTANTS and repeats(f, array, mask):
            return True
    return False


@no_refcount
def _come_back(
    f: Frame, shape: int, row: int, depth: int, i: int, constant: int, found: Set, walk: Grid
) -> None:
    """Note where a constant takes a pointer past the i-th array around, if it is back into it."""
    start, mask, array = f.places[row, START], f.places[row, MASK], walk[AROUND, i]
    may_be_past = f.arrays[array, COUNT] == 1 or repeats(f, array, mask)
    if not may_be_past or f.arrays[array, SPAN] == UNBOUNDED:
        return
    near(f, f.shapes[shape, N_BYTES], depth, mask, constant, walk)
    walk[PAST, 0] = i
    going = True
    while going:
        address = f.starts[start, BYTE] + shift(f, 0, depth, mask, walk) + constant
        inside = address - f.arrays[array, BEGIN] - shift(f, i + 1, depth, mask, walk)
        if 0 <= inside < f.arrays[array, SPAN]:
            locate(f, shape, address, found)
        going = advance(depth, walk)
