"""The baselines do what their papers print, and say what they cannot take."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.solvers.inclusion import FROM_OUTSIDE
from kleene.solvers.inclusion.builder import ConstraintBuilder
from kleene.solvers.inclusion.generate import random_cps, van_horn_mairson
from kleene.solvers.inclusion.paper import andersen, eigencfa
from kleene.solvers.inclusion.paper import elements as e


def vector(bits: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a pool, its use and the heads of two vectors, the first with these bits."""
    pool, used = np.zeros((4, 32), np.int32), np.array([1, 0], np.int64)
    heads = np.zeros(2, np.int32)
    for bit in bits:
        pool = e.with_room(pool, used, 1)
        e.add(pool, used, heads, 0, bit)
    return pool, used, heads


def members(pool: np.ndarray, head: int) -> list[int]:
    into = np.empty(10_000, np.int64)
    return into[: e.members(pool, head, into)].tolist()


def test_the_elements_of_the_paper_s_example() -> None:
    """{958, 1920} is two elements: base 0 with bit 958, base 2 with bit 0."""
    pool, used, heads = vector([1920, 958])
    first = heads[0]
    second = pool[first, e.NEXT]
    assert pool[first, e.BASE] == 0
    assert pool[first, 29] == 1 << 30
    assert pool[second, e.BASE] == 2
    assert pool[second, 0] == 1
    assert pool[second, e.NEXT] == 0
    assert used[0] == 3


SETS = st.sets(st.integers(0, 4000), max_size=30)


@given(left=SETS, right=SETS)
def test_joining_and_folding_are_set_operations(left: set[int], right: set[int]) -> None:
    pool, used, heads = vector(sorted(left))
    for bit in right:
        pool = e.with_room(pool, used, 1)
        e.add(pool, used, heads, 1, bit)
    pool = e.with_room(pool, used, 20)
    both = np.array([heads[0], 0], np.int32)
    e.join(pool, used, both, 1, heads[0])
    e.join(pool, used, both, 1, heads[1])
    assert members(pool, both[1]) == sorted(left | right)
    whole, found = heads[:1].copy(), heads[1:].copy()
    e.fold(pool, used, whole, found, 0)
    assert members(pool, whole[0]) == sorted(left | right)
    assert members(pool, found[0]) == sorted(right - left)
    n_handed_out = used[0]
    e.give_back(pool, used, found[0])
    if right - left:
        again = np.zeros(1, np.int32)
        e.add(pool, used, again, 0, 7)
        assert used[0] == n_handed_out, "what was given back is used again"
        assert members(pool, again[0]) == [7]


def test_the_outside_world_is_refused() -> None:
    builder = ConstraintBuilder()
    builder.flag(builder.node(), FROM_OUTSIDE)
    problem = builder.problem()
    assert andersen.refuses(problem) == "the paper knows no outside world: flags has rows"
    assert "flags has rows" in str(eigencfa.refuses(problem))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"copy_destination": [0], "copy_source": [0]}, "copy_source"),
        ({"function_rest": [0, 1]}, "function_rest"),
        ({"function_result": [0, 1]}, "function_result"),
        ({"call_result": [0, 0, 0]}, "call_result"),
    ],
)
def test_eigencfa_refuses_other_rules(change: dict[str, list[int]], named: str) -> None:
    problem = random_cps(2, seed=0)
    assert eigencfa.refuses(problem) is None
    columns = {name: np.array(column, np.int32) for name, column in change.items()}
    assert named in str(eigencfa.refuses(replace(problem, **columns)))


def test_eigencfa_starts_narrow_and_doubles() -> None:
    answer = eigencfa.solve(van_horn_mairson(64))
    assert answer.statistics["row_width"] == 8 * 16  # 4 % of 394 lambdas, for rows of up to 65


def test_eigencfa_needs_more_passes_if_inner_lambdas_come_first() -> None:
    passes = [eigencfa.solve(van_horn_mairson(64, first)).statistics for first in (True, False)]
    assert [statistics["n_passes"] for statistics in passes] == [71, 7]


def test_andersen_counts_its_iterations() -> None:
    """The worked example of the paper: two iterations find edges, the third finds nothing."""
    b = ConstraintBuilder()
    x, y, z, held, *a = (b.node() for _ in range(7))
    b.address(x, b.allocation(a))
    b.copy(y, x)
    b.load(held, y)
    b.offset(z, x, 2)
    b.store(z, held)
    assert andersen.solve(b.problem()).statistics["n_iterations"] == 3
