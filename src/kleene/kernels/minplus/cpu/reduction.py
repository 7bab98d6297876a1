"""Which constraints of a closed octagon to keep; see `reference.minimal` for the definition.

The leaders of the classes make an octagon of their own, so one min-plus product of it with itself,
without the diagonal, tells which of its bounds a path gives: the same tiles as in the closure.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.kernels.minplus import reference
from kleene.kernels.minplus.cpu import entry_points, tiles
from kleene.kernels.minplus.cpu.closure import can_close
from kleene.kernels.minplus.cpu.compiled import device_function, entry_point, inner_of, outer_of
from kleene.kernels.minplus.cpu.half_matrix import index
from kleene.kernels.minplus.cpu.scalar import add_up, advance, half_up, pointer
from kleene.kernels.minplus.cpu.tiles import CLOSED
from kleene.kernels.minplus.cpu.vector import to_nearest, upwards
from kleene.kernels.minplus.cpu.vector_loops import BLOCK
from kleene.kernels.minplus.layout import n_variables, size

_NO_BLOCK = -BLOCK


def minimal(out: Any, m: Any) -> None:
    """Mark the constraints of one octagon to keep."""
    n, outer = n_variables(len(m)), outer_of(m.dtype)
    out[:] = False
    if n == 0 or m[0] < 0:
        out[:1] = True
        return
    inner = next((i for i in inner_of(m.dtype) if can_close(m, n, outer, i) == CLOSED), None)
    if inner is None:
        reference.minimal(out, m)
        return
    leads, marks = np.empty(n, np.int64), out.view(np.uint8)
    leads = leads[: mark_classes(marks, m, n, leads, np.empty(4 * n, np.int64), outer)]
    if len(leads):
        lead, ends = np.empty(size(len(leads)), m.dtype), np.array([0, len(m)])
        sizes = np.array([0, len(lead)]), np.array([0, len(leads)])
        entry_points.select(lead, sizes[0], m, ends, leads, sizes[1], outer)
        mark_leads(marks, lead, len(leads), leads, _paths(lead, len(leads), outer, inner), outer)


def _paths(lead: Any, n: int, outer: Any, inner: Any) -> Any:
    """Return the least sums over two bounds, neither of them on the diagonal, as tiles."""
    c, p, r, _ = tiles.scratch(n, inner)
    given = np.full_like(c, inner[0])
    add_pairs(given, lead, c, p, r, n, outer, inner)
    return given


@entry_point
def add_pairs(
    given_array: Any, m: Any, c_array: Any, p: Any, r: Any, n: int, outer: Any, inner: Any
) -> None:
    """Lower what is given to the least sums over two bounds, neither of them on the diagonal."""
    upwards()
    given, c = pointer(given_array, 0), pointer(c_array, 0)
    n_rows, width, n_panels = tiles.shape(c, n)
    for v in range(n_panels):
        tiles.load(c, pointer(m, 0), n, v, outer, inner, False)
    for i in range(2 * n):
        v = i // width
        advance(tiles.panel(c, v, n_rows, width), i * width)[i - v * width] = inner[0]
    for first in range(0, 2 * n, BLOCK):
        n_pivots = min(BLOCK, 2 * n - first)
        for v in range(n_panels):
            if first <= v * width < first + BLOCK:
                read_block(c, pointer(p, 0), n, first, n_pivots, v)
            else:
                tiles.read_columns(c, pointer(p, 0), n, first, n_pivots, v)
            tiles.transpose(pointer(p, 0), pointer(r, 0), v, width)
        tiles.update(given, pointer(p, 0), pointer(r, 0), n, _NO_BLOCK, n_pivots, 0, 1)
    to_nearest()


@device_function
def read_block(c: Any, p: Any, n: int, first: int, n_pivots: int, v: int) -> None:
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
def mark_classes(out: Any, m: Any, n: int, leads: Any, scratch: Any, outer: Any) -> int:
    """Mark what keeps each class together; return how many variables lead one, and are `leads`.

    Both bounds of a fixed variable; the cycle through every other class, or through its dual.
    """
    leader, last, at = scratch[: 2 * n], scratch[2 * n :], pointer(m, 0)
    for i in range(2 * n):
        leader[i] = last[i] = i
        for j in range(i):
            here, back = at[index(i, j)], at[index(j, i)]
            if here != outer[0] and back != outer[0] and add_up(here, back) == 0:
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
def mark_leads(out: Any, lead: Any, n: int, leads: Any, given: Any, outer: Any) -> None:
    """Mark the bounds between leaders that neither a path nor two unary bounds give."""
    upwards()
    paths, bounds = pointer(given, 0), pointer(lead, 0)
    n_rows, width, _ = tiles.shape(paths, n)
    for i in range(2 * n):
        mine = bounds[index(i, i ^ 1)]
        for j in range((i | 1) + 1):
            bound, v = bounds[index(i, j)], j // width
            path = advance(tiles.panel(paths, v, n_rows, width), i * width)[j - v * width]
            combined = half_up(add_up(mine, bounds[index(j ^ 1, j)]))
            is_needed = bound < path and (j == i ^ 1 or bound < combined)
            if i != j and bound != outer[0] and is_needed:
                a, b = 2 * leads[i >> 1] + (i & 1), 2 * leads[j >> 1] + (j & 1)
                out[index(a, b)] = 1
    to_nearest()
