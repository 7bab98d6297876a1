"""The loop forest, in the order that is also the weak topological order.

Tarjan's bottom-up collapsing, with Ramalingam's correction for irreducible graphs. Headers are
taken from the last one entered by the depth-first search to the first. The loop of `h` is what can
go back to `h` inside h's search subtree; inner loops have been shrunk to their headers by then.
An edge lies inside the subtree of `h` if and only if both its ends do, that is from the nearest
common ancestor of its ends upwards: there it is put on the list of edges to its (shrunk) target.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32, I64
from kleene.graphs.cpu.compiled import device_function, entry_point


@device_function
def _find(leader: I32, node: int) -> int:
    """Return the last leader above `node`, halving the path to it."""
    while leader[node] != node:
        leader[node] = leader[leader[node]]
        node = leader[node]
    return node


@device_function
def _meetings(
    offsets: I64, targets: I32, postorder: I32, pre: I32, post: I32, parent: I32
) -> tuple[I64, I64, I64, I32]:
    """Return the edges listed by where they matter, as linked lists, and their sources.

    That is `back` (first edge back to each node), `meeting` (first other edge whose ends have this
    nearest common ancestor; `n_nodes` for edges between two trees) and `following`.
    """
    n_nodes = len(offsets) - 1
    back = np.full(n_nodes, -1, np.int64)
    meeting = np.full(n_nodes + 1, -1, np.int64)
    following = np.empty(len(targets), np.int64)
    sources = np.empty(len(targets), np.int32)
    left_to = np.arange(n_nodes + 1).astype(np.int32)  # a node joins its parent once it is left
    for node in postorder:
        for edge in range(offsets[node], offsets[node + 1]):
            target = targets[edge]
            sources[edge] = node
            if pre[target] <= pre[node] and post[target] >= post[node]:
                following[edge] = back[target]
                back[target] = edge
            else:
                ancestor = _find(left_to, target)
                following[edge] = meeting[ancestor]
                meeting[ancestor] = edge
        left_to[node] = parent[node] if parent[node] >= 0 else n_nodes
    return back, meeting, following, sources


@device_function
def _collapse(
    targets: I32, preorder: I32, back: I64, meeting: I64, following: I64, sources: I32
) -> I32:
    """Return the header of the smallest loop around each node, for a header its parent's."""
    n_nodes = len(back)
    outer = np.full(n_nodes, -1, np.int32)
    shrunk_to = np.arange(n_nodes).astype(np.int32)
    incoming = np.full(n_nodes, -1, np.int64)
    in_loop_of = np.full(n_nodes, -1, np.int32)
    body = np.empty(n_nodes, np.int32)
    for header in preorder[::-1]:
        edge = meeting[header]
        while edge >= 0:
            after = following[edge]
            target = _find(shrunk_to, targets[edge])
            following[edge] = incoming[target]
            incoming[target] = edge
            edge = after
        in_loop_of[header] = header
        n_body = 0
        place = -1  # -1: the edges back to the header, then those to each node of the body
        while place < n_body:
            edge = back[header] if place < 0 else incoming[body[place]]
            while edge >= 0:
                source = _find(shrunk_to, sources[edge])
                if in_loop_of[source] != header:
                    in_loop_of[source] = header
                    body[n_body] = source
                    n_body += 1
                edge = following[edge]
            place += 1
        for place in range(n_body):
            outer[body[place]] = header
            shrunk_to[body[place]] = header
    return outer


@device_function
def _arrange(
    preorder: I32, postorder: I32, back: I64, outer: I32
) -> tuple[I32, I32, I32, I32, I32, I32, I32]:
    """Return order, position and innermost loop of nodes; header, parent, depth, end of loops.

    Each loop is contiguous and starts with its header; inside a loop, reverse postorder of the
    headers puts every node and inner loop after those with an edge to it (docs: weak order).
    """
    n_nodes = len(outer)
    size = np.ones(n_nodes, np.int32)
    n_loops = 0
    for node in preorder[::-1]:
        if outer[node] >= 0:
            size[outer[node]] += size[node]
        if back[node] >= 0:
            n_loops += 1
    order = np.empty(len(preorder), np.int32)
    position = np.full(n_nodes, -1, np.int32)
    free = np.zeros(n_nodes + 1, np.int32)  # next place inside each loop; [-1]: outside of all
    for node in postorder[::-1]:
        place = free[outer[node]]
        free[outer[node]] += size[node]
        free[node] = place + 1
        position[node] = place
        order[place] = node
    innermost = np.full(n_nodes, -1, np.int32)
    header = np.empty(n_loops, np.int32)
    parent = np.empty(n_loops, np.int32)
    depth = np.empty(n_loops, np.int32)
    end = np.empty(n_loops, np.int32)
    loop = 0
    for place in range(len(order)):
        node = order[place]
        around = innermost[outer[node]] if outer[node] >= 0 else -1
        innermost[node] = around
        if back[node] >= 0:
            innermost[node] = loop
            header[loop] = node
            parent[loop] = around
            depth[loop] = depth[around] + 1 if around >= 0 else 1
            end[loop] = place + size[node]
            loop += 1
    return order, position, innermost, header, parent, depth, end


