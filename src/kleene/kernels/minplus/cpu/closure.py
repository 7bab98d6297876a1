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

from functools import cache
from threading import local
from typing import Any, NamedTuple

import numpy as np

from kleene.base.arrays import I64
from kleene.kernels.minplus import reference
from kleene.kernels.minplus.cpu import shares, tiles
from kleene.kernels.minplus.cpu.compiled import Elements, device_function, entry_point, noinline
from kleene.kernels.minplus.cpu.half_matrix import n_of_length
from kleene.kernels.minplus.cpu.tiles import (
    CLOSED,
    EMPTY,
    TILE_SCRATCH,
    WIDER,
    Arrays,
    Scratch,
    close_tile,
    fits,
    make_empty,
)
from kleene.kernels.minplus.cpu.vector import BLOCK, to_nearest, upwards
from kleene.kernels.minplus.layout import closing_dtypes, lowest, n_variables, size
from kleene.kernels.pointers import Pointer, pointer

LARGEST_TILE = BLOCK // 2  # variables
_LARGEST_TILE_ELEMENTS = size(LARGEST_TILE)
TOGETHER_FROM_VARIABLES = 128  # below, threads wait for each other longer than they work
_TOGETHER_FROM_ELEMENTS = size(TOGETHER_FROM_VARIABLES)
PARALLEL_FROM_ELEMENTS = 1 << 16  # of all octagons of a batch
_OCTAGONS_A_SHARE = 32
_NONE = np.zeros(0, np.int64)


@entry_point
def close_tiles(
    m: Elements, offsets: I64, codes: I64, tighten: bool, t: Elements, state: I64
) -> None:
    """Close, share by share, the octagons that still need it, and are small, in the tile T."""
    upwards()
    n_octagons, tile = len(offsets) - 1, pointer(t, 0)
    begin = shares.next_share(state) * _OCTAGONS_A_SHARE
    while begin < n_octagons:
        for s in range(begin, min(begin + _OCTAGONS_A_SHARE, n_octagons)):
            n, at = n_of_length(offsets[s + 1] - offsets[s]), pointer(m, offsets[s])
            if codes[s] == WIDER and n <= LARGEST_TILE:
                codes[s] = plain_code(at, n, tile)
                if codes[s] == CLOSED and n > 0:
                    codes[s] = close_tile(at, n, tile, tighten)
                if codes[s] == EMPTY:
                    make_empty(at, n)
        shares.done(state)
        begin = shares.next_share(state) * _OCTAGONS_A_SHARE
    to_nearest()


@device_function
def plain_code(m: Pointer, n: int, tile: Pointer) -> int:
    """Return `WIDER` or `EMPTY` where that is plain at once, and `CLOSED` where it is not."""
    if n == 0:
        return CLOSED
    if m[0] < 0:
        return EMPTY
    return CLOSED if fits(m, n, tile) else WIDER


@entry_point
def can_close(m: Elements, n: int, tile: Elements) -> int:
    """Return `plain_code` of an octagon, for tiles of the type of `tile`."""
    return plain_code(pointer(m, 0), n, pointer(tile, 0))


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
    m: Pointer,
    scratch: Scratch,
    n: int,
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
            tiles.load(c, m, n, v, tighten)
    elif phase == last:
        for v in range(part, n_panels, n_parts):
            tiles.store(m, c, d, n, v)
    elif phase == last - 1:
        return part > 0 or tiles.settle(c, d, n, tighten)
    elif phase % 2 == 0:
        tiles.update(c, p, r, n, first, n_pivots, part, n_parts)
    else:
        if is_new and not tiles.close_block(c, t, own, n, first, n_pivots):
            return False
        for v in range(begin, end):
            tiles.combine(scratch, n, first, n_pivots, v)
    return True


@entry_point
def close_blocks(
    m: Elements,
    offsets: I64,
    codes: I64,
    tighten: bool,
    arrays: Arrays,
    t: Elements,
    most: int,
    state: I64,
    n_shares: int,
) -> None:
    """Do shares of closing the octagons that still need it, and are large, until none is left.

    Of several octagons, of up to `most` variables, each is a share (`n_shares` is 0); of one alone,
    which can be closed in this type, each phase has `n_shares`.
    """
    upwards()
    c, p, r, d = arrays
    tile, own = pointer(t, 0), pointer(t, TILE_SCRATCH)
    scratch = (pointer(c, 0), pointer(p, 0), pointer(r, 0), pointer(d, 0), tile, own)
    if n_shares > 0:
        close_together(pointer(m, 0), scratch, most, tighten, state, n_shares)
    else:
        close_each(m, offsets, codes, scratch, most, tighten, state)
    to_nearest()


@device_function
def close_together(
    m: Pointer, scratch: Scratch, n: int, tighten: bool, state: I64, n_shares: int
) -> None:
    """Do shares of one closure."""
    before, number = -1, shares.next_share(state)
    while number < n_phases(n) * n_shares:
        phase, part = number // n_shares, number % n_shares
        if not shares.can_begin(state, phase * n_shares):
            break
        is_new, before = phase != before, phase
        if not take_share(phase, part, n_shares, is_new, m, scratch, n, tighten):
            shares.end(state)
        shares.done(state)
        number = shares.next_share(state)


