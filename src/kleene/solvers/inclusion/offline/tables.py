"""Rows grouped by a column, without repetitions: counting sorts, compiled."""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I32, I64
from kleene.solvers.inclusion.compiled import entry_point


@entry_point
def grouped(n_groups: int, group: I32) -> tuple[I64, I32]:
    """Return where each group's rows begin, and the rows by group; below 0 is no group."""
    offsets = np.zeros(n_groups + 1, np.int64)
    for row in range(len(group)):
        if group[row] >= 0:
            offsets[group[row] + 1] += 1
    for k in range(n_groups):
        offsets[k + 1] += offsets[k]
    place = offsets[:-1].copy()
    rows = np.empty(offsets[n_groups], np.int32)
    for row in range(len(group)):
        k = group[row]
        if k >= 0:
            rows[place[k]] = row
            place[k] += 1
    return offsets, rows


@entry_point
def renamed(n_names: int, name: I32, key: I32, other: I32, third: I32) -> tuple[I32, I32, I32]:
    """Return the distinct rows of renamed nodes by key, without those that name nothing.

    The third column keeps its values; it may be empty, and then rows are pairs.
    """
    has_third = len(third) > 0
    start = np.zeros(n_names + 1, np.int64)
    for row in range(len(key)):
        if name[key[row]] != 0 and name[other[row]] != 0:
            start[name[key[row]] + 1] += 1
    for k in range(n_names):
        start[k + 1] += start[k]
    place = start[:-1].copy()
    n_rows = start[n_names]
    others = np.empty(n_rows, np.int32)
    thirds = np.empty(n_rows if has_third else 0, np.int32)
    for row in range(len(key)):
        k, o = name[key[row]], name[other[row]]
        if k != 0 and o != 0:
            others[place[k]] = o
            if has_third:
                thirds[place[k]] = third[row]
            place[k] += 1
    keys = np.empty(n_rows, np.int32)
    last = np.full(n_names, -1, np.int64)  # per node: where it was kept last
    previous = np.empty(n_rows if has_third else 0, np.int64)  # where the same node was before
    at = 0
    for k in range(n_names):
        first = at
        for row in range(start[k], start[k + 1]):
            o = others[row]
            before = last[o]
            while has_third and before >= first and thirds[before] != thirds[row]:
                before = previous[before]
            if before >= first:
                continue
            keys[at] = k
            others[at] = o
            if has_third:
                thirds[at] = thirds[row]
                previous[at] = last[o]
            last[o] = at
            at += 1
    return keys[:at].copy(), others[:at].copy(), thirds[: at if has_third else 0].copy()
