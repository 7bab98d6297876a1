"""Closing octagons: small ones each in a tile, large ones by a blocked Floyd-Warshall.

For each block of BLOCK pivots of a large one:

1. close the square tile of the block; a negative cycle ends it all;
2. P[i, k] := the cells (i, k) of all rows i, read from below the diagonal or, dually, from row
   k^1; then P := min(P, P + tile), and R[k, j] := P[j^1, k^1], which coherence gives;
3. C[i, j] := min(C[i, j], P[i, k] + R[k, j]) for every tile of C outside the block.

All that a tile needs in step 3 is in the nearest cache, and step 3 does all but O(n²) of the work.
Threads share steps 2 and 3, and each does step 1 for itself: that is sooner done than told.
"""

from __future__ import annotations

from threading import local
from typing import Any

import numba
import numpy as np

from kleene.kernels.minplus.cpu import panels, shares
from kleene.kernels.minplus.cpu.compiled import entry, piece
from kleene.kernels.minplus.cpu.inner import BLOCK
from kleene.kernels.minplus.cpu.scalar import pointer
from kleene.kernels.minplus.cpu.tile import (
    CLOSED,
    EMPTY,
    ROOM,
    WIDER,
    close_tile,
    fits,
    make_empty,
    n_of,
)
from kleene.kernels.minplus.cpu.vector import to_nearest, upwards
from kleene.kernels.minplus.layout import n_variables, size

LARGEST_TILE = BLOCK // 2  # variables
_LARGEST_TILE_ELEMENTS = size(LARGEST_TILE)
PARALLEL_FROM_VARIABLES = 128  # below, threads wait for each other longer than they work
PARALLEL_FROM_ELEMENTS = 1 << 16
_OCTAGONS_A_SHARE = 32


@entry
def close_tiles(
    m: Any, offsets: Any, codes: Any, outer: Any, inner: Any, tighten: bool, t: Any, state: Any
) -> None:
    """Close, share by share, the octagons that still need it, and are small, in the tile T."""
    upwards()
    n_octagons = len(offsets) - 1
    begin = shares.next_share(state) * _OCTAGONS_A_SHARE
    while begin < n_octagons:
        for s in range(begin, min(begin + _OCTAGONS_A_SHARE, n_octagons)):
            n = n_of(offsets, s)
            if codes[s] == WIDER and n <= LARGEST_TILE:
                at = pointer(m, offsets[s])
                codes[s] = close_small(at, n, pointer(t, 0), outer, inner, tighten)
        shares.done(state)
        begin = shares.next_share(state) * _OCTAGONS_A_SHARE
    to_nearest()


@piece
def close_small(m: Any, n: int, t: Any, outer: Any, inner: Any, tighten: bool) -> int:
    """Close one octagon in a tile; return its code."""
    if n == 0:
        return CLOSED
    if not m[0] < 0:
        if not fits(m, n, outer, inner):
            return WIDER
        if close_tile(m, n, t, outer, inner, tighten):
            return CLOSED
    make_empty(m, n, outer)
    return EMPTY


@entry
def can_close(m: Any, n: int, outer: Any, inner: Any) -> int:
    """Return `WIDER` or `EMPTY` where that is plain at once, and `CLOSED` where it is not."""
    if m[0] < 0:
        return EMPTY
    return CLOSED if fits(pointer(m, 0), n, outer, inner) else WIDER


def close_large(m: Any, n: int, outer: Any, inner: Any, tighten: bool, n_threads: int) -> int:
    """Close one octagon, on some threads; return its code."""
    code = can_close(m, n, outer, inner)
    if code == CLOSED and not _close_blocks(m, n, outer, inner, tighten, n_threads):
        code = EMPTY
    if code == EMPTY:
        m.fill(outer[2])
    return code


def _close_blocks(m: Any, n: int, outer: Any, inner: Any, tighten: bool, n_threads: int) -> bool:
    """Return whether an octagon has a point, having closed it."""
    c, p, r = panels.room(n, inner)
    d, state = np.empty(4 * n + BLOCK, inner.dtype), shares.counters()
    n_shares = 1 if n_threads == 1 else shares.SHARES_A_THREAD * n_threads

    def work() -> None:
        t, _ = _room(inner.dtype)
        close_shares(m, c, p, r, d, t, n, outer, inner, tighten, state, n_shares)

    shares.work_together(work, n_threads)
    return shares.complete(state, n_phases(n) * n_shares)


