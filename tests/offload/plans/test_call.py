"""Generated functions called from Python: results, and errors that name the parameter."""

from __future__ import annotations

import os
import signal
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")
pytest.importorskip("ziglang", reason="the bundled compiler compiles what is called")

import kleene
from kleene.base.errors import SourceError
from kleene.codegen import runtime
from kleene.codegen.runtime import ArgumentError
from kleene.kernels import launch
from kleene.kernels.launch import host
from kleene.offload import plans
from kleene.offload.plans import FallbackWarning, call
from tests.codegen.test_runtime import Array
from tests.offload.kernels.loop_programs import PROGRAMS

CODE = """
double total(int n, const double *a) {
  double s = 0;
  for (int i = 0; i < n; i++) s += a[i];
  return s;
}
void shift(int n, float *to, const float *from) {
  for (int i = 0; i < n; i++) to[i] = from[i + 1] + 1;
}
void back(int n, float *to, const float *from) {
  for (int i = 0; i < n; i++) to[i] = from[i] + 1;
}
void scaled(int n, double t, const double *restrict a, double *restrict b) {
  for (int i = 0; i < n; i++) b[i] = t * a[i];
}
void count(int n, int *bins, const int *keys) {
  for (int i = 0; i < n; i++) bins[keys[i]] += 1;
}
void running(int n, double *a) {
  for (int i = 1; i < n; i++) a[i] = a[i] * a[i - 1] + 1;
}
int greatest(int n, const int *a) {
  int top = a[0];
  for (int i = 1; i < n; i++) if (a[i] > top) top = a[i];
  return top;
}
void wide(int n, int m, double *a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i * 10 + j] = 1;
}
int where(int n, const double *a) {
  int at = 0;
  double top = a[0];
  for (int i = 1; i < n; i++)
    if (a[i] > top) { top = a[i]; at = i; }
  return at;
}
void filtered(int n, int size, const int *restrict a, int *restrict out) {
  for (int i = 0; i < n - size + 1; i++) {
    int sum = 0;
    for (int j = 0; j < size; j++) sum += a[i + j];
    out[i] = sum;
  }
}
void hidden(int n, double *a, double *b, const double *u, double t) {
  for (int i = 0; i < n; i++) {
    { double t = 2 * u[i]; a[i] = t; }
    b[i] = t;
  }
}
void apart(int n, double *a, double *b, const double *u) {
  for (int i = 0; i < n; i++) { double t = 2 * u[i]; a[i] = t; }
  for (int i = 0; i < n; i++) { double t = 3 * u[i]; b[i] = t; }
}
struct node { int value; struct node *next; };
int linked(int n, struct node *first) {
  int s = 0;
  for (int i = 0; i < n; i++) { s += first->value; first = first->next; }
  return s;
}
"""


@pytest.fixture(scope="module")
def k(tmp_path_factory):
    file: Path = tmp_path_factory.mktemp("call") / "a.c"
    file.write_text(CODE)
    return kleene.load(str(file)).kernels()


class Series:
    """What has a type and a size, but is no array of NumPy or CuPy."""

    dtype, nbytes, data = np.dtype(float), 3200, b""


def unaligned(n: int) -> np.ndarray:
    return np.zeros(8 * n + 1, np.uint8)[1:].view(np.float64)


@pytest.fixture(scope="module")
def gemm():
    return kleene.load(str(PROGRAMS / "polybench" / "gemm.c")).kernels().gemm


def matrices(n: int = 20):
    rng = np.random.default_rng(0)
    return [rng.random((n, n)) for _ in range(3)]


def test_gemm_on_the_cpu_is_numpys(gemm):
    c, a, b = matrices()
    wanted = 1.5 * a @ b + 0.5 * c
    assert gemm(20, 20, 20, 1.5, 0.5, c, a, b, device="cpu") is None
    np.testing.assert_allclose(c, wanted)


@pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
def test_gemm_by_its_kernels_is_numpys(gemm):
    c, a, b = matrices()
    wanted = 1.5 * a @ b + 0.5 * c
    with launch.on_host():
        gemm(20, 20, 20, 1.5, 0.5, c, a, b)
    np.testing.assert_allclose(c, wanted)


@pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
def test_what_does_not_fit_the_gpu_is_computed_on_the_cpu(gemm, monkeypatch):
    def no_room(*_):
        raise MemoryError

    monkeypatch.setattr(runtime.transfers, "moved_in", no_room)
    monkeypatch.setattr(runtime.Run, "part", no_room)
    c, a, b = matrices()
    wanted = 1.5 * a @ b + 0.5 * c
    with launch.on_host(), pytest.warns(FallbackWarning, match="partly computed") as caught:
        gemm(20, 20, 20, 1.5, 0.5, c, a, b)
    assert caught[0].filename == __file__  # where the call is
    np.testing.assert_allclose(c, wanted)


@pytest.mark.parametrize("n", [0, 1, 7, 20_000])
def test_a_result_is_returned(k, n):
    a = np.arange(n, dtype=float)
    assert k.total(n, a, device="cpu") == a.sum()
    if host.problem() is None:
        with launch.on_host():
            assert k.total(n, a) == a.sum()


def test_integers_are_returned_as_such(k):
    a = np.array([3, -5, 12, 7], np.int32)
    assert k.greatest(4, a, device="cpu") == 12
    a[:] = [-3, -5, -12, -7]
    assert k.greatest(4, a, device="cpu") == -3
    if host.problem() is None:
        with launch.on_host():
            assert k.greatest(4, a) == -3


def test_the_place_of_the_greatest_is_found_as_it_is_written(k):
    assert k.where(4, np.array([1.0, 5.0, 2.0, 5.0])) == 1


def test_updates_are_atomic(k):
    keys = np.random.default_rng(0).integers(0, 5, 1000).astype(np.int32)
    for is_kernel in (False, host.problem() is None):
        bins = np.zeros(5, np.int32)
        if is_kernel:
            with launch.on_host(seed=3):
                k.count(1000, bins, keys)
        else:
            k.count(1000, bins, keys, device="cpu")
        np.testing.assert_array_equal(bins, np.bincount(keys, minlength=5))


def test_arrays_that_overlap_are_computed_in_order(k):
    both = np.arange(9, dtype=np.float32)
    wanted = both.copy()
    for i in range(8):
        wanted[i] = wanted[i + 1] + 1
    with pytest.warns(FallbackWarning, match="from and to overlap|to and from overlap") as caught:
        k.shift(8, both, both)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(both, wanted)


def test_arrays_of_the_gpu_that_overlap_do_so_in_the_copies_that_the_cpu_gets(k):
    """What `back` writes is what it reads next: two copies would give another result."""
    both = np.zeros(9, np.float32)
    there = Array(both)
    to, source = Array(both[1:]), Array(both[:8])
    wanted = [float(n) for n in range(1, 9)]  # to[i] = from[i] + 1, and from[i + 1] is to[i]
    with pytest.warns(FallbackWarning, match="overlap"):
        k.back(8, to, source)
    assert there.values[1:].tolist() == wanted


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no processes that fork")
def test_a_forked_process_computes_without_the_threads_of_its_parent(k, monkeypatch):
    monkeypatch.setenv("KLEENE_THREADS", "3")
    n = 1_000_000  # enough for threads
    a = np.ones(n)
    assert k.total(n, a, device="cpu") == n
    with warnings.catch_warnings():  # of Python 3.12: this process has threads
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        signal.alarm(20)
        os._exit(int(k.total(n, a, device="cpu") != n))
    assert os.waitpid(child, 0)[1] == 0


def test_a_negative_zero_is_no_zero(k):
    a = np.ones(1)
    for t in (0.0, -0.0, 0.0):
        b = np.ones(1)
        k.scaled(1, t, a, b, device="cpu")
        assert np.signbit(b[0]) == np.signbit(t)
        a[0] = 1  # the same arrays and sizes: only the sign differs


