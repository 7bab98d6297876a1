"""`solve` checks, chooses and says so; what cannot be done is refused with the way forward."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from kleene.base import progress
from kleene.base.device import Device
from kleene.base.errors import SourceError
from kleene.kernels import launch
from kleene.kernels.launch import host
from kleene.solvers.inclusion import Problem, choice, difference, engine, plan, reference, solve
from tests.solvers.inclusion.strategies import random_problem

NO_GPU = launch.gpu_problem()


def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no problem be too small for a GPU."""
    monkeypatch.setattr(choice, "FEW_NODES", 0)
    monkeypatch.setattr(engine, "WAKING_NODES", 0)


@pytest.mark.parametrize("seed", range(10))
def test_auto_solves(seed: int) -> None:
    problem = random_problem(seed)
    found = solve(problem)
    assert difference(found, reference.solve(problem)) is None
    assert found.plan.startswith("cpu: ")


@pytest.mark.parametrize("device", ["auto", "hybrid"])
@pytest.mark.parametrize("is_awake", [True, False])
def test_small_problems_stay_on_the_cpu_and_say_so(
    device: str, is_awake: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To wake a GPU pays for large problems only, unless it is asked for by name."""
    monkeypatch.setitem(sys.modules, "cupy", None)
    if not is_awake:
        monkeypatch.delitem(sys.modules, "cupy")
    chosen = plan(random_problem(0), device)
    few = choice.FEW_NODES if is_awake or device == "hybrid" else engine.WAKING_NODES
    assert chosen.device is Device.CPU
    assert f"a GPU may pay from {few};" in str(chosen)
    assert "GiB are free" in str(chosen)


@pytest.mark.skipif(NO_GPU is None, reason="a GPU answers here")
@pytest.mark.parametrize("device", ["cuda", "hybrid"])
def test_a_gpu_asked_for_by_name_and_absent_is_an_error(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    any_size(monkeypatch)
    with pytest.raises(SourceError) as caught:
        solve(random_problem(0), device=device)
    assert caught.value.id == "inclusion/no-gpu"
    assert "'auto'" in caught.value.notes[0]


@pytest.mark.skipif(NO_GPU is None, reason="a GPU answers here")
def test_auto_falls_back_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    any_size(monkeypatch)
    problem = random_problem(0)
    found = solve(problem)
    assert f"no GPU: {NO_GPU}" in found.plan
    assert difference(found, reference.solve(problem)) is None


@pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
@pytest.mark.parametrize("device", ["auto", "cuda", "hybrid"])
def test_every_device_gives_one_answer(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    any_size(monkeypatch)
    problem = random_problem(4)
    with launch.on_host():
        found = solve(problem, device=device, threads=2)
    assert found.plan.startswith("cuda: as asked" if device == "cuda" else "hybrid: ")
    assert difference(found, reference.solve(problem)) is None


def test_the_plan_is_stated_before_solving_starts() -> None:
    said: list[str] = []

    @contextmanager
    def sink(title: str, _total: int | None) -> Iterator[Callable[[int], None]]:
        said.append(title)
        yield lambda _steps: None

    with progress.showing(sink):
        found = solve(random_problem(3), device="cpu", trace=lambda _row: said.append("iterated"))
    assert said[0] == f"solving on {found.plan}"
    assert re.fullmatch(r"cpu: as asked; at most .* GiB, .* GiB are free", found.plan)
    assert set(said[1:]) == {"iterated"}


def test_a_problem_too_large_for_the_gpu_falls_back_with_the_amounts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The GPU is played: what counts is what it is said to have free."""
    problem = random_problem(5)
    any_size(monkeypatch)
    monkeypatch.setattr(launch, "gpu_problem", lambda: None)
    monkeypatch.setattr(launch, "current", lambda: SimpleNamespace(name="a small GPU"))
    monkeypatch.setattr(launch, "gpu_free_bytes", lambda: 100)
    found = solve(problem)
    assert "no GPU: needs 0.0 GiB, a small GPU has 0.0 GiB free" in found.plan
    assert difference(found, reference.solve(problem)) is None
    with pytest.raises(SourceError) as caught:
        plan(problem, "cuda")
    assert caught.value.id == "inclusion/no-gpu"
    assert "needs 0.0 GiB" in caught.value.message
    monkeypatch.setattr(launch, "gpu_free_bytes", lambda: 1 << 40)
    monkeypatch.setattr(choice, "expected", lambda _problem: choice.Expected(0.02, 0.01, 4.0))
    assert plan(problem).device is Device.HYBRID
    assert plan(problem).reason == "20 ms expected on the CPU, 10 on the GPU; both race"
    monkeypatch.setattr(choice, "expected", lambda _problem: choice.Expected(0.01, 0.09))
    assert plan(problem).device is Device.CPU


def test_a_problem_that_is_none_is_refused_first() -> None:
    with pytest.raises(SourceError) as caught:
        solve(Problem(1, copy_destination=np.array([5], np.int32), copy_source=np.zeros(1, "i4")))
    assert caught.value.id == "inclusion/no-such-node"
    assert caught.value.message == "copy_destination: row 0 holds 5, which is none of 1 nodes"


def test_trace_is_called_for_every_iteration() -> None:
    rows: list[object] = []
    solve(random_problem(3), device="cpu", trace=rows.append)
    assert rows
