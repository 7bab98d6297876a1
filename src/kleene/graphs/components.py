"""Strongly connected components and the acyclic graph between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kleene.graphs.graph import Graph, Ids, Rows


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """The strongly connected components of `graph`, all nodes included.

    Ids are a topological order: an edge between two components goes from the smaller id to the
    larger one.

    Attributes:
        graph: the graph they were found in.
        component: each node's component.
        n_components: how many there are.
    """

    graph: Graph
    component: Ids
    n_components: int

    def members(self) -> Rows:
        """Return the nodes of each component, by rising id."""
        nodes = np.arange(self.graph.n_nodes, dtype=np.int32)
        return Rows.group(self.component, self.n_components, nodes)

    def is_cyclic(self) -> NDArray[np.bool_]:
        """Return for each component whether it holds a cycle: an edge inside it."""
        cyclic = np.bincount(self.component, minlength=self.n_components) > 1
        sources, targets = self.graph.edges()
        cyclic[self.component[sources[sources == targets]]] = True
        return cyclic

    def condensation(self) -> Graph:
        """Return the graph of components: acyclic, one edge where the graph has any."""
        sources, targets = self.graph.edges()
        ends = self.component[sources], self.component[targets]
        return Graph.from_edges(self.n_components, *ends).simple()


def strong_components(graph: Graph) -> Components:
    """Return the strongly connected components of the whole graph, in linear time.

    Tarjan, "Depth-first search and linear graph algorithms", 1972; Nuutila and Soisalon-Soininen,
    "On finding the strongly connected components in a directed graph", 1994.
    """
    from kleene.graphs.cpu import components as cpu

    return Components(graph, *cpu.components(graph.offsets, graph.targets))
