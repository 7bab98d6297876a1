"""The oracle itself, rule by rule, against sets worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kleene.solvers.inclusion import ANY, FROM_OUTSIDE, NONE, TO_OUTSIDE, Solution, reference
from kleene.solvers.inclusion.builder import ConstraintBuilder


def sets(answer: Solution) -> list[list[int]]:
    return [answer.of(node).tolist() for node in range(len(answer.row_of))]


def test_copies_go_one_way_and_around_cycles() -> None:
    b = ConstraintBuilder()
    nodes = [b.node() for _ in range(4)]
    for destination, source in ((1, 0), (2, 1), (1, 2)):
        b.copy(destination, source)
    b.address(0, b.allocation())
    b.address(2, b.allocation())
    b.copy(3, 3)
    assert sets(reference.solve(b.problem())) == [[0], [0, 1], [0, 1], []]
    assert nodes == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("amount", "found"), [(0, [1]), (1, [2]), (2, [0, 1, 2]), (9, [0, 1, 2]), (ANY, [0, 1, 2])]
)
def test_an_offset_past_the_end_is_any_field(amount: int, found: list[int]) -> None:
    b = ConstraintBuilder()
    source, destination = b.node(), b.node()
    first = b.allocation([NONE, NONE, NONE])
    b.allocation()
    b.address(source, first, 1)
    b.offset(destination, source, amount)
    assert sets(reference.solve(b.problem()))[destination] == found


def test_calls_match_actuals_with_formals_rest_and_result() -> None:
    b = ConstraintBuilder()
    callee, first, second, third, formal, rest, back, result = (b.node() for _ in range(8))
    function = b.function(formals=[formal, NONE], result=back, rest=rest)
    tokens = [b.allocation() for _ in range(4)]
    for node, token in zip((first, second, third, back), tokens, strict=True):
        b.address(node, token)
    b.address(callee, function)
    b.address(callee, tokens[0])  # no function: called, it does nothing
    b.call(callee, [first, second, third, NONE], result)
    answer = reference.solve(b.problem())
    assert sets(answer)[formal] == [tokens[0]]
    assert sets(answer)[rest] == [tokens[2]]
    assert sets(answer)[result] == [tokens[3]]
    assert answer.call_edges.tolist() == [[0, 0]]
    assert not answer.calls_outside.any()


def test_what_escapes_takes_its_contents_and_its_allocation_along() -> None:
    b = ConstraintBuilder()
    given, inside, other = b.node(), b.node(), b.node()
    first = b.allocation([inside, other])
    hidden, kept = b.allocation(), b.allocation()
    b.address(given, first)
    b.address(inside, hidden)
    b.address(b.node(), kept)
    b.flag(given, TO_OUTSIDE)
    problem = b.problem()
    escaped = [*problem.allocation_offsets[[first, first, hidden]] + [0, 1, 0]]
    answer = reference.solve(problem)
    assert np.flatnonzero(answer.escaped).tolist() == escaped
    assert np.flatnonzero(answer.unknown).tolist() == [inside, other]
    assert sets(answer)[inside] == escaped


def test_an_unknown_pointer_loads_stores_and_calls_the_outside() -> None:
    b = ConstraintBuilder()
    unknown, loaded, stored, actual, result, unrelated = (b.node() for _ in range(6))
    lent, passed, own = b.allocation(), b.allocation(), b.allocation()
    b.flag(unknown, FROM_OUTSIDE)
    b.load(loaded, unknown)
    b.address(stored, lent)
    b.store(unknown, stored)
    b.address(actual, passed)
    b.call(unknown, [actual], result)
    b.address(unrelated, own)
    answer = reference.solve(b.problem())
    assert np.flatnonzero(answer.unknown).tolist() == [unknown, loaded, result]
    assert np.flatnonzero(answer.escaped).tolist() == [lent, passed]
    assert answer.calls_outside.tolist() == [True]
    assert sets(answer)[unrelated] == [own]
    assert answer.rows.sizes()[answer.row_of].sum() == 3  # unknown rows do not repeat what escaped


def test_an_escaped_function_is_called_from_outside() -> None:
    b = ConstraintBuilder()
    holder, formal, rest, back, uses = (b.node() for _ in range(5))
    secret = b.allocation()
    function = b.function([formal], back, rest)
    b.address(holder, function)
    b.flag(holder, TO_OUTSIDE)
    b.address(back, secret)
    b.copy(uses, formal)
    answer = reference.solve(b.problem())
    assert np.flatnonzero(answer.unknown).tolist() == [formal, rest, uses]
    assert np.flatnonzero(answer.escaped).tolist() == [secret, function]
