"""Closing octagons: small ones each in a tile, large ones by a blocked Floyd-Warshall.

For each block of BLOCK pivots of a large one:

1. close the square tile of the block; a negative diagonal ends it all;
2. P[i, k] := the cells (i, k) of all rows i, read from below the diagonal or, dually, from row
   k^1; then P := min(P, P + tile);
3. R[k, j] := P[j^1, k^1], which coherence gives;
4. C[i, j] := min(C[i, j], P[i, k] + R[k, j]) for every tile of C outside the block.

All that a tile needs in step 4 is in the nearest cache, and step 4 does all but O(n²) of the work.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from threading import Barrier, Thread, local
from typing import Any

import numba
import numpy as np

from kleene.kernels.minplus.cpu import panels
from kleene.kernels.minplus.cpu.compiled import entry
from kleene.kernels.minplus.cpu.scalar import pointer
from kleene.kernels.minplus.cpu.tile import CLOSED, EMPTY, WIDER, close_tile, fits, make_empty, n_of
from kleene.kernels.minplus.cpu.vector import BLOCK, to_nearest, upwards
from kleene.kernels.minplus.layout import n_variables, size

LARGEST_TILE = BLOCK // 2  # variables
_LARGEST_TILE_ELEMENTS = size(LARGEST_TILE)
PARALLEL_FROM_VARIABLES = 192  # below, threads wait for each other longer than they work
PARALLEL_FROM_ELEMENTS = 1 << 16


@entry
def close_tiles(
    m: Any,
    offsets: Any,
    codes: Any,
    outer: Any,
    inner: Any,
    tighten: bool,
    t: Any,
    begin: int,
    end: int,
) -> None:
    """Close octagons `begin` to `end` that still need it, and are small, in the tile T."""
    upwards()
    for s in range(begin, end):
        n = n_of(offsets, s)
        if codes[s] == WIDER and n <= LARGEST_TILE:
            at = pointer(m, offsets[s])
            if n == 0:
                codes[s] = CLOSED
            elif at[0] < 0 or fits(at, n, outer, inner):
                codes[s] = EMPTY
                if not at[0] < 0 and close_tile(at, n, pointer(t, 0), outer, inner, tighten):
                    codes[s] = CLOSED
                else:
                    make_empty(at, n, outer)
    to_nearest()


@entry
def can_close(m: Any, n: int, outer: Any, inner: Any) -> int:
    """Return `WIDER` or `EMPTY` where that is plain at once, and `CLOSED` where it is not."""
    if m[0] < 0:
        return EMPTY
    return CLOSED if fits(pointer(m, 0), n, outer, inner) else WIDER


def close_large(m: Any, n: int, outer: Any, inner: Any, tighten: bool, n_threads: int) -> int:
    """Close one octagon, on some threads; return its code."""
    code = can_close(m, n, outer, inner)
    if code == CLOSED and not _Closure(m, n, outer, inner, tighten, n_threads).run():
        code = EMPTY
    if code == EMPTY:
        m.fill(outer[2])
    return code


class _Closure:
    """One closure, whose steps the threads take together."""

    def __init__(
        self, m: Any, n: int, outer: Any, inner: Any, tighten: bool, n_threads: int
    ) -> None:
        self.m, self.n, self.outer, self.inner, self.tighten = m, n, outer, inner, tighten
        self.c, self.p, self.r, self.t = panels.room(n, inner)
        self.d = np.empty(4 * n, inner.dtype)
        self.n_threads = n_threads
        self.barrier = Barrier(n_threads)
        self.has_point = True

    def run(self) -> bool:
        """Return whether the octagon has a point; then it is closed."""
        others = [Thread(target=self._work, args=(part,)) for part in range(1, self.n_threads)]
        for thread in others:
            thread.start()
        self._work(0)
        for thread in others:
            thread.join()
        return self.has_point

    def _work(self, part: int) -> None:
        m, n, outer, inner, share = self.m, self.n, self.outer, self.inner, (part, self.n_threads)
        panels.load(self.c, m, n, outer, inner, self.tighten, *share)
        self._wait()
        for first in range(0, 2 * n, BLOCK):
            block = (n, first, min(BLOCK, 2 * n - first))
            if not self._alone(part, panels.close_block, self.c, self.r, self.t, *block, inner[0]):
                return
            panels.read_columns(self.c, self.p, *block, *share)
            panels.combine(self.p, self.r, *block, *share)
            self._wait()
            panels.transpose(self.p, self.r, *block, *share)
            panels.write_back(self.c, self.p, self.r, *block, *share)
            self._wait()
            panels.update(self.c, self.p, self.r, *block, *share)
            self._wait()
        if self._alone(part, panels.settle, self.c, self.d, n, self.tighten):
            panels.store(m, self.c, self.d, n, outer, inner, *share)

    def _alone(self, part: int, step: Callable[..., bool], *arguments: Any) -> bool:
        """Return, to every thread, whether there is a point after a step that one takes."""
        if part == 0:
            self.has_point = step(*arguments)
        self._wait()
        return self.has_point

    def _wait(self) -> None:
        if self.n_threads > 1:
            self.barrier.wait()


_rooms = local()  # room for a tile and a code in each thread: making it takes longer than using it


def _room(dtype: Any) -> tuple[Any, Any]:
    """Return this thread's room for a tile, with its unary bounds, and for a code."""
    rooms = _rooms.__dict__
    if dtype.char not in rooms:
        rooms[dtype.char] = panels.aligned(BLOCK * (BLOCK + 1), dtype), np.empty(1, np.int64)
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
    close_tiles(m, offsets, codes, outer, inner, tighten, tile, 0, 1)
    return int(codes[0])


def close_all(m: Any, offsets: Any, codes: Any, outer: Any, inner: Any, tighten: bool) -> None:
    """Close all octagons whose code is `WIDER`, and write their codes."""

    def close_share(begin: int, end: int) -> None:
        tile, _ = _room(inner.dtype)
        close_tiles(m, offsets, codes, outer, inner, tighten, tile, begin, end)

    n_threads = numba.get_num_threads() if len(m) >= PARALLEL_FROM_ELEMENTS else 1
    ends = _shares(offsets, n_threads)
    others = [Thread(target=close_share, args=share) for share in pairwise(ends[1:])]
    for thread in others:
        thread.start()
    close_share(ends[0], ends[1])
    for thread in others:
        thread.join()
    for t in np.flatnonzero(np.diff(offsets) > _LARGEST_TILE_ELEMENTS):
        if codes[t] == WIDER:
            here = slice(offsets[t], offsets[t + 1])
            codes[t] = close_one(m[here], offsets, outer, inner, tighten)


def _shares(offsets: Any, n_shares: int) -> list[int]:
    """Return where octagons are cut into shares of as much work, but for a factor n³ each."""
    if n_shares == 1:
        return [0, len(offsets) - 1]
    work = np.cumsum(np.diff(offsets) ** 1.5)
    ends = np.searchsorted(work, work[-1] * np.arange(n_shares + 1) / n_shares)
    ends[-1] = len(work)
    return [int(end) for end in ends]
