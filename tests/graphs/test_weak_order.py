from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.graphs import Graph, WeakOrder, weak_topological_order
from tests.graphs.graph_inputs import (
    N_DEEP,
    SEEDS,
    chain,
    graph_of,
    graphs,
    nest,
    networkx_of,
    random_graph,
    reachable,
)


def heads_around(weak: WeakOrder, place: int) -> list[int]:
    """The heads of the components around a place, outermost first, read off `end` alone."""
    starts = [p for p in range(place + 1) if weak.end[p] > place]
    return [int(weak.order[p]) for p in starts]


def check(graph: Graph, roots: list[int]) -> None:
    weak = weak_topological_order(graph, roots)
    order = weak.order.tolist()
    assert set(order) == reachable(graph, roots)
    assert len(set(order)) == len(order)
    for place, node in enumerate(order):
        around = heads_around(weak, place)
        assert weak.depth[place] == len(around)
        assert weak.head[place] == (around[-1] if around else -1)
        for target in graph.successors(node).tolist():
            assert order.index(target) > place or target in around
    for place, end in enumerate(weak.end.tolist()):  # components nest: none straddles another
        assert all(weak.end[inner] <= end for inner in range(place + 1, end))
    check_outermost(graph, weak)


def check_outermost(graph: Graph, weak: WeakOrder) -> None:
    """Assert that the outermost components are the strongly connected ones that have an edge."""
    part = networkx_of(graph).subgraph(weak.order.tolist())
    expected = {
        frozenset(component)
        for component in nx.strongly_connected_components(part)
        if part.subgraph(component).number_of_edges() > 0
    }
    starts = np.flatnonzero((weak.depth == 1) & (weak.end > np.arange(len(weak.end))))
    found = {frozenset(weak.order[p : weak.end[p]].tolist()) for p in starts.tolist()}
    assert found == expected


@given(graph=graphs(min_nodes=3), roots=st.lists(st.integers(0, 2), max_size=3))
def test_edges_go_forward_or_to_a_head_around(graph: Graph, roots: list[int]) -> None:
    check(graph, roots)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_edges", [75, 150])
def test_seeded_orders(seed: int, n_edges: int) -> None:
    check(random_graph(seed, n_edges=n_edges), [0])


@given(graph=graphs(min_nodes=0))
def test_the_string_form_tells_the_components(graph: Graph) -> None:
    weak = weak_topological_order(graph)
    words = str(weak).replace("(", "( ").replace(")", " )").split()
    place, open_places = 0, []
    for word in words:
        if word == "(":
            open_places.append(place)
        elif word == ")":
            assert weak.end[open_places.pop()] == place
        else:
            assert int(word) == weak.order[place]
            starts_here = bool(open_places) and open_places[-1] == place
            assert starts_here == (weak.end[place] > place)
            place += 1
    assert place == len(weak.order)
    assert not open_places


def test_the_order_reads_like_the_paper() -> None:
    edges = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 5), (4, 7), (6, 7), (7, 3), (2, 8), (7, 8)]
    assert str(weak_topological_order(graph_of(9, edges), 1)) == "1 2 (3 4 (5 6) 7) 8"
    assert str(weak_topological_order(graph_of(2, [(0, 0), (0, 1)]))) == "(0) 1"


def test_deep_and_empty_graphs() -> None:
    assert np.array_equal(weak_topological_order(chain()).order, np.arange(N_DEEP))
    text = str(weak_topological_order(nest(N_DEEP // 2)))
    assert text.count("(") == text.count(")") == N_DEEP // 2
    assert text.startswith("(0 (1 (2 (3 ")
    assert text.endswith(f"{N_DEEP - 3}) {N_DEEP - 2}) {N_DEEP - 1})")
    assert str(weak_topological_order(Graph.from_edges(0, [], []))) == ""
