"""Shortest paths: parts of a round that change nothing are left out, if no cycle is negative."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")

from kleene.codegen import cuda, cuda_host, python
from kleene.codegen.plan import HostIf, Kernel, all_steps
from kleene.kernels.launch import host
from kleene.offload.plans.cost import predict
from kleene.offload.plans.machine import H200
from tests.offload.kernels.loop_programs import unit
from tests.offload.plans.generated import Compared, plans_of

LEFT_OUT = {
    "paths": """int n, int p[restrict n][n]) {
      for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++)
            p[i][j] = p[i][j] < p[i][k] + p[k][j] ? p[i][j] : p[i][k] + p[k][j];""",
    "longest": """int n, long p[restrict n][n]) {
      for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++)
            p[i][j] = p[k][j] + p[i][k] > p[i][j] ? p[k][j] + p[i][k] : p[i][j];""",
    "some": """int n, int p[restrict n][n]) {
      for (int k = 0; k < n; k++)
        for (int i = 2; i < n - 3; i++)
          for (int j = 1; j < n - 2; j++)
            p[i][j] = p[i][j] < p[i][k] + p[k][j] ? p[i][j] : p[i][k] + p[k][j];""",
}
KEPT = {
    # x - d may be less than x although d is not negative.
    "differences": """int n, int p[restrict n][n]) {
      for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++)
            p[i][j] = p[i][j] < p[i][k] - p[k][j] ? p[i][j] : p[i][k] - p[k][j];""",
    # Sums of unsigned numbers may be less than both.
    "wrapped": """int n, unsigned p[restrict n][n]) {
      for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++)
            p[i][j] = p[i][j] < p[i][k] + p[k][j] ? p[i][j] : p[i][k] + p[k][j];""",
    # -0.0 + 0.0 is another number than -0.0.
    "floats": """int n, double p[restrict n][n]) {
      for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++)
            p[i][j] = p[i][j] < p[i][k] + p[k][j] ? p[i][j] : p[i][k] + p[k][j];""",
    # Column k is not the same after a round.
    "sums": """int n, int p[restrict n][n]) {
      for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++) p[i][j] = p[i][j] + p[i][k] * p[k][j] % 3;""",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory):
    folder: Path = tmp_path_factory.mktemp("unchanged")
    code = "\n".join(f"void {name}({text}\n}}" for name, text in (LEFT_OUT | KEPT).items())
    file = folder / "program.c"
    file.write_text(code)
    found = unit(file)
    return found, code, plans_of(found), folder


def conditions(plan) -> list[HostIf]:
    return [one for one in all_steps(plan.steps) if isinstance(one, HostIf)]


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_round_is_one_kernel_if_a_condition_holds(name: str, made) -> None:
    (found,) = conditions(made[2][name])
    assert found.fetched is not None
    (whole,) = found.then
    assert isinstance(whole, Kernel)
    assert len(whole.axes) == 2
    assert len(found.otherwise) == 9


@pytest.mark.parametrize("name", KEPT)
def test_parts_that_may_change_something_are_kept(name: str, made) -> None:
    assert conditions(made[2][name]) == []


def test_a_round_has_one_barrier_and_the_host_fetches_one_element(made) -> None:
    plan = made[2]["paths"]
    loop = cuda.source([plan]).partition("paths_loop(")[2]
    assert loop.partition("} else {")[0].count("all_threads(") == 1
    assert "run.element(p, k * n + k) >= 0" in python.source(plan)
    assert "element_(&d_p[(long long)k * n + k]) >= 0" in cuda_host.source([plan])


def test_the_host_waits_for_every_element_that_it_fetches(made) -> None:
    plan, machine = made[2]["paths"], replace(H200, sync_s=1.0)
    assert 64 < predict(plan, {"n": 64}, machine, least_tiled=1 << 62, is_quick=True).kernels_s < 67
    assert predict(plan, {"n": 64}, machine, is_quick=True).kernels_s < 2  # in one launch


@pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
def test_rounds_with_and_without_negative_cycles(made) -> None:
    found, code, plans, folder = made
    compared = Compared([code], plans, folder)
    rng = np.random.default_rng(3)
    # Of a cycle that pays, each round may multiply by 6 what it pays: 3 * 6^7 is far from 2^31.
    for least in (0, -1, -3):
        for function in found.functions:
            if function.name in ("sums", "wrapped", "floats"):
                continue  # as they were
            kind = np.int64 if function.name == "longest" else np.int32
            values = rng.integers(least, 9, (7, 7)).astype(kind)
            values[rng.integers(0, 7), rng.integers(0, 7)] = least
            compared.assert_same(function, [7, -values if function.name == "longest" else values])
