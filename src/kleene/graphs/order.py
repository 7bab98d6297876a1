"""Depth-first numbers and reverse postorder.

Roots are searched in the order given and successors in the order stored, so that equal graphs get
equal numbers. A node that no root reaches has number -1 and is absent from every order.
"""

from __future__ import annotations

from dataclasses import dataclass

from kleene.graphs.graph import Graph, Ids, Nodes


@dataclass(frozen=True, slots=True, eq=False)
class DepthFirst:
    """A depth-first forest.

    Attributes:
        preorder: the nodes reached, as they were entered.
        postorder: the nodes reached, as they were left.
        pre: each node's place in `preorder`, -1 if unreached.
        post: each node's place in `postorder`, -1 if unreached.
        parent: the node each was entered from, -1 for roots and unreached nodes.
    """

    preorder: Ids
    postorder: Ids
    pre: Ids
    post: Ids
    parent: Ids

    @property
    def reverse_postorder(self) -> Ids:
        """The nodes reached, each before its successors except along back edges."""
        return self.postorder[::-1]

    def is_ancestor(self, above: int, below: int) -> bool:
        """Return whether `above` is on the tree path to `below` (both reached), ends included."""
        entered = 0 <= self.pre[above] <= self.pre[below]
        return bool(entered and self.post[below] <= self.post[above])


def depth_first(graph: Graph, roots: Nodes = None) -> DepthFirst:
    """Return the depth-first forest from `roots` (one node, several, or None for node 0)."""
    from kleene.graphs.cpu import depth_first as cpu

    return DepthFirst(*cpu.depth_first(graph.offsets, graph.targets, graph.roots(roots)))


def reverse_postorder(graph: Graph, roots: Nodes = None) -> Ids:
    """Return the nodes reached from `roots`, each before its successors except on back edges.

    With several roots, the tree of a later root comes before that of an earlier one.
    """
    return depth_first(graph, roots).reverse_postorder
