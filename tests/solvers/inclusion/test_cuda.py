"""The CUDA solver on a GPU, or on the host runner where there is none: the oracle's answer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.graphs import Graph, strong_components
from kleene.kernels import launch
from kleene.kernels.launch import host
from kleene.solvers.inclusion import NONE, Problem, cuda, difference, engine, reference
from kleene.solvers.inclusion.cuda import cycles, rounds, sweep, tables
from kleene.solvers.inclusion.cuda.sweep import order
from kleene.solvers.inclusion.generate import random_cps, van_horn_mairson
from kleene.solvers.inclusion.paper import sharing
from tests.solvers.inclusion.strategies import (
    problem_of,
    problems,
    random_closures,
    random_problem,
)

HAS_GPU = launch.gpu_problem() is None
N_PROBLEMS = 100 if HAS_GPU or os.environ.get("KLEENE_DEEP") else 30
needs_a_backend = pytest.mark.skipif(
    not HAS_GPU and host.problem() is not None, reason=f"no GPU, and {host.problem()}"
)
needs_no_gpu = pytest.mark.skipif(HAS_GPU, reason="a GPU answers here")


@pytest.fixture(scope="module", autouse=True)
def backend() -> Iterator[None]:
    """The GPU if one answers, else the host runner."""
    with nullcontext() if HAS_GPU else launch.on_host():
        yield


def wrong(problem: Problem) -> str | None:
    return difference(cuda.solve(problem), reference.solve(problem))


@needs_a_backend
@pytest.mark.parametrize("make", [random_problem, random_closures])
def test_random_problems(make):
    for number in range(N_PROBLEMS):
        assert wrong(make(number)) is None, f"problem {number}"


@needs_a_backend
def test_random_problems_with_no_node_merged(monkeypatch):
    def one_each(problem):
        return np.arange(problem.n_nodes, dtype=np.int32), problem.n_nodes

    monkeypatch.setattr(cuda, "rows_of", one_each)
    for number in range(N_PROBLEMS):
        assert wrong(random_problem(number)) is None, f"problem {number}"


@needs_a_backend
@pytest.mark.parametrize("make", [random_problem, random_closures])
def test_random_problems_with_a_slot_for_every_class(monkeypatch, make):
    monkeypatch.setattr(rounds, "DETOUR", 0)
    for number in range(N_PROBLEMS):
        assert wrong(make(number)) is None, f"problem {number}"


@needs_a_backend
def test_dense_closures_pass_through_slots(monkeypatch):
    problem = random_cps(200, 1)
    answer = cuda.solve(problem)
    assert difference(answer, reference.solve(problem)) is None
    monkeypatch.setattr(rounds, "DETOUR", 1 << 30)
    one_by_one = cuda.solve(problem)
    assert difference(answer, one_by_one) is None
    assert answer.statistics["strips"] < 0.8 * one_by_one.statistics["strips"]


@needs_a_backend
def test_equal_rows_are_fetched_once():
    answer = cuda.solve(random_cps(200, 1))
    sets = {tuple(answer.of(node).tolist()) for node in range(600)}
    assert len(answer.rows) == len(sets) < 300


@needs_a_backend
def test_random_problems_with_a_sweep_at_every_look(monkeypatch):
    monkeypatch.setattr(sweep, "PATIENCE", 1)
    monkeypatch.setattr(sweep, "ROUNDS_PER_LOOK", 1)
    monkeypatch.setattr(rounds, "ROUNDS_PER_LOOK", 1)
    monkeypatch.setattr(sweep, "SECONDS_PER_FLOW", 1e-12)
    monkeypatch.setattr(sweep, "FEW_LEVELS", 0)
    n_sweeps = 0.0
    for number in range(N_PROBLEMS):
        problem = random_problem(number)
        answer = cuda.solve(problem)
        n_sweeps += answer.statistics["sweeps"]
        assert difference(answer, reference.solve(problem)) is None, f"problem {number}"
    assert n_sweeps > N_PROBLEMS


@needs_a_backend
def test_a_long_chain_is_swept(monkeypatch):
    monkeypatch.setattr(sweep, "SECONDS_PER_FLOW", 1e-12)
    problem = van_horn_mairson(24)
    answer = cuda.solve(problem)
    assert difference(answer, reference.solve(problem)) is None
    assert answer.statistics["sweeps"] == 1
    assert answer.statistics["rounds"] < 24  # step by step there are twice as many


@needs_a_backend
def test_columns_sent_one_by_one(monkeypatch):
    monkeypatch.setattr(sweep, "SECONDS_PER_FLOW", 1e-12)
    monkeypatch.setattr(tables, "_PACKED_UP_TO_BYTES", 0)
    problem = van_horn_mairson(24)
    answer = cuda.solve(problem)
    assert difference(answer, reference.solve(problem)) is None
    assert answer.statistics["sweeps"] == 1


@needs_a_backend
def test_too_many_flows_are_not_swept(monkeypatch):
    monkeypatch.setattr(sweep, "SECONDS_PER_FLOW", 1e9)
    problem = van_horn_mairson(24)
    answer = cuda.solve(problem)
    assert difference(answer, reference.solve(problem)) is None
    assert answer.statistics["sweeps"] == 0
    assert answer.statistics["rounds"] > 48


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25))
def test_one_pass_in_order_closes_all_flows(flows):
    from_, to = np.array(flows, np.int32).reshape(-1, 2).T
    plan = order(10, from_, to)
    sets = [{row} for row in range(10)]
    for group in range(plan.level_offsets[-1]):
        members = plan.members[plan.member_offsets[group] : plan.member_offsets[group + 1]]
        sources = plan.sources[plan.source_offsets[group] : plan.source_offsets[group + 1]]
        total = set().union(*(sets[row] for row in [*members, *sources]))
        for row in members:
            sets[row] = total
    assert all(sets[a] <= sets[b] for a, b in flows)
    level = np.repeat(np.arange(plan.n_levels), np.diff(plan.level_offsets))
    of_row = {int(r): level[g] for g, r in pairs(plan.member_offsets, plan.members)}
    for group, row in pairs(plan.source_offsets, plan.sources):
        assert of_row.get(row, -1) < level[group]


def pairs(offsets: np.ndarray, values: np.ndarray) -> list[tuple[int, int]]:
    groups = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return list(zip(groups.tolist(), values.tolist(), strict=True))


@needs_a_backend
@given(problem=problems())
def test_drawn_problems(problem):
    assert wrong(problem) is None


@pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
@pytest.mark.parametrize("seed", range(1, 5))
def test_any_schedule_gives_the_same_answer(seed):
    with launch.on_host(seed):
        for number in range(15):
            assert wrong(random_problem(number)) is None, f"problem {number}"


def wrong_ones(numbers: range) -> list[str]:
    """Return what the GPU, a race and both sides together get wrong, in this process."""
    found = []
    for number in numbers:
        problem = random_problem(number) if number % 4 else random_closures(number)
        expected = reference.solve(problem)
        answers = {"cuda": cuda.solve(problem)}
        answers["hybrid"] = engine.both(problem)
        answers["sharing"] = sharing.solve(problem)
        for name, answer in answers.items():
            if (odd := difference(answer, expected)) is not None:
                found.append(f"{name}, problem {number}: {odd}")
    return found


def shared_from_the_first_round() -> None:
    """Make both sides take few rules at a time, in a process of its own."""
    sharing.DEVICE_TAKES, sharing.HOST_TAKES = 6, 2
    for module in (sweep, rounds):
        module.ROUNDS_PER_LOOK = 1


@pytest.mark.skipif(not HAS_GPU, reason=f"no GPU: {launch.gpu_problem()}")
def test_ten_thousand_problems_on_a_gpu(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")  # of each process that follows
    chunks = [range(start, start + 100) for start in range(0, 10_000, 100)]
    n_processes = max(2, (os.cpu_count() or 2) - 2)
    with get_context("spawn").Pool(n_processes, shared_from_the_first_round) as pool:
        wrong = [line for lines in pool.imap_unordered(wrong_ones, chunks) for line in lines]
    assert wrong == []


def spread(seed: int, n_objects: int) -> Problem:
    """Return a problem whose objects lie far apart, so that rows have several blocks."""
    rng = np.random.default_rng(seed)
    n_nodes, n = 30, 25
    contents = np.full(n_objects, NONE)
    used = np.unique(rng.integers(0, n_objects, 40))
    contents[used] = rng.integers(0, n_nodes, len(used))
    ends = rng.integers(0, n_nodes, (8, n))
    return problem_of(
        n_nodes,
        contents=contents,
        allocation_offsets=range(0, n_objects + 1, 8),
        address_node=ends[0],
        address_object=rng.choice(used, n),
        copy_destination=ends[1],
        copy_source=ends[2],
        load_destination=ends[3],
        load_pointer=ends[4],
        store_pointer=ends[5][:9],
        store_source=ends[6][:9],
        offset_destination=ends[7][:6],
        offset_source=ends[0][:6],
        offset_amount=rng.integers(-1, 9, 6),
        flagged_node=ends[1][: seed % 3],
        flags=rng.integers(1, 4, seed % 3),
    )


@needs_a_backend
@pytest.mark.parametrize("n_objects", [2048 * 3, 2048 * 70])
def test_rows_of_several_blocks(n_objects):
    for seed in range(4 if n_objects < 10_000 else 1):
        assert wrong(spread(seed, n_objects)) is None, f"problem {seed}"


def test_a_row_has_at_most_64_blocks():
    assert rounds.block_words(1) == rounds.block_words(2048) == 32
    assert rounds.block_words(2049) == 64


@needs_a_backend
def test_the_trace_has_a_line_a_round():
    lines = []
    problem = random_closures(3)
    answer = cuda.solve(problem, trace=lines.append)
    assert difference(answer, cuda.solve(problem)) is None
    assert [line["round"] for line in lines] == list(range(len(lines)))
    assert len(lines) == answer.statistics["rounds"] > 0
    assert all(line["changed_rows"] > 0 for line in lines)
    assert all(set(line) == {"round", "changed_rows", "push_s"} for line in lines)


@needs_no_gpu
def test_without_a_gpu_the_reason_is_reported():
    problem = Problem(1)
    assert cuda.problem_with(problem) is None  # the host runner was asked for
    token = launch._chosen.set(None)
    try:
        assert "CuPy" in str(cuda.problem_with(problem)) or "CUDA" in str(
            cuda.problem_with(problem)
        )
    finally:
        launch._chosen.reset(token)


def test_a_problem_too_large_says_what_it_needs(monkeypatch):
    class Card:
        name = "a small card"

    monkeypatch.setattr(launch, "gpu_problem", lambda: None)
    monkeypatch.setattr(launch, "current", Card)
    monkeypatch.setattr(launch, "gpu_free_bytes", lambda: 24 << 30)
    large = problem_of(10_000_000, contents=[NONE] * 100_000)
    assert cuda.problem_with(large) == "needs 349.9 GiB, a small card has 24.0 GiB free"
    assert cuda.problem_with(Problem(1)) is None


@needs_a_backend
@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), min_size=1, max_size=30))
def test_components_found_on_the_device_are_those_of_the_host(flows):
    from_, to = np.array(flows, np.int32).T.copy()
    found = cycles.components(12, from_, to)
    expected = strong_components(Graph.from_edges(12, from_, to))
    assert found is not None
    pairs_seen = set(zip(found[0].tolist(), expected.component.tolist(), strict=True))
    assert found[1] == expected.n_components == len(pairs_seen)


@needs_a_backend
def test_a_graph_with_too_many_passes_is_left_to_the_host(monkeypatch):
    falling = np.arange(30, 0, -1, dtype=np.int32)  # the largest number reaches all others
    assert cycles.components(31, falling, falling - 1) is None
    monkeypatch.setattr(cycles, "ON_HOST_UP_TO", 0)
    problem = problem_of(31, copy_source=falling, copy_destination=falling - 1)
    assert cycles.rows_of(problem)[1] == 31
