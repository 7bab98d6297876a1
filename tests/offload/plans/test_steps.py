"""How loops are divided into steps, and what several threads do together."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")

import kleene
from kleene.codegen import python
from kleene.codegen.resident import loops_of
from kleene.codegen.rows import sums_of
from kleene.kernels import launch
from kleene.kernels.launch import host
from kleene.kernels.launch.host_build import compiler
from kleene.offload.plans.built import compiled
from kleene.offload.plans.call import call_c, parameters_of
from kleene.offload.plans.files import file_of
from tests.offload.kernels.loop_programs import unit
from tests.offload.plans.generated import Compared, arguments, plans_of, polybench_plans

no_runner = pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))


def compare(code: str, folder: Path, *sizes: dict[str, int]) -> Compared:
    """Compare every function of a program in all forms."""
    file = folder / "program.c"
    file.write_text(code)
    found = unit(file)
    compared = Compared([code], plans_of(found), folder)
    for function in found.functions:
        for each in sizes:
            compared.assert_same(function, arguments(function, each))
    return compared


@no_runner
def test_all_threads_of_a_sum_have_what_its_terms_read(tmp_path: Path):
    # `scale` is each row's own: the first lane alone would compute it.
    code = """
    void f(int n, int m, double a[restrict n][m], double *restrict b, double *restrict y) {
      double scale;
      for (int i = 0; i < n; i++) {
        scale = 2 * b[i];
        for (int j = 0; j < m; j++) y[i] += scale * a[i][j];
      }
    }"""
    compare(code, tmp_path, {"n": 5, "m": 70})


@no_runner
def test_the_last_value_of_a_counter_keeps_statements_together(tmp_path: Path):
    code = """
    void f(int n, double a[restrict n][n], double b[restrict n][n], double *restrict u) {
      int c;
      for (int i = 1; i < n; i++) {
        for (c = 0; c < i; c++) a[i][c] = a[i - 1][c] + 1;
        u[i] = u[i - 1] + c;
      }
    }"""
    compare(code, tmp_path, {"n": 7})


def test_loops_of_small_steps_are_one_launch():
    plans = polybench_plans()
    made = {one.name for plan in plans.values() for one in loops_of(plan)}
    names = "durbin trisolv seidel_2d gramschmidt floyd_warshall nussinov lu cholesky ludcmp"
    assert {f"{name}_loop" for name in names.split()} <= made
    assert "run.resident(" in python.source(plans["durbin"])
    assert "adi_loop" not in made  # each of its steps takes long


@no_runner
def test_a_scalar_of_the_host_that_a_loop_changes_is_kept(tmp_path: Path):
    # `by` is used after the loop: it would be lost if the loop was one launch.
    code = """
    void f(int n, double *restrict a, double *restrict b) {
      double by = 1;
      for (int t = 0; t < 3; t++) {
        for (int i = 1; i < n; i++) b[i] = by * a[i - 1];
        for (int i = 1; i < n; i++) a[i] = b[i];
        by = by * 0.5;
      }
      for (int i = 0; i < n; i++) a[i] += by;
    }
    void g(int n, double *restrict a, double *restrict b) {
      double by = 1;
      for (int t = 0; t < 3; t++) {
        for (int i = 1; i < n; i++) b[i] = by * a[i - 1];
        for (int i = 1; i < n; i++) a[i] = b[i];
        by = by * 0.5;
      }
    }"""
    plans = compare(code, tmp_path, {"n": 9}).plans
    assert not loops_of(plans["f"])
    assert len(loops_of(plans["g"])) == 1


MIXED = """
double f(int n, const double *restrict a, double *restrict b, double *restrict c) {
  double last = 0;
  for (int i = 0; i < n; i++) b[i] = 2 * a[i];
  for (int i = 1; i < n; i++) {
    b[i] = 0.5 * b[i - 1] * b[i] + 1;
    last = b[i] - last;
  }
  for (int i = 0; i < n; i++) c[i] = b[i] + last;
  return last;
}"""


@no_runner
def test_a_sequential_loop_between_kernels_is_the_hosts(tmp_path: Path):
    compared = compare(MIXED, tmp_path, {"n": 1}, {"n": 2}, {"n": 40})
    plan = compared.plans["f"]
    assert [type(one).__name__ for one in plan.steps] == ["Kernel", "Kernel", "HostNest", "Kernel"]
    assert 'run.host("f_host_5", ' in python.source(plan)
    text, reasons = file_of([plan], "python")
    assert reasons == ["f is not in the file: it has a sequential loop, which needs compiled C"]
    text, reasons = file_of([plan], "cuda")
    assert not reasons
    assert text.count("cudaMemcpyDeviceToHost") == 5  # b, `last` for the loop; c, too, after


@no_runner
def test_the_host_does_a_sequential_loop_in_a_call(tmp_path: Path):
    file = tmp_path / "mixed.c"
    file.write_text(MIXED)
    with launch.on_host():
        k = kleene.load(str(file)).kernels()
        a, b, c = np.arange(9.0), np.zeros(9), np.zeros(9)
        last = k.f(9, a, b, c, device="cuda")
    wanted, total = 2 * a, 0.0
    for i in range(1, 9):
        wanted[i] = 0.5 * wanted[i - 1] * wanted[i] + 1
        total = wanted[i] - total
    np.testing.assert_allclose(b, wanted)
    np.testing.assert_allclose(c, wanted + total)
    assert last == pytest.approx(total)


SCANS = """
double running(int n, const double *restrict a, double *restrict b, double *restrict c) {
  double s = 0.5;
  for (int i = 0; i < n; i++) {
    c[i] = s;
    s += 2 * a[i];
    b[i] = s;
  }
  for (int i = 0; i < n; i++) c[i] *= s;
  return s;
}
void sums(int n, const int *restrict a, int *restrict b) {
  for (int i = 1; i < n; i++) b[i] = b[i - 1] + 3 * a[i];
}
void own(int n, int *restrict b) {
  for (int i = 1; i < n; i++) b[i] += b[i - 1];
}
long in_place(int n, long *restrict a) {
  long s = 1;
  for (int i = 0; i < n; i++) { s -= a[i]; a[i] = s; }
  return s;
}
void starts(int n, int *restrict counts) {
  int s = 0;
  for (int i = 0; i < n; i++) { int t = counts[i]; counts[i] = s; s += t; }
}
void most(int n, const double *restrict a, double *restrict b) {
  double m = 0;
  for (int i = 0; i < n; i++) { if (a[i] > m) m = a[i]; b[i] = m; }
}
void least(int n, const int *restrict a, int *restrict b) {
  for (int i = 1; i < n; i++) b[i] = b[i - 1] < a[i] ? b[i - 1] : a[i];
}
int taken(int n, int s_running, const int *restrict carry, int *restrict b) {
  int s = 0;
  for (int i = 0; i < n; i++) { s += s_running + carry[i]; b[i] = s; }
  return s;
}
void parity(int n, const unsigned *restrict a, unsigned *restrict b) {
  unsigned s = 5;
  for (int i = 3; i < n; i++) { b[i] = s; s ^= a[i]; }
}
void apart(int n, const int *restrict a, int *restrict b) {
  for (int i = 0; i < n; i++) b[i] = 0;
  for (int i = 2; i < n; i++) b[i] = b[i - 2] + a[i];
}
void late(int n, int *restrict a, int *restrict b) {
  for (int i = 0; i < n; i++) b[i] = 0;
  int s = 0;
  for (int i = 0; i < n; i++) { a[i] += 3; int t = a[i]; a[i] = s; s += t; }
}
void zeroed(int n, int *restrict a, int *restrict b) {
  for (int i = 0; i < n; i++) b[i] = 0;
  int s = 0;
  for (int i = 0; i < n; i++) { a[i] = 7; s += a[i]; b[i] = s; }
}
void ahead(int n, int *restrict a, int *restrict b) {
  for (int i = 0; i < n; i++) b[i] = 0;
  int s = 0;
  for (int i = 1; i < n; i++) { s += a[i]; a[i - 1] = s; }
}"""


@no_runner
def test_prefix_sums_are_scans(tmp_path: Path):
    # Parts of blocks have 1024 iterations here: the last size has one whole, and one of a few.
    sizes = [{"n": n, "s_running": 1} for n in (1, 2, 257, 1029)]
    plans = compare(SCANS, tmp_path, *sizes).plans
    made = {name: "".join(one.operator for one in plan.scans()) for name, plan in plans.items()}
    no_scans = dict.fromkeys(("apart", "late", "zeroed", "ahead"), "")
    scans = {"running": "+", "sums": "+", "own": "+", "in_place": "+", "starts": "+"}
    assert made == scans | {"taken": "+", "most": "max", "least": "min", "parity": "^"} | no_scans
    assert plans["running"].assumptions
    assert 'run.scan("sums_b_so_far", n - 1, ' in python.source(plans["sums"])
    assert all(plans[name].steps for name in no_scans)


@pytest.mark.skipif(compiler() is None, reason="the package 'ziglang' is not installed")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no list of threads")
def test_small_steps_start_no_threads(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KLEENE_THREADS", "3")
    plans = [polybench_plans()[name] for name in ("cholesky", "gemm")]
    library = compiled(file_of(plans, "c")[0])

    def n_started(plan, given) -> int:
        before = len(os.listdir("/proc/self/task"))
        call_c(library, plan.function, parameters_of(plan), "", given)
        return len(os.listdir("/proc/self/task")) - before

    a = np.eye(40) * 50 + np.ones((40, 40))
    assert n_started(plans[0], {"n": 40, "a": a.copy()}) == 0
    big = {name: np.ones((64, 64)) for name in "abc"}
    sizes = {"ni": 64, "nj": 64, "nk": 64, "alpha": 1.5, "beta": 1.2}
    assert n_started(plans[1], {**sizes, **big}) == 2


@no_runner
def test_an_axis_is_not_hidden_by_another_loop(tmp_path: Path):
    # The axis `k` is also the second nest's j, inside of which another k counts.
    code = """
    void f(int n, double a[restrict n][n], double b[restrict n][n]) {
      for (int i = 1; i < n; i++) {
        for (int j = i; j < n; j++)
          for (int k = i + 1; k < n - 1; k++) a[k][i] = 0.5 * a[k][i] + 0.25 * b[j][j];
        for (int j = i + 1; j < n - 1; j++)
          for (int k = 1; k < n; k++) a[j][i] /= 1.0 + b[k][j];
      }
    }"""
    plans = compare(code, tmp_path, {"n": 9}).plans
    assert [len(one.axes) for one in plans["f"].kernels()] == [2]


@no_runner
def test_a_nest_in_another_order(tmp_path: Path):
    # b comes before all, c after; the time of the sums is k, of the quotient j.
    code = """
    void f(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]) {
      for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
          b[i][j] = 1 + i - j;
          for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[k][j];
          a[i][j] /= b[i][j] + a[j][j];
          c[i][j] = 2 * a[i][j];
        }
        for (int j = i; j < n; j++)
          for (int k = 0; k < i; k++) a[i][j] -= a[i][k] * a[k][j];
      }
    }"""
    plan = compare(code, tmp_path, {"n": 1}, {"n": 2}, {"n": 8}).plans["f"]
    assert [len(one.axes) for one in plan.kernels()] == [2, 1, 2, 2, 2]
    assert len(loops_of(plan)) == 1


@pytest.mark.parametrize(("name", "axes"), [("lu", [1, 2, 2]), ("cholesky", [0, 1, 1, 2])])
def test_factorizations_update_all_that_is_left_at_once(name: str, axes: list[int]):
    plan = polybench_plans()[name]
    assert sorted(len(one.axes) for one in plan.kernels()) == axes


def test_steps_that_do_not_meet_need_no_barrier_between_them():
    # Of the nine parts of an iteration k (before, at and after row and column k), those that only
    # read what others read are side by side: five waits.
    # They are done if a cycle is negative.
    (loop,) = polybench_plans()["floyd_warshall"].steps
    (choice,) = loop.steps
    waits = "".join("w" if one.waits else "-" for one in choice.otherwise)
    assert waits == "ww-w--w-w"


def test_a_warp_takes_the_greatest_of_a_front():
    plan = polybench_plans()["nussinov"]
    (kernel,) = plan.kernels()
    found = sums_of(plan, kernel)
    assert found is not None
    assert found.way == "rows"
    assert found.test is not None
    (made,) = loops_of(plan)
    assert made.name == "nussinov_loop"