def test_a_gpu_that_loads_no_kernels_is_an_error_only_if_it_is_asked_for(gemm, monkeypatch):
    def run_on(_):
        raise runtime.UnusableGpuError("CUDADriverError: UNSUPPORTED_PTX_VERSION")

    monkeypatch.setattr(gemm, "_run_on", run_on)
    monkeypatch.setattr(gemm, "_runs", {})
    c, a, b = matrices()
    wanted = 1.5 * a @ b + 0.5 * c
    with launch.on_host(), pytest.warns(FallbackWarning, match="UNSUPPORTED_PTX_VERSION"):
        gemm(20, 20, 20, 1.5, 0.5, c, a, b)
    np.testing.assert_allclose(c, wanted)
    with launch.on_host(), pytest.raises(SourceError, match="cannot run on this GPU") as error:
        gemm(20, 20, 20, 1.5, 0.5, c, a, b, device="cuda")
    assert error.value.id == "kernels/unusable-gpu"


def test_a_function_without_kernels_is_called_as_it_is_written(k):
    a = np.array([2.0, 3.0, 4.0])
    k.running(3, a)
    np.testing.assert_array_equal(a, [2, 7, 29])
    assert k.running.plan.reason == "the loop of line 20 is sequential"
    with pytest.raises(SourceError, match="'running' has no kernels") as error:
        k.running(3, a, device="cuda")
    assert error.value.id == "kernels/no-kernels"


@pytest.mark.parametrize(
    ("change", "name", "id", "message"),
    [
        ({5: np.zeros((20, 20), np.float32)}, "c", "wrong-dtype", "is an array of float32"),
        ({6: np.zeros((20, 40))[:, ::2]}, "a", "not-contiguous", "is not contiguous"),
        ({7: np.zeros((20, 19))}, "b", "array-too-small", "has 380 elements, 400 are needed"),
        ({7: [1.0]}, "b", "not-an-array", "must be an array of float64, not list"),
        ({7: np.float64(1)}, "b", "not-an-array", "must be an array of float64, not float64"),
        ({7: Series()}, "b", "not-an-array", "must be an array of float64, not Series"),
        ({6: np.zeros((20, 20), order="F")}, "a", "not-contiguous", "is not contiguous"),
        ({6: np.zeros((20, 20), ">f8")}, "a", "wrong-dtype", "is an array of >f8"),
        ({7: unaligned(400)}, "b", "not-aligned", "does not begin at a multiple of 8 bytes"),
        ({2: "20"}, "nk", "not-a-number", "must be a number of int32, not '20'"),
        ({3: 1j}, "alpha", "not-a-number", "must be a number of float64, not 1j"),
        ({3: np.ones(1)}, "alpha", "not-a-number", "must be a number of float64, not array"),
        ({2: float("nan")}, "nk", "out-of-range", "is nan, which is no int32"),
        ({2: None}, "nk", "not-a-number", "must be a number of int32, not None"),
        ({0: 2.5}, "ni", "out-of-range", "is 2.5, which is no int32"),
        ({1: 2**40}, "nj", "out-of-range", "is 1099511627776, which is no int32"),
        ({3: "x"}, "alpha", "not-a-number", "must be a number of float64, not 'x'"),
    ],
)
def test_an_argument_that_does_not_fit_is_named(gemm, change, name, id, message):
    args = [20, 20, 20, 1.5, 0.5, *matrices()]
    gemm(*args, device="cpu")  # what is kept of a call that fits does not hide one that does not
    for position, value in change.items():
        args[position] = value
    with pytest.raises(ArgumentError, match=f"error.*gemm: argument '{name}' {message}") as error:
        gemm(*args)
    assert (error.value.id, error.value.parameter) == (f"kernels/{id}", name)
    assert "gemm.c:" in error.value.place  # where the parameter is declared
    assert error.value.hint


