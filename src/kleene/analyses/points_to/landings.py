"""Where does each move take each place of each shape?

Landings are computed on addresses. An exact place is one address; a place in the others of an array
is the addresses of elements 1, 2, …; so it stands for many. A move by c and multiples of t takes
address x to every x + c + j·t in the allocation, with what ISO C says of arrays (6.5.6):

- A variable index stays in its array. Its array is the outermost one around x + c whose element
  size divides t; else around x (`a[i - 1]`). For negative c both are taken. Where there is none,
  every multiple counts.
- A positive constant that is a multiple of the element size and smaller than the array, from the
  others, stays in the others. Every other constant is added to every address: pointers to members
  go back to their struct.
- A pointer past an array is kept as one to its others (to its first element, if that is the only
  one), from where it may come back. Past the allocation there is a place of its own, the end.
- An address within a place gives that place and the blur; a move from the blur leads everywhere.
  Addresses before or behind the allocation are dropped.

Cost: a few elements at both ends of an array stand for all of it, since the others move alike.
Equal blocks of rows are kept once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kleene.ir.tables import I32, I64, U8

UNBOUNDED = 1 << 60  # bytes or elements where no end is known
_DEEPEST = 16  # arrays in one another: see shapes
_N_KNOWN = 1 << 13  # constants remembered at a time
MOST_KNOWN = 1 << 12  # bytes of a shape whose places are looked up in a table
_N_RESIDUES = 1 << 8  # residues remembered at a time, of a stride and of one divisor of it
_MOST_ELEMENTS = 1 << 8  # of an array looked at; where more matter, places of any element do
_OUTSIDE = -1

# Columns of Frame.shapes, which has a row more than there are shapes, for the ends.
N_BYTES, HAS_END, FIRST_ARRAY, FIRST_START, FIRST_PLACE, FIRST_KNOWN = range(6)
# Columns of Frame.arrays; arrays around an array come first.
BEGIN, STRIDE, COUNT, SPAN, PARENT, BIT, IS_REAL, N_ARRAY_COLUMNS = range(8)
# Columns of Frame.starts, ascending by byte in a shape.
BYTE, EXTENT, ARRAY, WIDTH, PLACE, N_START_COLUMNS = range(6)
# Columns of Frame.places.
START, MASK, N_PLACE_COLUMNS = range(3)
# Rows of the room for an enumeration of addresses: per array around a place, innermost first, its
# row, the first element to choose, how many there are to choose, and which of these is chosen.
_AROUND, _LOW, _CHOICES, _CHOSEN, _PAST, _N_WALK = range(6)

Grid = NDArray[np.int64]
Function = TypeVar("Function", bound=Callable[..., Any])
_njit: Any = njit  # Numba publishes no types


def _piece(function: Function) -> Function:
    return cast(Function, _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function))


def _entry(function: Function) -> Function:
    return cast(Function, _njit(cache=True, no_cfunc_wrapper=True)(function))


class Frame(NamedTuple):
    """The arrays and starts of all shapes; rows of arrays and starts count through all shapes."""

    shapes: Grid
    arrays: Grid
    starts: Grid
    places: Grid
    known: I32  # what is at the first bytes of each shape: the place, and whether it is within


@_piece
def _n_places(f: Frame, shape: int) -> int:
    """Return how many places a shape has, without the end and the blur: also the end's number."""
    return int(f.shapes[shape + 1, FIRST_PLACE] - f.shapes[shape, FIRST_PLACE])


@_piece
def _n_rows(f: Frame, shape: int) -> int:
    """Return how many places a shape has with the end, which open storage has not, and the blur."""
    return _n_places(f, shape) + (2 if f.shapes[shape, N_BYTES] < UNBOUNDED else 1)


@_piece
def _place_of(f: Frame, shape: int, byte: int) -> tuple[int, int]:
    """Return the place that an address belongs to, -1 outside, and 1 if it does not begin there."""
    size = f.shapes[shape, N_BYTES]
    if byte < 0 or byte > size:
        return _OUTSIDE, 0
    if byte == size:
        return _n_places(f, shape) if f.shapes[shape, HAS_END] else _OUTSIDE, 0
    known = f.shapes[shape, FIRST_KNOWN] + byte
    if known < f.shapes[shape + 1, FIRST_KNOWN]:
        return f.known[known, 0], f.known[known, 1]
    return _search(f, shape, byte)


