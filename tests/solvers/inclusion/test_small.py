"""Small problems by a worklist: the same answers, and who gets them."""

from __future__ import annotations

import numpy as np
import pytest

from kleene.kernels.compiled import interpreted
from kleene.solvers.inclusion import Problem, cpu, reference, solve
from kleene.solvers.inclusion.cpu import small
from kleene.solvers.inclusion.generate import random_cps, van_horn_mairson
from kleene.solvers.inclusion.solution import difference
from tests.solvers.inclusion.strategies import random_problem


@pytest.mark.parametrize("is_interpreted", [False, True])
def test_equal_to_the_oracle(is_interpreted: bool) -> None:
    with interpreted(is_interpreted):
        for seed in range(60 if is_interpreted else 600):
            problem = random_problem(seed, flags=False)
            assert difference(reference.solve(problem), small.solve(problem)) is None, seed


@pytest.mark.parametrize("problem", [van_horn_mairson(8), random_cps(60, 1), Problem(0)])
def test_equal_to_the_solver_for_all_sizes(problem: Problem) -> None:
    assert small.is_small(problem)
    with interpreted(False):
        found = cpu.solve_by_size(problem)
        assert difference(cpu.solve(problem), found) is None
    assert "classes" not in found.statistics


def test_a_long_chain_of_copies_in_random_order() -> None:
    n = 2000
    rules = np.random.default_rng(1).permutation(n).astype(np.int32)
    problem = Problem(
        n + 1,
        contents=np.full(1, -1, np.int32),
        allocation_offsets=np.array([0, 1], np.int32),
        address_node=np.array([0], np.int32),
        address_object=np.array([0], np.int32),
        copy_source=rules,
        copy_destination=rules + 1,
    )
    with interpreted(False):
        found = cpu.solve_by_size(problem)
    assert found.statistics["iterations"] == n + 1
    assert difference(cpu.solve(problem), found) is None


@pytest.mark.parametrize("problem", [van_horn_mairson(512), random_problem(3, flags=True)])
def test_others_are_not_small(problem: Problem) -> None:
    assert len(problem.flags) or problem.n_nodes > small.MOST_NODES
    assert not small.is_small(problem)
    with interpreted(False):
        assert "classes" in solve(problem, device="cpu").statistics
