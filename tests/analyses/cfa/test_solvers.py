"""Whoever solves it: the same sets, and the same bytes of JSON."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache

import pytest

from kleene import scheme
from kleene.analyses.cfa import CFA, CFAResult
from kleene.kernels import launch
from kleene.kernels.launch import host
from kleene.solvers.inclusion import difference, reference
from tests.frontends.scheme.helpers import PROGRAMS
from tests.solvers.inclusion.registry import ON_DEVICE, SOLVERS, solver

NAMES = ("church", "closures_in_data", "conditions", "values_and_cases", "r5rs_style")


@pytest.mark.parametrize("options", [{}, {"m": 1}, {"reachable_only": False}], ids=str)
def test_every_device_gives_the_same_json(options):
    if reason := launch.gpu_problem():
        pytest.skip(f"no GPU: {reason}")
    for program in NAMES:
        core = scheme.load(PROGRAMS / f"{program}.scm")
        results = [core.cfa(device=device, **options) for device in ("cpu", "cuda", "hybrid")]
        assert results[1].solution.plan.startswith("cuda")
        assert len({result.to_json() for result in results}) == 1


@cache
def answered(program):
    """Return a program, its constraints, and the oracle's answer."""
    core = scheme.load(PROGRAMS / f"{program}.scm")
    system = CFA().constraints(core)
    return core, system, reference.solve(system.problem)


# EigenCFA's own algorithm takes problems of closures alone: no data, no rests. The reference is the
# oracle, and not compared with itself.
@pytest.mark.parametrize("name", sorted(SOLVERS.keys() - {"paper-eigencfa", "reference"}))
def test_every_solver_gives_the_same_json(name):
    no_gpu = launch.gpu_problem()
    on_host = name in ON_DEVICE and no_gpu is not None
    if on_host and (reason := host.problem()):
        pytest.skip(f"no GPU ({no_gpu}) and no host runner ({reason})")
    with launch.on_host() if on_host else nullcontext():
        for program in NAMES:
            core, system, expected = answered(program)
            assert solver(name).refuses(system.problem) is None
            found = solver(name).solve(system.problem)
            assert difference(found, expected) is None
            texts = [CFAResult(core, system, each).to_json() for each in (expected, found)]
            assert texts[0] == texts[1]