@_piece
def _locate(f: Frame, shape: int, byte: int, found: U8) -> bool:
    """Note the place of an address, with the blur if it is within; False if it is outside."""
    place, is_within = _place_of(f, shape, byte)
    if place == _OUTSIDE:
        return False
    found[place] = 1
    found[len(found) - 1] |= is_within
    return True


@_piece
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


@_entry
def search_all(f: Frame, known: I32) -> None:
    """Write the answers of `_search` for the bytes at the beginning of each shape."""
    for shape in range(len(f.shapes) - 1):
        first, end = f.shapes[shape, FIRST_KNOWN], f.shapes[shape + 1, FIRST_KNOWN]
        for row in range(first, end):
            known[row, 0], known[row, 1] = _search(f, shape, row - first)


@_piece
def _surround(f: Frame, start: int, walk: Grid) -> int:
    """List the arrays around a start, innermost first, and return how many there are."""
    depth, array = 0, f.starts[start, ARRAY]
    while array >= 0:
        walk[_AROUND, depth] = array
        depth, array = depth + 1, f.arrays[array, PARENT]
    return depth


@_piece
def _repeats(f: Frame, array: int, mask: int) -> bool:
    return bool(f.arrays[array, BIT] >= 0 and (mask >> f.arrays[array, BIT]) & 1)


@_piece
def _near(f: Frame, size: int, depth: int, mask: int, constant: int, walk: Grid) -> int:
    """Choose from elements that stand for all, when a constant is added to allocation of a size.

    These are the elements that the constant takes out of their array but not of the allocation,
    and some that it leaves in; returns how many at most, of an array. Others move alike, or out
    of the allocation, which is noted behind `_PAST`.
    """
    walk[_PAST, 0], walk[_PAST, 1] = -1, 0
    most = 1
    for i in range(depth):
        array = walk[_AROUND, i]
        walk[_LOW, i], walk[_CHOSEN, i], walk[_CHOICES, i] = 1, 0, 1
        if _repeats(f, array, mask):
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
                walk[_PAST, 1] = 1
            low, high = min(max(low, 1), last), max(min(high, last), 1)
            walk[_LOW, i], walk[_CHOICES, i] = low, high - low + 1
            most = max(most, high - low + 1)
    return most


@_piece
def _period(f: Frame, depth: int, mask: int, stride: int, n_past: int, walk: Grid) -> int:
    """Choose from elements that have every residue, with `n_past` elements past the array.

    Returns the stride, or a divisor of it: a long array has all residues that differ by multiples
    of its elements' size from the first one's, so that no element needs to be chosen.
    """
    walk[_PAST, 0] = -1
    for i in range(depth):
        array = walk[_AROUND, i]
        walk[_LOW, i], walk[_CHOSEN, i], walk[_CHOICES, i] = 1, 0, 1
        if _repeats(f, array, mask):
            divisor, rest = stride, f.arrays[array, STRIDE]
            while rest:
                divisor, rest = rest, divisor % rest
            walk[_CHOICES, i] = f.arrays[array, COUNT] - 1 + n_past
            if f.arrays[array, COUNT] > stride // divisor:
                stride, walk[_CHOICES, i] = divisor, 1
    return stride


@_piece
def _next(depth: int, walk: Grid) -> bool:
    """Go on to the next combination of elements; False after the last."""
    for i in range(depth):
        if i != walk[_PAST, 0]:
            walk[_CHOSEN, i] += 1
            if walk[_CHOSEN, i] < walk[_CHOICES, i]:
                return True
            walk[_CHOSEN, i] = 0
    return False


@_piece
def _shift(f: Frame, first: int, depth: int, mask: int, walk: Grid) -> int:
    """Return how far the chosen elements of some arrays are from the first ones, in bytes."""
    shift = 0
    for i in range(first, depth):
        array = walk[_AROUND, i]
        if i == walk[_PAST, 0]:
            shift += f.arrays[array, SPAN]
        elif _repeats(f, array, mask):
            shift += f.arrays[array, STRIDE] * (walk[_LOW, i] + walk[_CHOSEN, i])
    return shift


