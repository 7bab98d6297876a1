"""What the blocked closure of one octagon spends its time on, step by step, on one thread."""

from __future__ import annotations

import time
from typing import Any

from numba import njit

from kleene.kernels import machine_code  # noqa: F401 - so that Numba knows device functions
from kleene.kernels.minplus.cpu import tiles
from kleene.kernels.minplus.cpu.tiles import TILE_SCRATCH
from kleene.kernels.minplus.cpu.vector import BLOCK, to_nearest, upwards
from kleene.kernels.pointers import pointer

STEPS = ("load", "close the blocks", "combine P with them", "update C", "store")
_LOAD, _CLOSE, _COMBINE, _UPDATE, _STORE = range(len(STEPS))


@njit(nogil=True)
def step(which, m, c, p, r, d, t, n, first):  # type: ignore[no-untyped-def]
    """Take one step of the closure, for the block at `first` where that matters."""
    upwards()
    cc, tt, own = pointer(c, 0), pointer(t, 0), pointer(t, TILE_SCRATCH)
    n_panels, n_pivots = tiles.shape(cc, n)[2], min(BLOCK, 2 * n - first)
    if which == _LOAD:
        for v in range(n_panels):
            tiles.load(cc, pointer(m, 0), n, v, False)
    elif which == _CLOSE:
        tiles.close_block(cc, tt, own, n, first, n_pivots)
    elif which == _COMBINE:
        for v in range(n_panels):
            scratch = (cc, pointer(p, 0), pointer(r, 0), pointer(d, 0), tt, own)
            tiles.combine(scratch, n, first, n_pivots, v)
    elif which == _UPDATE:
        tiles.update(cc, pointer(p, 0), pointer(r, 0), n, first, n_pivots, 0, 1)
    else:
        tiles.settle(cc, pointer(d, 0), n, False)
        for v in range(n_panels):
            tiles.store(pointer(m, 0), cc, pointer(d, 0), n, v)
    to_nearest()


def times_s(m: Any, n: int) -> list[float]:
    """Return how long each of `STEPS` takes, having closed `m` with them."""
    scratch, t = tiles.scratch(n, m.dtype), tiles.aligned(TILE_SCRATCH + BLOCK * BLOCK, m.dtype)
    spent = [0.0] * len(STEPS)

    def take(which: int, first: int) -> None:
        start = time.thread_time()
        step(which, m, *scratch, t, n, first)
        spent[which] += time.thread_time() - start

    take(_LOAD, 0)
    for first in range(0, 2 * n, BLOCK):
        for which in (_CLOSE, _COMBINE, _UPDATE):
            take(which, first)
    take(_STORE, 0)
    return spent
