"""Where a constant takes each place."""

from __future__ import annotations

from kleene.analyses.points_to.compiled import no_refcount
from kleene.analyses.points_to.landings.addresses import (
    advance,
    near,
    repeats,
    shift,
    surround,
    sweep,
)
from kleene.analyses.points_to.landings.frame import (
    ARRAY,
    BEGIN,
    BYTE,
    COUNT,
    FIRST_PLACE,
    HOLD,
    HOLDS_CONSTANTS,
    MASK,
    N_BYTES,
    SPAN,
    START,
    STRIDE,
    UNBOUNDED,
    Frame,
    Grid,
    count_places,
    locate,
)
from kleene.analyses.points_to.landings.scratch import AROUND, PAST
from kleene.analyses.points_to.landings.sets import Set, put

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
