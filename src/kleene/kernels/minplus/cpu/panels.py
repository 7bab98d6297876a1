"""The steps of the blocked closure, on an octagon in panels; each may be shared by threads.

The matrix C is kept in panels of as many columns as a tile of registers is wide; panel v holds the
rows from its first column on, so a tile is contiguous and little above the diagonal is stored. P
holds a block's columns of all rows, R its rows, in panels like those of C; T is the block's tile.
A step does its `part` of `n_parts`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.kernels.minplus.cpu.compiled import entry, piece
from kleene.kernels.minplus.cpu.scalar import beyond, half_up, pointer
from kleene.kernels.minplus.cpu.tile import close_pivots, inward, outward, unary_bounds
from kleene.kernels.minplus.cpu.vector import (
    BLOCK,
    lanes,
    lanes_of,
    micro,
    tile_rows_of,
    tile_shape,
    tile_vectors_of,
    to_nearest,
    upwards,
)

_LINE_BYTES = 64


def room(n: int, inner: Any) -> tuple[Any, Any, Any, Any]:
    """Return arrays for C, P, R and T, each at the start of a cache line; P is infinite.

    The rows of P beyond the last of C stand for columns that C does not have.
    """
    height, n_vectors = tile_shape(inner.itemsize)
    width = n_vectors * lanes(inner.dtype)
    n_panels, n_rows = -(-2 * n // width), -(-2 * n // height) * height
    n_stored = n_panels * n_rows * width - width * width * (n_panels * (n_panels - 1) // 2)
    lengths = (n_stored, n_panels * width * BLOCK, n_panels * width * BLOCK, BLOCK * BLOCK)
    c, p, r, t = (aligned(length, inner.dtype) for length in lengths)
    p.fill(inner[0])
    return c, p, r, t


def aligned(length: int, dtype: Any) -> Any:
    """Return an array of any contents at the start of a cache line."""
    raw = np.empty(length * dtype.itemsize + _LINE_BYTES, np.uint8)
    begin = -raw.ctypes.data % _LINE_BYTES
    return raw[begin : begin + length * dtype.itemsize].view(dtype)


@piece
def shape(c: Any, n: int) -> Any:
    """Return the rows of C, padded to whole tiles, and the columns and number of its panels."""
    height, width = tile_rows_of(c), lanes_of(c) * tile_vectors_of(c)
    return -(-2 * n // height) * height, width, -(-2 * n // width)


@piece
def panel(c: Any, v: int, n_rows: int, width: int) -> Any:
    """Return where row 0 of panel v would be, were it stored from there."""
    return beyond(c, v * n_rows * width - width * width * (v * (v + 1) // 2))


@piece
def part_of(n_items: int, part: int, n_parts: int) -> Any:
    """Return where a part of the items begins and ends."""
    return n_items * part // n_parts, n_items * (part + 1) // n_parts


@entry
def load(
    c_array: Any, m: Any, n: int, outer: Any, inner: Any, tighten: bool, part: int, n_parts: int
) -> None:
    """Copy a part of the octagon to panels, what is above the diagonal in them from its dual."""
    c = pointer(c_array, 0)
    n_rows, width, n_panels = shape(c, n)
    for v in range(part, n_panels, n_parts):
        start, lines = v * width, panel(c, v, n_rows, width)
        for i in range(start, n_rows):
            line, row = beyond(lines, i * width), pointer(m, (i + 1) * (i + 1) // 2 + start)
            n_known = min(width, (i | 1) + 1 - start) if i < 2 * n else 0
            for j in range(n_known):
                line[j] = inward(row[j], outer, inner, tighten)
            for j in range(n_known, width):
                line[j] = inner[0]
        for i in range(start, min(start + width, 2 * n)):
            line = beyond(lines, i * width - start)
            for j in range((i | 1) + 1, min(start + width, 2 * n)):
                line[j] = beyond(lines, (j ^ 1) * width - start)[i ^ 1]
            if line[i] > 0:
                line[i] = 0


@entry
def close_block(
    c_array: Any, r_array: Any, t_array: Any, n: int, first: int, n_pivots: int, infinity: Any
) -> bool:
    """Close the tile of the block at `first`; write it to C, and to the block's panels of R."""
    upwards()
    c, t = pointer(c_array, 0), pointer(t_array, 0)
    n_rows, width, _ = shape(c, n)
    for at in range(BLOCK * BLOCK):
        t[at] = infinity
    for i in range(n_pivots):
        for j in range((i | 1) + 1):
            v = (first + j) // width
            line = beyond(panel(c, v, n_rows, width), (first + i) * width)
            value = line[first + j - v * width]
            t[i * BLOCK + j] = value
            t[(j ^ 1) * BLOCK + (i ^ 1)] = value
    closed = close_pivots(t, n_pivots)
    to_nearest()
    for v in range(first // width, -(-(first + n_pivots) // width)):
        start = v * width - first
        for i in range(n_pivots):
            line, packed = beyond(t, i * BLOCK + start), pointer(r_array, (v * BLOCK + i) * width)
            stored = beyond(panel(c, v, n_rows, width), (first + i) * width)
            for j in range(width):
                packed[j] = line[j]
                if i >= start:
                    stored[j] = line[j]
    return closed


@entry
def read_columns(
    c_array: Any, p_array: Any, n: int, first: int, n_pivots: int, part: int, n_parts: int
) -> None:
    """Read a part of P from C, outside the block; rows above it from the block's own rows."""
    c, p = pointer(c_array, 0), pointer(p_array, 0)
    n_rows, width, _ = shape(c, n)
    begin, end = part_of(n_rows // tile_rows_of(c), part, n_parts)
    for i in range(begin * tile_rows_of(c), min(end * tile_rows_of(c), 2 * n)):
        row = beyond(p, i * BLOCK)
        if i < first:
            v = i // width
            column = beyond(panel(c, v, n_rows, width), first * width + ((i ^ 1) - v * width))
            for k in range(n_pivots):
                row[k] = column[(k ^ 1) * width]
        elif i >= first + BLOCK:
            for v in range(first // width, -(-(first + n_pivots) // width)):
                line = beyond(panel(c, v, n_rows, width), i * width)
                for j in range(width):
                    row[v * width - first + j] = line[j]


@entry
def combine(
    p_array: Any, r_array: Any, n: int, first: int, n_pivots: int, part: int, n_parts: int
) -> None:
    """Combine a part of P with the block's tile, whose panels are in R."""
    upwards()
    p = pointer(p_array, 0)
    height = tile_rows_of(p)
    n_rows, width, _ = shape(p, n)
    begin, end = part_of(n_rows // height, part, n_parts)
    for i in range(begin * height, end * height, height):
        if i < first or i >= first + BLOCK:
            rows = beyond(p, i * BLOCK)
            for v in range(first // width, -(-(first + n_pivots) // width)):
                own = pointer(r_array, v * BLOCK * width)
                micro(beyond(rows, v * width - first), BLOCK, rows, own, n_pivots)
    to_nearest()


@entry
def transpose(
    p_array: Any, r_array: Any, n: int, first: int, n_pivots: int, part: int, n_parts: int
) -> None:
    """Make a part of R from P, all but the panels of the block at `first`."""
    p = pointer(p_array, 0)
    _, width, n_panels = shape(p, n)
    begin, end = part_of(n_panels, part, n_parts)
    for v in range(begin, end):
        if v * width < first or v * width >= first + BLOCK:
            packed = pointer(r_array, v * BLOCK * width)
            for j in range(width):
                row = beyond(p, (v * width + (j ^ 1)) * BLOCK)
                for k in range(n_pivots):
                    packed[k * width + j] = row[k ^ 1]


@entry
def write_back(
    c_array: Any,
    p_array: Any,
    r_array: Any,
    n: int,
    first: int,
    n_pivots: int,
    part: int,
    n_parts: int,
) -> None:
    """Write a part of what P and R say of the block's rows and columns to C."""
    c = pointer(c_array, 0)
    n_rows, width, n_panels = shape(c, n)
    begin, end = part_of(n_panels, part, n_parts)
    for v in range(begin, end):
        if v * width < first:
            packed = pointer(r_array, v * BLOCK * width)
            stored = beyond(panel(c, v, n_rows, width), first * width)
            for at in range(n_pivots * width):
                stored[at] = packed[at]
        elif v * width >= first + BLOCK:
            for own in range(first // width, -(-(first + n_pivots) // width)):
                for i in range(v * width, min((v + 1) * width, 2 * n)):
                    stored = beyond(panel(c, own, n_rows, width), i * width)
                    row = pointer(p_array, i * BLOCK + own * width - first)
                    for j in range(width):
                        stored[j] = row[j]


@entry
def update(
    c_array: Any,
    p_array: Any,
    r_array: Any,
    n: int,
    first: int,
    n_pivots: int,
    part: int,
    n_parts: int,
) -> None:
    """Update a part of C outside the block at `first`, of as many tiles as each other part."""
    upwards()
    c = pointer(c_array, 0)
    height = tile_rows_of(c)
    n_rows, width, n_panels = shape(c, n)
    n_tiles = (n_panels * n_rows - width * (n_panels * (n_panels - 1) // 2)) // height
    begin, end = part_of(n_tiles, part, n_parts)
    for v in range(n_panels):
        n_here = (n_rows - v * width) // height
        from_row = v * width + max(0, begin) * height
        to_row = v * width + min(n_here, end) * height
        begin, end = begin - n_here, end - n_here
        if v * width < first or v * width >= first + BLOCK:
            lines, own = panel(c, v, n_rows, width), pointer(r_array, v * BLOCK * width)
            for i in range(from_row, to_row, height):
                if i < first or i >= first + BLOCK:
                    rows = pointer(p_array, i * BLOCK)
                    micro(beyond(lines, i * width), width, rows, own, n_pivots)
    to_nearest()


@entry
def settle(c_array: Any, d: Any, n: int, tighten: bool) -> bool:
    """Read unary bounds d[i] of cells (i, i^1), then those of (i^1, i); is a point left?"""
    upwards()
    c = pointer(c_array, 0)
    n_rows, width, _ = shape(c, n)
    for i in range(2 * n):
        v = i // width
        d[i] = beyond(panel(c, v, n_rows, width), i * width)[(i ^ 1) - v * width]
    possible = unary_bounds(pointer(d, 0), 2 * n, tighten)
    for i in range(2 * n):
        d[2 * n + i] = d[i ^ 1]
    to_nearest()
    return possible


@entry
def store(
    m: Any, c_array: Any, d: Any, n: int, outer: Any, inner: Any, part: int, n_parts: int
) -> None:
    """Write a part of the octagon, combining unary bounds."""
    upwards()
    c = pointer(c_array, 0)
    n_rows, width, n_panels = shape(c, n)
    for v in range(part, n_panels, n_parts):
        start, lines = v * width, panel(c, v, n_rows, width)
        for i in range(start, 2 * n):
            line, row = beyond(lines, i * width), pointer(m, (i + 1) * (i + 1) // 2 + start)
            combined, mine = pointer(d, 2 * n + start), d[i]
            for j in range(min(width, (i | 1) + 1 - start)):
                row[j] = outward(min(line[j], half_up(mine + combined[j])), outer, inner)
            if i < start + width:
                row[i - start] = 0
    to_nearest()
