"""Dominance frontiers and their closure."""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I32, I64
from kleene.graphs.cpu.compiled import device_function, entry_point


@device_function
def _climb(offsets: I64, predecessors: I32, idom: I32, pre: I32, cursor: I64, values: I32) -> None:
    """Put each join into the frontier of every node above its predecessors, below its dominator.

    `cursor[v]` moves by one for each member of v's frontier; with `values` empty they are only
    counted. A climb ends at a node already climbed for this join, so no step is wasted.
    """
    climbed_for = np.full(len(idom), -1, np.int32)
    for join in range(len(idom)):
        if pre[join] < 0:
            continue
        for edge in range(offsets[join], offsets[join + 1]):
            node = predecessors[edge]
            if pre[node] < 0:
                continue
            while node != idom[join] and climbed_for[node] != join:
                climbed_for[node] = join
                if len(values) > 0:
                    values[cursor[node]] = join
                cursor[node] += 1
                node = idom[node]
                if node < 0:
                    break


@entry_point
def frontiers(offsets: I64, predecessors: I32, idom: I32, pre: I32) -> tuple[I64, I32]:
    """Return every node's dominance frontier by rising id; the graph comes reversed."""
    n_nodes = len(idom)
    counts = np.zeros(n_nodes, np.int64)
    _climb(offsets, predecessors, idom, pre, counts, np.empty(0, np.int32))
    starts = np.zeros(n_nodes + 1, np.int64)
    starts[1:] = np.cumsum(counts)
    values = np.empty(starts[n_nodes], np.int32)
    if len(values) > 0:
        _climb(offsets, predecessors, idom, pre, starts[:-1].copy(), values)
    return starts, values


@entry_point
def closures(offsets: I64, targets: I32, set_offsets: I64, members: I32) -> tuple[I64, I32]:
    """Return for each set the nodes that one or more edges lead to from it."""
    n_sets = len(set_offsets) - 1
    reached_by = np.full(len(offsets) - 1, -1, np.int64)
    starts = np.zeros(n_sets + 1, np.int64)
    values = np.empty(max(16, len(members)), np.int32)
    n_values = 0
    for row in range(n_sets):
        done = n_values  # values[done:n_values] is the work list, and stays as the answer
        next_member = set_offsets[row]
        while next_member < set_offsets[row + 1] or done < n_values:
            if next_member < set_offsets[row + 1]:
                node = members[next_member]
                next_member += 1
            else:
                node = values[done]
                done += 1
            for edge in range(offsets[node], offsets[node + 1]):
                target = targets[edge]
                if reached_by[target] != row:
                    reached_by[target] = row
                    if n_values == len(values):
                        values = np.concatenate((values, np.empty(n_values, np.int32)))
                    values[n_values] = target
                    n_values += 1
        starts[row + 1] = n_values
    return starts, values[:n_values].copy()
