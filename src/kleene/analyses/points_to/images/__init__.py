"""Where does each move take each place of each shape?

Landings are computed on addresses. An exact place is one address; a place in the others of an array
is the addresses of elements 1, 2, …; so it stands for many. A move by c and multiples of t takes
address x to every x + c + j·t in the allocation, with what ISO C says of arrays (6.5.6):

- A variable index stays in its array. Its array is the outermost one around x + c whose element
  size divides t, and which is not smaller than t; else around x (`a[i - 1]`). For negative c both
  are taken. Where there is none, every multiple counts. So it does where a compiler has put the
  index before the constant that leads to the array: `s->b[i]` as s + i·t + b.
- A positive constant that is a multiple of the element size and smaller than the array, from the
  others, stays in the others: steps of so many elements. Every other constant is added to every
  address: pointers to members go back to their struct. So is one *in bytes*, of which no type
  says that it counts elements: a walk over bytes, once a compiler unrolls it, takes eight at once.
- Bytes of an object may be walked over, whatever it contains (6.3.2.3). So an array of bytes that
  such a walk can come to from the beginning of a larger object, by steps of one byte, keeps nothing
  in. Elsewhere a walk has come through the inside of a place, and its blur leads everywhere.
- A pointer past an array is kept as one to its others (to its first element, if that is the only
  one), from where it may come back. Past the allocation there is a place of its own, the end;
  an index leads from there into arrays that end there.
- An address within a place gives that place and the blur; a move from the blur leads everywhere.
  Addresses before or behind the allocation are dropped.

Cost: a few elements at both ends of an array stand for all of it, since the others move alike.
Equal blocks of rows are kept once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.points_to.images.layout_arrays import (
    ARRAY,
    BIT,
    BYTE,
    EXTENT,
    FIRST_PLACE,
    FIRST_START,
    HAS_END,
    MOST_KNOWN,
    N_ARRAY_COLUMNS,
    N_BYTES,
    N_START_COLUMNS,
    PARENT,
    START,
    STRIDE,
    WIDTH,
    Frame,
    find_places,
    search_all,
)
from kleene.analyses.points_to.images.tables import land_all
from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET
from kleene.analyses.points_to.object_layout import NOT_CALLED, UNBOUNDED, Shape
from kleene.analyses.points_to.offset_edges import Moves
from kleene.base.arrays import I32, I64, Ints, offsets_of


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The places of every shape, and the tables of moves as an inclusion problem wants them."""

    n_places: I32  # per shape
    place_offsets: I32  # n_shapes + 1
    byte: I64  # per place: its offset; of one that repeats, that of its second; or UNKNOWN_OFFSET
    n_bytes: I32  # per place: how far it reaches; 0 for the end and the blur
    stride: I32  # per place: divides the distances of its addresses; 0 where exact
    contents_class: I32  # per place: equal numbers share contents, -1 contains nothing
    n_classes: I32  # per shape
    image_rows: I32  # per move and shape
    image_offsets: I32
    images: I32
    frame: Frame

    def place(self, shape: int, byte: int) -> int:
        """Return the place of a byte within its shape, the blur if it has none, -1 outside."""
        return int(self.places(np.array([shape], np.int32), np.array([byte], np.int64))[0])

    def places(self, shapes: Ints, bytes_: Ints) -> I32:
        """Return the place of each byte of each shape: see `place`."""
        found = find_places(self.frame, shapes.astype(np.int64), bytes_.astype(np.int64))
        return np.where(found < self.n_places[shapes], found, -1).astype(np.int32)


def lay_out(shapes: Sequence[Shape], moves: Moves, has_unknown: bool) -> Layout:
    """Return the places of the shapes, and the landings of every move in every shape."""
    frame = _frame(shapes)
    rows, row_offsets, landings, occurs = land_all(frame, *moves.columns())
    rows, row_offsets = _with_calls(shapes, moves, frame, rows, row_offsets)
    n_bytes, has_contents = frame.shapes[:-1, N_BYTES], frame.shapes[:-1, HAS_END] > 0
    n_regular = np.diff(frame.shapes[:, FIRST_PLACE])
    n_classes = np.diff(frame.shapes[:, FIRST_START])
    is_bounded = n_bytes < UNBOUNDED
    wants_blur = (occurs[:, 1] > 0) | (has_unknown & has_contents & _has_interior(frame))
    n_extra = np.where(is_bounded, np.where(wants_blur, 2, occurs[:, 0]), wants_blur)
    n_places = n_regular + n_extra
    offsets = offsets_of(n_places).astype(np.int32)
    shape = np.repeat(np.arange(len(shapes)), n_places)
    within = np.arange(offsets[-1]) - offsets[shape]
    is_regular = within < n_regular[shape]

    def spread(values: I64, extra: I64 | int) -> I64:
        column = np.where(is_regular, 0, extra)
        column[is_regular] = values
        return column

    byte, stride = _bytes_and_strides(frame)
    start = frame.places[:, START]
    contents = start - np.repeat(frame.shapes[:-1, FIRST_START], n_regular)
    contents[~np.repeat(has_contents, n_regular)] = -1
    is_end = is_bounded[shape] & (within == n_regular[shape])
    return Layout(
        n_places.astype(np.int32),
        offsets,
        spread(byte, np.where(is_end, n_bytes[shape], UNKNOWN_OFFSET)),
        spread(np.minimum(frame.starts[start, EXTENT], 1 << 30), 0).astype(np.int32),
        spread(stride, 0).astype(np.int32),
        spread(contents, -1).astype(np.int32),
        np.where(has_contents, n_classes, 0).astype(np.int32),
        rows,
        row_offsets,
        landings,
        frame,
    )


