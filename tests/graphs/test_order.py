from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.graphs import DepthFirst, Graph, depth_first, reverse_postorder
from tests.graphs.graph_inputs import (
    N_DEEP,
    SEEDS,
    chain,
    graphs,
    networkx_of,
    random_graph,
    reachable,
)


def search_by_hand(graph: Graph, roots: list[int]) -> tuple[list[int], list[int]]:
    """Preorder and postorder by the recursive definition."""
    preorder: list[int] = []
    postorder: list[int] = []

    def visit(node: int) -> None:
        if node not in preorder:
            preorder.append(node)
            for target in graph.successors(node).tolist():
                visit(target)
            postorder.append(node)

    for root in roots:
        visit(root)
    return preorder, postorder


@given(graph=graphs(min_nodes=3), roots=st.lists(st.integers(0, 2), max_size=4))
def test_orders_are_those_of_the_recursive_search(graph: Graph, roots: list[int]) -> None:
    found = depth_first(graph, roots)
    assert (found.preorder.tolist(), found.postorder.tolist()) == search_by_hand(graph, roots)


@given(graph=graphs())
def test_unreached_nodes_have_no_number(graph: Graph) -> None:
    found = depth_first(graph)
    reached = reachable(graph, [0])
    assert set(np.flatnonzero(found.pre >= 0).tolist()) == reached
    assert set(np.flatnonzero(found.post >= 0).tolist()) == reached
    assert np.array_equal(found.preorder[found.pre[found.preorder]], found.preorder)
    assert np.array_equal(found.postorder[found.post[found.postorder]], found.postorder)


def tree_of(found: DepthFirst) -> nx.DiGraph:
    tree = nx.DiGraph()
    tree.add_nodes_from(found.preorder.tolist())
    tree.add_edges_from((int(found.parent[v]), v) for v in found.preorder.tolist()[1:])
    return tree


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seeded_search_is_that_of_networkx(seed: int) -> None:
    graph = random_graph(seed)
    found = depth_first(graph)
    assert found.preorder.tolist() == list(nx.dfs_preorder_nodes(networkx_of(graph), 0))
    assert found.postorder.tolist() == list(nx.dfs_postorder_nodes(networkx_of(graph), 0))


@given(graph=graphs())
def test_ancestors_are_those_of_the_tree(graph: Graph) -> None:
    found = depth_first(graph)
    tree = tree_of(found)
    assert all(v in graph.successors(u) for u, v in tree.edges)
    for above in range(graph.n_nodes):
        for below in range(graph.n_nodes):
            expected = above in tree and below in nx.descendants(tree, above) | {above}
            assert found.is_ancestor(above, below) == expected


@given(graph=graphs())
def test_reverse_postorder_goes_against_edges_only_to_ancestors(graph: Graph) -> None:
    order = reverse_postorder(graph).tolist()
    found = depth_first(graph)
    for place, node in enumerate(order):
        for target in graph.successors(node).tolist():
            assert order.index(target) > place or found.is_ancestor(target, node)


def test_a_later_root_comes_first() -> None:
    assert reverse_postorder(Graph.from_edges(3, [0], [1]), [0, 2, 1]).tolist() == [2, 0, 1]


def test_deep_and_empty_graphs() -> None:
    assert np.array_equal(reverse_postorder(chain()), np.arange(N_DEEP))
    assert len(reverse_postorder(Graph.from_edges(0, [], []))) == 0
