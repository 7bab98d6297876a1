"""Generated problems have the sizes and shapes they claim, and depend on their seed alone."""

from __future__ import annotations

import numpy as np
import pytest

from kleene.kernels import launch
from kleene.solvers.inclusion import Problem, difference, reference
from kleene.solvers.inclusion.check import check
from kleene.solvers.inclusion.generate import points_to_like, random_cps, van_horn_mairson
from kleene.solvers.inclusion.paper import andersen, eigencfa
from tests.solvers.inclusion.registry import OF_ALL_RULES, ON_DEVICE, SOLVERS, Solver

UNARY_A_LEVEL, UNARY_OTHERS = 3, 6  # the lambdas t, u, z of a level; halt, h, ap, id, j0, v0


def n_facts(problem: Problem, answer_facts: int) -> int:
    """Return the facts about variables: a lambda's own node holds that lambda, which is no fact."""
    return answer_facts - problem.n_functions


@pytest.mark.parametrize("inner_first", [True, False])
@pytest.mark.parametrize("m", [1, 2, 8, 31])
def test_the_size_of_van_horn_mairson_programs(m: int, inner_first: bool) -> None:
    problem = van_horn_mairson(m, inner_first)
    check(problem)
    n_lambdas = problem.n_functions
    n_formals = 2 * n_lambdas - UNARY_A_LEVEL * m - UNARY_OTHERS
    places = np.append(problem.call_callee, problem.actuals)
    n_references = int((places >= n_lambdas).sum())
    assert n_lambdas == 6 * m + 10
    assert problem.n_calls == n_lambdas + 1
    assert n_lambdas + n_formals + problem.n_calls + n_references == 31 * m + 49
    used = places[(places >= 0) & (places < n_lambdas)]
    assert np.array_equal(np.sort(used), np.arange(n_lambdas)), "a lambda stands in one place"


# Levels, facts and largest set, as other solvers of this family counted them.
FACTS = [(8, 167, 9), (16, 423, 17), (32, 1_319, 33), (64, 4_647, 65), (128, 17_447, 129)]


@pytest.mark.parametrize("inner_first", [True, False])
@pytest.mark.parametrize(("m", "expected", "largest"), FACTS)
def test_the_facts_of_van_horn_mairson_programs(
    m: int, expected: int, largest: int, inner_first: bool
) -> None:
    problem = van_horn_mairson(m, inner_first)
    answer = eigencfa.solve(problem)
    assert n_facts(problem, answer.n_facts) == expected
    assert answer.rows.sizes().max() == largest


def test_a_large_program_is_built_as_arrays() -> None:
    problem = van_horn_mairson(32_768)
    check(problem)
    assert problem.n_functions == 6 * 32_768 + 10


def test_random_programs_are_closed_and_binary() -> None:
    problem = random_cps(300, seed=7)
    check(problem)
    n = problem.n_functions
    calls = np.column_stack([problem.call_callee, problem.actuals.reshape(-1, 2)])
    assert calls.shape == (n + 1, 3)
    around: list[set[int]] = [set() for _ in range(n)]
    for lam in range(n):  # outer before inner
        ((call, _place),) = np.argwhere(calls == lam)[-1:]
        around[lam] = {lam} | (around[call] if call < n else set())
    for call, place in np.argwhere(calls[:-1] >= n):
        assert calls[call, place] % n in around[call], "a variable is bound around its use"


def test_random_programs_merge_flows() -> None:
    problem = random_cps(300, seed=1)
    share = n_facts(problem, eigencfa.solve(problem).n_facts) / (2 * 300**2)
    assert 0.05 < share < 0.25


@pytest.mark.parametrize(("n_nodes", "n_rows"), [(53_362, 55_977), (246_944, 89_226), (900, 9_000)])
def test_points_to_graphs_have_the_size_asked_for(n_nodes: int, n_rows: int) -> None:
    problem = points_to_like(n_nodes, n_rows, seed=1)
    check(problem)
    assert (problem.n_nodes, problem.n_constraints) == (n_nodes, n_rows)


def test_points_to_graphs_look_like_programs() -> None:
    problem = points_to_like(20_000, 21_000, seed=3)
    answer = andersen.solve(problem)
    sizes = answer.rows.sizes()[answer.row_of]
    taken = problem.n_objects / problem.n_nodes
    assert 0.05 < taken < 0.11
    assert 1 < sizes.mean() < 200
    assert sizes.max() > 5 * sizes.mean(), "sets are skewed"
    into = np.bincount(problem.copy_destination)
    assert into.max() > 10 * into[into > 0].mean(), "degrees are skewed"
    assert np.diff(problem.allocation_offsets).max() > 4, "there are structs"
    assert len(np.unique(answer.row_of)) < problem.n_nodes, "there are cycles of copies"
    assert len(answer.call_edges) > 0


@pytest.mark.parametrize(
    "make", [lambda seed: points_to_like(500, 550, seed), lambda seed: random_cps(60, seed)]
)
def test_seeds_decide(make: object) -> None:
    first, again, other = make(5), make(5), make(6)  # type: ignore[operator]
    same = [np.array_equal(a, b) for a, b in zip(*map(columns, (first, again)), strict=True)]
    assert all(same)
    assert not all(np.array_equal(a, b) for a, b in zip(*map(columns, (first, other)), strict=True))


def columns(problem: Problem) -> list[np.ndarray]:
    return list(problem.columns().values())


def agrees(solver: Solver, problem: Problem) -> bool:
    return difference(solver.solve(problem), reference.solve(problem)) is None


@pytest.mark.parametrize(
    "problem", [random_cps(80, seed=3), van_horn_mairson(6)], ids=["cps", "van-horn-mairson"]
)
def test_solvers_agree_on_generated_closures(rival: Solver, problem: Problem) -> None:
    assert agrees(rival, problem)


@pytest.mark.parametrize("rival", [n for n in OF_ALL_RULES if n != "reference"], indirect=True)
@pytest.mark.parametrize(
    "problem",
    [points_to_like(400, 420, seed=1), points_to_like(150, 900, seed=2)],
    ids=["program", "dense-program"],
)
def test_solvers_agree_on_generated_programs(rival: Solver, problem: Problem) -> None:
    assert agrees(rival, problem)


NO_GPU = launch.gpu_problem()
on_gpu = pytest.mark.skipif(
    NO_GPU is not None, reason=f"the host runner would take minutes, and no GPU: {NO_GPU}"
)
LARGE = [name for name in SOLVERS if name.startswith("cpu")]
LARGE += [pytest.param(name, marks=on_gpu) for name in ON_DEVICE]


@pytest.mark.parametrize("rival", LARGE, indirect=True)
@pytest.mark.parametrize(
    "problem",
    [points_to_like(30_000, 28_000, seed=1), points_to_like(6_000, 24_000, seed=2)],
    ids=["program", "dense-program"],
)
def test_solvers_agree_on_large_problems(rival: Solver, problem: Problem) -> None:
    """The oracle is too slow here: one baseline stands in, which shares no code with the others."""
    assert difference(rival.solve(problem), andersen.solve(problem)) is None
