from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.base.errors import SourceError
from kleene.graphs import Graph, Rows
from tests.graphs.graph_inputs import graph_of, graphs, networkx_of

EDGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20)


@given(edges=EDGES)
def test_successors_are_the_targets_in_the_order_given(edges: list[tuple[int, int]]) -> None:
    graph = graph_of(7, edges)
    assert graph.n_nodes == 7
    assert graph.n_edges == len(edges)
    for node in range(7):
        assert graph.successors(node).tolist() == [v for u, v in edges if u == node]


@given(edges=EDGES)
def test_edges_gives_back_every_edge(edges: list[tuple[int, int]]) -> None:
    sources, targets = graph_of(7, edges).edges()
    assert sorted(zip(sources.tolist(), targets.tolist(), strict=True)) == sorted(edges)


@given(graph=graphs(min_nodes=0))
def test_reverse_turns_every_edge_and_sorts(graph: Graph) -> None:
    sources, targets = graph.edges()
    back = graph.reverse()
    for node in range(graph.n_nodes):
        assert back.successors(node).tolist() == sorted(sources[targets == node].tolist())


@given(graph=graphs(min_nodes=0))
def test_simple_keeps_one_edge_of_each_kind(graph: Graph) -> None:
    sources, targets = graph.simple().edges()
    pairs = list(zip(sources.tolist(), targets.tolist(), strict=True))
    assert pairs == sorted((u, v) for u, v in networkx_of(graph).edges if u != v)


def test_grouping_is_stable_above_the_width_of_one_sorting_pass() -> None:
    rng = np.random.default_rng(0)
    n_nodes = 300_000
    sources = rng.integers(0, n_nodes, 50_000) // 7 * 7
    targets = rng.integers(0, n_nodes, 50_000)
    expected = np.argsort(sources, kind="stable")
    found = Graph.from_edges(n_nodes, sources, targets).edges()
    assert np.array_equal(found[0], sources[expected])
    assert np.array_equal(found[1], targets[expected])


def test_arrays_are_read_only_and_the_caller_keeps_its_own() -> None:
    offsets, targets = np.array([0, 1], dtype=np.int64), np.array([0], dtype=np.int32)
    graph = Graph(offsets, targets)
    assert not graph.offsets.flags.writeable
    assert not graph.targets.flags.writeable
    targets[0] = 0  # still allowed


@pytest.mark.parametrize(
    ("id", "words", "make"),
    [
        ("no-such-node", "no node 5 in", lambda: Graph.from_edges(3, [0, 5], [1, 1])),
        ("no-such-node", "no node -1 in", lambda: Graph.from_edges(3, [0], [-1])),
        ("no-such-node", "no node 4294967296 in", lambda: Graph.from_edges(2, [0], [2**32])),
        ("no-such-node", "no node 1 in", lambda: Graph(np.array([0, 1]), np.array([1]))),
        ("no-such-node", "no node 2 in", lambda: Graph.from_edges(2, [], []).roots([0, 2])),
        ("bad-shape", "2 sources but 1 targets", lambda: Graph.from_edges(3, [0, 1], [1])),
        ("bad-shape", "not 1-d float64", lambda: Graph.from_edges(3, [0.5], [1])),
        ("bad-shape", "not 2-d int64", lambda: Graph.from_edges(3, [[0]], [[1]])),
        ("bad-shape", "rise from 0 to 1", lambda: Graph(np.array([0, 2]), np.array([0]))),
        ("bad-shape", "rise from 0 to 1", lambda: Graph(np.array([0, 2, 1]), np.array([0]))),
        (
            "bad-shape",
            "rise from 0 to 0",
            lambda: Graph(np.array([], dtype=np.int64), np.array([], np.int32)),
        ),
        ("bad-shape", "rise from 0 to 1", lambda: Rows(np.array([1, 1]), np.array([3]))),
    ],
)
def test_a_wrong_graph_is_refused(id: str, words: str, make: object) -> None:
    with pytest.raises(SourceError, match=words) as caught:
        make()  # type: ignore[operator]
    assert caught.value.id == f"graphs/{id}"


def test_asking_for_a_node_or_row_that_is_not_there() -> None:
    graph = Graph.from_edges(2, [0], [1])
    for node in (-1, 2):
        with pytest.raises(IndexError):
            graph.successors(node)
        with pytest.raises(IndexError):
            Rows.from_lists([[1], []])[node]


@given(lists=st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=5))
def test_rows_give_back_their_lists(lists: list[list[int]]) -> None:
    rows = Rows.from_lists(lists)
    assert [row.tolist() for row in rows] == lists
    assert rows.lengths().tolist() == [len(row) for row in lists]


def test_the_room_is_cheap_to_import() -> None:
    code = "import sys, kleene.graphs; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


PLAIN = """\
import sys
from kleene import graphs
graph = graphs.Graph.from_edges(5, [0, 1, 2, 1, 3], [1, 2, 1, 3, 4])
found = graphs.strong_components(graph)
graphs.depth_first(graph, 0), graphs.loop_forest(graph, 0), graphs.weak_topological_order(graph, 0)
assert "numba" not in sys.modules
print(found.n_components)
"""


def test_loops_run_as_plain_python() -> None:
    command = [sys.executable, "-W", "error", "-c", PLAIN]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("4\n", "")


def test_large_graphs_are_turned_round_by_a_compiled_loop_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(50, *rng.integers(0, 50, (2, 400)))
    expected = graph.reverse()
    monkeypatch.setattr("kleene.graphs.graph._SORTED_UP_TO", 0)
    found = graph.reverse()
    assert np.array_equal(found.offsets, expected.offsets)
    assert np.array_equal(found.targets, expected.targets)
