"""One test body runs over every solver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from kleene.kernels import launch
from kleene.kernels.launch import host
from tests.solvers.inclusion.registry import ON_DEVICE, SOLVERS, Solver
from tests.solvers.inclusion.registry import solver as solver_of


@pytest.fixture(params=list(SOLVERS), scope="module")
def solver(request: pytest.FixtureRequest) -> Iterator[Solver]:
    """Each solver in turn; kernels run on the GPU if one answers, else in the host runner."""
    yield from _solver(request.param)


@pytest.fixture(params=[name for name in SOLVERS if name != "reference"], scope="module")
def rival(request: pytest.FixtureRequest) -> Iterator[Solver]:
    """Each solver but the oracle, which would be compared with itself."""
    yield from _solver(request.param)


def _solver(name: str) -> Iterator[Solver]:
    no_gpu = launch.gpu_problem()
    on_host = name in ON_DEVICE and no_gpu is not None
    if on_host and (reason := host.problem()):
        pytest.skip(f"no GPU ({no_gpu}) and no host runner ({reason})")
    with launch.on_host() if on_host else nullcontext():
        yield solver_of(name)