@_piece
def _add(f: Frame, shape: int, place: int, constant: int, found: U8, walks: Grid) -> bool:
    """Note where a constant takes a place; return whether all of it stays in the allocation."""
    size = f.shapes[shape, N_BYTES]
    if place == _n_places(f, shape):
        return _locate(f, shape, size + constant, found)
    row = f.shapes[shape, FIRST_PLACE] + place
    start, mask = f.places[row, START], f.places[row, MASK]
    if f.starts[start, ARRAY] < 0:
        return _locate(f, shape, f.starts[start, BYTE] + constant, found)
    depth = _surround(f, start, walks[0])
    if constant == 0 or _stays(f, depth, mask, constant, walks[0]):
        found[place] = 1
        return True
    if _near(f, size, depth, mask, constant, walks[0]) > _MOST_ELEMENTS:
        _sweep_more(f, shape, start, depth, mask, constant, found, walks)
        return False
    all_inside, going = not walks[0, _PAST, 1], True
    while going:
        address = f.starts[start, BYTE] + _shift(f, 0, depth, mask, walks[0]) + constant
        all_inside &= _locate(f, shape, address, found)
        going = _next(depth, walks[0])
    if constant < 0:
        for i in range(depth):
            _come_back(f, shape, row, depth, i, constant, found, walks[0])
    return all_inside


@_piece
def _sweep_more(
    f: Frame,
    shape: int,
    start: int,
    depth: int,
    mask: int,
    constant: int,
    found: U8,
    walks: Grid,
) -> None:
    """Note all that lies any number of elements from where a constant takes a place, and more."""
    stride = 0
    for i in range(depth):
        rest = f.arrays[walks[0, _AROUND, i], STRIDE]
        while rest:
            stride, rest = rest, stride % rest
    _sweep(f, shape, (f.starts[start, BYTE] + constant) % stride, stride, found, walks[1])


@_piece
def _stays(f: Frame, depth: int, mask: int, constant: int, walk: Grid) -> bool:
    """Return whether a constant takes the others of an array to the others."""
    for i in range(depth):
        array = walk[_AROUND, i]
        fits = constant % f.arrays[array, STRIDE] == 0 and 0 < constant < f.arrays[array, SPAN]
        if fits and f.arrays[array, IS_REAL] and _repeats(f, array, mask):
            return True
    return False


@_piece
def _come_back(
    f: Frame, shape: int, row: int, depth: int, i: int, constant: int, found: U8, walk: Grid
) -> None:
    """Note where a constant takes a pointer past the i-th array around, if it is back into it."""
    start, mask, array = f.places[row, START], f.places[row, MASK], walk[_AROUND, i]
    may_be_past = f.arrays[array, COUNT] == 1 or _repeats(f, array, mask)
    if not may_be_past or f.arrays[array, SPAN] == UNBOUNDED:
        return
    _near(f, f.shapes[shape, N_BYTES], depth, mask, constant, walk)
    walk[_PAST, 0] = i
    going = True
    while going:
        address = f.starts[start, BYTE] + _shift(f, 0, depth, mask, walk) + constant
        inside = address - f.arrays[array, BEGIN] - _shift(f, i + 1, depth, mask, walk)
        if 0 <= inside < f.arrays[array, SPAN]:
            _locate(f, shape, address, found)
        going = _next(depth, walk)


@_piece
def _array_of(f: Frame, shape: int, place: int, stride: int) -> int:
    """Return the outermost array around a place in which an index of that stride works, or -1."""
    if place >= _n_places(f, shape):
        return -1
    found = -1
    array = f.starts[f.places[f.shapes[shape, FIRST_PLACE] + place, START], ARRAY]
    while array >= 0:
        if stride % f.arrays[array, STRIDE] == 0:
            found = array
        array = f.arrays[array, PARENT]
    return found


@_piece
def _index(f: Frame, shape: int, place: int, array: int, found: U8) -> None:
    """Note the same place in every element of an array around it, and the end behind it."""
    bit = f.arrays[array, BIT]
    found[place] = 1
    if bit >= 0:
        mask = f.places[f.shapes[shape, FIRST_PLACE] + place, MASK]
        first = place - (mask & (1 << bit))
        found[first] = 1
        found[first + (1 << bit)] = 1
    begin, span = f.arrays[array, BEGIN], f.arrays[array, SPAN]
    start = f.places[f.shapes[shape, FIRST_PLACE] + place, START]
    is_last = begin + span == f.shapes[shape, N_BYTES] and f.arrays[array, PARENT] < 0
    if is_last and span < UNBOUNDED and f.starts[start, BYTE] == begin:
        found[_n_places(f, shape)] = 1


