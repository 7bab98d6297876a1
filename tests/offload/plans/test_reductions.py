"""Reductions: over all loops of a nest, and with the place of an extremum."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")

from kleene.codegen import cuda, python
from kleene.codegen.plan import Plan, Reduction
from kleene.codegen.resident import loops_of
from kleene.codegen.runtime import launching
from kleene.kernels.launch import api, host
from kleene.kernels.launch import compile as nvrtc
from kleene.offload.plans.cost import predict
from kleene.offload.plans.machine import H200
from tests.offload.kernels.loop_programs import PROGRAMS, unit
from tests.offload.plans.generated import Compared, arguments, plans_of

NESTS = {
    "warmest": """double @(int n, const double a[restrict n][n]) {
      double most = a[0][0];
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          if (a[i][j] > most) most = a[i][j];
      return most; }""",
    "columns": """long @(int n, const int a[restrict n][n]) {
      long s = 3;
      for (int j = 0; j < n; j++)
        for (int i = 1; i < n; i++) s += a[i][j];
      return s; }""",
    "triangle": """long @(int n, const int a[restrict n][n]) {
      long s = 0;
      for (int i = 1; i < n; i++)
        for (int j = i - 1; j <= i; j++) s += (long)a[i][j] * a[j][i];
      return s; }""",
    "weighted": """double @(int n, const double a[restrict n][n], const double *restrict w) {
      double s = 0;
      for (int i = 0; i < n; i++) {
        double x = w[i];
        for (int j = 0; j < n; j++) s += x * a[i][j];
      }
      return s; }""",
    "cube": """int @(int n, const int a[restrict n][n][n]) {
      int s = 7;
      for (int i = 0; i < n; i++)
        for (int j = n - 1; j >= 0; j--)
          for (int k = 0; k < n; k += 2) s ^= a[i][j][k] + i + j + k;
      return s; }""",
}
ONE_AXIS = {
    "norms": """double @(int n, const double a[restrict n][n]) {
      double s = 0;
      for (int i = 0; i < n; i++) {
        double x = 0;
        for (int j = 0; j < n; j++) x += a[i][j];
        s += x * x;
      }
      return s; }""",
    "halves": """double @(int n, const double a[restrict n][n]) {
      double s = 0;
      for (int i = 0; i < n; i++) {
        double x = 1;
        for (int j = 0; j < n; j++) { x = 0.5 * x + a[i][j]; s += x; }
      }
      return s; }""",
}
PLACES = {
    "first_greatest": """int @(int n, const int *restrict a) {
      int m = a[0], at = 0;
      for (int i = 1; i < n; i++) if (a[i] > m) { m = a[i]; at = i; }
      return 1000 * m + at; }""",
    "last_greatest": """int @(int n, const int *restrict a) {
      int m = -1, at = -1;
      for (int i = 0; i < n; i++) if (a[i] >= m) { at = i; m = a[i]; }
      return 1000 * m + at; }""",
    "none": """int @(int n, const int *restrict a) {
      int m = 9, at = -1;
      for (int i = 0; i < n; i++) if (a[i] > m) { m = a[i]; at = i; }
      return 1000 * m + at; }""",
    "taken": """int @(int n, const int *restrict m_part, int m_at, int m_point) {
      int m = m_at, at = m_point;
      for (int i = 0; i < n; i++) if (m_part[i] - m_at > m) { m = m_part[i] - m_at; at = i; }
      return 1000 * m + at; }""",
    "first_least": """int @(int n, const double *restrict a, const double *restrict b) {
      double m = 1e9; int at = 0;
      for (int i = 0; i < n; i++) {
        double x = a[i] * b[i];
        if (x < m) { m = x; at = i; }
      }
      return at; }""",
    "last_least": """int @(int n, const int a[restrict n][n]) {
      int m = 99, row = 0, column = 0;
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          if (a[i][j] <= m) { m = a[i][j]; row = i; column = j; }
      return m + 10 * (row * n + column); }""",
    "first_of_half": """int @(int n, const int a[restrict n][n]) {
      int m = -5, row = 0, column = 0;
      for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
          if (a[i][j] > m) { m = a[i][j]; row = i; column = j; }
      return m + 10 * (row * n + column); }""",
}
NUMBERS = {"m_at": 1, "m_point": 5}
BACKWARDS = {
    "backwards": """int @(int n, const int *restrict a) {
      int m = -1, at = -1;
      for (int i = n - 1; i >= 0; i--) if (a[i] > m) { m = a[i]; at = i; }
      return 1000 * m + at; }""",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory):
    folder: Path = tmp_path_factory.mktemp("reductions")
    listed = NESTS | ONE_AXIS | PLACES | BACKWARDS
    code = "\n".join(text.replace("@", name) for name, text in listed.items())
    file = folder / "program.c"
    file.write_text(code)
    found = unit(file)
    return found, code, plans_of(found), folder


def reduction(plan: Plan) -> Reduction:
    (found,) = [one for one in plan.kernels() if isinstance(one, Reduction)]
    return found


def test_all_loops_of_a_nest_are_axes(made) -> None:
    assert {name: len(reduction(made[2][name]).axes) for name in NESTS} == {
        "warmest": 2, "columns": 2, "triangle": 2, "weighted": 2, "cube": 3,
    }  # fmt: skip
    assert all(len(reduction(made[2][name]).axes) == 1 for name in ONE_AXIS)
    assert reduction(made[2]["warmest"]).mapping == (1, 0)
    assert reduction(made[2]["columns"]).mapping == (0, 1)  # neighbours read side by side


def test_places_of_extrema_are_noted(made) -> None:
    assert all(reduction(made[2][name]).located is not None for name in PLACES)
    assert not made[2]["backwards"].steps  # of ties, the last would have to count


@pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
def test_all_forms_agree(made, monkeypatch: pytest.MonkeyPatch) -> None:

    found, code, plans, folder = made
    compared = Compared([code], plans, folder)
    for function in found.functions:
        for n in (1, 2, 13):
            compared.assert_same(function, arguments(function, {**NUMBERS, "n": n}, seed=n))
    monkeypatch.setattr(launching, "reduction_blocks", lambda counts: 3)
    for function in found.functions:
        compared.assert_same(function, arguments(function, {**NUMBERS, "n": 11}, seed=5))


@pytest.mark.skipif(nvrtc.problem() is not None, reason=str(nvrtc.problem()))
def test_nvrtc_compiles_them(made) -> None:
    file = made[3] / "compiled.cu"
    file.write_text(cuda.source([one for one in made[2].values() if one.steps]))
    assert ".entry last_least_m_total(" in nvrtc.ptx(api.Source.of(file))


def test_a_reduction_of_a_nest_keeps_the_whole_gpu_busy() -> None:
    plan = plans_of(unit(PROGRAMS.parents[1] / "examples" / "loops" / "plate.c"))["warmest"]
    found = predict(plan, {"n": 8192}, H200, is_quick=True)
    assert found.kernels_s < 2 * 8 * 8192**2 / H200.memory_bytes_s
    assert 'run.reduce("warmest_most", (n, n, ), ' in python.source(plan)


def test_a_loop_around_a_reduction_of_a_nest_is_not_one_launch(tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text("""
    void f(int n, double a[restrict n][n], double *restrict norms) {
      for (int t = 0; t < 4; t++) {
        double s = 0;
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += a[i][j];
        norms[t] = s;
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = a[i][j] / s;
      }
    }""")
    plan = plans_of(unit(file))["f"]
    assert any(isinstance(one, Reduction) and len(one.axes) == 2 for one in plan.kernels())
    assert not loops_of(plan)


def test_counts_below_zero_have_no_points() -> None:
    from kleene.codegen.runtime import reduction_blocks

    assert reduction_blocks((-3, -4000000)) == 1
    assert reduction_blocks((3000, 4000)) == 1024
    assert np.prod((3000, 4000)) > 8192
