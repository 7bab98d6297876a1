"""Closing an octagon of up to BLOCK / 2 variables, as one square tile in the nearest cache.

Closures return `EMPTY`, `CLOSED`, or `WIDER` for integers that need a wider type, in which case
nothing was changed. Of a tile's type, `inner` holds infinity and the greatest value that is a
bound; of the octagon's type, `outer` holds infinity, the least bound, and what fills an empty one.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from kleene.kernels.minplus.cpu.compiled import apart, piece
from kleene.kernels.minplus.cpu.scalar import beyond, even, half_up, is_float, whole
from kleene.kernels.minplus.cpu.vector import BLOCK, lanes_of, relax

EMPTY, CLOSED, WIDER = 0, 1, 2


@piece
def n_of(offsets: Any, t: int) -> int:
    """Return the variables of octagon t: 1 + 2 * 2n(n+1) is the square of 2n + 1."""
    return (int(sqrt(1 + 2 * (offsets[t + 1] - offsets[t]))) - 1) >> 1


@piece
def fits(m: Any, n: int, outer: Any, inner: Any) -> bool:
    """Return whether the sums of 2n bounds are bounds of the tile's type."""
    apart()
    if is_float(m):
        return True
    low = high = outer[0] - outer[0]
    for at in range(2 * n * (n + 1)):
        low = min(low, m[at])
        high = max(high, m[at] if m[at] != outer[0] else low)
    most = (inner[0] - 8) // (8 * n)
    return not (low < -most or high > most)


@piece
def close_pivots(t: Any, n_pivots: int) -> bool:
    """Close a square tile; return False at the first negative cycle."""
    apart()
    n_vectors = -(-n_pivots // lanes_of(t))
    for k in range(n_pivots):
        if t[k * BLOCK + k] < 0:
            return False
        relax(t, k, n_pivots, n_vectors)
    return True


@piece
def inward(x: Any, outer: Any, inner: Any, tighten: bool) -> Any:
    """Return a bound of the octagon as one of the tile."""
    value = inner[0] if x == outer[0] else x
    return whole(value) if tighten else value


@piece
def outward(x: Any, outer: Any, inner: Any) -> Any:
    """Return a bound of the tile as one of the octagon."""
    if x > inner[1]:
        return outer[0]
    return max(x, outer[1])


@piece
def unary_bounds(d: Any, n_rows: int, tighten: bool) -> bool:
    """Tighten the unary bounds d[i] of cells (i, i^1); return whether they leave a point."""
    if tighten:
        for i in range(n_rows):
            d[i] = even(d[i])
    possible = True
    for i in range(0, n_rows, 2):
        possible &= not d[i] + d[i + 1] < 0
    return possible


@piece
def make_empty(m: Any, n: int, outer: Any) -> None:
    """Fill the octagon with the lowest element."""
    for at in range(2 * n * (n + 1)):
        m[at] = outer[2]


@piece
def close_tile(m: Any, n: int, t: Any, outer: Any, inner: Any, tighten: bool) -> bool:
    """Close the octagon at `m` in the tile at `t`; return whether it has a point."""
    load_tile(t, m, 2 * n, outer, inner, tighten)
    if not close_pivots(t, 2 * n):
        return False
    d = beyond(t, BLOCK * BLOCK)
    for i in range(2 * n):
        d[i] = t[i * BLOCK + (i ^ 1)]
    if not unary_bounds(d, 2 * n, tighten):
        return False
    store_tile(m, t, d, 2 * n, outer, inner)
    return True


@piece
def load_tile(t: Any, m: Any, n_rows: int, outer: Any, inner: Any, tighten: bool) -> None:
    """Unfold the stored half into the tile; columns up to a whole vector are infinite."""
    apart()
    n_columns = -(-n_rows // lanes_of(t)) * lanes_of(t)
    for i in range(n_rows):
        row = beyond(m, (i + 1) * (i + 1) // 2)
        for j in range((i | 1) + 1):
            value = inward(row[j], outer, inner, tighten)
            t[i * BLOCK + j] = value
            t[(j ^ 1) * BLOCK + (i ^ 1)] = value
        for j in range(n_rows, n_columns):
            t[i * BLOCK + j] = inner[0]
        if t[i * BLOCK + i] > 0:
            t[i * BLOCK + i] = 0


@piece
def store_tile(m: Any, t: Any, d: Any, n_rows: int, outer: Any, inner: Any) -> None:
    """Fold the tile into the stored half, combining unary bounds."""
    apart()
    for i in range(n_rows):
        row = beyond(m, (i + 1) * (i + 1) // 2)
        for j in range((i | 1) + 1):
            combined = half_up(d[i] + d[j ^ 1])
            row[j] = outward(min(t[i * BLOCK + j], combined), outer, inner)
        row[i] = 0
