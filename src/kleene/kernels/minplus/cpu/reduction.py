"""Which constraints of a closed octagon to keep; see `reference.minimal` for the definition.

The leaders of the classes make an octagon of their own, so one min-plus product of it with itself,
without the diagonal, tells which of its bounds a path gives: the same tiles as in the closure.
"""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I64, U8, Bools
from kleene.kernels.minplus import reference
from kleene.kernels.minplus.cpu import half_matrix, tiles
from kleene.kernels.minplus.cpu.closure import can_close
from kleene.kernels.minplus.cpu.compiled import Elements, device_function, entry_point
from kleene.kernels.minplus.cpu.half_matrix import index
from kleene.kernels.minplus.cpu.scalar import add_up, half_up, infinity_of, tile_infinity_of
from kleene.kernels.minplus.cpu.tiles import CLOSED, Arrays
from kleene.kernels.minplus.cpu.vector import BLOCK, to_nearest, upwards
from kleene.kernels.minplus.layout import closing_dtypes, n_variables, size, tile_infinity
from kleene.kernels.pointers import Pointer, advance, pointer

_NO_BLOCK = -BLOCK


def minimal(out: Bools, m: Elements) -> None:
    """Mark the constraints of one octagon to keep."""
    n = n_variables(len(m))
    out[:] = False
    if n == 0 or m[0] < 0:
        out[:1] = True
        return
    fitting = (
        dtype for dtype in closing_dtypes(m.dtype) if can_close(m, n, np.empty(1, dtype)) == CLOSED
    )
    if (dtype := next(fitting, None)) is None:
        reference.minimal(out, m)
        return
    leads, marks = np.empty(n, np.int64), out.view(np.uint8)
    leads = leads[: mark_classes(marks, m, n, leads, np.empty(4 * n, np.int64))]
    if len(leads):
        lead, arrays = np.empty(size(len(leads)), m.dtype), tiles.scratch(len(leads), dtype)
        paths = np.full_like(arrays[0], tile_infinity(dtype))
        add_pairs(paths, lead, m, leads, arrays)
        mark_leads(marks, lead, leads, paths)


@entry_point
def add_pairs(paths: Elements, lead: Elements, m: Elements, leads: I64, arrays: Arrays) -> None:
    """Write the octagon of the leaders, and the least sums over two of its bounds.

    None of them are on the diagonal; the sums lower the paths, which are tiles.
    """
    upwards()
    n, given = len(leads), pointer(paths, 0)
    c, p, r = pointer(arrays[0], 0), pointer(arrays[1], 0), pointer(arrays[2], 0)
    half_matrix.select(pointer(lead, 0), n, pointer(m, 0), pointer(leads, 0))
    n_rows, width, n_panels = tiles.shape(c, n)
    for v in range(n_panels):
        tiles.load(c, pointer(lead, 0), n, v, False)
    for i in range(2 * n):
        v = i // width
        line = advance(tiles.panel(c, v, n_rows, width), i * width)
        line[i - v * width] = tile_infinity_of(c)
    for first in range(0, 2 * n, BLOCK):
        n_pivots = min(BLOCK, 2 * n - first)
        for v in range(n_panels):
            if first <= v * width < first + BLOCK:
                read_block(c, p, n, first, n_pivots, v)
            else:
                tiles.read_columns(c, p, n, first, n_pivots, v)
            tiles.transpose(p, r, v, width)
        tiles.update(given, p, r, n, _NO_BLOCK, n_pivots, 0, 1)
    to_nearest()


@device_function
def read_block(c: Pointer, p: Pointer, n: int, first: int, n_pivots: int, v: int) -> None:
    """Read the rows of P, in the block itself, with the numbers of panel v."""
    n_rows, width, _ = tiles.shape(c, n)
    for i in range(v * width, min((v + 1) * width, first + n_pivots)):
        for k in range(n_pivots):
            a, b = i, first + k
            if b > (a | 1):
                a, b = b ^ 1, a ^ 1
            w = b // width
            p[i * BLOCK + k] = advance(tiles.panel(c, w, n_rows, width), a * width)[b - w * width]


@entry_point
def mark_classes(out: U8, m: Elements, n: int, leads: I64, scratch: I64) -> int:
    """Mark what keeps each class together; return how many variables lead one, and are `leads`.

    Both bounds of a fixed variable; the cycle through every other class, or through its dual.
    """
    leader, last, at = scratch[: 2 * n], scratch[2 * n :], pointer(m, 0)
    infinity = infinity_of(m)
    for i in range(2 * n):
        leader[i] = last[i] = i
        for j in range(i):
            here, back = at[index(i, j)], at[index(j, i)]
            if here != infinity and back != infinity and add_up(here, back) == 0:
                leader[i] = leader[j]
                break
    for i in range(2 * n):
        head = leader[i]
        if leader[i ^ 1] == head:
            out[index(i, i ^ 1)] = 1
        elif head != i and head % 2 == 0:
            out[index(last[head], i)] = 1
            last[head] = i
    n_leads = 0
    for x in range(n):
        if last[2 * x] != 2 * x:
            out[index(last[2 * x], 2 * x)] = 1
        if leader[2 * x] == 2 * x and leader[2 * x + 1] == 2 * x + 1:
            leads[n_leads] = x
            n_leads += 1
    return n_leads


@entry_point
def mark_leads(out: U8, lead: Elements, leads: I64, given: Elements) -> None:
    """Mark the bounds between leaders that neither a path nor two unary bounds give."""
    upwards()
    n, paths, bounds = len(leads), pointer(given, 0), pointer(lead, 0)
    n_rows, width, _ = tiles.shape(paths, n)
    for i in range(2 * n):
        mine = bounds[index(i, i ^ 1)]
        for j in range((i | 1) + 1):
            bound, v = bounds[index(i, j)], j // width
            path = advance(tiles.panel(paths, v, n_rows, width), i * width)[j - v * width]
            combined = half_up(add_up(mine, bounds[index(j ^ 1, j)]))
            is_needed = bound < path and (j == i ^ 1 or bound < combined)
            if i != j and bound != infinity_of(lead) and is_needed:
                a, b = 2 * leads[i >> 1] + (i & 1), 2 * leads[j >> 1] + (j & 1)
                out[index(a, b)] = 1
    to_nearest()
