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
from typing import Any, NamedTuple

import numba
import numpy as np

from kleene.kernels.minplus.cpu import shares, tiles
from kleene.kernels.minplus.cpu.compiled import device_function, entry_point, noinline
from kleene.kernels.minplus.cpu.half_matrix import n_of
from kleene.kernels.minplus.cpu.scalar import pointer
from kleene.kernels.minplus.cpu.tiles import (
    CLOSED,
    EMPTY,
    TILE_SCRATCH,
    WIDER,
    close_tile,
    fits,
    make_empty,
)
from kleene.kernels.minplus.cpu.vector import to_nearest, upwards
from kleene.kernels.minplus.cpu.vector_loops import BLOCK
from kleene.kernels.minplus.layout import n_variables, size

LARGEST_TILE = BLOCK // 2  # variables
_LARGEST_TILE_ELEMENTS = size(LARGEST_TILE)
TOGETHER_FROM_VARIABLES = 128  # below, threads wait for each other longer than they work
_TOGETHER_FROM_ELEMENTS = size(TOGETHER_FROM_VARIABLES)
PARALLEL_FROM_ELEMENTS = 1 << 16  # of all octagons of a batch
_OCTAGONS_A_SHARE = 32
_NONE = np.zeros(0, np.int64)


@entry_point
def close_tiles(
    m: Any, offsets: Any, codes: Any, outer: Any, inner: Any, tighten: bool, t: Any, state: Any
) -> None:
    """Close, share by share, the octagons that still need it, and are small, in the tile T."""
    upwards()
    n_octagons = len(offsets) - 1
    begin = shares.next_share(state) * _OCTAGONS_A_SHARE
    while begin < n_octagons:
        for s in range(begin, min(begin + _OCTAGONS_A_SHARE, n_octagons)):
            n, at = n_of(offsets, s), pointer(m, offsets[s])
            if codes[s] == WIDER and n <= LARGEST_TILE:
                codes[s] = plain_code(at, n, outer, inner)
                if codes[s] == CLOSED and n > 0:
                    codes[s] = close_tile(at, n, pointer(t, 0), outer, inner, tighten)
                if codes[s] == EMPTY:
                    make_empty(at, n, outer)
        shares.done(state)
        begin = shares.next_share(state) * _OCTAGONS_A_SHARE
    to_nearest()


@device_function
def plain_code(m: Any, n: int, outer: Any, inner: Any) -> int:
    """Return `WIDER` or `EMPTY` where that is plain at once, and `CLOSED` where it is not."""
    if n == 0:
        return CLOSED
    if m[0] < 0:
        return EMPTY
    return CLOSED if fits(m, n, outer, inner) else WIDER


@entry_point
def can_close(m: Any, n: int, outer: Any, inner: Any) -> int:
    """Return `plain_code` of an octagon."""
    return plain_code(pointer(m, 0), n, outer, inner)


