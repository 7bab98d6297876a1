from __future__ import annotations

from typing import NamedTuple

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.graphs import Graph, depth_first, dominators, loop_entries, loop_forest
from tests.graphs.graph_inputs import (
    N_DEEP,
    SEEDS,
    TWO_DOORS,
    chain,
    graph_of,
    graphs,
    nest,
    networkx_of,
    random_graph,
    reachable,
    ring,
)


class Loop(NamedTuple):
    header: int
    members: frozenset[int]
    parent_header: int
    depth: int


def loops_by_definition(graph: Graph, roots: list[int]) -> set[Loop]:
    """Components, then those of what remains without their headers, and so on."""
    pre = depth_first(graph, roots).pre
    whole = networkx_of(graph)
    found: set[Loop] = set()

    def descend(nodes: set[int], parent_header: int, depth: int) -> None:
        part = whole.subgraph(nodes)
        for component in nx.strongly_connected_components(part):
            if part.subgraph(component).number_of_edges() > 0:
                header = min(component, key=lambda v: int(pre[v]))
                found.add(Loop(header, frozenset(component), parent_header, depth))
                descend(component - {header}, header, depth + 1)

    descend(reachable(graph, roots), -1, 1)
    return found


def check(graph: Graph, roots: list[int]) -> None:
    found = loop_forest(graph, roots)
    reached = reachable(graph, roots)
    loops = [
        Loop(
            int(found.header[loop]),
            frozenset(found.members(loop).tolist()),
            int(found.header[found.parent[loop]]) if found.parent[loop] >= 0 else -1,
            int(found.depth[loop]),
        )
        for loop in range(found.n_loops)
    ]
    assert len(set(loops)) == found.n_loops
    assert set(loops) == loops_by_definition(graph, roots)
    assert set(found.order.tolist()) == reached
    all_entries = loop_entries(graph, found, roots)
    for loop, (header, members, _, _) in enumerate(loops):
        assert found.members(loop)[0] == header
        assert {v for v in range(graph.n_nodes) if found.contains(loop, v)} == members
        entered = {v for u in reached - members for v in graph.successors(u).tolist()}
        entries = members & (entered | set(roots))
        assert set(all_entries[loop].tolist()) == entries
        assert len(all_entries[loop]) == len(entries)
        assert all_entries[loop][0] == header
        assert found.irreducible[loop] == (len(entries) > 1)
    for node in range(graph.n_nodes):
        around = [loop for loop, known in enumerate(loops) if node in known.members]
        assert found.innermost[node] == max(around, key=lambda k: loops[k].depth, default=-1)


@given(graph=graphs(min_nodes=3), roots=st.lists(st.integers(0, 2), max_size=3))
def test_loops_are_nested_components(graph: Graph, roots: list[int]) -> None:
    check(graph, roots)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_edges", [75, 90, 150])
def test_seeded_loops(seed: int, n_edges: int) -> None:
    check(random_graph(seed, n_edges=n_edges), [0])


@pytest.mark.parametrize("seed", range(10))
def test_loops_of_a_whole_graph(seed: int) -> None:
    graph = random_graph(seed)
    check(graph, list(range(graph.n_nodes)))


@given(graph=graphs())
def test_natural_loops_have_a_header_that_dominates(graph: Graph) -> None:
    found = loop_forest(graph)
    tree = dominators(graph)
    for loop, irreducible in enumerate(found.irreducible.tolist()):
        header = int(found.header[loop])
        held = all(tree.dominates(header, v) for v in found.members(loop).tolist())
        assert held or irreducible


def test_two_doors_make_an_irreducible_loop() -> None:
    found = loop_forest(TWO_DOORS)
    assert found.irreducible.tolist() == [True]
    assert loop_entries(TWO_DOORS, found)[0].tolist() == [1, 2]


def test_one_edge_can_enter_two_loops_past_the_outer_header() -> None:
    graph = graph_of(5, [(0, 1), (1, 2), (2, 3), (3, 2), (3, 1), (0, 3)])
    entries = loop_entries(graph, loop_forest(graph))
    assert [row.tolist() for row in entries] == [[1, 3], [2, 3]]


def test_a_self_loop_is_a_loop_and_a_single_node_is_not() -> None:
    assert loop_forest(graph_of(1, [(0, 0), (0, 0)])).header.tolist() == [0]
    assert loop_forest(graph_of(1, [])).n_loops == 0


def test_a_deep_nest_entered_everywhere_costs_no_more_than_its_edges() -> None:
    sources, targets = nest(N_DEEP // 2).edges()
    doors = np.arange(N_DEEP)
    sources = np.concatenate([sources, np.full(N_DEEP, N_DEEP)])  # one node before, to all others
    graph = Graph.from_edges(N_DEEP + 1, sources, np.concatenate([targets, doors]))
    found = loop_forest(graph, N_DEEP)
    assert found.n_loops == N_DEEP // 2
    assert found.irreducible.all()  # their entries would be 2.5e9: they are not made


def test_deep_and_empty_graphs() -> None:
    assert loop_forest(chain()).n_loops == 0
    assert len(loop_forest(ring()).members(0)) == N_DEEP
    found = loop_forest(nest(N_DEEP // 2))
    assert np.array_equal(found.depth, np.arange(1, N_DEEP // 2 + 1))
    assert np.array_equal(found.header, np.arange(N_DEEP // 2))
    assert loop_forest(Graph.from_edges(0, [], [])).n_loops == 0
