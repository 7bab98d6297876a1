"""CPU and GPU together: equal to the reference, both sides at work, and never at work in vain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from threading import current_thread
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.kernels import launch
from kleene.kernels.launch import host
from kleene.solvers.inclusion import Problem, difference, hybrid, reference
from kleene.solvers.inclusion.cuda import cycles, fixpoint, rounds
from kleene.solvers.inclusion.cuda.tables import Tables, tables
from kleene.solvers.inclusion.generate import points_to_like, random_cps, van_horn_mairson
from kleene.solvers.inclusion.hybrid import Costs, Expected, choice, machine, shared, worklist
from kleene.solvers.inclusion.hybrid.machine import Machine
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
        found = hybrid.together(
            problem, threads=1 + seed % 3, costs=Costs.none(), trace=rows.append
        )
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
        found = hybrid.together(problem, costs=costs)
        assert difference(reference.solve(problem), found) is None, f"seed {seed}"
        n_shared.append(found.statistics["shared_rounds"])
    assert max(n_shared) == 1


@pytest.mark.usefixtures("cuda_place")
def test_short_rounds_stay_on_the_gpu() -> None:
    costs = Costs(speed_ratio=16.0, bus_bytes_per_s=1e10, exchange_s=60.0)
    found = hybrid.together(random_problem(1), costs=costs)
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


def test_whoever_is_expected_to_be_faster_solves(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, asked = random_problem(2), []
    monkeypatch.setattr(hybrid, "FEW_NODES", 0)
    monkeypatch.setattr(hybrid, "together", lambda problem, **_options: asked.append(problem))
    monkeypatch.setattr(hybrid, "expected", lambda _problem: Expected(cpu_s=1.0, gpu_s=2.0))
    assert difference(reference.solve(problem), hybrid.solve(problem)) is None
    assert not asked
    monkeypatch.setattr(hybrid, "expected", lambda _problem: Expected(cpu_s=2.0, gpu_s=1.0))
    hybrid.solve(problem)
    assert asked == [problem]


def test_news_spread_in_dense_closures_and_not_in_chains() -> None:
    assert choice.spread(van_horn_mairson(50)) == pytest.approx(1, abs=0.05)
    assert choice.spread(random_cps(500, 1)) > 5
    assert choice.spread(Problem(3)) == 0


SLOW_GPU = Machine([10, 100, 200], [1.0, 2.0, 4.0], [5.0, 5.0, 5.0], 1e12, 1e10, 1e10)


def test_times_lie_on_lines_between_those_measured() -> None:
    sizes = (1, 10, 55, 100, 150, 200, 300)
    times = [SLOW_GPU.on_cpu_s(size) for size in sizes]
    assert times == pytest.approx([0.9, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
    assert SLOW_GPU.on_gpu_s(1000) == 5.0


def test_the_cpu_is_expected_to_take_longer_where_news_spread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(launch, "current", lambda: SimpleNamespace(xp=None))
    monkeypatch.setattr(choice, "this_machine", lambda _place: SLOW_GPU)
    chain, dense = van_horn_mairson(8), random_cps(60, 1)
    assert choice.expected(chain).on_cpu
    assert not choice.expected(dense).on_cpu
    assert str(choice.expected(chain)).endswith("ms expected on the CPU, 5e+03 on the GPU")


def test_each_kind_of_rules_has_launches() -> None:
    assert [choice.n_kinds(p) for p in (Problem(1), van_horn_mairson(2))] == [1, 1]
    assert choice.n_kinds(points_to_like(1_000, 1_000, 1)) == 4


@pytest.mark.parametrize("is_steady", [True, False])
def test_a_machine_is_measured_once_if_nobody_else_uses_it(
    is_steady: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_measured = []

    def measured(_place: object) -> tuple[Machine, bool]:
        n_measured.append(1)
        return SLOW_GPU, is_steady

    place = SimpleNamespace(name=f"a GPU of this test {is_steady}")
    monkeypatch.setattr(machine, "_measured", measured)
    for _ in range(2):  # as two processes would
        assert machine.this_machine.__wrapped__(place) == SLOW_GPU
    assert len(n_measured) == (1 if is_steady else 2)


def test_a_busy_machine_is_told_from_a_quiet_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LEVELS", (1, 2))
    monkeypatch.setattr(machine, "_PROBE_BYTES", 64)
    waits = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(synchronize=lambda: None))
    fake = SimpleNamespace(
        asarray=lambda array: array, bitwise_or=lambda *_one, **_two: None, cuda=waits
    )
    for times, expected in (([1.0, 1.1, 1.2], True), ([1.0, 1.6, 1.7], False)):
        monkeypatch.setattr(machine, "N_REPEATS", 3)
        monkeypatch.setattr(machine, "_times", lambda *works, times=times: [times] * len(works))
        found, is_steady = machine._measured(SimpleNamespace(xp=fake))
        assert is_steady is expected
        assert found.cpu_s == found.gpu_s == [1.0, 1.0]


def test_draws_tell_how_news_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    for problem in (van_horn_mairson(8_000), points_to_like(150_000, 160_000, 1)):
        of_some = choice.spread(problem)
        monkeypatch.setattr(choice, "MANY_FLOWS", 1 << 30)
        assert of_some == pytest.approx(choice.spread(problem), rel=0.2)
        monkeypatch.undo()


@pytest.mark.usefixtures("cuda_place")
def test_tables_are_made_while_the_device_looks_for_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    makers = []

    def watched(problem: Problem) -> Tables:
        makers.append(current_thread())
        return tables(problem)

    monkeypatch.setattr(hybrid, "tables", watched)
    monkeypatch.setattr(hybrid, "MANY_ROWS", 0)
    monkeypatch.setattr(cycles, "ON_HOST_UP_TO", 0)
    for seed in range(10):
        problem = random_problem(seed)
        found = hybrid.together(problem, threads=2, costs=Costs.none())
        assert difference(reference.solve(problem), found) is None, f"seed {seed}"
    assert any(maker is not current_thread() for maker in makers)


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
