"""Predicted times: occupancy, counted work, the order of mappings, and whether moving data pays."""

from __future__ import annotations

import ctypes
import json
import statistics
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")

from kleene.kernels import launch
from kleene.kernels.launch import compile as compiling
from kleene.kernels.launch import host
from kleene.kernels.launch.compile import Resources
from kleene.offload.plans import machine
from kleene.offload.plans.built import compiled
from kleene.offload.plans.cost import predict
from kleene.offload.plans.machine import H200, Machine, calibrated, host_source, kept_for
from kleene.offload.plans.mappings import chosen, ranked_mappings
from kleene.offload.plans.resources import occupancy
from tests.offload.kernels.loop_programs import unit_of
from tests.offload.plans.generated import plans_of, polybench

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
void sum(int n, double c[restrict n], double a[restrict n], double b[restrict n]) {
  for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
}
void half(int n, double c[restrict n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (j < i) c[i][j] = c[i][j] * 2 + 1;
}
void front(int n, double c[restrict n][n]) {
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++) c[i][j] += c[i - 1][j] + c[i][j - 1];
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


quick = partial(predict, is_quick=True)  # kernels are not compiled for their registers


@cache
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
    found = quick(plans()["gemm"], {"n": 1000})
    (kernel,) = found.kernels
    assert kernel.flops == 2 * 1000**3
    assert kernel.bytes == 4 * 8 * 1000**2  # three arrays are read, one is written
    assert kernel.bound == "arithmetic"
    each = 8 * 1000**2
    wanted = 3 * each / H200.to_device_bytes_s + each / H200.from_device_bytes_s + 4 * H200.move_s
    wanted += 2 * H200.transfer_s
    assert found.transfer_s == pytest.approx(wanted)
    found = quick(plans()["heat"], {"steps": 10, "n": 1002})
    assert [one.n_launches for one in found.kernels] == [10, 10]
    assert found.kernels[0].flops == 10 * 1000**2


def test_moving_data_pays_where_there_is_enough_work():
    assert quick(plans()["gemm"], {"n": 2000}).pays
    assert not quick(plans()["sum"], {"n": 4_000_000}).pays
    assert quick(plans()["heat"], {"steps": 1000, "n": 2000}).pays


def test_the_chosen_mapping_is_the_fastest():
    plan = plans()["add"]
    (kernel,) = plan.kernels()
    sizes = {one: 8192.0 for one in plan.parameters if one.name == "n"}
    (fast, best), (slow, _) = ranked_mappings(plan, kernel, (8192, 8192), sizes)
    assert best == kernel.mapping == (0, 1)  # i, the last subscript, on x
    assert slow > 2 * fast


def test_an_order_that_is_slow_is_changed():
    plan = plans()["add"]
    (kernel,) = plan.kernels()
    slow = replace(plan, steps=(replace(kernel, mapping=(1, 0)),))
    (changed,) = chosen(slow).kernels()
    assert changed.mapping == (0, 1)


def test_threads_whose_condition_fails_do_nothing():
    (kernel,) = quick(plans()["half"], {"n": 1024}).kernels
    assert kernel.flops == pytest.approx(2 * 1024**2 / 2, rel=0.1)


def test_launches_that_the_host_queues_slower_than_they_run_bound_the_time():
    plan = plans()["front"]
    found = predict(plan, {"n": 500}, least_tiled=1 << 62)  # no loop as one launch
    (kernel,) = found.kernels
    assert kernel.n_launches > 900
    assert found.kernels_s >= kernel.n_launches * H200.launch_s
    assert found.choice == "core"  # 250,000 additions
    assert quick(plan, {"n": 500}).choice == "core"


def test_a_slower_machine_takes_longer():
    half = replace(H200, double_flops=H200.double_flops / 2, clock_s=H200.clock_s / 2)
    slow, fast = (quick(plans()["gemm"], {"n": 2048}, one) for one in (half, H200))
    assert slow.kernels_s > 1.8 * fast.kernels_s


def test_the_answer_is_told_with_its_numbers():
    text = "\n".join(quick(plans()["gemm"], {"n": 2000}).lines())
    assert "moving arrays to the GPU and back pays" in text
    assert "NVIDIA H200 and its host, not measured here" in text
    assert "1 launch, 4000000 threads" in text


@pytest.mark.skipif(compiling.problem() is not None, reason=str(compiling.problem()))
def test_registers_and_shared_memory_are_told():
    (kernel,) = predict(plans()["gemm"], {"n": 2000}).kernels
    assert kernel.resources is not None
    assert kernel.resources.shared_bytes > 0
    assert 0 < kernel.occupancy <= 1
    assert "registers" in predict(plans()["gemm"], {"n": 2000}).lines()[-1]


@pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
def test_what_calibration_launches_does_what_it_says():
    with launch.on_host():
        module = launch.load(Path(machine.__file__).with_name("speeds.cu"))
        sums = np.zeros(4)
        module.launch("add_all", (2,), (64,), (sums, np.int32(4), np.int32(3)))
        assert sums.sum() == 2 * 64 * 3
        chain, out = np.zeros(256, np.int32), np.zeros(1, np.int32)
        chain[np.arange(8) * 32] = (np.arange(8) * 5 + 1) % 8 * 32
        module.launch("follow", (1,), (1,), (chain, out, np.int32(3)))
        assert out[0] == (((0 * 5 + 1) * 5 + 1) * 5 + 1) % 8 * 32
        for name, kind in (("double", np.float64), ("float", np.float32), ("int", np.int32)):
            args = (np.zeros(1, kind), np.int32(1), kind(0))
            module.launch(f"multiply_add_{name}", (1,), (32,), args)


@pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
def test_what_calibration_calls_does_what_it_says():
    speed = compiled(host_source()).kleene_speed
    speed.restype = None
    for is_parallel in (0, 1):
        a, b = np.zeros(640), np.arange(640.0)
        given = (*machine.pointers_of(a, b), ctypes.c_longlong(640))
        call = partial(speed, ctypes.c_int(2), is_parallel, ctypes.c_longlong(64), *given)
        call(ctypes.c_int(1))
        np.testing.assert_array_equal(a, 1.5 * b)
        speed(ctypes.c_int(3), is_parallel, ctypes.c_longlong(2), *given, ctypes.c_int(100))
        assert a[:2].tolist() == [b[::100].sum(), b[8::100].sum()]


def test_speeds_are_measured_once(tmp_path, monkeypatch):
    monkeypatch.setenv("KLEENE_CACHE_DIR", str(tmp_path))
    asked = []

    def measure():
        asked.append(1)
        return Machine("card", launch_s=1e-5)

    assert kept_for("card") is None
    first = calibrated(measure, "card")
    assert first == calibrated(measure, "card") == kept_for("card")
    assert first == replace(measure(), is_measured=True)
    assert len(asked) == 2  # once by the cache, and once by this test
    assert kept_for("another") is None


def test_predicted_times_are_near_the_measured_ones():
    """What the benchmark measured on an H200; of other programs the code has changed since."""
    results = Path(__file__).parents[3] / "benchmarks" / "results" / "kernels_cuda.json"
    rows = {row["input"]: row for row in json.loads(results.read_text())["rows"]}
    errors = []
    for name in ("atax", "bicg", "deriche", "gemm", "gemver", "gesummv", "jacobi_2d", "mvt"):
        plan = plans_of(polybench()[name.replace("_", "-")])[name]
        numbers = iter(rows[name]["size"].split(" x "))
        kinds = [one for one in plan.parameters if one.type.kind in ("int", "float")]
        sizes = {o.name: int(next(numbers)) if o.type.kind == "int" else 1.2 for o in kinds}
        found = predict(plan, sizes, H200, is_quick=True)
        errors.append(abs(found.kernels_s / rows[name]["ours"]["median_s"] - 1))
        assert found.pays == (rows[name]["pays, predicted"] == "yes")
    assert statistics.median(errors) < 0.25
