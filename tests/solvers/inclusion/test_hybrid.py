"""CPU and GPU together: equal to the reference, both sides at work, and never at work in vain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.kernels import launch
from kleene.kernels.launch import host
from kleene.solvers.inclusion import difference, hybrid, reference
from kleene.solvers.inclusion.hybrid import worklist
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
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make sharing go on whatever it costs, in small bites: the problems here are tiny."""
    monkeypatch.setattr(hybrid, "EXCHANGE_SHARE", float("inf"))
    monkeypatch.setattr(hybrid, "ROUNDS_TO_LOSE", 1 << 30)
    monkeypatch.setattr(worklist, "DEVICE_TAKES", 3)
    monkeypatch.setattr(worklist, "HOST_TAKES", 2)


@pytest.mark.usefixtures("patient")
def test_both_sides_find_the_reference_answer_together(cuda_place: None) -> None:
    rows: list[dict[str, float]] = []
    for seed in range(N_PROBLEMS):
        problem = random_problem(seed)
        found = hybrid.solve(problem, threads=1 + seed % 3, share_from_s=0.0, trace=rows.append)
        assert difference(reference.solve(problem), found) is None, f"seed {seed}"
    shared = [row for row in rows if row["shared"]]
    assert any(row["exchanged_bytes"] > 0 for row in shared)
    for kind in ("copy", "push"):
        assert any(row[f"cpu_{kind}_s"] > 0 for row in shared), f"the CPU never fired a {kind}"
        assert any(row[f"gpu_{kind}_s"] > 0 for row in shared), f"the GPU never fired a {kind}"


def test_sharing_ends_when_the_exchange_outweighs_the_work(
    cuda_place: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hybrid, "EXCHANGE_SHARE", 0.0)
    for seed in range(N_PROBLEMS):
        rows: list[dict[str, float]] = []
        found = hybrid.solve(random_problem(seed), share_from_s=0.0, trace=rows.append)
        assert sum(row["shared"] for row in rows) == found.statistics["shared_rounds"] <= 1


def test_short_rounds_stay_on_the_gpu(cuda_place: None) -> None:
    found = hybrid.solve(random_problem(1), share_from_s=1e9)
    assert found.statistics["shared_rounds"] == 0
    assert found.statistics["gpu_only_share"] == 1


@given(counts=st.lists(st.integers(0, 500), min_size=4, max_size=4), ends=st.data())
def test_a_worklist_hands_out_every_rule_once(counts: list[int], ends: st.DataObject) -> None:
    work = worklist.Worklist(counts)
    seen: list[tuple[int, int]] = []
    while part := (work.low() if ends.draw(st.booleans()) else work.high()):
        seen += [(part.kind, rule) for rule in range(part.first, part.end)]
    assert sorted(seen) == [(kind, i) for kind, count in enumerate(counts) for i in range(count)]
