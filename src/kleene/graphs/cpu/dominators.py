"""Immediate dominators by Lengauer and Tarjan's algorithm, and the numbers of their tree.

Inside, nodes go by rank: rank 0 is a virtual root with an edge to every root, and the node entered
`i`-th by the depth-first search has rank `i + 1`. An ancestor's rank is the smaller one.
"""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I32, I64
from kleene.graphs.cpu.compiled import device_function, entry_point


@device_function
def _predecessors(
    offsets: I64, targets: I32, roots: I32, preorder: I32, pre: I32
) -> tuple[I64, I32]:
    """Return for each rank the ranks with an edge to it."""
    n_ranks = len(preorder) + 1
    starts = np.zeros(n_ranks + 1, np.int64)
    for root in roots:
        starts[pre[root] + 2] += 1
    for node in preorder:
        for edge in range(offsets[node], offsets[node + 1]):
            starts[pre[targets[edge]] + 2] += 1
    for rank in range(n_ranks):
        starts[rank + 1] += starts[rank]
    cursor = starts[:-1].copy()
    ranks = np.empty(starts[n_ranks], np.int32)
    for root in roots:
        ranks[cursor[pre[root] + 1]] = 0
        cursor[pre[root] + 1] += 1
    for node in preorder:
        for edge in range(offsets[node], offsets[node + 1]):
            target = pre[targets[edge]] + 1
            ranks[cursor[target]] = pre[node] + 1
            cursor[target] += 1
    return starts, ranks


@device_function
def _best(rank: int, linked: int, ancestor: I32, label: I32, semi: I32, path: I32) -> int:
    """Return the rank with the least semidominator on the linked path above `rank`.

    Ranks from `linked` on are linked to their tree parents. The path is compressed: afterwards
    each rank on it points to the first unlinked one and remembers the best it has skipped.
    """
    if rank < linked:
        return rank
    n_path = 0
    top = rank
    while ancestor[top] >= linked:
        path[n_path] = top
        n_path += 1
        top = ancestor[top]
    best: int = label[top]
    for place in range(n_path - 1, -1, -1):
        below = path[place]
        if semi[label[below]] <= semi[best]:
            best = label[below]
        label[below] = best
        ancestor[below] = ancestor[top]
    return best


@device_function
def _immediate(starts: I64, predecessors: I32, parent: I32) -> I32:
    """Return each rank's immediate dominator; `parent` is the search tree, and is used up."""
    n_ranks = len(parent)
    ancestor = parent
    semi = np.arange(n_ranks).astype(np.int32)
    label = semi.copy()
    dominator = np.zeros(n_ranks, np.int32)
    bucket = np.zeros(n_ranks, np.int32)  # first rank with this semidominator, 0 for none
    bucket_next = np.zeros(n_ranks, np.int32)
    path = np.empty(n_ranks, np.int32)
    for rank in range(n_ranks - 1, 0, -1):
        above = ancestor[rank]
        for place in range(starts[rank], starts[rank + 1]):
            best = _best(predecessors[place], rank + 1, ancestor, label, semi, path)
            semi[rank] = min(semi[rank], semi[best])
        bucket_next[rank] = bucket[semi[rank]]
        bucket[semi[rank]] = rank
        waiting = bucket[above]
        while waiting > 0:
            best = _best(waiting, rank, ancestor, label, semi, path)
            dominator[waiting] = best if semi[best] < semi[waiting] else above
            waiting = bucket_next[waiting]
        bucket[above] = 0
    for rank in range(1, n_ranks):
        if dominator[rank] != semi[rank]:
            dominator[rank] = dominator[dominator[rank]]
    return dominator


@device_function
def _tree(dominator: I32, preorder: I32, n_nodes: int) -> tuple[I32, I32, I32, I32, I32]:
    """Return by node: immediate dominator, tree preorder, number, last number below, depth."""
    n_ranks = len(dominator)
    size = np.ones(n_ranks, np.int32)
    for rank in range(n_ranks - 1, 0, -1):
        size[dominator[rank]] += size[rank]
    free = np.zeros(n_ranks, np.int32)  # the next number to give out below each rank
    depth_of = np.full(n_ranks, -1, np.int32)
    idom = np.full(n_nodes, -1, np.int32)
    order = np.empty(n_ranks - 1, np.int32)
    pre = np.full(n_nodes, -1, np.int32)
    last = np.full(n_nodes, -2, np.int32)  # below -1: the interval of an unreached node is empty
    depth = np.full(n_nodes, -1, np.int32)
    for rank in range(1, n_ranks):  # dominators have smaller ranks: they are numbered already
        node = preorder[rank - 1]
        above = dominator[rank]
        number = free[above]
        free[above] += size[rank]
        free[rank] = number + 1
        depth_of[rank] = depth_of[above] + 1
        if above > 0:
            idom[node] = preorder[above - 1]
        order[number] = node
        pre[node] = number
        last[node] = number + size[rank] - 1
        depth[node] = depth_of[rank]
    return idom, order, pre, last, depth


@entry_point
def dominators(
    offsets: I64, targets: I32, roots: I32, preorder: I32, pre: I32, parent: I32
) -> tuple[I32, I32, I32, I32, I32]:
    """Return the dominator tree of the nodes in `preorder`, a depth-first search from `roots`."""
    ranks = np.zeros(len(preorder) + 1, np.int32)
    for place in range(len(preorder)):
        above = parent[preorder[place]]
        ranks[place + 1] = pre[above] + 1 if above >= 0 else 0
    starts, predecessors = _predecessors(offsets, targets, roots, preorder, pre)
    return _tree(_immediate(starts, predecessors, ranks), preorder, len(offsets) - 1)