@entry
def n_phases(n: int) -> int:
    """Return how many phases a closure has: to load, two for each block, to settle, to store."""
    return 3 + 2 * -(-2 * n // BLOCK)


@entry
def close_shares(
    m_array: Any,
    c_array: Any,
    p_array: Any,
    r_array: Any,
    d_array: Any,
    t_array: Any,
    n: int,
    outer: Any,
    inner: Any,
    tighten: bool,
    state: Any,
    n_shares: int,
) -> None:
    """Do shares of a closure until there are none left."""
    upwards()
    m, c, p, r = pointer(m_array, 0), pointer(c_array, 0), pointer(p_array, 0), pointer(r_array, 0)
    d, t, own = pointer(d_array, 0), pointer(t_array, 0), pointer(t_array, ROOM)
    n_panels, last, block = panels.shape(c, n)[2], n_phases(n) - 1, -1
    number = shares.next_share(state)
    while number < (last + 1) * n_shares:
        phase, part = number // n_shares, number % n_shares
        if not shares.can_begin(state, phase * n_shares):
            break
        begin, end = panels.part_of(n_panels, part, n_shares)
        first = (phase - 1) // 2 * BLOCK
        n_pivots = min(BLOCK, 2 * n - first)
        if phase == 0:
            for v in range(part, n_panels, n_shares):
                panels.load(c, m, n, v, outer, inner, tighten)
        elif phase == last:
            for v in range(part, n_panels, n_shares):
                panels.store(m, c, d, n, v, outer, inner)
        elif phase == last - 1:
            if part == 0 and not panels.settle(c, d, n, tighten):
                shares.end(state)
        elif phase % 2 == 0:
            panels.update(c, p, r, n, first, n_pivots, part, n_shares)
        else:
            if block != first:
                block = first
                if not panels.close_block(c, t, own, n, first, n_pivots):
                    shares.end(state)
            for v in range(begin, end):
                panels.combine(c, p, r, t, own, n, first, n_pivots, v)
        shares.done(state)
        number = shares.next_share(state)
    to_nearest()


_rooms = local()  # room for tiles and a code in each thread: making it takes longer than using it


def _room(dtype: Any) -> tuple[Any, Any]:
    """Return this thread's room for a tile, and its panels, and for a code."""
    rooms = _rooms.__dict__
    if dtype.char not in rooms:
        rooms[dtype.char] = panels.aligned(ROOM + BLOCK * BLOCK, dtype), np.empty(1, np.int64)
    found: tuple[Any, Any] = rooms[dtype.char]
    return found


def close_one(m: Any, offsets: Any, outer: Any, inner: Any, tighten: bool) -> int:
    """Close one octagon, on as many threads as its size is worth; return its code."""
    if len(m) > _LARGEST_TILE_ELEMENTS:
        n = n_variables(len(m))
        n_threads = numba.get_num_threads() if n >= PARALLEL_FROM_VARIABLES else 1
        return close_large(m, n, outer, inner, tighten, n_threads)
    tile, codes = _room(inner.dtype)
    codes[0] = WIDER
    close_tiles(m, offsets, codes, outer, inner, tighten, tile, shares.counters())
    return int(codes[0])


def close_all(m: Any, offsets: Any, codes: Any, outer: Any, inner: Any, tighten: bool) -> None:
    """Close all octagons whose code is `WIDER`, and write their codes."""
    state = shares.counters()

    def close_some() -> None:
        tile, _ = _room(inner.dtype)
        close_tiles(m, offsets, codes, outer, inner, tighten, tile, state)

    n_threads = numba.get_num_threads() if len(m) >= PARALLEL_FROM_ELEMENTS else 1
    shares.work_together(close_some, n_threads)
    shares.complete(state, -(-(len(offsets) - 1) // _OCTAGONS_A_SHARE))
    for t in np.flatnonzero(np.diff(offsets) > _LARGEST_TILE_ELEMENTS):
        if codes[t] == WIDER:
            here = slice(offsets[t], offsets[t + 1])
            codes[t] = close_one(m[here], offsets, outer, inner, tighten)
