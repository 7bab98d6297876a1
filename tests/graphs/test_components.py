from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from kleene.graphs import Graph, strong_components
from tests.graphs.graph_inputs import N_DEEP, SEEDS, chain, graphs, networkx_of, random_graph, ring


def check(graph: Graph) -> None:
    found = strong_components(graph)
    members = [frozenset(row.tolist()) for row in found.members()]
    other = networkx_of(graph)
    assert set(members) == {frozenset(c) for c in nx.strongly_connected_components(other)}
    assert len(members) == found.n_components
    for component, row in enumerate(found.members()):
        assert (found.component[row] == component).all()
    sources, targets = graph.edges()
    assert (found.component[sources] <= found.component[targets]).all()


@given(graph=graphs(min_nodes=0))
def test_components_are_those_of_networkx_in_topological_order(graph: Graph) -> None:
    check(graph)


@pytest.mark.parametrize("seed", SEEDS)
def test_seeded_components(seed: int) -> None:
    check(random_graph(seed, n_nodes=200, n_edges=230))


@given(graph=graphs(min_nodes=0))
def test_cyclic_means_some_node_returns_to_itself(graph: Graph) -> None:
    found = strong_components(graph)
    other = networkx_of(graph)
    on_cycle = {v for cycle in nx.simple_cycles(other) for v in cycle}
    expected = [bool(on_cycle & set(row.tolist())) for row in found.members()]
    assert found.is_cyclic().tolist() == expected


@given(graph=graphs(min_nodes=0))
def test_condensation_has_one_edge_between_components(graph: Graph) -> None:
    found = strong_components(graph)
    ends = {(int(found.component[u]), int(found.component[v])) for u, v in networkx_of(graph).edges}
    sources, targets = found.condensation().edges()
    pairs = list(zip(sources.tolist(), targets.tolist(), strict=True))
    assert pairs == sorted((u, v) for u, v in ends if u != v)


def test_deep_graphs() -> None:
    assert np.array_equal(strong_components(chain()).component, np.arange(N_DEEP))
    assert strong_components(ring()).n_components == 1
