"""Octagons kept as blocks of related variables: put together, joined and compared row by row.

A bound between two blocks is half of the sum of the bounds on 2x and -2y, so a row of the whole
matrix is made from the row of one block and from these sums; the whole matrix is never made where
one pass over its rows will do. States come as tables (see `table`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.kernels.minplus.cpu import cells
from kleene.kernels.minplus.cpu.compiled import device_function, entry_point, noinline
from kleene.kernels.minplus.cpu.groups import chain, unite
from kleene.kernels.minplus.cpu.rows import copy_row, is_less, write_greater, write_halves
from kleene.kernels.minplus.cpu.scalar import add_up, beyond, half_up, keep, pointer
from kleene.kernels.minplus.cpu.single import scale
from kleene.kernels.minplus.cpu.table import (
    address_of,
    are_aligned,
    block_at,
    block_row,
    choose,
    first,
    following,
    is_whole,
    length,
    place,
    read_unary,
    slot,
)
from kleene.kernels.minplus.cpu.vector import to_nearest, upwards


@device_function
def row_at(table: Any, unary: Any, i: int, line: Any) -> Any:
    """Return where row i of the whole matrix is: in a block if all of it is there, or in `line`."""
    noinline()
    n, k = table[0], i >> 1
    x, source = n, line
    if slot(table, k) >= 0:
        x, source = first(table, slot(table, k)), block_row(line, table, i)
    if is_whole(table, k):
        return beyond(source, 2 * place(table, 0))
    mine, others = unary[i], beyond(unary, 2 * n)
    write_halves(line, mine, others, mine, others, 2 * k + 2)
    while x <= k:
        count = 2 * min(length(table, x), k + 1 - x)
        copy_row(beyond(line, 2 * x), beyond(source, 2 * place(table, x)), count)
        x = following(table, x)
    line[i] = 0
    return line


@entry_point
def assemble(out: Any, table: Any, outer: Any) -> None:
    """Write the whole matrix of a state."""
    n, at = table[0], pointer(table, 0)
    space = np.empty(6 * n, out.dtype)
    unary, line = pointer(space, 0), pointer(space, 4 * n)
    upwards()
    read_unary(unary, at, outer[0])
    for i in range(2 * n):
        row = row_at(at, unary, i, line)
        copy_row(pointer(out, cells.row_start(i)), row, (i | 1) + 1)
    to_nearest()
    keep(space)


@entry_point
def covers(m: Any, table: Any, outer: Any) -> bool:
    """Return whether no bound of `m` is less than that of a state."""
    n, at = table[0], pointer(table, 0)
    space = np.empty(6 * n, m.dtype)
    unary, line = pointer(space, 0), pointer(space, 4 * n)
    upwards()
    read_unary(unary, at, outer[0])
    i, inside = 0, True
    while inside and i < 2 * n:
        row = row_at(at, unary, i, line)
        inside = not is_less(pointer(m, cells.row_start(i)), row, (i | 1) + 1)
        i += 1
    to_nearest()
    keep(space)
    return inside


@entry_point
def join(out: Any, labels: Any, a: Any, b: Any, related: int, outer: Any) -> int:
    """Write the maximum of two states: the matrices of groups of variables, one after the other.

    Returns how many groups there are, with the label of each variable's. They come in the order of
    their first variables; which belong together `related` says (see `groups`).
    """
    n, one, other, parent = a[0], pointer(a, 0), pointer(b, 0), pointer(labels, 0)
    space = np.empty(8 * n, out.dtype)
    x, y = pointer(space, 0), pointer(space, 4 * n)
    upwards()
    read_unary(x, one, outer[0])
    read_unary(y, other, outer[0])
    n_groups = unite(parent, one, other, x, y, related, outer[0])
    if n_groups == 1:
        join_rows(pointer(out, 0), one, other, x, y)
    else:
        join_groups(pointer(out, 0), one, other, x, parent, outer[0])
    to_nearest()
    keep(space)
    return n_groups


@device_function
def join_groups(out: Any, a: Any, b: Any, unary: Any, parent: Any, infinity: Any) -> None:
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
        x, y = unary, beyond(unary, 4 * count)
        read_unary(x, some_a, infinity)
        read_unary(y, some_b, infinity)
        join_rows(beyond(out, start), some_a, some_b, x, y)
        start += 2 * count * (count + 1)
    keep(space)
    keep(numbers)


@device_function
def join_rows(out: Any, a: Any, b: Any, a_unary: Any, b_unary: Any) -> None:
    """Write the maximum, two rows at a time: bounds between blocks first, then those inside."""
    noinline()
    n = a[0]
    to_a, to_b = beyond(a_unary, 2 * n), beyond(b_unary, 2 * n)
    for k in range(n):
        if not (is_whole(a, k) and is_whole(b, k)):
            for i in (2 * k, 2 * k + 1):
                row = beyond(out, cells.row_start(i))
                write_halves(row, a_unary[i], to_a, b_unary[i], to_b, 2 * k + 2)
            if not are_aligned(a, b, k):
                raise_rows(out, k, b, a, a_unary)
        raise_rows(out, k, a, b, b_unary)
        out[cells.index(2 * k, 2 * k)] = out[cells.index(2 * k + 1, 2 * k + 1)] = 0


@device_function
def raise_rows(out: Any, k: int, a: Any, b: Any, b_unary: Any) -> None:
    """Write the joined bounds of variable k and all that are in its block in state a."""
    noinline()
    other = slot(b, k)
    x = first(a, slot(a, k)) if slot(a, k) >= 0 else k + 1
    while x <= k:
        count = min(length(a, x), k + 1 - x)
        is_beside = other >= 0 and slot(b, x) == other and length(b, x) >= count
        for i in (2 * k, 2 * k + 1):
            row = beyond(out, cells.row_start(i) + 2 * x)
            mine = beyond(block_row(out, a, i), 2 * place(a, x))
            if is_beside:
                theirs = beyond(block_row(out, b, i), 2 * place(b, x))
                write_greater(row, mine, theirs, 2 * count)
            else:
                raise_apart(row, mine, i, x, count, b, b_unary)
        x = following(a, x)


@device_function
def raise_apart(row: Any, mine: Any, i: int, x: int, count: int, b: Any, b_unary: Any) -> None:
    """Write the joined bounds of end i and variables from x on, anywhere in state b."""
    other, to_b = slot(b, i >> 1), beyond(b_unary, 2 * b[0])
    theirs = block_row(row, b, i) if other >= 0 else mine
    for j in range(2 * count):
        q = x + (j >> 1)
        bound = half_up(add_up(b_unary[i], to_b[2 * x + j]))
        if other >= 0 and slot(b, q) == other:
            bound = theirs[2 * place(b, q) + (j & 1)]
        row[j] = mine[j] if mine[j] > bound else bound


@entry_point
def widen(out: Any, table: Any, sizes: Any, outer: Any, wider: Any) -> None:
    """Write the blocks one after the other in a wider type, and their new addresses in `table`."""
    start = 0
    for s in range(len(sizes)):
        block = block_at(pointer(outer, 0), pointer(table, 0), s)
        scale(pointer(out, start), block, sizes[s], 1, outer[0], wider[0])
        table[2 + s] = address_of(pointer(out, start))
        start += sizes[s]
