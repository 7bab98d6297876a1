from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.graphs import DominatorTree, Graph, dominators, post_dominators
from tests.graphs.graph_inputs import (
    N_DEEP,
    SEEDS,
    TWO_DOORS,
    chain,
    graph_of,
    graphs,
    networkx_of,
    random_graph,
    reachable,
)


def check_by_removal(graph: Graph, roots: list[int], tree: DominatorTree) -> None:
    """Assert the definition: b is out of reach without a, and is reached with it."""
    reached = reachable(graph, roots)
    for above in range(graph.n_nodes):
        dominated = reached - reachable(graph, roots, without=above)
        assert {b for b in range(graph.n_nodes) if tree.dominates(above, b)} == dominated
        assert set(tree.subtree(above).tolist()) == dominated
        assert {b for b in dominated if b != above} == {
            b for b in range(graph.n_nodes) if tree.strictly_dominates(above, b)
        }


def check_tree(tree: DominatorTree) -> None:
    """Assert that idom, depth, preorder and children tell the same story."""
    children = tree.children()
    for node in range(len(tree.idom)):
        above = int(tree.idom[node])
        rivals = [a for a in range(len(tree.idom)) if tree.strictly_dominates(a, node)]
        assert tree.depth[node] == (len(rivals) if tree.pre[node] >= 0 else -1)
        assert above == max(rivals, key=lambda a: int(tree.depth[a]), default=-1)
        assert all(tree.idom[child] == node for child in children.successors(node))
    assert children.n_edges == int((tree.idom >= 0).sum())
    assert np.array_equal(tree.pre[tree.preorder], np.arange(len(tree.preorder)))


@given(graph=graphs(min_nodes=3), roots=st.lists(st.integers(0, 2), max_size=3))
def test_dominance_is_what_removal_says(graph: Graph, roots: list[int]) -> None:
    tree = dominators(graph, roots)
    check_by_removal(graph, roots, tree)
    check_tree(tree)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_edges", [65, 90, 300])
def test_seeded_dominators_are_those_of_networkx(seed: int, n_edges: int) -> None:
    graph = random_graph(seed, n_edges=n_edges)
    expected = nx.immediate_dominators(networkx_of(graph), 0)
    found = {v: int(u) for v, u in enumerate(dominators(graph).idom) if u >= 0}
    assert found == {v: u for v, u in expected.items() if v != 0}


@given(graph=graphs(min_nodes=3), exits=st.lists(st.integers(0, 2), max_size=3))
def test_post_dominance_is_dominance_from_exits_and_traps(graph: Graph, exits: list[int]) -> None:
    ends = list(exits)
    for part in nx.strongly_connected_components(networkx_of(graph)):
        leaves = any(v not in part for u in part for v in graph.successors(u).tolist())
        if not leaves and not part & set(exits):
            ends.append(min(part))
    tree = post_dominators(graph, exits)
    check_by_removal(graph.reverse(), ends, tree)
    assert (tree.pre >= 0).all()


@given(graph=graphs())
def test_exits_are_the_nodes_without_successors(graph: Graph) -> None:
    ends = [v for v in range(graph.n_nodes) if len(graph.successors(v)) == 0]
    assert np.array_equal(post_dominators(graph).idom, post_dominators(graph, ends).idom)


def test_an_endless_loop_is_left_at_its_smallest_node() -> None:
    graph = graph_of(4, [(0, 1), (0, 3), (1, 2), (2, 1)])
    assert post_dominators(graph).idom.tolist() == [-1, -1, 1, -1]


def test_a_loop_with_an_exit_in_it_gets_no_other() -> None:
    graph = graph_of(3, [(0, 1), (1, 2), (2, 0)])
    assert post_dominators(graph).idom.tolist() == [-1, 2, 0]
    assert post_dominators(graph, 1).idom.tolist() == [1, -1, 0]


def test_no_door_of_an_irreducible_loop_dominates_the_other() -> None:
    assert dominators(TWO_DOORS).idom.tolist() == [-1, 0, 0]


def test_deep_and_empty_graphs() -> None:
    tree = dominators(chain())
    assert np.array_equal(tree.idom, np.arange(N_DEEP) - 1)
    assert tree.dominates(5, N_DEEP - 1)
    assert not tree.dominates(N_DEEP - 1, 5)
    assert np.array_equal(post_dominators(chain()).depth, np.arange(N_DEEP)[::-1])
    empty = Graph.from_edges(0, [], [])
    assert len(dominators(empty).idom) == len(post_dominators(empty).idom) == 0
