"""Strongly connected components."""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I32, I64
from kleene.graphs.cpu.compiled import entry_point


@entry_point
def components(offsets: I64, targets: I32) -> tuple[I32, int]:
    """Return each node's component and their number; ids rise along edges.

    Tarjan's algorithm with Nuutila's saving: only nodes that are no component's root are stacked.
    A finished node's `low` is out of reach, so that edges to it change nothing.
    """
    n_nodes = len(offsets) - 1
    finished = n_nodes + 1
    low = np.zeros(n_nodes, np.int32)  # 0: not seen yet
    seen_at = np.zeros(n_nodes, np.int32)
    component = np.empty(n_nodes, np.int32)
    parent = np.full(n_nodes, -1, np.int32)
    next_edge = offsets[:-1].copy()
    stack = np.empty(n_nodes, np.int32)
    n_stacked = 0
    n_seen = 0
    n_components = 0
    for root in range(n_nodes):
        if low[root] > 0:
            continue
        n_seen += 1
        low[root] = seen_at[root] = n_seen
        node = root
        while node >= 0:
            if next_edge[node] < offsets[node + 1]:
                target = targets[next_edge[node]]
                next_edge[node] += 1
                if low[target] == 0:
                    n_seen += 1
                    low[target] = seen_at[target] = n_seen
                    parent[target] = node
                    node = target
                else:
                    low[node] = min(low[node], low[target])
                continue
            above = parent[node]
            if low[node] < seen_at[node]:
                stack[n_stacked] = node
                n_stacked += 1
                low[above] = min(low[above], low[node])  # a tree's root cannot get here
            else:
                while n_stacked > 0 and seen_at[stack[n_stacked - 1]] > seen_at[node]:
                    n_stacked -= 1
                    component[stack[n_stacked]] = n_components
                    low[stack[n_stacked]] = finished
                component[node] = n_components
                low[node] = finished
                n_components += 1
            node = above
    for node in range(n_nodes):  # sinks were finished first: turn the numbers round
        component[node] = n_components - 1 - component[node]
    return component, n_components
