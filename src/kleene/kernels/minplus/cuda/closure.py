"""Closing on GPUs: small octagons a block of threads each, large ones by tiles of all of it.

Integers are closed in the narrowest type whose sums cannot overflow, which the kernels find out as
they load; where they cannot say yes, nothing is written, and the next wider type has its turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kleene.kernels import launch
from kleene.kernels.minplus.cuda.modules import c_name, ends, module
from kleene.kernels.minplus.layout import Array, Each, infinity, size, tile_infinity

EMPTY, CLOSED, WIDER = 0, 1, 2  # as in tile.cu
LARGEST_TILE = 64  # variables of an octagon that one block closes
# Of one without others beside it, which all blocks together close faster: on an H200 one of 64 took
# 0.31 ms in one block, one of 65 took 0.19 ms in many.
LARGEST_ALONE = 32
_NO_POINT, _TOO_LARGE, _SPARSE_AND_LARGE = 8, 4, 3  # facts of closure.cu


@dataclass(frozen=True, slots=True)
class Inner:
    """A type to close in; `saturates` where every sum looks for overflow."""

    dtype: np.dtype[Any]
    saturates: bool = False

    @property
    def defines(self) -> dict[str, object]:
        """Return what its kernels are compiled with."""
        return {"INNER_T": c_name(self.dtype), "SATURATE": int(self.saturates)}

    @property
    def infinity(self) -> Any:
        """Return what stands for "no bound" while closing."""
        return (infinity if self.saturates else tile_infinity)(self.dtype)


@dataclass(frozen=True, slots=True)
class Shape:
    """How large closures are cut: threads along the side of a tile, and pivots of a round.

    Small tiles keep all of the GPU busy where large ones would be too few; 16 and 64 pivots are
    possible.
    """

    side: int
    pivots: int = 64


SMALL, LARGE = Shape(8), Shape(16)
LARGE_FROM = 2048  # variables
_TILES, _TILE_EDGE = (8, 16, 24, 32, 48, LARGEST_TILE), 4  # variables; as in tile.cu
_BLOCK = 256
_ROWS, _PANEL_ROWS, _PANEL_COLUMNS = 8, 32, 8  # as in closure.cu
_F64, _I64, _I32, _I16 = (Inner(np.dtype(name)) for name in ("float64", "int64", "int32", "int16"))
_SURE = Inner(np.dtype(np.int64), saturates=True)
_OF_TILES = {
    "float64": (_F64,),
    "int64": (_I64, _SURE),
    "int32": (_I32, _SURE),
    "int16": (_I32,),  # 2n sums of 16 bits always fit
}
_OF_LARGE = {
    "float64": (_F64,),
    "int64": (_I64, _SURE),
    "int32": (_I32, _SURE),
    "int16": (_I16, _I32, _SURE),
}


def close_tiles(m: Array, offsets: Array, codes: Array, sizes: range, tighten: bool) -> None:
    """Close the octagons whose variables are as many as `sizes` say; write their codes.

    A block takes an octagon and has as many threads as its size asks for: a launch for each of
    `_TILES` that there are, in each type that some may need.
    """
    for inner in _OF_TILES[m.dtype.name]:
        kernels = module("tile", m.dtype, **inner.defines)
        for least, most in pairwise((-1, *_TILES)):
            if least < sizes.stop - 1 and most >= sizes.start:
                args = (m, offsets, np.int32(least), np.int32(most), np.int32(tighten), codes)
                block, n_bytes = _tile(most, inner.dtype.itemsize)
                kernels.launch("close_each", (len(codes),), (block,), args, shared_bytes=n_bytes)


def close_tile(m: Array, n: int, tighten: bool) -> bool:
    """Close one octagon of n variables in one block; return whether it has a point."""
    codes = launch.current().xp.full(1, WIDER, np.uint8)
    close_tiles(m, ends(len(m)), codes, range(n, n + 1), tighten)
    return bool(codes.item() == CLOSED)


def _tile(n: int, itemsize: int) -> tuple[int, int]:
    """Return the threads, and the bytes of shared memory, for an octagon of n variables."""
    across = -(-2 * n // _TILE_EDGE)
    return -(-across * across // 32) * 32, (5 * across * _TILE_EDGE + size(n)) * itemsize


def close_large(m: Array, n: int, tighten: bool) -> bool:
    """Close one octagon by tiles; return whether it has a point."""
    for inner in _OF_LARGE[m.dtype.name]:
        work = _Work(m, n, inner)
        work.rows("load", work.extent, work.c, m, n, work.extent, tighten, work.facts)
        work.relax(work.c, closes=True)
        d = work.xp.empty(2 * n, inner.dtype)
        grid = -(-2 * n // _BLOCK)
        work.rows("settle", grid, work.c, d, n, work.extent, tighten, work.facts)
        work.rows("store", 2 * n, m, work.c, d, work.extent, work.facts)
        if (code := work.code()) != WIDER:
            return code == CLOSED
    raise AssertionError("the last type takes every octagon")


def mark_needed(out: Array, m: Array, n: int, is_lead: Array) -> None:
    """Mark the bounds between leaders of one large closed octagon that no others give."""
    for inner in _OF_LARGE[m.dtype.name]:
        work = _Work(m, n, inner)
        work.rows("load_hollow", work.extent, work.c, m, is_lead, n, work.extent, work.facts)
        paths = work.xp.full(work.extent * work.extent, inner.infinity, inner.dtype)
        work.relax(paths, closes=False)
        work.rows("mark_needed", 2 * n, out, m, is_lead, paths, work.extent, work.facts)
        if work.code() != WIDER:
            return
    raise AssertionError("the last type takes every octagon")


class _Work:
    """The square matrix C of one octagon, and the launches that share it."""

    def __init__(self, m: Array, n: int, inner: Inner) -> None:
        self.inner, self.n, self.xp = inner, n, launch.current().xp
        self.shape = LARGE if n >= LARGE_FROM else SMALL
        self.kernels = module(
            "closure", m.dtype, **inner.defines, SIDE=self.shape.side, PIVOTS=self.shape.pivots
        )
        tile = self.shape.side * _ROWS
        self.extent = -(-2 * n // tile) * tile
        self.c = self.xp.empty(self.extent * self.extent, inner.dtype)
        self.facts = self.xp.zeros(1, np.int32)

    def rows(self, kernel: str, grid: int, *args: Any) -> None:
        """Launch a kernel, most of which give a row to each block."""
        given = [np.int32(arg) if isinstance(arg, int) else arg for arg in args]
        self.kernels.launch(kernel, (grid,), (_BLOCK,), given)

    def relax(self, target: Each, *, closes: bool) -> None:
        """Lower `target` by all paths through each block of pivots of C; close C if it is that."""
        side, pivots = self.shape.side, self.shape.pivots
        extent, itemsize = np.int32(self.extent), self.inner.dtype.itemsize
        word = np.dtype(np.uint32) if itemsize == 2 else self.inner.dtype
        p = self.xp.empty(pivots * self.extent, word)
        r = self.xp.empty(pivots * self.extent, self.inner.dtype)
        panel_grid, panel_block = self.extent // _PANEL_ROWS, _PANEL_ROWS * pivots // _PANEL_COLUMNS
        panel_bytes = pivots * (pivots + _PANEL_ROWS + 4) * itemsize
        n_tiles, columns = self.extent // (side * _ROWS), 8 if itemsize == 4 else 4
        grid = n_tiles * (n_tiles + 1) // 2 * (2 if itemsize == 8 else 1)
        n_bytes, start = pivots * side * (_ROWS + columns) * word.itemsize, self.kernels.launch
        update, flag = (target, p, r, extent, self.facts), np.int32(closes)
        for first in range(0, 2 * self.n, pivots):
            panel = (self.c, p, r, extent, np.int32(first), flag, self.facts)
            start("panel", (panel_grid,), (panel_block,), panel, shared_bytes=panel_bytes)
            start("update", (grid,), (side * side,), update, shared_bytes=n_bytes)

    def code(self) -> int:
        """Return what became of it, when all launches are done."""
        facts = int(self.facts.item())
        if facts & _NO_POINT:
            return EMPTY
        too_large = facts & _TOO_LARGE or facts & _SPARSE_AND_LARGE == _SPARSE_AND_LARGE
        return WIDER if too_large else CLOSED
