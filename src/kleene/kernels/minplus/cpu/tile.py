"""Closing an octagon of up to BLOCK / 2 variables, as one tile in the nearest cache.

The tile T holds the stored half, in rows of BLOCK elements; the pivots' two rows are kept whole
besides. Closures return `EMPTY`, `CLOSED`, or `WIDER` for integers that need a wider type, in which
case nothing was changed. Of a tile's type, `inner` holds infinity and the greatest value that is a
bound; of the octagon's type, `outer` holds infinity, the least bound, and what fills an empty one.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from kleene.kernels.minplus.cpu.compiled import device_function, noinline
from kleene.kernels.minplus.cpu.inner import BLOCK, copy, give, sweep, take
from kleene.kernels.minplus.cpu.scalar import beyond, even, is_float
from kleene.kernels.minplus.cpu.vector import lanes_of

EMPTY, CLOSED, WIDER = 0, 1, 2
ROOM = BLOCK * (BLOCK + 4)  # elements: a tile, its pivots' rows, and its unary bounds twice


@device_function
def n_of(offsets: Any, t: int) -> int:
    """Return the variables of octagon t: 1 + 2 * 2n(n+1) is the square of 2n + 1."""
    return (int(sqrt(1 + 2 * (offsets[t + 1] - offsets[t]))) - 1) >> 1


@device_function
def fits(m: Any, n: int, outer: Any, inner: Any) -> bool:
    """Return whether the sums of 2n bounds are bounds of the tile's type."""
    noinline()
    if is_float(m):
        return True
    infinity = outer[0]
    low = high = zero = infinity - infinity
    for at in range(2 * n * (n + 1)):
        low = min(low, m[at])
        high = max(high, m[at] if m[at] != infinity else zero)
    most = (inner[0] - 8) // (8 * n)
    return not (low < -most or high > most)


@device_function
def close_pivots(t: Any, n_pivots: int) -> bool:
    """Close a tile; return False at the first negative cycle."""
    noinline()
    rows, n_vectors = beyond(t, BLOCK * BLOCK), -(-n_pivots // lanes_of(t))
    for k in range(0, n_pivots, 2):
        read_pivots(t, rows, k, n_pivots)
        cycle, dual = rows[k], rows[BLOCK + k + 1]
        if cycle < 0 or dual < 0 or rows[k + 1] + rows[BLOCK + k] < 0:
            return False
        sweep(t, rows, k, n_pivots, n_vectors)
    return True


@device_function
def read_pivots(t: Any, rows: Any, k: int, n_rows: int) -> None:
    """Read rows k and k + 1 whole: beyond the diagonal from the columns that are their duals."""
    n_vectors = k // lanes_of(t) + 1
    copy(rows, beyond(t, k * BLOCK), n_vectors)
    copy(beyond(rows, BLOCK), beyond(t, (k + 1) * BLOCK), n_vectors)
    for i in range(k + 2, n_rows):
        column = beyond(t, i * BLOCK + k)
        rows[i ^ 1] = column[1]
        rows[BLOCK + (i ^ 1)] = column[0]


@device_function
def unary_bounds(d: Any, n_rows: int, tighten: bool) -> bool:
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
def make_empty(m: Any, n: int, outer: Any) -> None:
    """Fill the octagon with the lowest element."""
    for at in range(2 * n * (n + 1)):
        m[at] = outer[2]


@device_function
def close_tile(m: Any, n: int, t: Any, outer: Any, inner: Any, tighten: bool) -> bool:
    """Close the octagon at `m` in the tile at `t`; return whether it has a point."""
    load_tile(t, m, 2 * n, outer, inner, tighten)
    if not close_pivots(t, 2 * n):
        return False
    d = beyond(t, BLOCK * (BLOCK + 2))
    for i in range(2 * n):
        d[i] = t[i * BLOCK + (i ^ 1)]
    if not unary_bounds(d, 2 * n, tighten):
        return False
    store_tile(m, t, d, 2 * n, outer, inner)
    return True


@device_function
def load_tile(t: Any, m: Any, n_rows: int, outer: Any, inner: Any, tighten: bool) -> None:
    """Read the octagon's rows; up to a whole vector they are infinite."""
    noinline()
    for i in range(n_rows):
        row, count = beyond(t, i * BLOCK), (i | 1) + 1
        n_vectors = i // lanes_of(t) + 1
        take(row, beyond(m, (i + 1) * (i + 1) // 2), count, n_vectors, outer[0], inner[0], tighten)
        if row[i] > 0:
            row[i] = 0


@device_function
def store_tile(m: Any, t: Any, d: Any, n_rows: int, outer: Any, inner: Any) -> None:
    """Write the octagon's rows, combining unary bounds."""
    noinline()
    dual = beyond(d, n_rows)
    for i in range(n_rows):
        row, line = beyond(m, (i + 1) * (i + 1) // 2), beyond(t, i * BLOCK)
        give(row, line, dual, d[i], (i | 1) + 1, outer[0], outer[1], inner[1])
        row[i] = 0
