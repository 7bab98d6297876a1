"""One `device` fixture for every kernel test: reference, CPU, and CUDA wherever it can run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from kleene.base.device import Device
from kleene.kernels import launch
from kleene.kernels.launch import host

GPU_PROBLEM = launch.gpu_problem()
CUDA = "cuda-gpu" if GPU_PROBLEM is None else "cuda-host"


@pytest.fixture(scope="module", params=["reference", "cpu", CUDA])
def device(request: pytest.FixtureRequest) -> Iterator[Device | None]:
    """Where the kernel under test runs; None is the reference.

    CUDA means the GPU if one answers, else the host runner, and the test's id says which.
    """
    if request.param == "cuda-host" and (reason := host.problem()):
        pytest.skip(f"no GPU ({GPU_PROBLEM}) and no host runner ({reason})")
    place = launch.on_host() if request.param == "cuda-host" else nullcontext()
    named = {"reference": None, "cpu": Device.CPU}
    with place:
        yield named.get(request.param, Device.CUDA)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if GPU_PROBLEM is None:
        line = f"CUDA kernels ran on {launch.current().name}"
    else:
        line = f"CUDA kernels ran in the host runner, on small sizes: {GPU_PROBLEM}"
    terminalreporter.write_line(line)
