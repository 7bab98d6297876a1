"""Every solver as plain Python, as in a debugger: the oracle's answer, and nothing is compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable

import pytest

from kleene.kernels import launch
from kleene.kernels.launch import host
from tests.solvers.inclusion.registry import ON_DEVICE, SOLVERS

SOLVE = """
import sys
from contextlib import nullcontext
from kleene.kernels import launch
from kleene.solvers.inclusion import difference, reference
from kleene.solvers.inclusion.generate import points_to_like, random_cps
from tests.solvers.inclusion.registry import solver

place, *names = sys.argv[1:]
with launch.on_host() if place == "host" else nullcontext():
    for rival in map(solver, names):
        n_facts = 0
        problems = [rival.language.by_number(number) for number in range(8)]
        problems += [random_cps(40, 1), points_to_like(300, 320, 1)]  # with sets of several words
        for number, problem in enumerate(problems):
            if rival.refuses(problem):
                continue
            answer = rival.solve(problem)
            assert difference(answer, reference.solve(problem)) is None, (rival.name, number)
            n_facts += answer.n_facts
        assert n_facts > 50, "the problems ask for nothing"
assert "kleene.kernels.machine_code" not in sys.modules
print("agrees")
"""


def interpreted(place: str, names: Iterable[str]) -> str:
    """Return what a process without compiled code prints."""
    command = [sys.executable, "-c", SOLVE, place, *names]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.stdout or done.stderr


def test_solvers_on_the_host_agree() -> None:
    assert interpreted("here", SOLVERS.keys() - {"reference", *ON_DEVICE}) == "agrees\n"


def test_solvers_on_the_device_agree() -> None:
    """What runs on the host beside kernels is plain Python too."""
    no_gpu = launch.gpu_problem()
    if no_gpu and (reason := host.problem()):
        pytest.skip(f"no GPU ({no_gpu}) and no host runner ({reason})")
    assert interpreted("host" if no_gpu else "GPU", ON_DEVICE) == "agrees\n"
