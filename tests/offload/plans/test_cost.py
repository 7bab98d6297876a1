"""Predicted times: occupancy, counted work, the order of mappings, and whether moving data pays."""

from __future__ import annotations

import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")

from kleene.kernels.launch.compile import Resources
from kleene.offload.plans.cost import Machine, calibrated, occupancy, predict, ranked_mappings
from tests.offload.kernels.loop_programs import unit_of
from tests.offload.plans.generated import plans_of

GEMM = """
void gemm(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];
}
void add(int n, double c[restrict n][n], double a[restrict n][n], double b[restrict n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) c[j][i] = a[j][i] + b[j][i];
}
void heat(int steps, int n, double a[restrict n][n], double b[restrict n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) b[i][j] = a[i][j - 1] + a[i][j + 1];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) a[i][j] = b[i][j];
  }
}
"""


def plans():
    return plans_of(unit_of(GEMM))


@pytest.mark.parametrize(
    ("registers", "shared_bytes", "n_threads", "share"),
    [
        (32, 0, 256, 1.0),  # 8 blocks of 8 warps
        (128, 24832, 256, 0.25),  # 128 * 256 registers: 2 blocks
        (255, 0, 1024, 0.0),  # no block fits
        (32, 100 * 1024, 256, 0.25),  # 2 blocks by shared memory
        (16, 0, 32, 0.5),  # 32 blocks of one warp
    ],
)
def test_occupancy(registers, shared_bytes, n_threads, share):
    resources = Resources(registers, 0, 0, 0, shared_bytes, 0)
    assert occupancy(Machine(), resources, n_threads) == share


def test_work_is_counted():
    found = predict(plans()["gemm"], {"n": 1000})
    (kernel,) = found.kernels
    assert kernel.flops == 2 * 1000**3
    assert kernel.bytes == 3 * 8 * 1000**2
    assert kernel.bound == "arithmetic"
    assert found.transfer_s == pytest.approx(4 * 8 * 1000**2 / Machine().link_bytes_s)
    found = predict(plans()["heat"], {"steps": 10, "n": 1002})
    assert [one.n_launches for one in found.kernels] == [10, 10]
    assert found.kernels[0].flops == 10 * 1000**2


def test_moving_data_pays_where_there_is_enough_work():
    assert predict(plans()["gemm"], {"n": 2000}).pays
    assert not predict(plans()["add"], {"n": 2000}).pays
    assert predict(plans()["heat"], {"steps": 1000, "n": 2000}).pays


def test_the_chosen_mapping_is_the_fastest():
    plan = plans()["add"]
    (kernel,) = plan.kernels()
    (fast, best), (slow, _) = ranked_mappings(plan, kernel, (8192, 8192), {})
    assert best == kernel.mapping == (0, 1)  # i, the last subscript, on x
    assert slow > 2 * fast


def test_speeds_are_measured_once(tmp_path, monkeypatch):
    monkeypatch.setenv("KLEENE_CACHE_DIR", str(tmp_path))
    asked = []

    def measure():
        asked.append(1)
        return Machine("card", launch_s=1e-5)

    assert calibrated(measure, "card") == calibrated(measure, "card") == measure()
    assert len(asked) == 2  # once by each of the two names that ask: the cache, and this test
