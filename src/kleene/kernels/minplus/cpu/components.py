"""Partitioned octagons: put together, joined and compared row by row; which variables are related.

A bound between two components is half of the sum of the bounds on 2x and -2y, so a row of the whole
matrix is made from the row of one component and from these sums; the whole matrix is never made
where one pass over its rows will do. States come as tables (see `partition`).
"""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I64
from kleene.kernels.minplus.cpu import half_matrix
from kleene.kernels.minplus.cpu.compiled import Elements, device_function, entry_point, noinline
from kleene.kernels.minplus.cpu.operations import scale
from kleene.kernels.minplus.cpu.partition import (
    are_aligned,
    choose,
    component_at,
    component_row,
    first,
    following,
    is_whole,
    length,
    place,
    read_unary,
    slot,
)
from kleene.kernels.minplus.cpu.scalar import add_up, half_up, infinity_of, wide
from kleene.kernels.minplus.cpu.vector import (
    copy_row,
    is_less,
    to_nearest,
    upwards,
    write_greater,
    write_halves,
)
from kleene.kernels.pointers import Pointer, address_of, advance, keep, pointer

# Which variables a join relates: none, those of a component, and those with moving bounds too.
ALONE, COMPONENTS, MOVING = 0, 1, 2


@device_function
def find(parent: Pointer, k: int) -> int:
    """Return what stands for the set of k."""
    while parent[k] != k:
        parent[k] = parent[parent[k]]
        k = parent[k]
    return k


@device_function
def unite_components(table: Pointer, parent: Pointer) -> None:
    """Put the variables of each component into one set."""
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
def group(labels: I64, a: I64, b: I64, signs: I64) -> int:
    """Return how many groups of variables a join relates, with the label of each variable's.

    Variables of one component of either state are in one group; so are those with an end whose
    bound grows (a sign of 1) and those with one whose bound shrinks (-1), if there are both.
    """
    parent = pointer(labels, 0)
    unite_moving(parent, a[0], pointer(signs, 0), len(signs))
    unite_components(pointer(a, 0), parent)
    unite_components(pointer(b, 0), parent)
    return settle(parent, a[0])


@entry_point
def group_moving(labels: I64, a: I64, b: I64, like: Elements) -> int:
    """Return what `group` does, with the signs of bounds from a to b, of elements as in `like`."""
    one, other = pointer(a, 0), pointer(b, 0)
    space = np.empty(8 * a[0], like.dtype)
    x, y = pointer(space, 0), pointer(space, 4 * a[0])
    read_unary(x, one)
    read_unary(y, other)
    n_groups = unite(pointer(labels, 0), one, other, x, y, MOVING)
    keep(space)
    return n_groups


@device_function
def unite(parent: Pointer, a: Pointer, b: Pointer, x: Pointer, y: Pointer, related: int) -> int:
    """Return how many groups there are, given the bounds of single variables in both states."""
    noinline()
    n = a[0]
    signs = np.empty(2 * n, np.int8)
    n_signs = 2 * n if related >= MOVING else 0
    read_signs(pointer(signs, 0), x, y, n_signs)
    unite_moving(parent, n, pointer(signs, 0), n_signs)
    keep(signs)
    if related >= COMPONENTS:
        unite_components(a, parent)
        unite_components(b, parent)
    return settle(parent, n)


@device_function
def read_signs(signs: Pointer, x: Pointer, y: Pointer, n_signs: int) -> None:
    """Write whether bounds grow from x to y (1), shrink (-1), or neither."""
    infinity = infinity_of(x)
    for i in range(n_signs):
        sign = int(x[i] < y[i]) - int(y[i] < x[i])
        signs[i] = sign if x[i] != infinity and y[i] != infinity else 0


@device_function
def unite_moving(parent: Pointer, n: int, signs: Pointer, n_signs: int) -> None:
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
def settle(parent: Pointer, n: int) -> int:
    """Put every variable under what stands for its set; return how many sets there are."""
    n_groups = 0
    for k in range(n):
        parent[k] = find(parent, k)
        n_groups += parent[k] == k
    return n_groups


