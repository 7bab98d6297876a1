"""The steps of the closure: an octagon as one tile in the nearest cache, or as panels.

A tile, of up to BLOCK / 2 variables, holds the stored half in rows of BLOCK elements; the pivots'
two rows are kept whole besides. Closures return `EMPTY`, `CLOSED`, or `WIDER` for integers that
need a wider type, in which case nothing was changed. What means "no bound" in a tile is less than
in an octagon (`layout.tile_infinity`): integers are added without a look at overflow.

A larger matrix C is kept in panels of as many columns as a tile of registers is wide; panel v holds
the rows from its first column on, so a tile of registers is contiguous. P holds a block's columns
of all rows, R its rows, in panels like those of C. Rows and columns beyond the octagon's, up to
whole tiles, and what is above the diagonal hold anything: they are computed from each other, and
nothing else is.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from kleene.kernels.minplus.cpu.compiled import Elements, device_function, noinline
from kleene.kernels.minplus.cpu.half_matrix import row_start
from kleene.kernels.minplus.cpu.scalar import (
    even,
    infinity_of,
    is_float,
    lowest_of,
    tile_infinity_of,
)
from kleene.kernels.minplus.cpu.vector import (
    BLOCK,
    TILE_ROWS,
    TILE_VECTORS,
    copy,
    flip,
    give,
    lanes,
    lanes_of,
    micro,
    sweep,
    take,
)
from kleene.kernels.pointers import Pointer, advance

EMPTY, CLOSED, WIDER = 0, 1, 2
Arrays = tuple[Elements, Elements, Elements, Elements]  # C, P, R, D
Scratch = tuple[Pointer, Pointer, Pointer, Pointer, Pointer, Pointer]  # C, P, R, D, a tile, tiles
TILE_SCRATCH = BLOCK * (BLOCK + 4)  # elements: a tile, its pivots' rows, and its unary bounds twice


@device_function
def fits(m: Pointer, n: int, tile: Pointer) -> bool:
    """Return whether the sums of 2n bounds are bounds of the tile's type."""
    noinline()
    if is_float(m):
        return True
    infinity = infinity_of(m)
    low = high = zero = infinity - infinity
    for at in range(2 * n * (n + 1)):
        low = min(low, m[at])
        high = max(high, m[at] if m[at] != infinity else zero)
    most = (tile_infinity_of(tile) - 8) // (8 * n)
    return not (low < -most or high > most)


