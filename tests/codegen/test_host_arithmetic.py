"""What the host computes in Python is what C computes: types, wrapping, and no exceptions."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")
pytest.importorskip("ziglang", reason="the bundled compiler compiles what is called")

from kleene.codegen.runtime import FUNCTIONS
from kleene.codegen.runtime.arithmetic import called, divided
from kleene.codegen.text import MATH
from kleene.frontends.c.loops import read
from kleene.frontends.c.source import Source
from kleene.kernels.launch import host
from tests.offload.plans.generated import Compared, plans_of

pytestmark = pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))

CODE = """
#include <assert.h>
#include <math.h>
#include <stdbool.h>
float rms(int n, const float *a) {
  float s = 0;
  for (int i = 0; i < n; i++) s += a[i] * a[i];
  return sqrtf(0.1f + s / n) / 3;
}
double root(int n, const double *a) {
  double s = 0;
  for (int i = 0; i < n; i++) s += a[i];
  return sqrt(-s) + log(s - s) + 1 / (s - s) + exp(1e4 * s);
}
int both(int n, const int *a) {
  int s = 0;
  for (int i = 0; i < n; i++) s += a[i];
  return 10 * (s && n) + 100 * (!s) + 1000 * (s || 0);
}
unsigned below(unsigned n, int m, unsigned *a) {
  unsigned k = 0;
  if (n - 1 > 5) k = 3;
  k = ~k * 5 - n;
  for (int i = 0; i < m; i++) a[i] = k;
  return -k;
}
void scaled(int n, float by, float *a) {
  float t = by * 3;
  double u = (double)by;
  bool is = 0.5 * by;
  for (int i = 0; i < n; i++) a[i] = t * 1000 + (float)u + is;
}
void checked(int n, int *a) {
  int k = n;
  assert(n < 100);
  if (n < 3) k = 2; else { int unused; }
  for (int i = 0; i < n; i++) a[i] = k;
}
int named(int is, int lambda, const int *in) {
  int None = 0;
  for (int i = 0; i < is + lambda; i++) None += in[i];
  return None;
}
"""
ARGUMENTS = {
    "rms": [(n, np.arange(1, 20, dtype=np.float32)) for n in (1, 7, 19)],
    "root": [(5, np.ones(5)), (5, -np.ones(5))],
    "both": [(5, np.ones(5, np.int32)), (5, np.zeros(5, np.int32))],
    "below": [(n, 4, np.zeros(4, np.uint32)) for n in (0, 1, 9)],
    "scaled": [(3, np.float32(by), np.zeros(3, np.float32)) for by in (0.1, 1.7, 0.0)],
    "checked": [(n, np.zeros(9, np.int32)) for n in (2, 9)],
    "named": [(2, 3, np.arange(5, dtype=np.int32))],
}


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("host")
    (folder / "a.c").write_text(CODE)
    (unit,) = read([Source(str(folder / "a.c"), "c")])
    plans = plans_of(unit)
    assert all(one.steps for one in plans.values()), [one.reason for one in plans.values()]
    return {one.name: one for one in unit.functions}, Compared([CODE], plans, folder)


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_the_host_computes_as_c_does(functions, name):
    by_name, compared = functions
    for args in ARGUMENTS[name]:
        given = [float(one) if isinstance(one, np.float32) else one for one in args]
        compared.assert_same(by_name[name], given)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_of_c_raise_nothing(name):
    assert name in MATH
    two = ("atan2", "copysign", "fmax", "fmin", "fmod", "hypot", "pow")
    values = (0.0, -0.0, -1.5, 2.5, 1e300, -1e300, math.inf, -math.inf, math.nan)
    for one in values:
        others = values if name in two else (None,)
        for other in others:
            assert isinstance(called(name, *(v for v in (one, other) if v is not None)), float)


def test_halves_are_rounded_away_from_zero():
    assert [called("round", value) for value in (0.5, 1.5, -2.5, 2.4)] == [1, 2, -3, 2]
    assert called("rint", 2.5) == 2


def test_division_by_zero_is_that_of_c():
    assert divided(1, 0) == math.inf
    assert divided(-1, 0) == -math.inf
    assert math.isnan(divided(0, 0))


FRONTS = """
void front(KIND n, KIND m, int a[n][m]) {
  for (KIND i = 2; i < n; i++)
    for (KIND j = 3; j < m; j++) a[i][j] = a[i - 1][j] + a[i][j - 1];
}
"""


@pytest.mark.parametrize("kind", ["int", "unsigned"])
def test_fronts_are_not_counted_by_differences_that_wrap(tmp_path, kind):
    """`n - 2` of an unsigned n below 2 would be some four billion fronts."""
    code = FRONTS.replace("KIND", kind)
    (tmp_path / "a.c").write_text(code)
    (unit,) = read([Source(str(tmp_path / "a.c"), "c")])
    (plan,) = plans_of(unit).values()
    assert bool(plan.steps) == (kind == "int"), plan.reason
    compared = Compared([code], {"front": plan}, tmp_path)
    for n, m in ((0, 1), (1, 8), (5, 2), (5, 8)):
        compared.assert_same(unit.functions[0], [n, m, np.ones(64, np.int32)])
