"""Value numbering: the loops over what flows in, compiled."""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I32, I64
from kleene.kernels.bits import mix
from kleene.solvers.inclusion.compiled import device_function, entry_point

SHORT = 24  # up to so many labels, sorting by insertion is faster


@entry_point
def number(offsets: I64, inflow: I64, next_label: int) -> I32:
    """Return a label from 1 on per component: equal labels, equal sets; 0: the empty set.

    A component's set is the only token that flows in, or a number from `next_label` on for several.
    The tokens of component k are `inflow[offsets[k]:offsets[k + 1]]`; `~source` is the set of
    another component, which is known: components are in topological order.
    """
    return _dense(_labels(offsets, inflow, next_label))


@entry_point
def first_equal(left: I32, right: I32) -> I32:
    """Return for each pair the place of the first one that equals it."""
    n_slots = 16
    while n_slots < 2 * len(left):
        n_slots *= 2
    slots = np.full(n_slots, -1, np.int32)  # the first place of each pair
    found = np.empty(len(left), np.int32)
    for i in range(len(left)):
        slot = mix(int(left[i]) << 32, int(right[i]) & 0xFFFFFFFF) & (n_slots - 1)
        while slots[slot] >= 0:
            other = slots[slot]
            if left[other] == left[i] and right[other] == right[i]:
                break
            slot = (slot + 1) & (n_slots - 1)
        if slots[slot] < 0:
            slots[slot] = i
        found[i] = slots[slot]
    return found


@device_function
def _dense(label: I64) -> I32:
    """Return the labels renumbered from 1 on, as they come; 0 stays."""
    largest = 0
    for k in range(len(label)):
        largest = max(largest, label[k])
    name = np.zeros(largest + 1, np.int32)
    dense = np.zeros(len(label), np.int32)
    n = 0
    for k in range(len(label)):
        if label[k] > 0:
            if name[label[k]] == 0:
                n += 1
                name[label[k]] = n
            dense[k] = name[label[k]]
    return dense


@device_function
def _labels(offsets: I64, inflow: I64, next_label: int) -> I64:
    """Return the label of each component, numbers for sets from `next_label` on."""
    n_components = len(offsets) - 1
    label = np.zeros(n_components, np.int64)
    n_sets = 0
    for k in range(n_components):
        n_sets += offsets[k + 1] - offsets[k] > 1
    n_slots = 16
    while n_slots < 2 * n_sets:
        n_slots *= 2
    owner = np.full(n_slots, -1, np.int32)  # of each set: the first component that has it
    n_kept = np.zeros(n_components, np.int32)
    for k in range(n_components):
        first = offsets[k]
        n = _distinct(inflow, first, offsets[k + 1], label, k)
        n_kept[k] = n
        if n == 0:
            continue
        if n == 1:
            label[k] = inflow[first]
            continue
        slot = _hash(inflow, first, n) & (n_slots - 1)
        while owner[slot] >= 0:
            other = owner[slot]
            if n_kept[other] == n and _same(inflow, first, offsets[other], n):
                break
            slot = (slot + 1) & (n_slots - 1)
        if owner[slot] < 0:
            owner[slot] = k
            label[k] = next_label
            next_label += 1
        else:
            label[k] = label[owner[slot]]
    return label


@device_function
def _distinct(inflow: I64, first: int, end: int, label: I64, k: int) -> int:
    """Sort a component's labels in place, without 0 and repetitions; return how many there are."""
    at = first
    for i in range(first, end):
        value = inflow[i]
        if value < 0:
            source = ~value
            value = label[source] if source != k else 0
        if value > 0:
            inflow[at] = value
            at += 1
    if at - first < 2:
        return at - first
    if at - first <= SHORT:
        _insert(inflow, first, at)
    else:
        inflow[first:at].sort()
    kept = first
    for i in range(first + 1, at):
        if inflow[i] != inflow[kept]:
            kept += 1
            inflow[kept] = inflow[i]
    return kept + 1 - first


@device_function
def _insert(row: I64, first: int, end: int) -> None:
    """Sort a short part of a row."""
    for i in range(first + 1, end):
        value = row[i]
        j = i - 1
        while j >= first and row[j] > value:
            row[j + 1] = row[j]
            j -= 1
        row[j + 1] = value


@device_function
def _hash(inflow: I64, first: int, n: int) -> int:
    value = n
    for i in range(first, first + n):
        value = mix(value, inflow[i])
    return value


@device_function
def _same(inflow: I64, first: int, second: int, n: int) -> bool:
    for i in range(n):  # noqa: SIM110 - Numba compiles no generator expression
        if inflow[first + i] != inflow[second + i]:
            return False
    return True