@_piece
def _sweep(f: Frame, shape: int, residue: int, stride: int, found: U8, walk: Grid) -> None:
    """Note every place that has an address of a residue."""
    size = f.shapes[shape, N_BYTES]
    low, high = f.shapes[shape, FIRST_START], f.shapes[shape + 1, FIRST_START]
    if size // stride <= high - low:
        for address in range(residue, size + 1, stride):
            _locate(f, shape, address, found)
        return
    if size < UNBOUNDED and f.shapes[shape, HAS_END] and (size - residue) % stride == 0:
        found[_n_places(f, shape)] = 1
    for start in range(low, high):
        depth = _surround(f, start, walk)
        for mask in range(1 << f.starts[start, WIDTH]):
            _sweep_place(f, shape, start, depth, mask, residue, stride, found, walk)


@_piece
def _sweep_place(
    f: Frame,
    shape: int,
    start: int,
    depth: int,
    mask: int,
    residue: int,
    stride: int,
    found: U8,
    walk: Grid,
) -> None:
    """Note a place, and the blur, if an address of the residue is that of the place, or within."""
    stride = _period(f, depth, mask, stride, 0, walk)
    going = True
    while going:
        address = f.starts[start, BYTE] + _shift(f, 0, depth, mask, walk)
        distance = (residue - address) % stride  # to the next address of the residue
        if distance < f.starts[start, EXTENT]:
            found[f.starts[start, PLACE] + mask] = 1
            if distance or stride < f.starts[start, EXTENT]:
                found[_n_rows(f, shape) - 1] = 1
        going = _next(depth, walk)


@_piece
def _sweep_from(
    f: Frame,
    shape: int,
    place: int,
    constant: int,
    stride: int,
    found: U8,
    swept: U8,
    swept_modulus: I64,
    walks: Grid,
) -> None:
    """Note all that a constant and any multiple of a stride can reach from a place."""
    start, mask, depth, byte = 0, 0, 0, f.shapes[shape, N_BYTES]
    if place < _n_places(f, shape):
        row = f.shapes[shape, FIRST_PLACE] + place
        start, mask = f.places[row, START], f.places[row, MASK]
        depth, byte = _surround(f, start, walks[0]), f.starts[start, BYTE]
    modulus = _period(f, depth, mask, stride, 1, walks[0])
    going = True
    while going:
        residue = (byte + _shift(f, 0, depth, mask, walks[0]) + constant) % modulus
        if modulus > _N_RESIDUES:
            _sweep(f, shape, residue, modulus, found, walks[1])
        else:
            slot = residue if modulus == stride else residue + _N_RESIDUES
            if swept_modulus[slot] != modulus:
                swept_modulus[slot] = modulus
                swept[slot] = 0
                _sweep(f, shape, residue, modulus, swept[slot], walks[1])
            for i in range(len(found)):
                found[i] |= swept[slot, i]
        going = _next(depth, walks[0])


@_piece
def _add_and_index(
    f: Frame,
    shape: int,
    place: int,
    constant: int,
    stride: int,
    found: U8,
    between: U8,
    swept: U8,
    swept_modulus: I64,
    walks: Grid,
) -> None:
    """Note where a constant and multiples of a stride take a place."""
    landed, indexed = between[0], between[1]
    landed[:] = 0
    is_elsewhere = not _add(f, shape, place, constant, landed, walks)
    if landed[-1]:
        found[:] = 1
        return
    is_elsewhere |= not _index_all(f, shape, stride, landed, found)
    own = _array_of(f, shape, place, stride)
    if own < 0 and is_elsewhere:
        _sweep_from(f, shape, place, constant, stride, found, swept, swept_modulus, walks)
    elif own >= 0 and (is_elsewhere or constant < 0):
        start = f.places[f.shapes[shape, FIRST_PLACE] + place, START]
        inside = f.starts[start, BYTE] - f.arrays[own, BEGIN]
        within = (inside + constant) % f.arrays[own, STRIDE] - inside  # without whole elements
        indexed[:] = 0
        landed[:] = 0
        _index(f, shape, place, own, indexed)
        for at in range(len(indexed)):
            if indexed[at]:
                _add(f, shape, at, constant, found, walks)
                _add(f, shape, at, within, landed, walks)
        _index_all(f, shape, stride, landed, found)


@_piece
def _index_all(f: Frame, shape: int, stride: int, places: U8, found: U8) -> bool:
    """Note all elements, for each of some places; return whether all are in arrays."""
    all_indexed = True
    for place in range(len(places)):
        if places[place]:
            array = _array_of(f, shape, place, stride)
            if array >= 0:
                _index(f, shape, place, array, found)
            else:
                all_indexed = False
                found[place] = 1
    return all_indexed


