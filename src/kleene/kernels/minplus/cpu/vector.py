"""Vectors of this machine's width: the loops of the closure, and those on rows of components.

Of the closure: everything that touches an octagon's elements more than once. Rows of a tile, of P
and of the pivots have BLOCK elements. A `flip` is a transposition that swaps the two of every pair
besides: what coherence makes of rows that are read as columns.

Of rows: they are short and of any length. Sums are as `scalar` has them: floats in the thread's
rounding, integers saturated, infinity kept.

These are what plain Python runs; compiled code has `instructions` for each.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numpy as np

from kleene.kernels.minplus import layout, reference
from kleene.kernels.minplus.cpu.compiled import Element, Elements, instruction
from kleene.kernels.pointers import Pointer


def _vector_bytes() -> int:
    """Return the width of this machine's vectors; any width is right, this one is fast."""
    features = llvm.get_host_cpu_features()
    if features.get("avx512f") and features.get("avx512bw"):
        return 64
    return 32 if features.get("avx2") else 16


VECTOR_BYTES = _vector_bytes()
HAS_FMA = VECTOR_BYTES > 16 and bool(llvm.get_host_cpu_features().get("fma"))
TILE_ROWS = 8 if VECTOR_BYTES == 64 else 4  # of registers: there are 32 of them, or 16
TILE_VECTORS = 2
BLOCK = 64  # pivots in a block


def lanes(dtype: np.dtype[Any]) -> int:
    """Return how many elements of a NumPy type a vector holds."""
    return VECTOR_BYTES // int(dtype.itemsize)


@instruction
def lanes_of(pointer: Pointer) -> int:
    """Return the elements of a vector."""
    return lanes(pointer.dtype)


@instruction
def upwards() -> None:
    """Round floats upwards in this thread until `to_nearest` is called.

    Interpreted code does not rely on it: there each sum is rounded by itself.
    """


@instruction
def to_nearest() -> None:
    """Round floats to nearest in this thread."""


def _sums(a: Elements, b: Elements) -> Elements:
    """Return sums of a tile's elements: floats rounded upwards, integers far from any overflow."""
    if a.dtype.kind == "f":
        return reference.add_up(a, b)
    with np.errstate(over="ignore"):  # what is above the diagonal holds anything
        return a + b


@instruction
def micro(c: Pointer, c_stride: int, p: Pointer, r: Pointer, n_k: int) -> None:
    """C[i, j] = min(C[i, j], P[i, k] + R[k, j]) over n_k values of k, for one tile of C."""
    width = TILE_VECTORS * lanes_of(c)
    for row in range(TILE_ROWS):
        tile = c.part(row * c_stride, width)
        for k in range(n_k):
            np.minimum(tile, _sums(p[row * BLOCK + k], r.part(k * width, width)), out=tile)


@instruction
def sweep(t: Pointer, r: Pointer, first: int, n_rows: int, n_vectors: int) -> None:
    """T[i, j] = min(T[i, j], T[i, k] + T[k, j]) below the diagonal, for `first` <= k < `first` + 2.

    The two rows of R are those of the pivots; a column of T is a row flipped.
    """
    n_lanes = lanes_of(t)
    for j in range(0, n_vectors * n_lanes, n_lanes):
        old = [r.part(a * BLOCK + j, n_lanes) for a in (0, 1)]
        over = [_sums(r[a * BLOCK + (a ^ 1) + first], old[a ^ 1]) for a in (0, 1)]
        pivots = [np.minimum(x, y) for x, y in zip(over, old, strict=True)]
        for i in range(j & -2, n_rows):
            best = t.part(i * BLOCK + j, n_lanes)
            for a in (0, 1):
                np.minimum(best, _sums(r[(a ^ 1) * BLOCK + (i ^ 1)], pivots[a]), out=best)


@instruction
def copy(into: Pointer, source: Pointer, n_vectors: int) -> None:
    """Copy some vectors."""
    length = n_vectors * lanes_of(into)
    into.part(0, length)[:] = source.part(0, length)


@instruction
def flip(into: Pointer, into_stride: int, source: Pointer, stride: int) -> None:
    """INTO[a, b] = SOURCE[b^1, a^1] for a square of as many elements each way as a vector has."""
    n_lanes = lanes_of(into)
    rows = np.array([source.part((b ^ 1) * stride, n_lanes) for b in range(n_lanes)])
    for a in range(n_lanes):
        into.part(a * into_stride, n_lanes)[:] = rows[:, a ^ 1]


@instruction
def take(t: Pointer, m: Pointer, count: int, n_vectors: int, tighten: bool) -> None:
    """Read `count` bounds of an octagon to vectors of T; what is left of those is infinite.

    The type of T may be wider, and its infinity is not that of octagons.
    """
    row = t.part(0, n_vectors * lanes_of(t))
    given = m.part(0, max(0, min(count, len(row))))
    infinite = layout.tile_infinity(t.dtype)
    row[:] = infinite
    row[: len(given)] = np.where(given == layout.infinity(m.dtype), infinite, given)
    if tighten and row.dtype.kind == "f":
        np.floor(row, out=row)


@instruction
def give(m: Pointer, t: Pointer, d: Pointer, mine: Element, count: int) -> None:
    """Write `count` cells of T to an octagon, or (mine + D) / 2 where that is less.

    What is no bound there becomes the octagon's infinity, and what is below its least bound that.
    """
    total = _sums(mine, d.part(0, count))
    half = reference.half_up(total) if total.dtype.kind == "f" else (total >> 1) + (total & 1)
    value = np.minimum(half, t.part(0, count))
    bounds = np.maximum(value, layout.least_bound(m.dtype))
    is_infinite = value > layout.tile_greatest(t.dtype, m.dtype)
    m.part(0, count)[:] = np.where(is_infinite, layout.infinity(m.dtype), bounds)


@instruction
def write_halves(
    into: Pointer, mine: Element, others: Pointer, more: Element, rest: Pointer, count: int
) -> None:
    """INTO[j] = the greater of (mine + OTHERS[j]) / 2 and (more + REST[j]) / 2."""
    a, b = (
        reference.add_up(mine, others.part(0, count)),
        reference.add_up(more, rest.part(0, count)),
    )
    into.part(0, count)[:] = reference.half_up(np.maximum(a, b))


@instruction
def write_greater(into: Pointer, a: Pointer, b: Pointer, count: int) -> None:
    """INTO[j] = the greater of A[j] and B[j]."""
    into.part(0, count)[:] = np.maximum(a.part(0, count), b.part(0, count))


@instruction
def copy_row(into: Pointer, source: Pointer, count: int) -> None:
    """INTO[j] = SOURCE[j]."""
    into.part(0, count)[:] = source.part(0, count)


@instruction
def is_less(a: Pointer, b: Pointer, count: int) -> bool:
    """Return whether some A[j] is less than B[j]."""
    return bool((a.part(0, count) < b.part(0, count)).any())
