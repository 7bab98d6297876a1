"""Su, Ye, Xue: inclusion-based pointer analysis (HiPC 2013), its rules on one thread.

The graph is that of Mendez-Lojo, Burtscher and Pingali (PPoPP 2012): a sparse bit vector of 960-bit
elements for each node and kind of edge. Cycles of copies are collapsed beforehand. Each iteration
applies ΔCOPY, COPY, LOAD, STORE (in two phases) and OFFSET to what the last one found; what this
one finds is kept apart, then folded in. A node has one offset edge; more get a temporary node.

Added here, for the paper takes neither calls nor allocations: a rule CALL that finds copy edges
just as LOAD and STORE do, and offsets that end with the allocation. The outside world is refused.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kleene.base.arrays import I32
from kleene.graphs import Graph as Edges
from kleene.graphs import strong_components
from kleene.solvers.inclusion.paper import closed, rules
from kleene.solvers.inclusion.paper.elements import Heads, Pool
from kleene.solvers.inclusion.problem import NONE, Problem, images_of
from kleene.solvers.inclusion.solution import Rows, Solution


def refuses(problem: Problem) -> str | None:
    """Return why the paper's algorithm cannot take this problem, or None if it can."""
    return "the paper knows no outside world: flags has rows" if problem.flags.any() else None


def solve(problem: Problem) -> Solution:
    """Return the least answer to a problem without flags."""
    assert refuses(problem) is None, refuses(problem)
    number = _numbering(problem)
    leader = _leaders(problem, number)
    graph, pool = _graph(problem, leader, number)
    pool, n_iterations = rules.iterate(pool, graph)
    n_bytes = float(graph.used[0]) * 128
    statistics = {"n_iterations": float(n_iterations), "element_bytes": n_bytes}
    return _solution(problem, graph, pool, leader[number], statistics)


def _numbering(problem: Problem) -> I32:
    """Return a number per node: an object's for its contents, behind the objects for the rest."""
    number = np.full(problem.n_nodes, -1, np.int32)
    owned = np.flatnonzero(problem.contents >= 0).astype(np.int32)
    number[problem.contents[owned]] = owned
    rest = np.flatnonzero(number < 0)
    number[rest] = problem.n_objects + np.arange(len(rest), dtype=np.int32)
    return number


def _leaders(problem: Problem, number: I32) -> I32:
    """Return for each number the smallest in its cycle of copies.

    Objects that share their contents are in a cycle as well: each is a node of its own here.
    """
    n_numbers = problem.n_objects + problem.n_nodes
    owned = np.flatnonzero(problem.contents >= 0).astype(np.int32)
    owner = number[problem.contents[owned]]
    shared = owned != owner
    sources = (number[problem.copy_source], owned[shared], owner[shared])
    targets = (number[problem.copy_destination], owner[shared], owned[shared])
    edges = Edges.from_edges(n_numbers, np.concatenate(sources), np.concatenate(targets))
    component = strong_components(edges).component
    _, first = np.unique(component, return_index=True)
    return first[component].astype(np.int32)


def _graph(problem: Problem, leader: I32, number: I32) -> tuple[rules.Graph, Pool]:
    p = problem

    def place(nodes: I32) -> I32:  # NONE stays NONE
        return np.append(leader[number], np.int32(NONE))[nodes]

    offset, extra = _offsets(p, place, len(leader))
    leader = np.append(leader, np.arange(len(leader), len(leader) + len(extra), dtype=np.int32))
    copies = (
        np.concatenate([place(p.copy_destination), extra]),
        np.concatenate([place(p.copy_source), leader[len(leader) - len(extra) :]]),
    )
    apart = copies[0] != copies[1]

    def heads() -> Heads:
        return np.zeros(len(leader), np.int32)

    graph = rules.Graph(
        *(leader, heads(), heads(), heads(), heads(), heads(), heads(), heads(), heads()),
        *(*offset, images_of(p), p.store_contents() >= 0, p.function_of()),
        *(place(p.function_result), place(p.function_rest), p.formal_offsets, place(p.formals)),
        *(place(p.call_callee), place(p.call_result), p.actual_offsets, place(p.actuals)),
        used=np.array([1, 0], np.int64),  # element 0 stands for none
        buffer=np.empty(len(leader), np.int64),
    )
    pool = np.zeros((4 * len(leader) + 1024, 32), np.int32)
    pool = _fill(pool, graph, graph.found_p, place(p.address_node), p.address_object)
    pool = _fill(pool, graph, graph.c, copies[0][apart], copies[1][apart])
    pool = _fill(pool, graph, graph.l, place(p.load_destination), place(p.load_pointer))
    pool = _fill(pool, graph, graph.s, place(p.store_pointer), place(p.store_source))
    return graph, pool


def _fill(pool: Pool, graph: rules.Graph, heads: Heads, node: I32, bit: I32) -> Pool:
    order = np.lexsort((-bit, node))
    return rules.fill(pool, graph.used, heads, node[order], bit[order])


def _offsets(
    problem: Problem, place: Callable[[I32], I32], n_numbers: int
) -> tuple[tuple[I32, I32], I32]:
    """Return the offset edge (source, amount) of each node, and where temporaries flow to.

    The temporaries, numbered from `n_numbers` on, have the offset edges beyond the first of a node.
    """
    destination = place(problem.offset_destination)
    _, first = np.unique(destination, return_index=True)
    again = np.ones(len(destination), bool)
    again[first] = False
    n_extra = int(again.sum())
    owner = destination.copy()
    owner[again] = n_numbers + np.arange(n_extra, dtype=np.int32)
    source, amount = np.full((2, n_numbers + n_extra), -1, np.int32)
    source[owner], amount[owner] = place(problem.offset_source), problem.offset_amount
    return (source, amount), destination[again]


def _solution(
    problem: Problem, graph: rules.Graph, pool: Pool, row_of: I32, statistics: dict[str, float]
) -> Solution:
    offsets = np.zeros(len(graph.leader) + 1, np.int64)
    none = (np.empty(0, np.int32), np.empty(0, np.uint64))
    n_words = rules.words(pool, graph.p, offsets, *none)
    rows = Rows(offsets, np.empty(n_words, np.int32), np.empty(n_words, np.uint64))
    rules.words(pool, graph.p, rows.offsets, rows.index, rows.word)
    return closed(problem, row_of, rows, statistics)
