"""The CUDA solver on a GPU, or on the host runner where there is none: the CPU's facts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext

import numpy as np
import pytest

from kleene.base.device import Device
from kleene.kernels import launch
from kleene.kernels.launch import host
from kleene.solvers.dataflow import ConstraintBuilder, Constraints, Operator, engine, solve
from kleene.solvers.dataflow.cuda import plan as planning
from kleene.solvers.dataflow.cuda import translate
from tests.solvers.dataflow.systems import random_system
from tests.solvers.dataflow.test_engine import counting_loop

HAS_GPU = launch.gpu_problem() is None
N_SYSTEMS = 400 if HAS_GPU or os.environ.get("KLEENE_DEEP") else 40
pytestmark = pytest.mark.skipif(
    not HAS_GPU and host.problem() is not None, reason=f"no GPU, and {host.problem()}"
)


@pytest.fixture(scope="module", autouse=True)
def backend() -> Iterator[None]:
    """The GPU if one answers, else the host runner."""
    with nullcontext() if HAS_GPU else launch.on_host():
        yield


def assert_equal(constraints: Constraints, narrowing: int = 2) -> None:
    found = solve(constraints, narrowing=narrowing, device="cuda")
    expected = solve(constraints, narrowing=narrowing)
    assert np.array_equal(found.rows, expected.rows)


def together(*systems: Constraints) -> Constraints:
    """Return systems side by side, in one table."""
    before = np.cumsum([0, *(one.n_names for one in systems)])
    begin = np.cumsum([0, *(len(one.operands) for one in systems)])
    return Constraints(
        np.concatenate([one.operator for one in systems]),
        np.concatenate([one.width for one in systems]),
        np.concatenate([one.attribute for one in systems]),
        np.concatenate(
            [[0], *(one.offsets[1:] + at for one, at in zip(systems, begin, strict=False))]
        ),
        np.concatenate(
            [one.operands + at for one, at in zip(systems, before, strict=False)]
        ).astype(np.int32),
    )


@pytest.mark.parametrize("large", [4, planning.LARGE])
def test_random_systems(monkeypatch: pytest.MonkeyPatch, large: int) -> None:
    """Of few names a component counts as large: then nearly all of them are solved by blocks."""
    monkeypatch.setattr(planning, "LARGE", large)
    systems = [random_system(seed) for seed in range(N_SYSTEMS)]
    assert_equal(together(*systems))
    n_cyclic = sum(int(one.schedule.is_cyclic.sum()) for one in systems)
    assert n_cyclic > N_SYSTEMS // 2


@pytest.mark.parametrize("narrowing", [0, 1, 3])
def test_narrowing_goes_in_the_order_of_the_schedule(
    monkeypatch: pytest.MonkeyPatch, narrowing: int
) -> None:
    monkeypatch.setattr(planning, "LARGE", 4)
    systems = [random_system(1000 + seed) for seed in range(N_SYSTEMS // 2)]
    assert_equal(together(*systems, counting_loop()[0]), narrowing)


def test_a_large_system_in_which_all_depends_on_all() -> None:
    constraints = random_system(7, n_names=1200)
    plan = planning.Plan.of(constraints)
    assert len(plan.large) == 1
    assert len(plan.step_places) > 300
    assert_equal(constraints)


def test_long_chains_and_wide_levels() -> None:
    build = ConstraintBuilder()
    chain, wide = build.names(3000), build.names(3000)
    build.define(chain[:1], Operator.CONSTANT, width=32, attribute=1)
    build.define(chain[1:], Operator.ADD, np.stack([chain[:-1], chain[:-1]], axis=1), width=32)
    build.define(wide, Operator.JOIN, chain[:, None], width=32)
    assert_equal(build.constraints())


def test_no_names_and_empty_columns() -> None:
    assert_equal(ConstraintBuilder().constraints())


@pytest.mark.parametrize(("n_in_cycle", "is_chosen"), [(0, True), (60, False)])
def test_auto_leaves_one_large_cycle_to_the_cpu(
    monkeypatch: pytest.MonkeyPatch, n_in_cycle: int, is_chosen: bool
) -> None:
    build = ConstraintBuilder()
    names, cycle = build.names(100), build.names(n_in_cycle)
    build.define(names, Operator.CONSTANT, width=32, attribute=1)
    build.define(cycle, Operator.JOIN, np.roll(cycle, 1)[:, None], width=32)
    monkeypatch.setattr(engine, "_WORTH_A_GPU", 100)
    monkeypatch.setattr(launch, "gpu_problem", lambda: None)
    monkeypatch.setattr(launch, "gpu_free_bytes", lambda: 1 << 40)
    assert engine._is_for_gpu(build.constraints(), Device.AUTO) is is_chosen


def test_the_translation_is_that_of_the_python() -> None:
    """`python -m kleene.solvers.dataflow.cuda.translate` writes it anew."""
    assert translate.HEADER.read_text(encoding="utf-8") == translate.header()
