from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.base.errors import SourceError
from kleene.graphs import (
    DominatorTree,
    Graph,
    Rows,
    dominance_frontiers,
    dominators,
    iterated_frontier,
    iterated_frontiers,
    post_dominators,
)
from tests.graphs.graph_inputs import SEEDS, chain, graphs, networkx_of, random_graph


def frontier_by_definition(graph: Graph, tree: DominatorTree, node: int) -> list[int]:
    sources, targets = graph.edges()
    return sorted(
        {
            v
            for u, v in zip(sources.tolist(), targets.tolist(), strict=True)
            if tree.dominates(node, u) and not tree.strictly_dominates(node, v)
        }
    )


def check(graph: Graph, tree: DominatorTree) -> None:
    found = dominance_frontiers(graph, tree)
    for node in range(graph.n_nodes):
        assert found.successors(node).tolist() == frontier_by_definition(graph, tree, node)


@given(graph=graphs(min_nodes=3), roots=st.lists(st.integers(0, 2), max_size=3))
def test_frontiers_are_where_dominance_ends(graph: Graph, roots: list[int]) -> None:
    check(graph, dominators(graph, roots))


@given(graph=graphs(min_nodes=0))
def test_control_dependence_is_the_frontier_of_post_dominance(graph: Graph) -> None:
    check(graph.reverse(), post_dominators(graph))


@pytest.mark.parametrize("seed", SEEDS)
def test_seeded_frontiers_are_those_of_networkx(seed: int) -> None:
    graph = random_graph(seed)
    found = dominance_frontiers(graph, dominators(graph))
    for node, expected in nx.dominance_frontiers(networkx_of(graph), 0).items():
        assert set(found.successors(node).tolist()) == expected


def closure_by_definition(frontiers: Graph, nodes: list[int]) -> list[int]:
    found: set[int] = set()
    while True:
        more = {w for v in {*nodes, *found} for w in frontiers.successors(v).tolist()}
        if more <= found:
            return sorted(found)
        found |= more


@given(graph=graphs(), data=st.data())
def test_iterated_frontier_is_the_least_closed_set(graph: Graph, data: st.DataObject) -> None:
    frontiers = dominance_frontiers(graph, dominators(graph))
    node = st.integers(0, graph.n_nodes - 1)
    sets = data.draw(st.lists(st.lists(node, max_size=4), max_size=4))
    found = iterated_frontiers(frontiers, Rows.from_lists(sets))
    expected = [closure_by_definition(frontiers, nodes) for nodes in sets]
    assert [row.tolist() for row in found] == expected
    assert [iterated_frontier(frontiers, nodes).tolist() for nodes in sets] == expected


def test_many_sets_at_once() -> None:
    graph = random_graph(1)
    frontiers = dominance_frontiers(graph, dominators(graph))
    sets = [[node, (7 * node) % 60] for node in range(60)]
    found = iterated_frontiers(frontiers, Rows.from_lists(sets))
    assert found.lengths().sum() > 200  # far more than was given: the answer had to grow
    assert [row.tolist() for row in found] == [closure_by_definition(frontiers, s) for s in sets]


def test_a_set_with_an_unknown_node_is_refused() -> None:
    with pytest.raises(SourceError, match="no node 2 in a graph of 2 nodes") as caught:
        iterated_frontier(Graph.from_edges(2, [], []), [2])
    assert caught.value.id == "graphs/no-such-node"


def test_a_deep_chain_has_no_frontier_and_a_deep_ladder_ends_at_its_join() -> None:
    graph = chain()
    assert dominance_frontiers(graph, dominators(graph)).n_edges == 0
    n_nodes = graph.n_nodes
    sources, targets = graph.edges()
    back = Graph.from_edges(n_nodes, np.append(sources, n_nodes - 1), np.append(targets, 0))
    found = dominance_frontiers(back, dominators(back))
    assert np.array_equal(found.targets, np.zeros(n_nodes, dtype=np.int32))
