"""CPU or GPU, whoever is faster: the choice, the race, and the scheme that shares iterations."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from threading import current_thread
from types import SimpleNamespace

import numpy as np
import pytest

from kleene.base.device import Device
from kleene.kernels import launch
from kleene.kernels.launch import host
from kleene.solvers.inclusion import (
    Problem,
    Solution,
    choice,
    cpu,
    cuda,
    difference,
    engine,
    reference,
    solve,
)
from kleene.solvers.inclusion.choice import Expected, Machine
from kleene.solvers.inclusion.cpu import constraints
from kleene.solvers.inclusion.cuda import cycles
from kleene.solvers.inclusion.cuda.tables import Tables, tables_of
from kleene.solvers.inclusion.generate import points_to_like, random_cps, van_horn_mairson
from kleene.solvers.inclusion.paper import sharing
from kleene.solvers.inclusion.threads import NEVER, AbandonedError, Stop, race, settle
from tests.solvers.inclusion.strategies import random_problem

N_PROBLEMS = 25
HAS_GPU = launch.gpu_problem() is None
SLOW_GPU = Machine([10, 100, 200], [1.0, 2.0, 4.0], [5.0, 5.0, 5.0])


@pytest.fixture(scope="module")
def cuda_backend() -> Iterator[None]:
    """The GPU if one answers, else the host runner."""
    if not HAS_GPU and (reason := host.problem()):
        pytest.skip(f"no GPU, and {reason}")
    with nullcontext() if HAS_GPU else launch.on_host():
        yield


@pytest.mark.usefixtures("cuda_backend")
def test_both_sides_find_the_reference_answer_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both take few rules at a time: the problems here are tiny."""
    monkeypatch.setattr(sharing, "DEVICE_TAKES", 2)
    monkeypatch.setattr(sharing, "HOST_TAKES", 2)
    n_rules = {"rules_on_gpu": 0.0, "rules_on_cpu": 0.0}
    for seed in range(N_PROBLEMS):
        problem = random_problem(seed)
        found = sharing.solve(problem)
        assert difference(reference.solve(problem), found) is None, f"seed {seed}"
        for side in n_rules:
            n_rules[side] += found.statistics[side]
    assert min(n_rules.values()) > 10  # a real GPU leaves little to the CPU


