"""Value numbering: the loop over components, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kleene.solvers.inclusion.offline.compiled import entry, piece

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@entry
def number(n_components: int, destination: I32, token: I64, first_tuple: int) -> I64:
    """Return a label per component: 0 for no token, the only token, or a number for their set.

    A token below 0 is `~source`, and stands for that component's label; components are in
    topological order, so that the label is known.
    """
    offsets, inflow = _grouped(n_components, destination, token)
    label = np.zeros(n_components, np.int64)
    n_slots = 16
    while n_slots < 2 * n_components:
        n_slots *= 2
    owner = np.full(n_slots, -1, np.int64)  # of each set: the first component that has it
    n_kept = np.zeros(n_components, np.int64)
    next_label = first_tuple
    for component in range(n_components):
        first = offsets[component]
        n = _distinct(inflow[first : offsets[component + 1]], label, component)
        n_kept[component] = n
        if n == 0:
            continue
        if n == 1:
            label[component] = inflow[first]
            continue
        slot = _hash(inflow[first : first + n]) & (n_slots - 1)
        while owner[slot] >= 0:
            other = owner[slot]
            start = offsets[other]
            if n_kept[other] == n and _same(inflow, first, start, n):
                break
            slot = (slot + 1) & (n_slots - 1)
        if owner[slot] < 0:
            owner[slot] = component
            label[component] = next_label
            next_label += 1
        else:
            label[component] = label[owner[slot]]
    return label


@piece
def _grouped(n_components: int, destination: I32, token: I64) -> tuple[I64, I64]:
    """Return the tokens by destination."""
    offsets = np.zeros(n_components + 1, np.int64)
    for i in range(len(destination)):
        offsets[destination[i] + 1] += 1
    for component in range(n_components):
        offsets[component + 1] += offsets[component]
    place = offsets[:-1].copy()
    inflow = np.empty(len(token), np.int64)
    for i in range(len(token)):
        inflow[place[destination[i]]] = token[i]
        place[destination[i]] += 1
    return offsets, inflow


@piece
def _distinct(row: I64, label: I64, component: int) -> int:
    """Sort the row's labels in place, without 0 and repetitions; return how many there are."""
    n = 0
    for i in range(len(row)):
        value = row[i]
        if value < 0:
            source = ~value
            value = label[source] if source != component else 0
        if value > 0:
            row[n] = value
            n += 1
    if n < 2:
        return n
    row[:n].sort()
    n_kept = 1
    for i in range(1, n):
        if row[i] != row[n_kept - 1]:
            row[n_kept] = row[i]
            n_kept += 1
    return n_kept


@piece
def _hash(row: I64) -> np.int64:
    value = np.uint64(len(row))
    for i in range(len(row)):
        value = (value ^ np.uint64(row[i])) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
    return np.int64(value >> np.uint64(1))


@piece
def _same(inflow: I64, first: int, second: int, n: int) -> bool:
    for i in range(n):  # noqa: SIM110 - Numba compiles no generator expression
        if inflow[first + i] != inflow[second + i]:
            return False
    return True