@device_function
def close_each(
    m: Elements, offsets: I64, codes: I64, scratch: Scratch, most: int, tighten: bool, state: I64
) -> None:
    """Do closures."""
    s = shares.next_share(state)
    while s < len(offsets) - 1:
        n, at = n_of_length(offsets[s + 1] - offsets[s]), pointer(m, offsets[s])
        if codes[s] == WIDER and LARGEST_TILE < n <= most:
            codes[s] = plain_code(at, n, scratch[0])
            phase = 0
            while codes[s] == CLOSED and phase < n_phases(n):
                codes[s] = take_share(phase, 0, 1, True, at, scratch, n, tighten)
                phase += 1
            if codes[s] == EMPTY:
                make_empty(at, n)
        shares.done(state)
        s = shares.next_share(state)


_of_thread = local()  # one for each thread: making it takes longer than closing in it


class _Scratch(NamedTuple):
    """What a thread needs to close one octagon after the other."""

    tile: Elements  # and its panels
    codes: I64  # of one octagon
    state: I64  # the counters of work that no other thread shares


def _scratch(dtype: np.dtype[Any]) -> _Scratch:
    """Return this thread's scratch space."""
    made = _of_thread.__dict__
    if dtype.char not in made:
        tile = tiles.aligned(TILE_SCRATCH + BLOCK * BLOCK, dtype)
        made[dtype.char] = _Scratch(tile, np.empty(1, np.int64), shares.counters())
    found: _Scratch = made[dtype.char]
    return found


def close(m: Elements, offsets: I64 | None, tighten: bool) -> Any:
    """Close octagons; return which have a point."""
    if offsets is None:
        return _close_one(m, _whole(len(m)), tighten) == CLOSED
    codes = np.full(len(offsets) - 1, WIDER)
    for dtype in closing_dtypes(m.dtype):
        _close_all(m, offsets, codes, dtype, tighten)
        if not (codes == WIDER).any():
            return codes == CLOSED
    for t in np.flatnonzero(codes == WIDER):
        codes[t] = reference.close(m[offsets[t] : offsets[t + 1]], tighten)
    return codes == CLOSED


@cache
def _whole(n_elements: int) -> I64:
    """Return the offsets of a batch of one octagon."""
    return np.array([0, n_elements])


def _close_one(m: Elements, offsets: I64, tighten: bool) -> int:
    for dtype in closing_dtypes(m.dtype):
        code = _close_in(m, offsets, dtype, tighten)
        if code != WIDER:
            return code
    return int(reference.close(m, tighten))


def _close_in(m: Elements, offsets: I64, dtype: np.dtype[Any], tighten: bool) -> int:
    """Close one octagon, on as many threads as its size is worth; return its code."""
    tile, codes, state = _scratch(dtype)
    codes[0], state[shares.TAKEN] = WIDER, 0
    if len(m) <= _LARGEST_TILE_ELEMENTS:
        close_tiles(m, offsets, codes, tighten, tile, state)
        return int(codes[0])
    n, n_threads = n_variables(len(m)), shares.n_threads()
    if n >= TOGETHER_FROM_VARIABLES and n_threads > 1:
        return close_large(m, dtype, tighten, n_threads)
    close_blocks(m, offsets, codes, tighten, tiles.scratch(n, dtype), tile, n, state, 0)
    return int(codes[0])


def close_large(m: Elements, dtype: np.dtype[Any], tighten: bool, n_threads: int) -> int:
    """Close one octagon in a type on several threads; return its code."""
    n = n_variables(len(m))
    scratch, n_shares = tiles.scratch(n, dtype), shares.SHARES_A_THREAD * n_threads

    def work(state: I64) -> None:
        tile = _scratch(dtype).tile
        close_blocks(m, _NONE, _NONE, tighten, scratch, tile, n, state, n_shares)

    code = can_close(m, n, scratch[0])
    if code == CLOSED and not shares.work_together(work, n_phases(n) * n_shares, n_threads):
        code = EMPTY
    if code == EMPTY:
        m.fill(lowest(m.dtype))
    return code


def _close_all(m: Elements, offsets: I64, codes: I64, dtype: np.dtype[Any], tighten: bool) -> None:
    """Close all octagons whose code is `WIDER` in a type, and write their codes."""
    n_threads = shares.n_threads() if len(m) >= PARALLEL_FROM_ELEMENTS else 1
    lengths = np.diff(offsets)

    def close_small(state: I64) -> None:
        close_tiles(m, offsets, codes, tighten, _scratch(dtype).tile, state)

    shares.work_together(close_small, -(-len(lengths) // _OCTAGONS_A_SHARE), n_threads)
    between = (lengths > _LARGEST_TILE_ELEMENTS) & (lengths < _TOGETHER_FROM_ELEMENTS)
    if between.any():
        most = n_variables(int(lengths[between].max()))

        def close_medium(state: I64) -> None:
            scratch, tile = tiles.scratch(most, dtype), _scratch(dtype).tile
            close_blocks(m, offsets, codes, tighten, scratch, tile, most, state, 0)

        shares.work_together(close_medium, len(lengths), n_threads)
    for t in np.flatnonzero((lengths >= _TOGETHER_FROM_ELEMENTS) & (codes == WIDER)):
        here = m[offsets[t] : offsets[t + 1]]
        codes[t] = _close_in(here, _whole(len(here)), dtype, tighten)