@_piece
def _grown(values: I32, n_used: int, n_more: int) -> I32:
    """Return the values in an array that has room for more."""
    if n_used + n_more <= len(values):
        return values
    larger = np.empty(2 * (n_used + n_more), values.dtype)
    larger[:n_used] = values[:n_used]
    return larger


@_piece
def _land(f: Frame, shape: int, constant: int, strides: I64, is_landing: U8, walks: Grid) -> None:
    """Set which places every place of a shape is taken to by a move that has strides."""
    n_rows = _n_rows(f, shape)
    is_landing[:] = 0
    is_landing[n_rows - 1] = 1
    _index_everywhere(f, shape, constant, strides[0], is_landing, walks)
    for stride in strides[1:]:
        following = np.zeros((n_rows, n_rows), np.uint8)
        following[n_rows - 1] = 1
        _index_everywhere(f, shape, 0, stride, following, walks)
        if f.shapes[shape, N_BYTES] < UNBOUNDED:
            following[n_rows - 2] = 0
            following[n_rows - 2, n_rows - 2] = 1  # the end has no elements
        for place in range(n_rows - 1):
            reached = is_landing[place].copy()
            for at in range(n_rows):
                if reached[at]:
                    is_landing[place] |= following[at]


@_piece
def _index_everywhere(
    f: Frame, shape: int, constant: int, stride: int, is_landing: U8, walks: Grid
) -> None:
    """Note where a constant and multiples of a stride take every place but the blur."""
    n_rows = _n_rows(f, shape)
    between = np.zeros((2, n_rows), np.uint8)
    swept_modulus = np.zeros(2 * _N_RESIDUES, np.int64)
    swept = np.empty((2 * _N_RESIDUES, n_rows), np.uint8)
    for place in range(n_rows - 1):
        found = is_landing[place]
        _add_and_index(
            f, shape, place, constant, stride, found, between, swept, swept_modulus, walks
        )


@_piece
def _same_for(f: Frame, shape: int, constant: int) -> int:
    """Return the least constant, in size, that moves the places of a shape as this one does."""
    size, first = f.shapes[shape, N_BYTES], f.shapes[shape, FIRST_ARRAY]
    if size < UNBOUNDED:
        if first < f.shapes[shape + 1, FIRST_ARRAY] and f.arrays[first, SPAN] == size:
            stride = f.arrays[first, STRIDE]  # all of it is one array
            if 2 * stride < abs(constant) < size - 4 * stride:
                rest = (abs(constant) - 2 * stride) % stride + 2 * stride
                constant = rest if constant > 0 else -rest
        return int(min(max(constant, -size - 1), size + 1))
    last = f.shapes[shape + 1, FIRST_ARRAY] - 1
    while f.arrays[last, SPAN] != UNBOUNDED:
        last -= 1
    stride = f.arrays[last, STRIDE]
    limit = f.arrays[last, BEGIN] + 2 * stride
    if constant > limit:
        return int(limit + (constant - limit) % stride)
    if constant < -limit:
        return int(-limit - (-limit - constant) % stride)
    return constant


@_piece
def _pack(found: U8, block: I32, n_used: int) -> int:
    """Append the places found to a block; return how long it is now."""
    for place in range(len(found)):
        if found[place]:
            block[n_used] = place
            n_used += 1
    return n_used


@_piece
def _write(
    f: Frame,
    shape: int,
    constant: int,
    strides: I64,
    is_landing: U8,
    block: I32,
    lengths: I32,
    walks: Grid,
) -> tuple[I32, int]:
    """Write the landings of each place, one after the other; return them, and how many."""
    n_used, n_rows = 0, len(lengths)
    if len(strides):
        _land(f, shape, constant, strides, is_landing, walks)
    for place in range(n_rows):
        block = _grown(block, n_used, n_rows)
        before, row = n_used, f.shapes[shape, FIRST_PLACE] + place
        is_exact = place < _n_places(f, shape) and f.starts[f.places[row, START], ARRAY] < 0
        if len(strides) or place == n_rows - 1:
            n_used = _pack(is_landing[place], block, n_used)
        elif is_exact:
            address = f.starts[f.places[row, START], BYTE] + constant
            landing, is_within = _place_of(f, shape, address)
            block[n_used] = landing
            n_used += landing != _OUTSIDE
            block[n_used] = n_rows - 1
            n_used += is_within
        else:
            is_landing[place] = 0
            _add(f, shape, place, constant, is_landing[place], walks)
            n_used = _pack(is_landing[place], block, n_used)
        lengths[place] = n_used - before
    return block, n_used