def test_checks_are_kept_for_calls_of_the_same_kind(gemm, monkeypatch):
    asked = []
    real = gemm._arguments._checked
    monkeypatch.setattr(gemm._arguments, "_checked", lambda args: asked.append(1) or real(args))
    c, a, b = matrices(23)
    for _ in range(3):
        gemm(23, 23, 23, 1.5, 0.5, c, a, b, device="cpu")
    assert len(asked) == 1
    for args in ((22, 23, 23, 1.5, 0.5, c, a, b), (23, 23, 23, 1.5, 0.5, c.copy(), a, b)):
        gemm(*args, device="cpu")
    assert len(asked) == 3
    with pytest.warns(FallbackWarning, match="c and a overlap"):
        gemm(23, 23, 23, 1.5, 0.5, c, c, b, device="cpu")


def test_loops_without_iterations_need_no_elements(k):
    a = np.zeros(4)
    for n, m in ((3, 0), (0, 7), (-2, -5)):
        k.wide(n, m, a, device="cpu")
    assert not a.any()
    with pytest.raises(ArgumentError, match="argument 'a' has 4 elements, 13 are needed"):
        k.wide(2, 3, a, device="cpu")


def test_bounds_that_no_formula_tells_are_told_by_the_sizes(k):
    picture, out = np.ones(40, np.int32), np.zeros(36, np.int32)
    k.filtered(40, 5, picture, out, device="cpu")
    assert out.tolist() == [5] * 36
    for change in ((39, picture, out), (40, picture, out[:35])):
        with pytest.raises(ArgumentError, match=r"elements, (40|36) are needed"):
            k.filtered(40, 5, change[1][: change[0]], change[2], device="cpu")


def test_a_device_that_there_is_not(gemm):
    with pytest.raises(ArgumentError, match="no device 'gpu'; write 'auto', 'cpu' or 'cuda'"):
        gemm(1, device="gpu")


def test_too_few_arguments(gemm):
    with pytest.raises(ArgumentError, match=r"takes 8.*call gemm\(ni, nj, nk, alpha"):
        gemm(20)


def test_a_read_only_array_is_refused_if_it_is_written(gemm):
    c, a, b = matrices()
    a.flags.writeable = False
    gemm(20, 20, 20, 1.0, 0.0, c, a, b, device="cpu")
    c.flags.writeable = False
    with pytest.raises(ArgumentError, match="argument 'c' is written, but read-only"):
        gemm(20, 20, 20, 1.0, 0.0, c, a, b, device="cpu")


def test_a_call_runs_where_it_is_predicted_to_be_fastest(gemm, monkeypatch):
    asked = []
    real = gemm._on_cpu

    def on_cpu(given, is_sequential=False):
        asked.append(is_sequential)
        return real(given)

    monkeypatch.setattr(gemm, "_on_cpu", on_cpu)
    monkeypatch.setattr(gemm, "_on_device", lambda known, args: asked.append("cuda"))
    monkeypatch.setattr(launch, "gpu_problem", lambda: None)
    for n in (8, 900):
        gemm(n, n, n, 1.5, 0.5, *matrices(n))
    assert asked == [True, "cuda"]  # one core, for 512 products
    monkeypatch.setattr(launch, "gpu_problem", lambda: "the driver is too old")
    for n_cores in (1, 16):
        monkeypatch.setattr(call, "_n_cores", lambda n=n_cores: n)
        gemm._choices.clear()
        gemm(300, 300, 300, 1.5, 0.5, *matrices(300))
    assert asked[2:] == [True, False]  # one core alone, then 16
    text = gemm.explain(ni=4000, nj=4000, nk=4000)
    assert "gemm(ni=4000, nj=4000, nk=4000) runs on all cores: no GPU can be used" in text
    assert "the driver is too old" in text


def test_a_size_that_is_not_given_is_named(gemm):
    with pytest.raises(ArgumentError, match="the size 'nk' is not given") as error:
        gemm.predict(ni=10, nj=10)
    assert error.value.id == "kernels/size-missing"


