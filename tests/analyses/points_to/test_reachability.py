"""Marks that spread along edges."""

from __future__ import annotations

import numpy as np
import pytest

from kleene.analyses.points_to.constraints import reachability


@pytest.mark.parametrize("n_edges", [0, 30, 3000])
def test_compiled_marks_are_those_of_whole_columns(n_edges: int) -> None:
    random = np.random.default_rng(n_edges)
    n = n_edges // 2 + 2
    to, source = random.integers(0, n, (2, n_edges))
    marked = random.random(n) < 0.1
    plain, compiled = marked.copy(), marked.copy()
    reachability.spread(plain, to, source)
    reachability._spread.py_func(compiled, to, source)
    assert (plain == compiled).all()
    assert plain[to[plain[source]]].all()


def test_what_lies_between_is_on_a_way_from_the_first_to_the_last() -> None:
    to, source = np.array([1, 2, 3, 5, 2]), np.array([0, 1, 2, 4, 6])  # 0-1-2-3, 4-5, 6-2
    first, last = np.zeros(7, bool), np.zeros(7, bool)
    first[[0, 4]] = last[3] = True
    assert np.flatnonzero(reachability.between(first, last, to, source)).tolist() == [0, 1, 2, 3]


def test_a_way_that_turns_at_every_edge_is_followed_once() -> None:
    """Edges in such an order that a sweep in either direction gets on by two of them at most."""
    n_edges = 40_000
    node = np.arange(n_edges + 1)
    order = np.argsort((np.arange(n_edges) * 7919) % n_edges, kind="stable")
    marked = np.zeros(n_edges + 1, bool)
    marked[0] = True
    reachability.spread(marked, node[1:][order], node[:-1][order])
    assert marked.all()