@_piece
def _hash(block: I32, n_used: int, lengths: I32) -> int:
    code = np.uint64(len(lengths))
    for i in range(n_used):
        code = (code ^ np.uint64(block[i])) * np.uint64(0x100000001B3)
    for i in range(len(lengths)):
        code = (code ^ np.uint64(lengths[i])) * np.uint64(0x100000001B3)
    return int((code ^ (code >> np.uint64(29))) & np.uint64((1 << 31) - 1))


@_piece
def _is_at(row: int, lengths: I32, block: I32, n_used: int, offsets: I32, landings: I32) -> bool:
    """Return whether the block that starts at a row is the given one."""
    if row + len(lengths) >= len(offsets):
        return False
    first = offsets[row]
    if offsets[row + len(lengths)] - first != n_used:
        return False
    for i in range(len(lengths)):
        if offsets[row + i + 1] - offsets[row + i] != lengths[i]:
            return False
    return bool((landings[first : first + n_used] == block[:n_used]).all())


@_entry
def land_all(
    f: Frame, constants: I64, stride_offsets: I64, strides: I64
) -> tuple[I32, I32, I32, U8]:
    """Return rows per move and shape, the rows' offsets and landings, and what occurs per shape.

    The last has two columns: whether a move leads to the end, and whether one leads to the blur.
    """
    n_shapes, n_moves = len(f.shapes) - 1, len(constants)
    rows = np.empty(n_moves * n_shapes, np.int32)
    offsets, landings, block = np.zeros(1, np.int32), np.empty(1, np.int32), np.empty(1, np.int32)
    n_rows, n_landings = 0, 0
    n_slots = 1
    while n_slots <= len(rows):
        n_slots *= 2
    slots = np.full(n_slots, -1, np.int32)  # blocks by hash
    occurs = np.zeros((n_shapes, 2), np.uint8)
    walks = np.zeros((2, _N_WALK, _DEEPEST), np.int64)
    known = np.full(_N_KNOWN, -1, np.int32)
    for shape in range(n_shapes):
        lengths = np.empty(_n_rows(f, shape), np.int32)
        is_landing = np.ones((len(lengths), len(lengths)), np.uint8)
        known[:] = -1
        for move in range(n_moves):
            own = strides[stride_offsets[move] : stride_offsets[move + 1]]
            constant = _same_for(f, shape, constants[move]) if len(own) == 0 else constants[move]
            at = constant + _N_KNOWN // 2
            is_simple = len(own) == 0 and 0 <= at < _N_KNOWN
            if is_simple and known[at] >= 0:
                rows[move * n_shapes + shape] = known[at]
                continue
            block, n_used = _write(f, shape, constant, own, is_landing, block, lengths, walks)
            for i in range(n_used - len(lengths)):  # the last row is the blur's: all
                occurs[shape, 0] |= block[i] == _n_places(f, shape)
                occurs[shape, 1] |= block[i] == len(lengths) - 1
            slot = _hash(block, n_used, lengths) & (n_slots - 1)
            while slots[slot] >= 0 and not _is_at(
                slots[slot], lengths, block, n_used, offsets[: n_rows + 1], landings
            ):
                slot = (slot + 1) & (n_slots - 1)
            if slots[slot] < 0:
                slots[slot] = n_rows
                offsets = _grown(offsets, n_rows + 1, len(lengths))
                landings = _grown(landings, n_landings, n_used)
                landings[n_landings : n_landings + n_used] = block[:n_used]
                for i in range(len(lengths)):
                    n_landings += lengths[i]
                    offsets[n_rows + 1 + i] = n_landings
                n_rows += len(lengths)
            rows[move * n_shapes + shape] = slots[slot]
            if is_simple:
                known[at] = slots[slot]
    return rows, offsets[: n_rows + 1], landings[:n_landings], occurs


@_entry
def find_places(f: Frame, shapes: I64, bytes_: I64) -> I64:
    """Return the place that starts at each byte of each shape, or the blur's; -1 outside."""
    places = np.empty(len(shapes), np.int64)
    for i in range(len(shapes)):
        found = np.zeros(_n_rows(f, shapes[i]), np.uint8)
        places[i] = _OUTSIDE
        if _locate(f, shapes[i], bytes_[i], found):
            for place in range(len(found)):
                if found[place]:
                    places[i] = place
    return places