@pytest.mark.parametrize("reason", ["CuPy is not installed", "the CUDA driver does not answer: 35"])
def test_no_gpu_is_an_error_only_if_one_is_asked_for(gemm, monkeypatch, reason):
    monkeypatch.setattr(launch, "gpu_problem", lambda: reason)
    c, a, b = matrices()
    wanted = 1.5 * a @ b + 0.5 * c
    with pytest.raises(SourceError, match=f"no GPU can be used: {reason}") as error:
        gemm(20, 20, 20, 1.5, 0.5, c, a, b, device="cuda")
    assert error.value.id == "kernels/no-gpu"
    gemm(20, 20, 20, 1.5, 0.5, c, a, b)
    np.testing.assert_allclose(c, wanted)


def test_what_cannot_be_written_is_said(k):
    with pytest.raises(SourceError, match="'linked' cannot be generated") as error:
        _ = k.linked
    assert error.value.id == "kernels/not-generated"


def test_what_cannot_be_written_is_told_before_anything_is_planned(tmp_path, monkeypatch):
    file = tmp_path / "a.c"
    file.write_text("int f(int n, int *a) { for (int i = 0; i < n; i++) if (a[i]) return i;"
                    " for (int i = 0; i < n; i++) a[i] = 1; return n; }")  # fmt: skip
    made = kleene.load(str(file)).kernels()
    monkeypatch.setattr(plans, "Scheduler", None)
    with pytest.raises(SourceError, match="'f' cannot be generated: return in line 1"):
        made.generated("f")


SIZED = """
void half(int m, int n, double a[m][n]) {
  n = n / 2;
  for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) a[i][j] = 1;
}
void inside(int m, int n, double a[m][n]) {
  for (int i = 0; i < m; i++) { n = 3; for (int j = 0; j < n; j++) a[i][j] = 1; }
}
void after(int m, int n, double a[m][n]) {
  for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) a[i][j] = 1;
  m = 0;
}
"""


def test_rows_have_the_size_of_the_call_or_none_is_generated(tmp_path):
    """What is generated would take `n` as it is at `a[i][j]`, where C has that of the call."""
    file = tmp_path / "a.c"
    file.write_text(SIZED)
    made = kleene.load(str(file)).kernels()
    for name in ("half", "inside"):
        with pytest.raises(SourceError, match=f"'{name}' cannot be generated: n, a size of a"):
            made.generated(name)
    assert made.generated("after").plan.steps  # m is in no row


def test_variables_of_one_name_are_told_apart(k):
    u, a, b = np.arange(5.0), np.zeros(5), np.zeros(5)
    k.apart(5, a, b, u)
    assert (a == 2 * u).all()
    assert (b == 3 * u).all()
    k.hidden(5, a, b, u, t=7.0)
    assert (a == 2 * u).all()
    assert (b == 7).all()


def test_names_are_attributes(k):
    assert {"total", "shift"} <= set(dir(k))
    with pytest.raises(AttributeError):
        _ = k.absent
    assert repr(k.total) == "<generated total(n, a)>"


def test_functions_may_have_names_that_the_system_has_too(tmp_path: Path) -> None:
    """Headers of generated C declare what C's own library has, and little more."""
    names = ("brk", "index", "read", "select", "y0", "link", "random")
    lines = [f"void {one}(int n, int *a) {{ for (int i = 0; i < n; i++) a[i] = 3; }}"
             for one in (*names, "round")]  # fmt: skip
    file = tmp_path / "names.c"
    file.write_text("\n".join(lines))
    functions = kleene.load(file).kernels()
    assert repr(functions) == "<KernelsResult of 8 functions: loops 8 PAR>"
    for name in names:
        a = np.zeros(4, np.int32)
        functions.generated(name)(4, a)
        assert a.tolist() == [3] * 4
    with pytest.raises(SourceError, match="conflicting types for 'round'") as error:
        functions.generated("round")(4, a)
    assert error.value.id == "kernels/not-compiled"
