"""Graphs as arrays: orders, components, dominance, loops.

Importing this room costs NumPy only; the compiled loops are loaded on first use.
"""

from kleene.graphs.components import Components, strong_components
from kleene.graphs.dominance import (
    DominatorTree,
    dominance_frontiers,
    dominators,
    iterated_frontier,
    iterated_frontiers,
    post_dominators,
)
from kleene.graphs.graph import Graph, Rows
from kleene.graphs.loops import LoopForest, loop_entries, loop_forest
from kleene.graphs.order import DepthFirst, depth_first, reverse_postorder
from kleene.graphs.weak_order import WeakOrder, weak_topological_order

__all__ = [
    "Components",
    "DepthFirst",
    "DominatorTree",
    "Graph",
    "LoopForest",
    "Rows",
    "WeakOrder",
    "depth_first",
    "dominance_frontiers",
    "dominators",
    "iterated_frontier",
    "iterated_frontiers",
    "loop_entries",
    "loop_forest",
    "post_dominators",
    "reverse_postorder",
    "strong_components",
    "weak_topological_order",
]