@device_function
def chain(heads: Pointer, nexts: Pointer, lasts: Pointer, parent: Pointer, n: int) -> int:
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
def split(labels: I64, m: Elements, exactly: bool) -> int:
    """Return how many cells groups of related variables have; related ones get the same label.

    Two are related when some bound on both is less than what the bounds on each give. No labels
    are written if one of a few is related to all others, which are one group then; nor, unless it
    must be known exactly, to seven of eight: they have more than three quarters of the half_matrix.
    """
    n, at = len(labels), pointer(m, 0)
    n_cells, most = 2 * n * (n + 1), 0
    for hub in (0, n // 3, n // 2, n - 1):
        n_related = 1
        for k in range(n if 8 * most < 7 * n else 0):
            if k != hub:
                n_related += related(at, max(k, hub), min(k, hub))
        most = max(most, n_related)
    if most == n or (not exactly and 8 * most >= 7 * n):
        return n_cells if most == n else n_cells - 1
    return label(pointer(labels, 0), at, n)


@device_function
def label(labels: Pointer, m: Pointer, n: int) -> int:
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
            while x >= 0 and not related(m, k, x):
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
def related(m: Pointer, k: int, x: int) -> bool:
    """Return whether a bound on both variables says more than the bounds on each; x < k."""
    found, infinity = False, infinity_of(m)
    low, high = half_matrix.row_start(2 * x), half_matrix.row_start(2 * x + 1)
    for i in (2 * k, 2 * k + 1):
        row = advance(m, half_matrix.row_start(i))
        of_i = row[i ^ 1]
        for j in (2 * x, 2 * x + 1):
            bound, of_j = row[j], m[high + j] if j == 2 * x else m[low + j]
            is_free = of_i == infinity or of_j == infinity
            twice, both = wide(bound) + wide(bound), wide(of_i) + wide(of_j)
            found |= bound != infinity and (is_free or twice < both)
    return found


@device_function
def row_at(table: Pointer, unary: Pointer, i: int, line: Pointer) -> Pointer:
    """Return where row i of the whole matrix is: in a component, if all of it is, or in `line`."""
    noinline()
    n, k = table[0], i >> 1
    x, source = n, line
    if slot(table, k) >= 0:
        x, source = first(table, slot(table, k)), component_row(line, table, i)
    if is_whole(table, k):
        return advance(source, 2 * place(table, 0))
    mine, others = unary[i], advance(unary, 2 * n)
    write_halves(line, mine, others, mine, others, 2 * k + 2)
    while x <= k:
        count = 2 * min(length(table, x), k + 1 - x)
        copy_row(advance(line, 2 * x), advance(source, 2 * place(table, x)), count)
        x = following(table, x)
    line[i] = 0
    return line


@entry_point
def assemble(out: Elements, table: I64) -> None:
    """Write the whole matrix of a state."""
    n, at = table[0], pointer(table, 0)
    space = np.empty(6 * n, out.dtype)
    unary, line = pointer(space, 0), pointer(space, 4 * n)
    upwards()
    read_unary(unary, at)
    for i in range(2 * n):
        row = row_at(at, unary, i, line)
        copy_row(pointer(out, half_matrix.row_start(i)), row, (i | 1) + 1)
    to_nearest()
    keep(space)


@entry_point
def covers(m: Elements, table: I64) -> bool:
    """Return whether no bound of `m` is less than that of a state."""
    n, at = table[0], pointer(table, 0)
    space = np.empty(6 * n, m.dtype)
    unary, line = pointer(space, 0), pointer(space, 4 * n)
    upwards()
    read_unary(unary, at)
    i, inside = 0, True
    while inside and i < 2 * n:
        row = row_at(at, unary, i, line)
        inside = not is_less(pointer(m, half_matrix.row_start(i)), row, (i | 1) + 1)
        i += 1
    to_nearest()
    keep(space)
    return inside


@entry_point
def join(out: Elements, labels: I64, a: I64, b: I64, related: int) -> int:
    """Write the maximum of two states: the matrices of groups of variables, one after the other.

    Returns how many groups there are, with the label of each variable's. They come in the order of
    their first variables; which belong together `related` says (see `groups`).
    """
    n, one, other, parent = a[0], pointer(a, 0), pointer(b, 0), pointer(labels, 0)
    space = np.empty(8 * n, out.dtype)
    x, y = pointer(space, 0), pointer(space, 4 * n)
    upwards()
    read_unary(x, one)
    read_unary(y, other)
    n_groups = unite(parent, one, other, x, y, related)
    if n_groups == 1:
        join_rows(pointer(out, 0), one, other, x, y)
    else:
        join_groups(pointer(out, 0), one, other, x, parent)
    to_nearest()
    keep(space)
    return n_groups


@device_function
def join_groups(out: Pointer, a: Pointer, b: Pointer, unary: Pointer, parent: Pointer) -> None:
    """Write the maximum, group by group."""
    noinline()
    n, n_numbers = a[0], max(a[1], b[1])
    space, numbers = np.empty(16 * n + 4, np.int64), np.full(n_numbers, -1)
    heads, nexts, chosen = pointer(space, 0), pointer(space, n), pointer(space, 2 * n)
    some_a, some_b = pointer(space, 4 * n), pointer(space, 10 * n + 2)
    start = 0
    for g in range(chain(heads, nexts, pointer(space, 3 * n), parent, n)):
        count, k = 0, heads[g]
        while k >= 0:
            chosen[count], count, k = k, count + 1, nexts[k]
        choose(some_a, a, chosen, count, pointer(numbers, 0))
        choose(some_b, b, chosen, count, pointer(numbers, 0))
        x, y = unary, advance(unary, 4 * count)
        read_unary(x, some_a)
        read_unary(y, some_b)
        join_rows(advance(out, start), some_a, some_b, x, y)
        start += 2 * count * (count + 1)
    keep(space)
    keep(numbers)


@device_function
def join_rows(out: Pointer, a: Pointer, b: Pointer, a_unary: Pointer, b_unary: Pointer) -> None:
    """Write the maximum, two rows at a time: bounds between components first, then those inside."""
    noinline()
    n = a[0]
    to_a, to_b = advance(a_unary, 2 * n), advance(b_unary, 2 * n)
    for k in range(n):
        if not (is_whole(a, k) and is_whole(b, k)):
            for i in (2 * k, 2 * k + 1):
                row = advance(out, half_matrix.row_start(i))
                write_halves(row, a_unary[i], to_a, b_unary[i], to_b, 2 * k + 2)
            if not are_aligned(a, b, k):
                raise_rows(out, k, b, a, a_unary)
        raise_rows(out, k, a, b, b_unary)
        out[half_matrix.index(2 * k, 2 * k)] = out[half_matrix.index(2 * k + 1, 2 * k + 1)] = 0


@device_function
def raise_rows(out: Pointer, k: int, a: Pointer, b: Pointer, b_unary: Pointer) -> None:
    """Write the joined bounds of variable k and all that are in its component in state a."""
    noinline()
    other = slot(b, k)
    x = first(a, slot(a, k)) if slot(a, k) >= 0 else k + 1
    while x <= k:
        count = min(length(a, x), k + 1 - x)
        is_beside = other >= 0 and slot(b, x) == other and length(b, x) >= count
        for i in (2 * k, 2 * k + 1):
            row = advance(out, half_matrix.row_start(i) + 2 * x)
            mine = advance(component_row(out, a, i), 2 * place(a, x))
            if is_beside:
                theirs = advance(component_row(out, b, i), 2 * place(b, x))
                write_greater(row, mine, theirs, 2 * count)
            else:
                raise_elsewhere(row, mine, i, x, count, b, b_unary)
        x = following(a, x)


@device_function
def raise_elsewhere(
    row: Pointer, mine: Pointer, i: int, x: int, count: int, b: Pointer, b_unary: Pointer
) -> None:
    """Write the joined bounds of end i and variables from x on, anywhere in state b."""
    other, to_b = slot(b, i >> 1), advance(b_unary, 2 * b[0])
    theirs = component_row(row, b, i) if other >= 0 else mine
    for j in range(2 * count):
        q = x + (j >> 1)
        bound = half_up(add_up(b_unary[i], to_b[2 * x + j]))
        if other >= 0 and slot(b, q) == other:
            bound = theirs[2 * place(b, q) + (j & 1)]
        row[j] = mine[j] if mine[j] > bound else bound


@entry_point
def widen(out: Elements, table: I64, sizes: I64, like: Elements) -> None:
    """Write the components, of elements as in `like`, in a wider type, with their addresses."""
    start = 0
    for s in range(len(sizes)):
        component = component_at(pointer(like, 0), pointer(table, 0), s)
        scale(pointer(out, start), component, sizes[s], 1)
        table[2 + s] = address_of(pointer(out, start))
        start += sizes[s]
