"""CPU and GPU together: equal to the reference, both sides at work, and never at work in vain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.kernels import launch
from kleene.kernels.launch import host
from kleene.solvers.inclusion import difference, hybrid, reference
from kleene.solvers.inclusion.cuda import fixpoint, rounds
from kleene.solvers.inclusion.hybrid import Costs, shared, worklist
from tests.solvers.inclusion.strategies import random_problem

N_PROBLEMS = 25
HAS_GPU = launch.gpu_problem() is None


@pytest.fixture(scope="module")
def cuda_place() -> Iterator[None]:
    """The GPU if one answers, else the host runner."""
    if not HAS_GPU and (reason := host.problem()):
        pytest.skip(f"no GPU, and {reason}")
    with nullcontext() if HAS_GPU else launch.on_host():
        yield


@pytest.fixture
def small_bites(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make both sides take few rules at a time: the problems here are tiny."""
    monkeypatch.setattr(worklist, "DEVICE_TAKES", 3)
    monkeypatch.setattr(worklist, "HOST_TAKES", 2)
    monkeypatch.setattr(shared, "ROUNDS_PER_LOOK", 1)
    monkeypatch.setattr(rounds, "ROUNDS_PER_LOOK", 1)
    monkeypatch.setattr(fixpoint, "ROUNDS_PER_LOOK", 1)


@pytest.mark.usefixtures("cuda_place", "small_bites")
def test_both_sides_find_the_reference_answer_together() -> None:
    rows: list[Mapping[str, float]] = []
    for seed in range(N_PROBLEMS):
        problem = random_problem(seed)
        found = hybrid.solve(problem, threads=1 + seed % 3, costs=Costs.none(), trace=rows.append)
        assert difference(reference.solve(problem), found) is None, f"seed {seed}"
    both = [row for row in rows if row["shared"]]
    assert any(row["exchanged_bytes"] > 0 for row in both)
    for kind in ("copy", "push", "pull"):
        assert any(row[f"cpu_{kind}_s"] > 0 for row in both), f"the CPU never fired a {kind}"
        assert any(row[f"gpu_{kind}_s"] > 0 for row in both), f"the GPU never fired a {kind}"
    columns = hybrid.paper_columns(rows)
    assert columns["R_copy"] > 0
    assert 0 < columns["stores_on_gpu_share"] < 1
    assert 0 < columns["rounds_on_gpu_share"] < 1


@pytest.mark.usefixtures("cuda_place", "small_bites")
def test_sharing_ends_when_the_exchange_outweighs_the_work() -> None:
    costs = replace(Costs.none(), exchange_share=0.0)
    n_shared = []
    for seed in range(N_PROBLEMS):
        problem = random_problem(seed)
        found = hybrid.solve(problem, costs=costs)
        assert difference(reference.solve(problem), found) is None, f"seed {seed}"
        n_shared.append(found.statistics["shared_rounds"])
    assert max(n_shared) == 1


@pytest.mark.usefixtures("cuda_place")
def test_short_rounds_stay_on_the_gpu() -> None:
    costs = Costs(speed_ratio=16.0, bus_bytes_per_s=1e10, exchange_s=60.0)
    found = hybrid.solve(random_problem(1), costs=costs)
    assert found.statistics["shared_rounds"] == 0
    assert found.statistics["gpu_only_share"] == 1


def test_few_nodes_stay_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise AssertionError("a GPU was asked for")

    monkeypatch.setattr(launch, "current", refuse)
    rows: list[Mapping[str, float]] = []
    problem = random_problem(2)
    found = hybrid.solve(problem, trace=rows.append)
    assert difference(reference.solve(problem), found) is None
    assert hybrid.paper_columns(rows) == {"rounds_on_gpu_share": 0}


def test_sharing_pays_only_for_long_rounds_and_an_even_match() -> None:
    costs = Costs(speed_ratio=1.0, bus_bytes_per_s=1e10)
    assert costs.pays(round_s=1.0, n_rounds=10, row_bytes=1 << 30)
    assert not costs.pays(round_s=1e-3, n_rounds=10, row_bytes=1 << 30)
    assert not costs.pays(round_s=1.0, n_rounds=1, row_bytes=1 << 34)
    assert not replace(costs, speed_ratio=1e3).pays(1.0, 10, 1 << 30)


@given(counts=st.lists(st.integers(0, 500), min_size=4, max_size=4), ends=st.data())
def test_a_worklist_hands_out_every_rule_once(counts: list[int], ends: st.DataObject) -> None:
    work = worklist.Worklist(counts)
    seen: list[tuple[int, int]] = []
    while part := (work.low() if ends.draw(st.booleans()) else work.high()):
        seen += [(part.kind, rule) for rule in range(part.first, part.end)]
    assert sorted(seen) == [(kind, i) for kind, count in enumerate(counts) for i in range(count)]
