"""Depth-first search."""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I32, I64
from kleene.graphs.cpu.compiled import entry_point


@entry_point
def depth_first(offsets: I64, targets: I32, roots: I32) -> tuple[I32, I32, I32, I32, I32]:
    """Return preorder, postorder, both inverses (-1: unreached), and the tree parents."""
    n_nodes = len(offsets) - 1
    preorder = np.empty(n_nodes, np.int32)
    postorder = np.empty(n_nodes, np.int32)
    pre = np.full(n_nodes, -1, np.int32)
    post = np.full(n_nodes, -1, np.int32)
    parent = np.full(n_nodes, -1, np.int32)
    next_edge = offsets[:-1].copy()
    n_seen = 0
    n_done = 0
    for root in roots:
        if pre[root] >= 0:
            continue
        pre[root] = n_seen
        preorder[n_seen] = root
        n_seen += 1
        node = root
        while node >= 0:  # the tree path to `node`, by `parent`, is the stack
            edge = next_edge[node]
            end = offsets[node + 1]
            while edge < end and pre[targets[edge]] >= 0:
                edge += 1
            if edge < end:
                next_edge[node] = edge + 1
                target = targets[edge]
                pre[target] = n_seen
                preorder[n_seen] = target
                n_seen += 1
                parent[target] = node
                node = target
            else:
                post[node] = n_done
                postorder[n_done] = node
                n_done += 1
                node = parent[node]
    return preorder[:n_seen], postorder[:n_done], pre, post, parent
