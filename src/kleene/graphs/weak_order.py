"""Weak topological orders, which say how to iterate to a fixed point.

Bourdoncle, "Efficient chaotic iteration strategies with widenings", 1993: an order of the nodes
with nested components, each starting with its head, such that an edge either goes forward in the
order or goes to the head of a component around its source. Iterating each component until its head
is stable, inner ones first, and widening at heads only, ends in a fixed point.

The components here are the loops of `loop_forest`, and cost no more than it does: one pass instead
of one for each level of nesting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.graphs.graph import Graph, Ids, Nodes
from kleene.graphs.loops import LoopForest, loop_forest


@dataclass(frozen=True, slots=True, eq=False)
class WeakOrder:
    """A weak topological order of the nodes reached; all columns go by place in the order.

    Attributes:
        order: the nodes.
        head: the head of the smallest component around each place, -1 if none.
        depth: how many components are around each place.
        end: one past the last place of the component that starts at this place; the place itself
            if none starts there.
    """

    order: Ids
    head: Ids
    depth: Ids
    end: Ids

    @classmethod
    def from_loops(cls, loops: LoopForest) -> WeakOrder:
        """Return the order whose components are the given loops."""
        innermost = loops.innermost[loops.order]
        end = np.arange(len(loops.order), dtype=np.int32)
        end[loops.position[loops.header]] = loops.end
        outside = np.full(1, -1, dtype=np.int32)  # what loop -1 selects
        head = np.append(loops.header, outside)[innermost]
        depth = np.append(loops.depth, outside + 1)[innermost]
        return cls(loops.order, head, depth, end)

    def __str__(self) -> str:
        """Return the nodes in order with components in parentheses: `0 1 (2 3 (4 5) 6) 7`."""
        words: list[str] = []
        open_ends: list[int] = []
        for place, (node, end) in enumerate(
            zip(self.order.tolist(), self.end.tolist(), strict=True)
        ):
            if end > place:
                open_ends.append(end)
            word = f"({node}" if end > place else str(node)
            while open_ends and open_ends[-1] == place + 1:
                open_ends.pop()
                word += ")"
            words.append(word)
        return " ".join(words)


def weak_topological_order(graph: Graph, roots: Nodes = None) -> WeakOrder:
    """Return a weak topological order of the nodes reached from `roots` (None for node 0)."""
    return WeakOrder.from_loops(loop_forest(graph, roots))