@entry_point
def loops(
    offsets: I64, targets: I32, preorder: I32, postorder: I32, pre: I32, post: I32, parent: I32
) -> tuple[I32, I32, I32, I32, I32, I32, I32]:
    """Return the loop forest of the nodes in a depth-first search (see `_arrange`)."""
    back, meeting, following, sources = _meetings(offsets, targets, postorder, pre, post, parent)
    outer = _collapse(targets, preorder, back, meeting, following, sources)
    return _arrange(preorder, postorder, back, outer)


@device_function
def _mark(loop: int, place: int, start: I32, end: I32, parent: I32, unmarked: I32) -> None:
    """Mark the loops from `loop` outwards that do not hold `place`.

    `unmarked` leads each loop to the next one not marked, itself if it is not. Marked loops are
    skipped: if one of them holds `place`, so do all loops around it.
    """
    loop = _find(unmarked, loop)
    while loop < len(parent) and not start[loop] <= place < end[loop]:
        unmarked[loop] = parent[loop] if parent[loop] >= 0 else len(parent)
        loop = _find(unmarked, loop)


@entry_point
def irreducible(
    offsets: I64, targets: I32, roots: I32, order: I32, position: I32, innermost: I32,
    header: I32, parent: I32, end: I32,
) -> NDArray[np.bool_]:  # fmt: skip
    """Return for each loop whether it can be entered elsewhere than at its header."""
    outside = len(header)
    start = position[header]
    around = np.full(len(position), outside, np.int32)  # the smallest loop a node does not head
    for node in order:
        loop = innermost[node]
        if loop >= 0 and header[loop] == node:
            loop = parent[loop]
        if loop >= 0:
            around[node] = loop
    unmarked = np.arange(outside + 1).astype(np.int32)
    for root in roots:
        _mark(around[root], -1, start, end, parent, unmarked)
    for place in range(len(order)):
        for edge in range(offsets[order[place]], offsets[order[place] + 1]):
            _mark(around[targets[edge]], place, start, end, parent, unmarked)
    marked: NDArray[np.bool_] = unmarked[:outside] != np.arange(outside)
    return marked


@device_function
def _not_entered(loop: int, place: int, start: I32, end: I32, parent: I32) -> int:
    """Return the smallest loop from `loop` outwards that an edge from `place` does not enter."""
    while loop >= 0 and not start[loop] <= place < end[loop]:
        loop = parent[loop]
    return loop


@entry_point
def entries(
    offsets: I64, targets: I32, roots: I32, order: I32, position: I32, innermost: I32,
    header: I32, parent: I32, end: I32,
) -> tuple[I32, I32]:  # fmt: skip
    """Return pairs (loop, node): the node is a root, or an edge from outside the loop ends there.

    The pairs come in the nodes' order. The cost is one step an edge and two a pair.
    """
    start = position[header]
    kept = innermost.copy()  # the smallest loop around each node that is not entered there
    for root in roots:
        kept[root] = -1
    for place in range(len(order)):
        for edge in range(offsets[order[place]], offsets[order[place] + 1]):
            target = targets[edge]
            kept[target] = _not_entered(kept[target], place, start, end, parent)
    n_pairs = 0
    for node in order:
        loop = innermost[node]
        while loop != kept[node]:
            n_pairs += 1
            loop = parent[loop]
    loops_entered = np.empty(n_pairs, np.int32)
    nodes = np.empty(n_pairs, np.int32)
    n_pairs = 0
    for node in order:
        loop = innermost[node]
        while loop != kept[node]:
            loops_entered[n_pairs] = loop
            nodes[n_pairs] = node
            n_pairs += 1
            loop = parent[loop]
    return loops_entered, nodes
