"""Which variables belong together: those a join of two states relates, and those of one matrix.

States come as tables (see `table`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.kernels.minplus.cpu import cells
from kleene.kernels.minplus.cpu.compiled import device_function, entry_point, noinline
from kleene.kernels.minplus.cpu.scalar import beyond, keep, pointer
from kleene.kernels.minplus.cpu.table import first, following, length, read_unary

# Which variables a join relates: none, those of a block, and those whose bounds move apart as well.
ALONE, BLOCKS, MOVING = 0, 1, 2


@device_function
def find(parent: Any, k: int) -> int:
    """Return what stands for the set of k."""
    while parent[k] != k:
        parent[k] = parent[parent[k]]
        k = parent[k]
    return k


@device_function
def unite_blocks(table: Any, parent: Any) -> None:
    """Put the variables of each block into one set."""
    n = table[0]
    for s in range(table[1]):
        x = first(table, s)
        root = find(parent, x) if x < n else n
        while x < n:
            for k in range(x, x + length(table, x)):
                if parent[k] != root:
                    parent[find(parent, k)] = root
            x = following(table, x)


@entry_point
def group(labels: Any, a: Any, b: Any, signs: Any) -> int:
    """Return how many groups of variables a join relates, with the label of each variable's.

    Variables of one block of either state are in one group; so are those with an end whose bound
    grows (a sign of 1) and those with one whose bound shrinks (-1), if there are both.
    """
    parent = pointer(labels, 0)
    unite_moving(parent, a[0], pointer(signs, 0), len(signs))
    unite_blocks(pointer(a, 0), parent)
    unite_blocks(pointer(b, 0), parent)
    return settle(parent, a[0])


@entry_point
def group_moving(labels: Any, a: Any, b: Any, outer: Any) -> int:
    """Return what `group` does, with the signs of bounds from a to b."""
    one, other = pointer(a, 0), pointer(b, 0)
    space = np.empty(8 * a[0], outer.dtype)
    x, y = pointer(space, 0), pointer(space, 4 * a[0])
    read_unary(x, one, outer[0])
    read_unary(y, other, outer[0])
    n_groups = unite(pointer(labels, 0), one, other, x, y, MOVING, outer[0])
    keep(space)
    return n_groups


@device_function
def unite(parent: Any, a: Any, b: Any, x: Any, y: Any, related: int, infinity: Any) -> int:
    """Return how many groups there are, given the bounds of single variables in both states."""
    noinline()
    n = a[0]
    signs = np.empty(2 * n, np.int8)
    n_signs = 2 * n if related >= MOVING else 0
    read_signs(pointer(signs, 0), x, y, n_signs, infinity)
    unite_moving(parent, n, pointer(signs, 0), n_signs)
    keep(signs)
    if related >= BLOCKS:
        unite_blocks(a, parent)
        unite_blocks(b, parent)
    return settle(parent, n)


@device_function
def read_signs(signs: Any, x: Any, y: Any, n_signs: int, infinity: Any) -> None:
    """Write whether bounds grow from x to y (1), shrink (-1), or neither."""
    for i in range(n_signs):
        sign = int(x[i] < y[i]) - int(y[i] < x[i])
        signs[i] = sign if x[i] != infinity and y[i] != infinity else 0


@device_function
def unite_moving(parent: Any, n: int, signs: Any, n_signs: int) -> None:
    """Make sets of one variable each, and one of those that move, if some grow and some shrink."""
    grows = shrinks = False
    for i in range(n_signs):
        grows |= signs[i] > 0
        shrinks |= signs[i] < 0
    for k in range(n):
        parent[k] = k
    root = -1
    for i in range(n_signs if grows and shrinks else 0):
        if signs[i] != 0:
            root = i >> 1 if root < 0 else root
            parent[i >> 1] = root


@device_function
def settle(parent: Any, n: int) -> int:
    """Put every variable under what stands for its set; return how many sets there are."""
    n_groups = 0
    for k in range(n):
        parent[k] = find(parent, k)
        n_groups += parent[k] == k
    return n_groups


@device_function
def chain(heads: Any, nexts: Any, lasts: Any, parent: Any, n: int) -> int:
    """Write the first variable of each group, and the next one after each or -1.

    Returns how many groups there are; they come in the order of their first variables.
    """
    n_groups = 0
    for k in range(n):
        lasts[k] = nexts[k] = -1
    for k in range(n):
        last = lasts[parent[k]]
        if last < 0:
            heads[n_groups] = k
            n_groups += 1
        else:
            nexts[last] = k
        lasts[parent[k]] = k
    return n_groups


@entry_point
def split(labels: Any, m: Any, exactly: bool, outer: Any) -> int:
    """Return how many cells groups of related variables have; related ones get the same label.

    Two are related when some bound on both is less than what the bounds on each give. No labels
    are written if one of a few is related to all others, which are one group then; nor, unless it
    must be known exactly, to seven of eight: they have more than three quarters of the cells.
    """
    n, at = len(labels), pointer(m, 0)
    n_cells, most = 2 * n * (n + 1), 0
    for hub in (0, n // 3, n // 2, n - 1):
        n_related = 1
        for k in range(n if 8 * most < 7 * n else 0):
            if k != hub:
                n_related += related(at, max(k, hub), min(k, hub), outer[0])
        most = max(most, n_related)
    if most == n or (not exactly and 8 * most >= 7 * n):
        return n_cells if most == n else n_cells - 1
    return label(pointer(labels, 0), at, n, outer[0])


@device_function
def label(labels: Any, m: Any, n: int, infinity: Any) -> int:
    """Label the variables; return how many cells the groups have.

    Groups are chains of variables, and one more variable is compared with those of each until it
    is related: where all are related this takes O(n).
    """
    noinline()
    following, last, heads = np.full(n, -1), np.arange(n), np.empty(n, np.int64)
    n_groups = 0
    for k in range(n):
        kept = 0
        for g in range(n_groups):
            x = heads[g]
            while x >= 0 and not related(m, k, x, infinity):
                x = following[x]
            if x >= 0:
                following[last[k]], last[k] = heads[g], last[heads[g]]
            else:
                heads[kept] = heads[g]
                kept += 1
        heads[kept] = k
        n_groups = kept + 1
    n_cells = 0
    for g in range(n_groups):
        x, length = heads[g], 0
        while x >= 0:
            labels[x], length = g, length + 1
            x = following[x]
        n_cells += 2 * length * (length + 1)
    return n_cells


@device_function
def related(m: Any, k: int, x: int, infinity: Any) -> bool:
    """Return whether a bound on both variables says more than the bounds on each; x < k."""
    found = False
    low, high = cells.row_start(2 * x), cells.row_start(2 * x + 1)
    for i in (2 * k, 2 * k + 1):
        row = beyond(m, cells.row_start(i))
        of_i = row[i ^ 1]
        for j in (2 * x, 2 * x + 1):
            bound, of_j = row[j], m[high + j] if j == 2 * x else m[low + j]
            is_free = of_i == infinity or of_j == infinity
            found |= bound != infinity and (is_free or bound + bound < of_i + of_j)
    return found
