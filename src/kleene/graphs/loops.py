"""The loop forest of any graph, irreducible ones included.

**Definition.** Fix a depth-first search from the roots. A loop is a strongly connected component
that has an edge inside it; its *header* is its node entered first by the search. The loops inside
it are those of what remains when the header is taken out, with the same search, and so on. Every
node thus heads at most one loop, and a loop is determined by its header. On reducible graphs these
are the natural loops, and no choice of search matters; on others the loops depend on it.

Found in almost linear time as in Ramalingam, "Identifying loops in almost linear time", 1999
(the corrected form of Havlak's algorithm); see `cpu/loops.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kleene.graphs.graph import Graph, Ids, Nodes, Rows
from kleene.graphs.order import depth_first


@dataclass(frozen=True, slots=True, eq=False)
class LoopForest:
    """The loops around the nodes reached from the roots, outer loops before inner ones.

    Attributes:
        order: the nodes reached; each loop is a contiguous part of it that starts at its header.
        position: each node's place in `order`, -1 if unreached.
        innermost: the smallest loop around each node (a header's own loop), -1 if none.
        header: each loop's header.
        parent: the smallest loop around each loop, -1 if none.
        depth: how many loops are around each loop, itself included.
        end: one past each loop's last place in `order`.
        irreducible: whether each loop can be entered at more than one node.
    """

    order: Ids
    position: Ids
    innermost: Ids
    header: Ids
    parent: Ids
    depth: Ids
    end: Ids
    irreducible: NDArray[np.bool_]

    @property
    def n_loops(self) -> int:
        """How many loops there are."""
        return len(self.header)

    def contains(self, loop: int, node: int) -> bool:
        """Return whether `node` is in `loop` or in a loop inside it, in constant time."""
        return bool(self.position[self.header[loop]] <= self.position[node] < self.end[loop])

    def members(self, loop: int) -> Ids:
        """Return the nodes in `loop` and in the loops inside it, the header first: a view."""
        return self.order[self.position[self.header[loop]] : self.end[loop]]


def loop_forest(graph: Graph, roots: Nodes = None) -> LoopForest:
    """Return the loops around the nodes reached from `roots` (one, several, None for node 0).

    To see the loops of a whole graph that has no entry, pass every node as a root; each is then
    an entry of the loops around it.
    """
    from kleene.graphs.cpu import loops as cpu

    starts = graph.roots(roots)
    search = depth_first(graph, starts)
    order, position, innermost, header, parent, depth, end = cpu.loops(
        graph.offsets,
        graph.targets,
        search.preorder,
        search.postorder,
        search.pre,
        search.post,
        search.parent,
    )
    irreducible = cpu.irreducible(
        graph.offsets, graph.targets, starts, order, position, innermost, header, parent, end
    )
    return LoopForest(order, position, innermost, header, parent, depth, end, irreducible)


def loop_entries(graph: Graph, loops: LoopForest, roots: Nodes = None) -> Rows:
    """Return the nodes at which each loop can be entered, the header first.

    These are the nodes with an edge from outside the loop, and the roots, which must be those the
    forest was made with. The cost is the number of edges plus the size of the answer: one entry a
    loop in reducible graphs, up to `n_loops` times `n_nodes` in all in others.
    """
    from kleene.graphs.cpu import loops as cpu

    pairs = cpu.entries(
        graph.offsets,
        graph.targets,
        graph.roots(roots),
        loops.order,
        loops.position,
        loops.innermost,
        loops.header,
        loops.parent,
        loops.end,
    )
    return Rows.group(pairs[0], loops.n_loops, pairs[1])
