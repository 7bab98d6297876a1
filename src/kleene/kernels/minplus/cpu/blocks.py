"""Octagons kept as blocks of related variables: put together, joined and compared row by row.

A bound between two blocks is half of the sum of the bounds on 2x and -2y, so a row of the whole
matrix is made from the row of one block and from these sums; the whole matrix is never made where
one pass over its rows will do. A state comes as one array, `table`:

    n, n_blocks, the address of each block's elements,
    for each variable the number of its block, or -1 if it has no bounds,
    for each variable its place in that block

Variables that are in one block have ascending places in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kleene.kernels.minplus.cpu import cells
from kleene.kernels.minplus.cpu.compiled import apart, entry, piece
from kleene.kernels.minplus.cpu.scalar import add_up, beyond, half_up, keep, pointer
from kleene.kernels.minplus.cpu.single import any_less, scale
from kleene.kernels.minplus.cpu.vector import to_nearest, upwards

_intrinsic: Any = intrinsic  # Numba publishes no types


def _at_address(_context: Any, like: Any, address: Any) -> Any:
    """Return an address as a pointer to elements of the same type as those of `like`."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[1], arguments[0].type)

    return like(like, types.int64), build


def _address_of(_context: Any, at: Any) -> Any:
    """Return a pointer as a number."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ptrtoint(arguments[0], ir.IntType(64))

    return types.int64(at), build


at_address: Any = _intrinsic(_at_address)
address_of: Any = _intrinsic(_address_of)


@piece
def slot(table: Any, k: int) -> int:
    """Return the block of variable k."""
    return table[2 + table[1] + k]


@piece
def place(table: Any, k: int) -> int:
    """Return where variable k is in its block."""
    return table[2 + table[1] + table[0] + k]


@piece
def runs(table: Any) -> Any:
    """Return for each block its first variable; then for each variable two numbers.

    How many variables from it on lie side by side in its block, and the next variable of the block
    after those, n if there is none.
    """
    apart()
    n, n_blocks = table[0], table[1]
    found = np.full(n_blocks + 2 * n, n)
    for k in range(n - 1, -1, -1):
        s = slot(table, k)
        if s < 0:
            continue
        length, following = 1, found[s]
        is_last = k == n - 1  # then what follows is n, which is no variable
        if not is_last and following == k + 1 and place(table, k + 1) == place(table, k) + 1:
            length, following = found[n_blocks + k + 1] + 1, found[n_blocks + n + k + 1]
        found[s], found[n_blocks + k], found[n_blocks + n + k] = k, length, following
    return found


@piece
def read_unary(like: Any, table: Any, unary: Any, infinity: Any) -> None:
    """Read cells (i, i^1) of the whole matrix to unary[i], and cells (i^1, i) to unary[2n + i]."""
    apart()
    n = table[0]
    for k in range(n):
        low = high = infinity
        if slot(table, k) >= 0:
            block, x = at_address(like, table[2 + slot(table, k)]), 2 * place(table, k)
            low, high = block[cells.index(x, x + 1)], block[cells.index(x + 1, x)]
        unary[2 * k], unary[2 * k + 1] = low, high
        unary[2 * n + 2 * k], unary[2 * n + 2 * k + 1] = high, low


@piece
def row_at(table: Any, found: Any, unary: Any, i: int, line: Any) -> Any:
    """Return where row i of the whole matrix is: in a block if all of it is there, or in `line`."""
    apart()
    n, n_blocks, k = table[0], table[1], i >> 1
    s = slot(table, k)
    following, source = n, line
    if s >= 0:
        following, source = found[s], block_row(line, table, i)
    if is_whole(table, found, k):
        return beyond(source, 2 * place(table, 0))
    mine, others = unary[i], beyond(unary, 2 * n)
    for j in range(2 * k + 2):
        line[j] = half_up(add_up(mine, others[j]))
    while following <= k:
        first = 2 * place(table, following)
        into, of = beyond(line, 2 * following), beyond(source, first)
        for j in range(2 * min(found[n_blocks + following], k + 1 - following)):
            into[j] = of[j]
        following = found[n_blocks + n + following]
    return line


@entry
def assemble(out: Any, table: Any, outer: Any) -> None:
    """Write the whole matrix of a state."""
    upwards()
    n, found = table[0], runs(table)
    space = np.empty(6 * n, out.dtype)
    unary, line = pointer(space, 0), pointer(space, 4 * n)
    read_unary(line, table, unary, outer[0])
    for i in range(2 * n):
        into, row = pointer(out, (i + 1) * (i + 1) // 2), row_at(table, found, unary, i, line)
        for j in range((i | 1) + 1):
            into[j] = row[j]
        into[i] = 0
    keep(space)
    to_nearest()


@entry
def join(out: Any, a: Any, b: Any, outer: Any) -> None:
    """Write the maximum of the whole matrices of two states."""
    upwards()
    n, a_runs, b_runs = a[0], runs(a), runs(b)
    space = np.empty(8 * n, out.dtype)
    a_unary, b_unary = pointer(space, 0), pointer(space, 4 * n)
    read_unary(a_unary, a, a_unary, outer[0])
    read_unary(b_unary, b, b_unary, outer[0])
    to_a, to_b, whole = beyond(a_unary, 2 * n), beyond(b_unary, 2 * n), pointer(out, 0)
    for k in range(n):
        if not (is_whole(a, a_runs, k) and is_whole(b, b_runs, k)):
            for i in (2 * k, 2 * k + 1):
                into, mine, other = beyond(whole, cells.row_start(i)), a_unary[i], b_unary[i]
                for j in range(2 * k + 2):
                    into[j] = half_up(greater(add_up(mine, to_a[j]), add_up(other, to_b[j])))
            if not are_aligned(a, a_runs, b, b_runs, k):
                raise_rows(whole, k, b, b_runs, a, a_runs, a_unary)
        raise_rows(whole, k, a, a_runs, b, b_runs, b_unary)
        out[cells.index(2 * k, 2 * k)] = out[cells.index(2 * k + 1, 2 * k + 1)] = 0
    keep(space)
    to_nearest()


@piece
def greater(x: Any, y: Any) -> Any:
    """Return the greater of two."""
    return x if x > y else y


@piece
def is_whole(table: Any, found: Any, k: int) -> bool:
    """Return whether all variables up to k lie side by side in one block."""
    s = slot(table, k)
    return s >= 0 and found[s] == 0 and found[table[1]] > k


@piece
def are_aligned(a: Any, a_runs: Any, b: Any, b_runs: Any, k: int) -> bool:
    """Return whether variable k has the same others in its block in both, all side by side."""
    s, t = slot(a, k), slot(b, k)
    if s < 0 or t < 0 or a_runs[s] != b_runs[t]:
        return s < 0 and t < 0
    x, y = a[1] + a_runs[s], b[1] + b_runs[t]
    return a_runs[x] == b_runs[y] and a_runs[x + a[0]] == a[0] and b_runs[y + b[0]] == b[0]


@piece
def raise_rows(out: Any, k: int, a: Any, a_runs: Any, b: Any, b_runs: Any, b_unary: Any) -> None:
    """Write the joined bounds of variable k and all that are in its block in state a."""
    apart()
    n, s, other = a[0], slot(a, k), slot(b, k)
    if s < 0:
        return
    first = a_runs[s]
    while first <= k:
        length = min(a_runs[a[1] + first], k + 1 - first)
        is_beside = other >= 0 and slot(b, first) == other and b_runs[b[1] + first] >= length
        for i in (2 * k, 2 * k + 1):
            row = beyond(out, cells.row_start(i) + 2 * first)
            mine = beyond(block_row(out, a, i), 2 * place(a, first))
            if is_beside:
                theirs = beyond(block_row(out, b, i), 2 * place(b, first))
                for j in range(2 * length):
                    row[j] = greater(mine[j], theirs[j])
            else:
                raise_apart(row, mine, i, first, length, b, b_unary)
        first = a_runs[a[1] + n + first]


@piece
def raise_apart(row: Any, mine: Any, i: int, first: int, length: int, b: Any, b_unary: Any) -> None:
    """Write the joined bounds of end i and variables that may lie anywhere in state b."""
    other, to_b = slot(b, i >> 1), beyond(b_unary, 2 * b[0])
    theirs = block_row(row, b, i) if other >= 0 else mine
    for j in range(2 * length):
        q = first + (j >> 1)
        bound = half_up(add_up(b_unary[i], to_b[2 * first + j]))
        if other >= 0 and slot(b, q) == other:
            bound = theirs[2 * place(b, q) + (j & 1)]
        row[j] = greater(mine[j], bound)


@piece
def block_row(like: Any, table: Any, i: int) -> Any:
    """Return where row i of the whole matrix is in the block of its variable."""
    row = 2 * place(table, i >> 1) + (i & 1)
    block = at_address(like, table[2 + slot(table, i >> 1)])
    return beyond(block, (row + 1) * (row + 1) // 2)


@entry
def covers(m: Any, table: Any, outer: Any) -> bool:
    """Return whether no bound of `m` is less than that of a state."""
    upwards()
    n, found = table[0], runs(table)
    space = np.empty(6 * n, m.dtype)
    unary, line = pointer(space, 0), pointer(space, 4 * n)
    read_unary(line, table, unary, outer[0])
    i, inside = 0, True
    while inside and i < 2 * n:
        row = row_at(table, found, unary, i, line)
        mine = pointer(m, (i + 1) * (i + 1) // 2)
        inside = not (any_less(mine, row, 0, i) or mine[i ^ 1] < row[i ^ 1])
        i += 1
    keep(space)
    to_nearest()
    return inside


@entry
def widen(out: Any, table: Any, sizes: Any, outer: Any, wider: Any) -> None:
    """Write the blocks one after the other in a wider type, and their new addresses in `table`."""
    first = 0
    for s in range(len(sizes)):
        block = at_address(pointer(outer, 0), table[2 + s])
        scale(pointer(out, first), block, sizes[s], 1, outer[0], wider[0])
        table[2 + s] = address_of(pointer(out, first))
        first += sizes[s]
