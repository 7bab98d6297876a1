"""Dominators, post-dominators and dominance frontiers.

`a` dominates `b` if every path from a root to `b` goes through `a`. With several roots, think of a
virtual node with an edge to each: it is above all others, and shows as the dominator -1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.graphs.components import strong_components
from kleene.graphs.graph import Graph, Ids, Nodes, Rows, nodes_in
from kleene.graphs.order import depth_first


@dataclass(frozen=True, slots=True, eq=False)
class DominatorTree:
    """The dominator tree of the nodes reached, in fact a forest: its top nodes have no dominator.

    Attributes:
        idom: each node's immediate dominator, -1 for top and unreached nodes.
        preorder: the nodes reached, each before those it dominates, subtree by subtree.
        pre: each node's place in `preorder`, -1 if unreached.
        last: the last place of each node's subtree in `preorder`, -2 if unreached.
        depth: how many nodes strictly dominate each node, -1 if unreached.
    """

    idom: Ids
    preorder: Ids
    pre: Ids
    last: Ids
    depth: Ids

    def dominates(self, above: int, below: int) -> bool:
        """Return whether `above` dominates `below`, in constant time.

        A reached node dominates itself; an unreached one dominates nothing, and nothing it.
        """
        return bool(self.pre[above] <= self.pre[below] <= self.last[above])

    def strictly_dominates(self, above: int, below: int) -> bool:
        """Return whether `above` dominates `below` and is another node."""
        return above != below and self.dominates(above, below)

    def subtree(self, node: int) -> Ids:
        """Return the nodes that `node` dominates, itself first; none if it is unreached."""
        return self.preorder[self.pre[node] : self.last[node] + 1]

    def children(self) -> Graph:
        """Return the tree as a graph with an edge from each immediate dominator."""
        nodes = self.preorder[self.idom[self.preorder] >= 0]
        return Graph.from_edges(len(self.idom), self.idom[nodes], nodes)


def dominators(graph: Graph, roots: Nodes = None) -> DominatorTree:
    """Return the dominator tree from `roots` (one node, several, or None for node 0).

    Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph", 1979, the
    version with path compression: `O(m log n)` on every graph, linear on all we have measured.
    """
    from kleene.graphs.cpu import dominators as cpu

    starts = graph.roots(roots)
    search = depth_first(graph, starts)
    return DominatorTree(
        *cpu.dominators(
            graph.offsets, graph.targets, starts, search.preorder, search.pre, search.parent
        )
    )


def post_dominators(graph: Graph, exits: Nodes = None) -> DominatorTree:
    """Return the dominator tree of the reversed graph, from its exits.

    `a` post-dominates `b` if every path from `b` to an exit goes through `a`. No node is left out:
    a part of the graph that can be entered but not left, and holds no exit (an endless loop),
    counts its node with the smallest id as one more exit.

    Args:
        graph: the graph, in its own direction.
        exits: one node or several; None for every node without successors.
    """
    ends = np.flatnonzero(np.diff(graph.offsets) == 0) if exits is None else graph.roots(exits)
    return dominators(graph.reverse(), np.concatenate([ends, _traps(graph, ends)]))


def _traps(graph: Graph, ends: NDArray[np.integer]) -> Ids:
    """Return the smallest node of each component that no edge leaves and that holds no end."""
    found = strong_components(graph)
    is_trap = np.ones(found.n_components, dtype=np.bool_)
    sources, targets = (found.component[nodes] for nodes in graph.edges())
    is_trap[sources[sources != targets]] = False
    is_trap[found.component[ends]] = False
    nodes = np.flatnonzero(is_trap[found.component]).astype(np.int32)
    return nodes[np.unique(found.component[nodes], return_index=True)[1]]


def dominance_frontiers(graph: Graph, tree: DominatorTree) -> Graph:
    """Return the graph in which the successors of `v` are its dominance frontier, by rising id.

    `w` is in the frontier of `v` if `v` dominates a predecessor of `w` but not strictly `w`. For
    frontiers of post-dominance (control dependence) pass the reversed graph and its tree.

    The cost is the number of edges plus the size of the answer, which nested loops can drive to
    `n_nodes` squared. Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", 2001.
    """
    from kleene.graphs.cpu import frontiers as cpu

    back = graph.reverse()
    return Graph(*cpu.frontiers(back.offsets, back.targets, tree.idom, tree.pre))


def iterated_frontier(frontiers: Graph, nodes: ArrayLike) -> Ids:
    """Return the iterated dominance frontier of `nodes`, by rising id: where SSA puts phis."""
    return iterated_frontiers(frontiers, Rows.from_lists([nodes]))[0]


def iterated_frontiers(frontiers: Graph, sets: Rows) -> Rows:
    """Return the iterated dominance frontier of each set of nodes, by rising id.

    That is the least set that holds the frontiers of the given nodes and of its own. The cost is
    that of the frontiers visited, set by set.
    """
    from kleene.graphs.cpu import frontiers as cpu

    members = nodes_in(frontiers.n_nodes, sets.values)
    found = Rows(*cpu.closures(frontiers.offsets, frontiers.targets, sets.offsets, members))
    rows = np.repeat(np.arange(len(sets), dtype=np.int32), found.lengths())
    by_node = Rows.group(found.values, frontiers.n_nodes, rows)
    nodes = np.arange(frontiers.n_nodes, dtype=np.int32)
    return Rows.group(by_node.values, len(sets), np.repeat(nodes, by_node.lengths()))
