"""Calls whose arrays do not fit into the memory of the GPU: loops are executed in ranges."""

from __future__ import annotations

import weakref
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")
pytest.importorskip("ziglang", reason="the bundled compiler compiles what is called")

import kleene
from kleene.codegen import runtime
from kleene.kernels import launch
from kleene.kernels.launch import host
from kleene.offload.plans import FallbackWarning
from tests.offload.kernels.loop_programs import PROGRAMS

pytestmark = pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))

CODE = """
void blur(int n, int m, const double *restrict a, double *restrict b) {
  int i, j;
  for (i = 1; i < n - 1; i++)
    for (j = 0; j < m; j++)
      b[i * m + j] = a[(i - 1) * m + j] + a[i * m + j] + a[(i + 1) * m + j];
}
void twice(int n, int m, const double a[restrict n][m], double b[restrict n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) b[i][j] = 2 * a[i][j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) b[i][j] = b[i][j] + 1;
}
void mixed(int n, int m, double a[restrict n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] = a[i][j] * 2;
  for (int j = 0; j < m; j++) a[0][j] = a[0][j] + a[n - 1][j];
}
double total(int n, const double *a) {
  double s = 0;
  for (int i = 0; i < n; i++) s += a[i];
  return s;
}
void steps(int t, int n, double *restrict a, double *restrict b) {
  for (int k = 0; k < t; k++) {
    for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
    for (int i = 1; i < n - 1; i++) a[i] = b[i];
  }
}
void last(int n, int *restrict a, int *restrict b) {
  int t = 0;
  for (int i = 0; i < n; i++) { t = a[i]; b[i] = t + 1; }
  for (int i = 0; i < n; i++) a[i] = t;
}
"""


class Room:
    """The memory of a GPU, with room for so many bytes; others have no meaning there."""

    def __init__(self, n_bytes: int) -> None:
        self.n_bytes = n_bytes
        self.parts: list[int] = []
        self.before: list[weakref.ref[object]] = []

    def part(self, run, first, end, dtype):
        """Return elements that nothing has written: a kernel that reads others sees them."""
        assert not any(one() for one in self.before), "an attempt before still holds memory"
        used = (end - first) * np.dtype(dtype).itemsize
        if sum(self.parts[-1:]) + used > self.n_bytes:
            self.parts.append(0)
            raise MemoryError("out of memory")
        self.parts.append(sum(self.parts[-1:]) + used)
        return np.full(end, 1e300 if np.dtype(dtype).kind == "f" else -77, dtype)


@pytest.fixture
def room(monkeypatch):
    made = Room(0)

    class Storage:
        """What a call has on the GPU when there is no room for more."""

    def no_room(*_):
        first = Storage()
        made.before.append(weakref.ref(first))
        raise MemoryError("out of memory")

    def executed(run, steps, known, args):
        made.parts.append(0)
        return real(run, steps, known, args)

    real = runtime.parts_executed
    monkeypatch.setattr(runtime.transfers, "moved_in", no_room)
    monkeypatch.setattr(runtime, "parts_executed", executed)
    monkeypatch.setattr(runtime.Run, "part", lambda *given: made.part(*given))
    return made


@pytest.fixture(scope="module")
def k(tmp_path_factory):
    file: Path = tmp_path_factory.mktemp("parts") / "a.c"
    file.write_text(CODE)
    return kleene.load(str(file)).kernels()


def compare(call, *args):
    """Call a function on the CPU and in parts, and compare what both leave in arrays."""
    wanted, given = ([a.copy() if hasattr(a, "shape") else a for a in args] for _ in range(2))
    call(*wanted, device="cpu")
    with launch.on_host():
        call(*given)
    for one, other in zip(given, wanted, strict=True):
        if hasattr(one, "shape"):
            np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("n_rows", [3, 12])
def test_rows_go_in_with_those_beside_them_and_come_back(k, room, n_rows):
    n, m = 25, 8
    room.n_bytes = (2 * n_rows + 2) * m * 8  # n_rows of b, and 2 more of a
    rng = np.random.default_rng(0)
    compare(k.blur, n, m, rng.random(n * m), rng.random(n * m))
    assert max(room.parts) <= room.n_bytes
    assert room.parts.count(0) > 23 // n_rows


def test_loops_one_after_the_other_have_ranges_of_their_own(k, room):
    room.n_bytes = 5 * 6 * 8
    compare(k.twice, 9, 6, np.random.default_rng(0).random((9, 6)), np.zeros((9, 6)))


def test_a_matrix_product_keeps_one_factor_whole(room):
    gemm = kleene.load(str(PROGRAMS / "polybench" / "gemm.c")).kernels().gemm
    n = 18
    room.n_bytes = (n + 2 * 4) * n * 8
    rng = np.random.default_rng(0)
    compare(gemm, n, n, n, 1.5, 0.5, *(rng.random((n, n)) for _ in range(3)))
    assert max(room.parts) <= room.n_bytes


def test_a_loop_that_fits_in_ranges_and_one_that_does_not(k, room):
    room.n_bytes = 8 * 8  # a row; the second loop needs all rows between the first and the last
    with pytest.warns(FallbackWarning, match="partly computed on the CPU: not enough memory"):
        compare(k.mixed, 5, 8, np.arange(40.0).reshape(5, 8))


@pytest.mark.parametrize(
    ("name", "args", "reason"),
    [
        ("total", (5, np.ones(5)), "line 20 is outside of its loops"),
        ("steps", (3, 9, np.ones(9), np.ones(9)), "the loop of line 25 is not parallel"),
        ("last", (5, np.ones(5, np.int32), np.ones(5, np.int32)), "line 31 is outside"),
    ],
)
def test_what_is_not_in_parts_is_computed_on_the_cpu_for_a_reason(k, room, name, args, reason):
    with pytest.warns(FallbackWarning, match=f"not in parts: ({reason})"):
        compare(getattr(k, name), *args)
