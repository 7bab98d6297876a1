"""A state of octagons as one array of int64, its `table`: where its components of variables lie.

    n, n_components, the address of each component's elements,
    for each variable the number of its component, or -1 if it has no bounds,
    for each variable its place in that component,
    for each component its first variable,
    for each variable how many from it on lie side by side in its component,
    for each variable the next one of its component after those, n if there is none

Variables that are in one component have ascending places in it. Compiled code passes tables on as
pointers: Numba counts the uses of an array at every call, which costs more than a short row does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.base.arrays import I64
from kleene.kernels.minplus.cpu.compiled import device_function, entry_point, noinline
from kleene.kernels.minplus.cpu.half_matrix import row_start
from kleene.kernels.minplus.cpu.scalar import infinity_of
from kleene.kernels.pointers import Pointer, advance, at_address, pointer


def table_of(addresses: list[int], slots: Any, places: Any) -> I64:
    """Return the table of a state: addresses of components, each variable's component and place.

    One component for all variables may be given as its number.
    """
    n, n_components = len(places), len(addresses)
    table = np.empty(2 + 2 * n_components + 4 * n, np.int64)
    end = 2 + n_components
    table[0], table[1], table[2:end] = n, n_components, addresses
    table[end : end + n], table[end + n : end + 2 * n] = slots, places
    complete(table)
    return table


@entry_point
def complete(table: I64) -> None:
    """Write the last three parts of a table, which follow from the others."""
    link(pointer(table, 0))


@device_function
def link(table: Pointer) -> None:
    """Write the last three parts of a table."""
    noinline()
    n, n_components = table[0], table[1]
    firsts = advance(table, 2 + n_components + 2 * n)
    lengths, nexts = advance(firsts, n_components), advance(firsts, n_components + n)
    for s in range(n_components):
        firsts[s] = n
    for k in range(n - 1, -1, -1):
        s, count, after = slot(table, k), 1, n
        if s >= 0:
            after = firsts[s]
            if after == k + 1 and after < n and place(table, after) == place(table, k) + 1:
                count, after = lengths[k + 1] + 1, nexts[k + 1]
            firsts[s] = k
        lengths[k], nexts[k] = count, after


@device_function
def choose(into: Pointer, table: Pointer, chosen: Pointer, n: int, numbers: Pointer) -> None:
    """Write the table of n chosen variables, of at most 2 + 6n elements.

    `numbers` is room for a number of each component: -1 before, and after.
    """
    noinline()
    n_components = 0
    for c in range(n):
        s = slot(table, chosen[c])
        if s >= 0 and numbers[s] < 0:
            numbers[s], into[2 + n_components] = n_components, table[2 + s]
            n_components += 1
    into[0], into[1] = n, n_components
    slots, places = advance(into, 2 + n_components), advance(into, 2 + n_components + n)
    for c in range(n):
        s = slot(table, chosen[c])
        slots[c], places[c] = numbers[s] if s >= 0 else -1, place(table, chosen[c])
    for c in range(n):
        if slot(table, chosen[c]) >= 0:
            numbers[slot(table, chosen[c])] = -1
    link(into)


@device_function
def slot(table: Pointer, k: int) -> int:
    """Return the component of variable k."""
    return table[2 + table[1] + k]


@device_function
def place(table: Pointer, k: int) -> int:
    """Return where variable k is in its component."""
    return table[2 + table[1] + table[0] + k]


@device_function
def first(table: Pointer, s: int) -> int:
    """Return the first variable of component s."""
    return table[2 + table[1] + 2 * table[0] + s]


@device_function
def length(table: Pointer, k: int) -> int:
    """Return how many variables from k on lie side by side in its component."""
    return table[2 + 2 * table[1] + 2 * table[0] + k]


@device_function
def following(table: Pointer, k: int) -> int:
    """Return the next variable in the component of k after those side by side, or n."""
    return table[2 + 2 * table[1] + 3 * table[0] + k]


@device_function
def is_whole(table: Pointer, k: int) -> bool:
    """Return whether all variables up to k lie side by side in one component."""
    s = slot(table, k)
    return s >= 0 and first(table, s) == 0 and length(table, 0) > k


@device_function
def are_aligned(a: Pointer, b: Pointer, k: int) -> bool:
    """Return whether variable k has the same others in its component in both, all side by side."""
    s, t = slot(a, k), slot(b, k)
    if s < 0 or t < 0:
        return s < 0 and t < 0
    x, n = first(a, s), a[0]
    if first(b, t) != x or length(a, x) != length(b, x):
        return False
    return following(a, x) == n and following(b, x) == n


@device_function
def component_at(like: Pointer, table: Pointer, s: int) -> Pointer:
    """Return where the elements of component s are, of the type of `like`."""
    return at_address(like, table[2 + s])


@device_function
def component_row(like: Pointer, table: Pointer, i: int) -> Pointer:
    """Return where row i of the whole matrix is in the component of its variable."""
    row = 2 * place(table, i >> 1) + (i & 1)
    return advance(component_at(like, table, slot(table, i >> 1)), row_start(row))


@device_function
def read_unary(unary: Pointer, table: Pointer) -> None:
    """Read cells (i, i^1) of the whole matrix to unary[i], and cells (i^1, i) to unary[2n + i]."""
    noinline()
    n = table[0]
    for k in range(n):
        low = high = infinity_of(unary)
        if slot(table, k) >= 0:
            component, x = component_at(unary, table, slot(table, k)), 2 * place(table, k)
            low, high = component[row_start(x) + x + 1], component[row_start(x + 1) + x]
        unary[2 * k], unary[2 * k + 1] = low, high
        unary[2 * n + 2 * k], unary[2 * n + 2 * k + 1] = high, low