@entry_point
def n_phases(n: int) -> int:
    """Return how many phases a closure has: to load, two for each block, to settle, to store."""
    return 3 + 2 * -(-2 * n // BLOCK)


@device_function
def take_share(
    phase: int,
    part: int,
    n_parts: int,
    is_new: bool,
    m: Any,
    scratch: Any,
    n: int,
    outer: Any,
    inner: Any,
    tighten: bool,
) -> bool:
    """Do a part of a phase, which may be new to this thread; return False if no point is left."""
    noinline()
    c, p, r, d, t, own = scratch
    n_panels, last = tiles.shape(c, n)[2], n_phases(n) - 1
    begin, end = tiles.part_of(n_panels, part, n_parts)
    first = (phase - 1) // 2 * BLOCK
    n_pivots = min(BLOCK, 2 * n - first)
    if phase == 0:
        for v in range(part, n_panels, n_parts):
            tiles.load(c, m, n, v, outer, inner, tighten)
    elif phase == last:
        for v in range(part, n_panels, n_parts):
            tiles.store(m, c, d, n, v, outer, inner)
    elif phase == last - 1:
        return part > 0 or tiles.settle(c, d, n, tighten)
    elif phase % 2 == 0:
        tiles.update(c, p, r, n, first, n_pivots, part, n_parts)
    else:
        if is_new and not tiles.close_block(c, t, own, n, first, n_pivots):
            return False
        for v in range(begin, end):
            tiles.combine(c, p, r, t, own, n, first, n_pivots, v)
    return True


@device_function
def pointers(c: Any, p: Any, r: Any, d: Any, t: Any) -> Any:
    """Return the scratch space of a closure: C, P, R, unary bounds, the tile and its tiles."""
    tiles = pointer(t, 0), pointer(t, TILE_SCRATCH)
    return (pointer(c, 0), pointer(p, 0), pointer(r, 0), pointer(d, 0), *tiles)


@entry_point
def close_blocks(
    m: Any,
    offsets: Any,
    codes: Any,
    outer: Any,
    inner: Any,
    tighten: bool,
    c: Any,
    p: Any,
    r: Any,
    d: Any,
    t: Any,
    most: int,
    state: Any,
    n_shares: int,
) -> None:
    """Do shares of closing the octagons that still need it, and are large, until none is left.

    Of several octagons, of up to `most` variables, each is a share (`n_shares` is 0); of one alone,
    which can be closed in this type, each phase has `n_shares`.
    """
    upwards()
    scratch = pointers(c, p, r, d, t)
    if n_shares > 0:
        close_together(pointer(m, 0), scratch, most, outer, inner, tighten, state, n_shares)
    else:
        close_each(m, offsets, codes, scratch, most, outer, inner, tighten, state)
    to_nearest()


@device_function
def close_together(
    m: Any, scratch: Any, n: int, outer: Any, inner: Any, tighten: bool, state: Any, n_shares: int
) -> None:
    """Do shares of one closure."""
    before, number = -1, shares.next_share(state)
    while number < n_phases(n) * n_shares:
        phase, part = number // n_shares, number % n_shares
        if not shares.can_begin(state, phase * n_shares):
            break
        is_new, before = phase != before, phase
        if not take_share(phase, part, n_shares, is_new, m, scratch, n, outer, inner, tighten):
            shares.end(state)
        shares.done(state)
        number = shares.next_share(state)


@device_function
def close_each(
    m: Any,
    offsets: Any,
    codes: Any,
    scratch: Any,
    most: int,
    outer: Any,
    inner: Any,
    tighten: bool,
    state: Any,
) -> None:
    """Do closures."""
    s = shares.next_share(state)
    while s < len(offsets) - 1:
        n, at = n_of(offsets, s), pointer(m, offsets[s])
        if codes[s] == WIDER and LARGEST_TILE < n <= most:
            codes[s] = plain_code(at, n, outer, inner)
            phase = 0
            while codes[s] == CLOSED and phase < n_phases(n):
                codes[s] = take_share(phase, 0, 1, True, at, scratch, n, outer, inner, tighten)
                phase += 1
            if codes[s] == EMPTY:
                make_empty(at, n, outer)
        shares.done(state)
        s = shares.next_share(state)


_of_thread = local()  # one for each thread: making it takes longer than closing in it


class _Scratch(NamedTuple):
    """What a thread needs to close one octagon after the other."""

    tile: Any  # and its panels
    codes: Any  # of one octagon
    state: Any  # the counters of work that no other thread shares


def _scratch(dtype: Any) -> _Scratch:
    """Return this thread's scratch space."""
    made = _of_thread.__dict__
    if dtype.char not in made:
        tile = tiles.aligned(TILE_SCRATCH + BLOCK * BLOCK, dtype)
        made[dtype.char] = _Scratch(tile, np.empty(1, np.int64), shares.counters())
    found: _Scratch = made[dtype.char]
    return found


def close_large(m: Any, n: int, outer: Any, inner: Any, tighten: bool, n_threads: int) -> int:
    """Close one octagon on several threads; return its code."""
    code = can_close(m, n, outer, inner)
    if code == CLOSED and not _close_together(m, n, outer, inner, tighten, n_threads):
        code = EMPTY
    if code == EMPTY:
        m.fill(outer[2])
    return code


def _close_together(m: Any, n: int, outer: Any, inner: Any, tighten: bool, n_threads: int) -> bool:
    """Return whether an octagon has a point, having closed it."""
    scratch, n_shares = tiles.scratch(n, inner), shares.SHARES_A_THREAD * n_threads
    given = m, _NONE, _NONE, outer, inner, tighten

    def work(state: Any) -> None:
        close_blocks(*given, *scratch, _scratch(inner.dtype).tile, n, state, n_shares)

    return shares.work_together(work, n_phases(n) * n_shares, n_threads)


def close_one(m: Any, offsets: Any, outer: Any, inner: Any, tighten: bool) -> int:
    """Close one octagon, on as many threads as its size is worth; return its code."""
    tile, codes, state = _scratch(inner.dtype)
    codes[0], state[shares.TAKEN] = WIDER, 0
    if len(m) <= _LARGEST_TILE_ELEMENTS:
        close_tiles(m, offsets, codes, outer, inner, tighten, tile, state)
        return int(codes[0])
    n, n_threads = n_variables(len(m)), numba.get_num_threads()
    if n >= TOGETHER_FROM_VARIABLES and n_threads > 1:
        return close_large(m, n, outer, inner, tighten, n_threads)
    given = m, offsets, codes, outer, inner, tighten
    close_blocks(*given, *tiles.scratch(n, inner), tile, n, state, 0)
    return int(codes[0])


def close_all(m: Any, offsets: Any, codes: Any, outer: Any, inner: Any, tighten: bool) -> None:
    """Close all octagons whose code is `WIDER`, and write their codes."""
    given = m, offsets, codes, outer, inner, tighten
    n_threads = numba.get_num_threads() if len(m) >= PARALLEL_FROM_ELEMENTS else 1
    lengths = np.diff(offsets)

    def close_small(state: Any) -> None:
        close_tiles(*given, _scratch(inner.dtype).tile, state)

    shares.work_together(close_small, -(-len(lengths) // _OCTAGONS_A_SHARE), n_threads)
    between = (lengths > _LARGEST_TILE_ELEMENTS) & (lengths < _TOGETHER_FROM_ELEMENTS)
    if between.any():
        most = n_variables(int(lengths[between].max()))

        def close_medium(state: Any) -> None:
            scratch = tiles.scratch(most, inner)
            close_blocks(*given, *scratch, _scratch(inner.dtype).tile, most, state, 0)

        shares.work_together(close_medium, len(lengths), n_threads)
    for t in np.flatnonzero((lengths >= _TOGETHER_FROM_ELEMENTS) & (codes == WIDER)):
        here, whole = slice(offsets[t], offsets[t + 1]), np.array([0, lengths[t]])
        codes[t] = close_one(m[here], whole, outer, inner, tighten)
