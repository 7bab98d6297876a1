"""Systems of equations `x[v] = F[v](x)`, and those of a control-flow graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from kleene.base.arrays import csr
from kleene.graphs import Graph

if TYPE_CHECKING:  # a domain of the caller's own needs none of ours
    from kleene.algebra import Widening

D = TypeVar("D", bound="Widening")


class Equations(Protocol[D]):
    """One equation for each node of a graph.

    Attributes:
        graph: has an edge `u → v` wherever the right-hand side of `v` reads the value of `u`.
        roots: the nodes whose right-hand side is not bottom where all values are.
        bottom: the least value.
    """

    @property
    def graph(self) -> Graph:
        """Who is read by whom."""

    @property
    def roots(self) -> Sequence[int]:
        """Where values come from."""

    @property
    def bottom(self) -> D:
        """The least value."""

    def evaluate(self, node: int, values: Sequence[D]) -> D:
        """Return the right-hand side of a node's equation for the given values, monotonically."""


class Flow(Protocol[D]):
    """What the nodes and edges of a control-flow graph do to a value; asked for no bottom."""

    def after(self, node: int, before: D) -> D:
        """Return what holds after a node, if `before` holds before it."""

    def along(self, edge: int, after: D) -> D:
        """Return what holds behind an edge, such as a branch's condition; often `after` itself.

        An edge is its place in the graph's `targets`.
        """


class Forward(Generic[D]):
    """The equations of a forward analysis: the value of a node is what holds before it.

        x[v] = entry[v] ⊔ ⨆ { along(e, after(u, x[u])) : e is an edge u → v }

    A backward analysis is a forward one of `graph.reverse()`.
    """

    def __init__(self, graph: Graph, flow: Flow[D], entry: Mapping[int, D], bottom: D) -> None:
        self.graph = graph
        self.roots = sorted(entry)
        self.bottom = bottom
        self._flow = flow
        self._entry = entry
        self._incoming = incoming_edges(graph)
        self._after: list[tuple[D, D] | None] = [None] * graph.n_nodes

    def evaluate(self, node: int, values: Sequence[D]) -> D:
        """Return what flows into a node."""
        found = self._entry.get(node, self.bottom)
        for source, edge in self._incoming[node]:
            before = values[source]
            if not before.is_bottom():
                flowing = self._flow.along(edge, self._after_of(source, before))
                found = flowing if found.is_bottom() else found.join(flowing)
        return found

    def _after_of(self, node: int, before: D) -> D:
        """Return what holds after a node; the last answer is kept, for its other edges."""
        kept = self._after[node]
        if kept is None or kept[0] is not before:
            kept = self._after[node] = (before, self._flow.after(node, before))
        return kept[1]


def incoming_edges(graph: Graph) -> list[list[tuple[int, int]]]:
    """Return for each node the sources and numbers of the edges that lead to it."""
    sources, targets = graph.edges()
    offsets, order = csr(targets, graph.n_nodes)
    edges = range(graph.n_edges) if order is None else order.tolist()
    pairs = [(int(sources[edge]), edge) for edge in edges]
    bounds = offsets.tolist()
    return [pairs[bounds[v] : bounds[v + 1]] for v in range(graph.n_nodes)]