@pytest.mark.usefixtures("cuda_backend")
def test_the_first_answer_counts_whoever_is_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A side that has not begun when the other is done never begins."""
    solvers = {"cpu": cpu.solve, "cuda": cuda.solve}
    for seed in range(10):
        problem = random_problem(seed)
        for number, slow in enumerate((cuda, cpu)):
            quick = solvers["cpu" if slow is cuda else "cuda"]

            def late(_problem: Problem, *, stop: Stop = NEVER, **_options: object) -> None:
                while True:
                    stop.look()
                    time.sleep(0.001)

            with monkeypatch.context() as patch:
                patch.setattr(slow, "solve", late)
                patch.setattr(choice, "expected", lambda _problem: Expected(0.0, 0.0))
                found = engine.both(problem)
            assert found.statistics["gpu_was_first"] == number
            assert difference(reference.solve(problem), found) is None, (seed, quick)
        settle()


@pytest.mark.parametrize("module", [cpu, cuda])
@pytest.mark.usefixtures("cuda_backend")
def test_a_solver_stops_where_it_is_asked_to(module: object) -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(AbandonedError):
        module.solve(random_problem(3), stop=stop)  # type: ignore[attr-defined]


def test_a_loser_ends_and_frees_what_it_holds() -> None:
    held: list[weakref.ref[np.ndarray]] = []
    started = threading.Event()

    def loser(stop: Stop) -> int:
        array = np.zeros(1000)
        held.append(weakref.ref(array))
        started.set()
        while True:
            stop.look()
            time.sleep(0.001)

    def winner(_stop: Stop) -> int:
        started.wait()
        return 5

    n_threads = threading.active_count()
    assert race(loser, winner) == (1, 5)
    settle()
    gc.collect()
    assert held[0]() is None
    for _ in range(100):
        if threading.active_count() <= n_threads:
            break
        time.sleep(0.01)
    assert threading.active_count() <= n_threads


def test_a_side_that_fails_leaves_the_race_to_the_other() -> None:
    def fails(_stop: Stop) -> int:
        raise MemoryError("the device is full")

    def later(_stop: Stop) -> int:
        time.sleep(0.02)
        return 7

    assert race(fails, later) == (1, 7)
    with pytest.raises(MemoryError, match="the device is full"):
        race(fails, fails)


@pytest.mark.usefixtures("cuda_backend")
def test_the_gpu_does_not_start_where_the_cpu_answers_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_all: object, **_options: object) -> None:
        raise AssertionError("the GPU was asked")

    monkeypatch.setattr(choice, "expected", lambda _problem: Expected(600.0, 600.0))
    monkeypatch.setattr(cuda, "solve", refuse)
    problem = random_problem(4)
    assert difference(reference.solve(problem), engine.both(problem)) is None
    settle()


def test_few_nodes_stay_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise AssertionError("a GPU was asked for")

    monkeypatch.setattr(launch, "current", refuse)
    problem = random_problem(2)
    assert difference(reference.solve(problem), solve(problem, device="hybrid")) is None


@pytest.mark.usefixtures("cuda_backend")
@pytest.mark.parametrize(
    ("cpu_s", "gpu_s", "asked"),
    [(1.0, 9.0, "cpu"), (9.0, 1.0, "cuda"), (1.0, 2.0, "both"), (2.0, 1.0, "both")],
)
def test_whoever_is_expected_to_be_much_faster_solves_alone(
    cpu_s: float, gpu_s: float, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, called = random_problem(2), []

    def by(side: str) -> Callable[..., Solution]:
        def solved(*_all: object, **_options: object) -> Solution:
            called.append(side)
            return reference.solve(problem)

        return solved

    monkeypatch.setattr(choice, "FEW_NODES", 0)
    monkeypatch.setattr(choice, "expected", lambda _problem: Expected(cpu_s, gpu_s, 4.0))
    monkeypatch.setattr(cpu, "solve_by_size", by("cpu"))
    monkeypatch.setattr(cuda, "solve", by("cuda"))
    monkeypatch.setattr(engine, "both", by("both"))
    solve(problem, device="hybrid")
    assert called == [asked]


def test_news_spread_in_dense_closures_and_not_in_chains() -> None:
    assert constraints.spread(van_horn_mairson(50)) == pytest.approx(1, abs=0.05)
    assert constraints.spread(random_cps(500, 1)) > 5
    assert constraints.spread(Problem(3)) == 0


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
    monkeypatch.setattr(choice, "UNCERTAIN", 1.0)
    chain, dense = van_horn_mairson(8), random_cps(60, 1)
    assert choice.expected(chain).side is Device.CPU
    assert choice.expected(dense).side is Device.CUDA
    assert str(choice.expected(chain)).endswith("ms expected on the CPU, 5e+03 on the GPU")
    assert str(Expected(0.1, 0.1)) == "100 ms expected on the CPU, 100 on the GPU; both race"


def test_each_kind_of_rules_has_launches() -> None:
    assert [choice.n_kinds(p) for p in (Problem(1), van_horn_mairson(2))] == [1, 1]
    assert choice.n_kinds(points_to_like(1_000, 1_000, 1)) == 4


@pytest.mark.parametrize("is_steady", [True, False])
def test_a_machine_is_measured_once_if_nobody_else_uses_it(
    is_steady: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_measured = []

    def measured() -> tuple[Machine, bool]:
        n_measured.append(1)
        return SLOW_GPU, is_steady

    backend = SimpleNamespace(name=f"a GPU of this test {is_steady}")
    monkeypatch.setattr(choice, "_measured", measured)
    for _ in range(2):  # as two processes would
        assert choice.this_machine.__wrapped__(backend) == SLOW_GPU
    assert len(n_measured) == (1 if is_steady else 2)


def test_a_busy_machine_is_known_from_a_quiet_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "LEVELS", (1, 2))
    monkeypatch.setattr(choice, "N_REPEATS", 3)
    for times, expected in (([1.0, 1.1, 1.2], True), ([1.0, 1.6, 1.7], False)):
        monkeypatch.setattr(choice, "_times", lambda *works, times=times: [times] * len(works))
        found, is_steady = choice._measured()
        assert is_steady is expected
        assert found.cpu_s == found.gpu_s == [1.0, 1.0]


def test_draws_say_how_news_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    for problem in (van_horn_mairson(8_000), points_to_like(150_000, 160_000, 1)):
        of_some = constraints.spread(problem)
        monkeypatch.setattr(constraints, "MANY_FLOWS", 1 << 30)
        assert of_some == pytest.approx(constraints.spread(problem), rel=0.2)
        monkeypatch.undo()


@pytest.mark.usefixtures("cuda_backend")
def test_tables_are_made_while_the_device_looks_for_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    makers = []

    def watched(problem: Problem) -> Tables:
        makers.append(current_thread())
        return tables_of(problem)

    monkeypatch.setattr(cuda, "tables_of", watched)
    monkeypatch.setattr(cuda, "MANY_ROWS", 0)
    monkeypatch.setattr(cycles, "ON_HOST_UP_TO", 0)
    for seed in range(10):
        problem = random_problem(seed)
        assert difference(reference.solve(problem), cuda.solve(problem)) is None, f"seed {seed}"
    assert all(maker is not current_thread() for maker in makers)
