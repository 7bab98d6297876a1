"""The CPU solver's own machinery: classes, cycles, space."""

from __future__ import annotations

import numpy as np
import pytest

from kleene.solvers.inclusion import NONE, Problem, difference, reference
from kleene.solvers.inclusion.cpu import solve, solver, state
from kleene.solvers.inclusion.generate import points_to_like
from kleene.solvers.inclusion.paper import andersen
from tests.solvers.inclusion.registry import solve_by_classes
from tests.solvers.inclusion.strategies import large_problem, problem_of, random_problem


def test_graphs_with_the_shape_of_programs() -> None:
    """Too large for the oracle: the printed algorithm stands in."""
    for seed in range(6):
        problem = points_to_like(6000, [6300, 9000, 15000][seed % 3], seed)
        expected = andersen.solve(problem)
        for threads in (1, 2):
            found = difference(solve_by_classes(problem, threads), expected)
            assert found is None, f"seed {seed}, {threads} threads: {found}"


def test_more_threads_than_words_is_no_fault() -> None:
    problem = random_problem(3)
    assert difference(solve(problem, threads=64), reference.solve(problem)) is None


def test_space_runs_out_in_every_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "FIRST_WORDS", 1)
    monkeypatch.setattr(state, "FIRST_ROWS", 4)
    monkeypatch.setattr(state, "FIRST_CLASSES", 1)
    monkeypatch.setattr(solver, "WORK_A_CALL", 1)
    for number in range(100, 120):
        problem = large_problem(number)
        found = difference(solve_by_classes(problem, threads=2), reference.solve(problem))
        assert found is None, f"problem {number}: {found}"


def loaded_pointers(n_pointers: int, n_objects: int, *, apart: bool) -> Problem:
    """Return pointers that hold the same objects, and each one more of its own if `apart`.

    Pointer i is loaded from location i, so that only solving finds what it holds; then `read i` is
    loaded and `written i` stored through it. Objects: the locations, those held, each one's own.
    """
    i, held = np.arange(n_pointers), np.arange(n_objects)
    location, pointer, read, written, location_contents = (k * n_pointers + i for k in range(5))
    held_contents = 5 * n_pointers + held
    own = n_pointers + n_objects + i
    n_apart = n_pointers if apart else 0
    return problem_of(
        5 * n_pointers + n_objects,
        contents=np.concatenate([location_contents, held_contents, np.full(n_pointers, NONE)]),
        address_node=np.concatenate(
            [
                location,
                np.repeat(location_contents, n_objects),
                written,
                location_contents[:n_apart],
            ]
        ),
        address_object=np.concatenate(
            [i, n_pointers + np.tile(held, n_pointers), own, own[:n_apart]]
        ),
        load_destination=np.concatenate([pointer, read]),
        load_pointer=np.concatenate([location, pointer]),
        store_pointer=pointer,
        store_source=written,
    )


def test_edges_are_made_once_per_distinct_set() -> None:
    n_pointers, n_objects = 50, 40
    n_uses = 2 * n_pointers * n_objects
    together = loaded_pointers(n_pointers, n_objects, apart=False)
    answer = solve_by_classes(together)
    assert difference(answer, reference.solve(together)) is None
    assert answer.statistics["classes"] == n_pointers + 1, (
        "one for each location, one for all pointers"
    )
    assert answer.statistics["edges_found"] < n_uses / 10
    apart = loaded_pointers(n_pointers, n_objects, apart=True)
    answer = solve_by_classes(apart)
    assert difference(answer, reference.solve(apart)) is None
    assert answer.statistics["classes"] == 2 * n_pointers
    assert answer.statistics["edges_found"] >= n_uses


def test_a_class_grows_with_its_members_and_is_left_by_those_that_differ() -> None:
    """Two pointers hold {0, 1, 2}; then both get 3 by loads; then one alone gets 4."""
    problem = problem_of(
        12,
        contents=[7, 8, 9, 10, 11, NONE, NONE],
        address_node=[0, 0, 0, 1, 1, 1, 2, 3, 7, 8, 9],
        address_object=[0, 1, 2, 0, 1, 2, 0, 1, 3, 4, 5],
        load_destination=[0, 1, 4, 5, 1],
        load_pointer=[2, 2, 0, 1, 3],
        store_pointer=[0],
        store_source=[6],
    )
    assert difference(solve_by_classes(problem), reference.solve(problem)) is None


def test_who_left_a_class_gets_nothing_of_what_it_grows_by() -> None:
    """p and q hold {0, 1, 2}; p gets 3 and joins r, which held {0, 1, 2, 3}; then q gets 4."""
    p, q, r, read_p, read_q, read_r, first, second, third = range(9)
    problem = problem_of(
        17,
        contents=[9, 10, 11, 12, 13, 14, 15, 16],
        address_node=[p, p, p, q, q, q, r, r, r, r, first, second, 14, 15, 16, 13],
        address_object=[0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 5, 7, 3, 4, 6, 0],
        load_destination=[p, third, q, read_p, read_q, read_r],
        load_pointer=[first, second, third, p, q, r],
    )
    answer = solve_by_classes(problem)
    assert answer.of(p).tolist() == [0, 1, 2, 3]
    assert answer.of(q).tolist() == [0, 1, 2, 4]
    assert answer.of(read_p).tolist() == []
    assert answer.of(read_q).tolist() == [0]
    assert difference(answer, reference.solve(problem)) is None


def test_nodes_in_a_cycle_found_while_solving_share_a_row() -> None:
    """`a = *p; *p = a` is a cycle between a and the contents of what p holds."""
    problem = problem_of(
        4,
        contents=[2, 3],
        address_node=[0, 2],
        address_object=[0, 1],
        load_destination=[1],
        load_pointer=[0],
        store_pointer=[0],
        store_source=[1],
    )
    answer = solve(problem)
    assert answer.row_of[1] == answer.row_of[2]
    assert answer.statistics["nodes_merged"] == 1
    assert difference(answer, reference.solve(problem)) is None


def test_a_long_chain_of_loads_is_followed() -> None:
    """p(i + 1) = *p(i), and object i holds object i + 1: every load waits for the one before."""
    n = 300
    problem = problem_of(
        2 * n,
        contents=n + np.arange(n),
        address_node=[0, *range(n, 2 * n - 1)],
        address_object=[0, *range(1, n)],
        load_destination=np.arange(1, n),
        load_pointer=np.arange(n - 1),
    )
    answer = solve(problem)
    assert [answer.of(node).tolist() for node in range(n)] == [[o] for o in range(n)]


def test_the_trace_has_a_row_for_each_iteration() -> None:
    rows: list[dict[str, float]] = []
    answer = solve(large_problem(1), trace=lambda row: rows.append(dict(row)))
    n_iterations = int(answer.statistics["iterations"])
    assert [row["iterations"] for row in rows] == list(range(1, n_iterations + 1))
    found = [row["edges_found"] for row in rows]
    assert found == sorted(found)
    assert found[-1] == answer.statistics["edges_found"]