@device_function
def close_pivots(t: Pointer, n_pivots: int) -> bool:
    """Close a tile; return False at the first negative cycle."""
    noinline()
    rows, n_vectors = advance(t, BLOCK * BLOCK), -(-n_pivots // lanes_of(t))
    for k in range(0, n_pivots, 2):
        read_pivots(t, rows, k, n_pivots)
        cycle, dual = rows[k], rows[BLOCK + k + 1]
        if cycle < 0 or dual < 0 or rows[k + 1] + rows[BLOCK + k] < 0:
            return False
        sweep(t, rows, k, n_pivots, n_vectors)
    return True


@device_function
def read_pivots(t: Pointer, rows: Pointer, k: int, n_rows: int) -> None:
    """Read rows k and k + 1 whole: beyond the diagonal from the columns that are their duals."""
    n_vectors = k // lanes_of(t) + 1
    copy(rows, advance(t, k * BLOCK), n_vectors)
    copy(advance(rows, BLOCK), advance(t, (k + 1) * BLOCK), n_vectors)
    for i in range(k + 2, n_rows):
        column = advance(t, i * BLOCK + k)
        rows[i ^ 1] = column[1]
        rows[BLOCK + (i ^ 1)] = column[0]


@device_function
def unary_bounds(d: Pointer, n_rows: int, tighten: bool) -> bool:
    """Tighten the bounds d[i] of cells (i, i^1), append those of (i^1, i); is a point left?"""
    if tighten:
        for i in range(n_rows):
            d[i] = even(d[i])
    possible = True
    for i in range(0, n_rows, 2):
        possible &= not d[i] + d[i + 1] < 0
        d[n_rows + i], d[n_rows + i + 1] = d[i + 1], d[i]
    return possible


@device_function
def make_empty(m: Pointer, n: int) -> None:
    """Fill the octagon with the lowest element."""
    for at in range(2 * n * (n + 1)):
        m[at] = lowest_of(m)


@device_function
def close_tile(m: Pointer, n: int, t: Pointer, tighten: bool) -> bool:
    """Close the octagon at `m` in the tile at `t`; return whether it has a point."""
    load_tile(t, m, 2 * n, tighten)
    if not close_pivots(t, 2 * n):
        return False
    d = advance(t, BLOCK * (BLOCK + 2))
    for i in range(2 * n):
        d[i] = t[i * BLOCK + (i ^ 1)]
    if not unary_bounds(d, 2 * n, tighten):
        return False
    store_tile(m, t, d, 2 * n)
    return True


@device_function
def load_tile(t: Pointer, m: Pointer, n_rows: int, tighten: bool) -> None:
    """Read the octagon's rows; up to a whole vector they are infinite."""
    noinline()
    for i in range(n_rows):
        row, count = advance(t, i * BLOCK), (i | 1) + 1
        n_vectors = i // lanes_of(t) + 1
        take(row, advance(m, row_start(i)), count, n_vectors, tighten)
        if row[i] > 0:
            row[i] = 0


@device_function
def store_tile(m: Pointer, t: Pointer, d: Pointer, n_rows: int) -> None:
    """Write the octagon's rows, combining unary bounds."""
    noinline()
    dual = advance(d, n_rows)
    for i in range(n_rows):
        row, line = advance(m, row_start(i)), advance(t, i * BLOCK)
        give(row, line, dual, d[i], (i | 1) + 1)
        row[i] = 0


_LINE_BYTES = 64


def scratch(n: int, dtype: np.dtype[Any]) -> Arrays:
    """Return arrays of any contents for C, P, R and the unary bounds, of up to n variables."""
    width = TILE_VECTORS * lanes(dtype)
    n_panels, n_rows = -(-2 * n // width), -(-2 * n // TILE_ROWS) * TILE_ROWS
    n_stored = n_panels * n_rows * width - width * width * (n_panels * (n_panels - 1) // 2)
    n_stored += BLOCK * width  # the last block is read as if it were whole
    n_block = n_panels * width * BLOCK
    lengths = n_stored, n_block, n_block, 4 * n + BLOCK
    whole, ends = aligned(sum(lengths), dtype), list(accumulate(lengths, initial=0))
    c, p, r, d = (whole[begin:end] for begin, end in pairwise(ends))
    return c, p, r, d


def aligned(length: int, dtype: np.dtype[Any]) -> Elements:
    """Return an array of any contents at the start of a cache line."""
    raw = np.empty(length * dtype.itemsize + _LINE_BYTES, np.uint8)
    begin = -raw.ctypes.data % _LINE_BYTES
    return raw[begin : begin + length * dtype.itemsize].view(dtype)


@device_function
def shape(c: Pointer, n: int) -> tuple[int, int, int]:
    """Return the rows of C, padded to whole tiles, and the columns and number of its panels."""
    width = lanes_of(c) * TILE_VECTORS
    return -(-2 * n // TILE_ROWS) * TILE_ROWS, width, -(-2 * n // width)


@device_function
def panel(c: Pointer, v: int, n_rows: int, width: int) -> Pointer:
    """Return where row 0 of panel v would be, were it stored from there."""
    return advance(c, v * n_rows * width - width * width * (v * (v + 1) // 2))


@device_function
def part_of(n_items: int, part: int, n_parts: int) -> tuple[int, int]:
    """Return where a part of the items begins and ends."""
    return n_items * part // n_parts, n_items * (part + 1) // n_parts


@device_function
def load(c: Pointer, m: Pointer, n: int, v: int, tighten: bool) -> None:
    """Copy the octagon's columns of panel v."""
    noinline()
    n_rows, width, _ = shape(c, n)
    start, lines = v * width, panel(c, v, n_rows, width)
    for i in range(start, n_rows):
        line, row = advance(lines, i * width), advance(m, row_start(i) + start)
        count = (i | 1) + 1 - start if i < 2 * n else 0
        take(line, row, count, TILE_VECTORS, tighten)
        if i < start + width and line[i - start] > 0:
            line[i - start] = 0


@device_function
def close_block(c: Pointer, t: Pointer, own: Pointer, n: int, first: int, n_pivots: int) -> bool:
    """Close the tile of the block at `first`, to panels of its own; is there no negative cycle?"""
    noinline()
    n_rows, width, _ = shape(c, n)
    for start in range(0, n_pivots, width):
        stored = advance(panel(c, (first + start) // width, n_rows, width), first * width)
        for i in range(start, n_pivots):
            copy(advance(t, i * BLOCK + start), advance(stored, i * width), TILE_VECTORS)
    if not close_pivots(t, n_pivots):
        return False
    for i in range(n_pivots):
        for j in range((i | 1) + 1):
            t[(j ^ 1) * BLOCK + (i ^ 1)] = t[i * BLOCK + j]
    for start in range(0, n_pivots, width):
        for i in range(n_pivots):
            into = advance(own, start * BLOCK + i * width)
            copy(into, advance(t, i * BLOCK + start), TILE_VECTORS)
    return True


@device_function
def combine(scratch: Scratch, n: int, first: int, n_pivots: int, v: int) -> None:
    """Make the rows of P, and the columns of R, that have the numbers of panel v's columns."""
    noinline()
    c, p, r, _, t, own = scratch
    n_rows, width, _ = shape(c, n)
    if first <= v * width < first + BLOCK:
        for i in range(v * width, min((v + 1) * width, first + n_pivots)):
            copy(advance(p, i * BLOCK), advance(t, (i - first) * BLOCK), BLOCK // lanes_of(p))
    else:
        read_columns(c, p, n, first, n_pivots, v)
        for i in range(v * width, min((v + 1) * width, n_rows), TILE_ROWS):
            rows = advance(p, i * BLOCK)
            for start in range(0, n_pivots, width):
                micro(advance(rows, start), BLOCK, rows, advance(own, start * BLOCK), n_pivots)
    transpose(p, r, v, width)


@device_function
def read_columns(c: Pointer, p: Pointer, n: int, first: int, n_pivots: int, v: int) -> None:
    """Read the block's columns of the rows with the numbers of panel v, which is not in it."""
    n_rows, width, _ = shape(c, n)
    if v * width < first:
        lines, n_lanes = advance(panel(c, v, n_rows, width), first * width), lanes_of(c)
        for i in range(0, width, n_lanes):
            row = advance(p, (v * width + i) * BLOCK)
            for k in range(0, BLOCK, n_lanes):
                flip(advance(row, k), BLOCK, advance(lines, k * width + i), width)
    else:
        for start in range(0, n_pivots, width):
            lines = panel(c, (first + start) // width, n_rows, width)
            for i in range(v * width, min((v + 1) * width, n_rows)):
                copy(advance(p, i * BLOCK + start), advance(lines, i * width), TILE_VECTORS)


@device_function
def transpose(p: Pointer, r: Pointer, v: int, width: int) -> None:
    """Make panel v of R from the rows of P with its columns' numbers."""
    n_lanes = lanes_of(p)
    for j in range(0, width, n_lanes):
        rows = advance(p, (v * width + j) * BLOCK)
        for k in range(0, BLOCK, n_lanes):
            into = advance(r, v * BLOCK * width + k * width + j)
            flip(into, width, advance(rows, k), BLOCK)


@device_function
def update(
    c: Pointer, p: Pointer, r: Pointer, n: int, first: int, n_pivots: int, part: int, n_parts: int
) -> None:
    """Update a part of C, of as many tiles as each other part."""
    noinline()
    n_rows, width, n_panels = shape(c, n)
    n_tiles = (n_panels * n_rows - width * (n_panels * (n_panels - 1) // 2)) // TILE_ROWS
    begin, end = part_of(n_tiles, part, n_parts)
    for v in range(n_panels):
        n_here = (n_rows - v * width) // TILE_ROWS
        from_row = v * width + max(0, begin) * TILE_ROWS
        to_row = v * width + min(n_here, end) * TILE_ROWS
        begin, end = begin - n_here, end - n_here
        if from_row < to_row:
            update_panel(c, p, r, n, first, n_pivots, v, from_row, to_row)


@device_function
def update_panel(
    c: Pointer,
    p: Pointer,
    r: Pointer,
    n: int,
    first: int,
    n_pivots: int,
    v: int,
    from_row: int,
    to_row: int,
) -> None:
    """Update some tiles of a panel; the block's own rows and columns are those of R and P."""
    n_rows, width, _ = shape(c, n)
    lines, own = panel(c, v, n_rows, width), advance(r, v * BLOCK * width)
    in_block = first <= v * width < first + BLOCK
    for i in range(from_row, to_row, TILE_ROWS):
        tile, rows = advance(lines, i * width), advance(p, i * BLOCK)
        if first <= i < first + BLOCK:
            copy(tile, advance(own, (i - first) * width), TILE_ROWS * TILE_VECTORS)
        elif in_block:
            for row in range(TILE_ROWS):
                here = advance(rows, row * BLOCK + v * width - first)
                copy(advance(tile, row * width), here, TILE_VECTORS)
        else:
            micro(tile, width, rows, own, n_pivots)


@device_function
def settle(c: Pointer, d: Pointer, n: int, tighten: bool) -> bool:
    """Read unary bounds d[i] of cells (i, i^1), then those of (i^1, i); is a point left?"""
    n_rows, width, _ = shape(c, n)
    for i in range(2 * n):
        v = i // width
        d[i] = advance(panel(c, v, n_rows, width), i * width)[(i ^ 1) - v * width]
    return unary_bounds(d, 2 * n, tighten)


@device_function
def store(m: Pointer, c: Pointer, d: Pointer, n: int, v: int) -> None:
    """Write the octagon's columns of panel v, combining unary bounds."""
    noinline()
    n_rows, width, _ = shape(c, n)
    start, lines = v * width, panel(c, v, n_rows, width)
    for i in range(start, 2 * n):
        row, line = advance(m, row_start(i) + start), advance(lines, i * width)
        count, dual = min(width, (i | 1) + 1 - start), advance(d, 2 * n + start)
        give(row, line, dual, d[i], count)
        if i < start + width:
            row[i - start] = 0
