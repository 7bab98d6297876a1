"""Merging equal nodes beforehand changes no answer."""

from __future__ import annotations

import numpy as np
import pytest

from kleene.solvers.inclusion import FROM_OUTSIDE, TO_OUTSIDE, Problem, difference, reference
from kleene.solvers.inclusion.offline import NOTHING, reduce


def column(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def one_object(n_nodes: int, **columns: np.ndarray) -> Problem:
    """Return a problem with one object, whose contents are the last node."""
    return Problem(
        n_nodes,
        contents=column(n_nodes - 1),
        allocation_offsets=column(0, 1),
        address_node=column(0),
        address_object=column(0),
        **columns,
    )


def test_a_cycle_of_copies_is_one_node() -> None:
    cycle = one_object(4, copy_destination=column(1, 2, 0), copy_source=column(0, 1, 2))
    representative = reduce(cycle).representative
    assert representative[0] == representative[1] == representative[2] != representative[3]


def test_a_node_with_one_source_is_that_source() -> None:
    chain = one_object(4, copy_destination=column(1, 2), copy_source=column(0, 1))
    assert len(set(reduce(chain).representative[:3].tolist())) == 1


def test_equal_unions_are_one_node() -> None:
    problem = Problem(
        4,
        contents=column(-1, -1),
        allocation_offsets=column(0, 1, 2),
        address_node=column(0, 1),
        address_object=column(0, 1),
        copy_destination=column(2, 2, 3, 3),
        copy_source=column(0, 1, 1, 0),
    )
    representative = reduce(problem).representative
    assert representative[2] == representative[3]
    assert len(set(representative.tolist())) == 3


def test_loads_through_equal_pointers_are_equal_in_the_second_round() -> None:
    loads = one_object(
        5,
        copy_destination=column(1),
        copy_source=column(0),
        load_destination=column(2, 3),
        load_pointer=column(0, 1),
    )
    once, twice = reduce(loads, n_rounds=1), reduce(loads, n_rounds=2)
    assert once.representative[2] != once.representative[3]
    assert twice.representative[2] == twice.representative[3]


def test_a_node_that_nothing_reaches_is_nothing() -> None:
    problem = one_object(4, copy_destination=column(2), copy_source=column(1))
    representative = reduce(problem).representative
    assert representative[1] == representative[2] == NOTHING
    assert representative[3] != NOTHING, "stores may still fill an object's contents"


def test_a_node_open_to_the_outside_is_not_nothing() -> None:
    problem = one_object(3, flagged_node=column(1), flags=column(FROM_OUTSIDE))
    assert reduce(problem).representative[1] != NOTHING


def test_rules_that_ask_for_nothing_go() -> None:
    problem = one_object(
        6,
        load_destination=column(2),
        load_pointer=column(1),
        store_pointer=column(0, 1),
        store_source=column(1, 0),
        offset_destination=column(3, 4),
        offset_source=column(1, 0),
        offset_amount=column(1, 0),
        flagged_node=column(1),
        flags=column(TO_OUTSIDE),
    )
    smaller = reduce(problem).problem
    assert smaller.n_constraints == 1
    assert len(smaller.flagged_node) == 0


@pytest.mark.parametrize("n_rounds", [1, 2, 3])
def test_the_answer_stays(n_rounds: int) -> None:
    problem = one_object(
        6,
        copy_destination=column(1, 2, 1),
        copy_source=column(0, 1, 2),
        store_pointer=column(2),
        store_source=column(0),
        load_destination=column(3, 4),
        load_pointer=column(0, 1),
    )
    reduced = reduce(problem, n_rounds=n_rounds)
    answer = reduced.expand(reference.solve(reduced.problem))
    assert difference(answer, reference.solve(problem)) is None
