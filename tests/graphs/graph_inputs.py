"""Graphs to test on: any small one by Hypothesis, bigger ones by seed, and a few with a name."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from kleene.graphs import Graph

N_DEEP = 100_000


@st.composite
def graphs(draw: st.DrawFn, min_nodes: int = 1, max_nodes: int = 9) -> Graph:
    """Any graph: self loops, repeated edges, unreachable parts, irreducible loops."""
    n_nodes = draw(st.integers(min_nodes, max_nodes))
    if n_nodes == 0:
        return Graph.from_edges(0, [], [])
    node = st.integers(0, n_nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=3 * n_nodes))
    return graph_of(n_nodes, edges)


def graph_of(n_nodes: int, edges: list[tuple[int, int]]) -> Graph:
    columns = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return Graph.from_edges(n_nodes, columns[:, 0], columns[:, 1])


def random_graph(seed: int, n_nodes: int = 60, n_edges: int = 100) -> Graph:
    """A connected-looking graph with many loops: a random tree from node 0, and random edges."""
    rng = np.random.default_rng(seed)
    above = [int(rng.integers(0, node)) for node in range(1, n_nodes)]
    extra = rng.integers(0, n_nodes, size=(n_edges - n_nodes, 2))
    sources = np.concatenate([above, extra[:, 0]])
    targets = np.concatenate([np.arange(1, n_nodes), extra[:, 1]])
    shuffled = rng.permutation(len(sources))
    return Graph.from_edges(n_nodes, sources[shuffled], targets[shuffled])


def chain(n_nodes: int = N_DEEP) -> Graph:
    """0 -> 1 -> 2 -> ..., deep enough to break any recursion."""
    return Graph.from_edges(n_nodes, np.arange(n_nodes - 1), np.arange(1, n_nodes))


def ring(n_nodes: int = N_DEEP) -> Graph:
    nodes = np.arange(n_nodes)
    return Graph.from_edges(n_nodes, nodes, np.roll(nodes, -1))


def nest(depth: int) -> Graph:
    """Loops one in the other: d -> d + 1 all the way, and back from 2 * depth - 1 - d to d."""
    path = np.arange(2 * depth - 1)
    heads = np.arange(depth)
    sources = np.concatenate([path, 2 * depth - 1 - heads])
    targets = np.concatenate([path + 1, heads])
    return Graph.from_edges(2 * depth, sources, targets)


SEEDS = range(30)
TWO_DOORS = graph_of(3, [(0, 1), (0, 2), (1, 2), (2, 1)])  # the smallest irreducible graph


def networkx_of(graph: Graph) -> nx.DiGraph:
    sources, targets = graph.edges()
    other = nx.DiGraph()
    other.add_nodes_from(range(graph.n_nodes))
    other.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    return other


def reachable(graph: Graph, roots: list[int], without: int = -1) -> set[int]:
    """The nodes some path from a root leads to that avoids the node `without`."""
    seen: set[int] = set()
    work = [root for root in roots if root != without]
    while work:
        node = work.pop()
        if node not in seen:
            seen.add(node)
            work += [v for v in graph.successors(node).tolist() if v != without]
    return seen