def _frame(shapes: Sequence[Shape]) -> Frame:
    """Return the shapes as arrays."""
    shape_rows: list[tuple[int, ...]] = []
    array_rows: list[tuple[int, ...]] = []
    start_rows: list[tuple[int, ...]] = []
    n_places = n_known = 0
    for shape in shapes:
        kind = (int(shape.has_contents), int(shape.is_raw))
        counts = (len(array_rows), len(start_rows), n_places, n_known)
        n_known += min(shape.n_bytes, MOST_KNOWN)
        shape_rows.append((shape.n_bytes, *kind, *counts))
        first_array, first_place = len(array_rows), n_places
        widths = shape.widths()
        for array, width in zip(shape.arrays, widths[1:], strict=True):
            parent = array.parent + first_array if array.parent >= 0 else -1
            bit = width - 1 if array.count > 1 else -1
            span = min(array.count * array.stride, UNBOUNDED)
            sizes = (array.start, array.stride, array.count, span)
            array_rows.append((*sizes, parent, bit, int(array.hold)))
        for start in shape.all_starts():
            width = widths[start.array + 1]
            around = start.array + first_array if start.array >= 0 else -1
            first = n_places - first_place
            start_rows.append((start.byte, start.n_bytes, around, width, first))
            n_places += 1 << width
    shape_rows.append((0, 0, 0, len(array_rows), len(start_rows), n_places, n_known))
    starts = np.array(start_rows, np.int64).reshape(-1, N_START_COLUMNS)
    n_of_start = 1 << starts[:, WIDTH]
    place_start = np.repeat(np.arange(len(starts)), n_of_start)
    first = np.cumsum(n_of_start) - n_of_start
    frame = Frame(
        np.array(shape_rows, np.int64),
        np.array(array_rows, np.int64).reshape(-1, N_ARRAY_COLUMNS),
        starts,
        np.stack([place_start, np.arange(n_places) - first[place_start]], axis=1),
        np.empty((n_known, 2), np.int32),
    )
    search_all(frame, frame.known)
    return frame


def _with_calls(
    shapes: Sequence[Shape], moves: Moves, frame: Frame, rows: I32, offsets: I32
) -> tuple[I32, I32]:
    """Return the rows and offsets of moves in which calls lead to what they can call alone."""
    takes = np.array([shape.n_arguments for shape in shapes], np.int64)
    nowhere = len(offsets) - 1
    n_most = int(np.diff(frame.shapes[:, FIRST_PLACE]).max(initial=0)) + 2  # end and blur
    table = rows.reshape(-1, max(len(shapes), 1))
    for n_arguments, move in moves.calls().items():
        fewer = (takes >= 0) & (takes < n_arguments) & moves.exact_calls
        table[move, (takes == NOT_CALLED) | (takes > n_arguments) | fewer] = nowhere
    return table.ravel(), np.append(offsets, np.repeat(offsets[-1:], n_most))


def _has_interior(frame: Frame) -> NDArray[np.bool_]:
    """Return for each shape whether it has bytes at which nothing begins."""
    found = offsets_of(frame.starts[:, EXTENT] > 1)
    return np.diff(found[frame.shapes[:, FIRST_START]]) > 0


def _bytes_and_strides(frame: Frame) -> tuple[I64, I64]:
    """Return for each place its byte, and a stride that divides the distances of its addresses."""
    start, mask = frame.places.T
    byte = frame.starts[start, BYTE]
    stride = np.zeros(len(byte), np.int64)
    array = frame.starts[start, ARRAY]
    while (array >= 0).any():
        row = frame.arrays[array]
        repeats = (array >= 0) & (row[:, BIT] >= 0) & ((mask >> np.maximum(row[:, BIT], 0)) & 1 > 0)
        byte = byte + np.where(repeats, row[:, STRIDE], 0)
        stride = np.where(repeats, np.gcd(stride, row[:, STRIDE]), stride)
        array = np.where(array >= 0, row[:, PARENT], -1)
    return byte, stride
