"""What moves arrays to a GPU and back, with a CuPy that keeps its arrays in the host's memory."""

from __future__ import annotations

import ctypes
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from kleene.codegen import runtime
from kleene.kernels.launch import gpu


class Array:
    """An array of the device, at an address of the host."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.dtype, self.size = values, values.dtype, values.size
        self.nbytes, self.flags, self.shape = values.nbytes, values.flags, values.shape
        self.data, self.device = SimpleNamespace(ptr=values.ctypes.data), SimpleNamespace(id=0)

    def reshape(self, _: int) -> Array:
        return self

    def get(self) -> np.ndarray:
        return self.values.copy()

    def set(self, values: np.ndarray) -> None:
        self.values[...] = values


class Stream:
    ptr = 0

    def __init__(self, non_blocking: bool = False) -> None:
        self.waited = 0

    def synchronize(self) -> None:
        self.waited += 1


def copied(to: int, start: int, size: int, *_: object) -> None:
    ctypes.memmove(to, start, size)


@pytest.fixture
def cupy(monkeypatch):
    """Install it, with room for so many bytes."""
    room = SimpleNamespace(n_bytes=1 << 30)

    def empty(size: int, dtype: np.dtype) -> Array:
        if size * np.dtype(dtype).itemsize > room.n_bytes:
            raise MemoryError("Out of memory allocating")
        return Array(np.full(size, 77, dtype))

    made = SimpleNamespace(
        room=room,
        empty=empty,
        cuda=SimpleNamespace(
            Stream=Stream,
            get_current_stream=Stream,
            Device=lambda *_: SimpleNamespace(id=0, __enter__=None, __exit__=None),
            alloc_pinned_memory=bytearray,
            UnownedMemory=lambda address, size, owner, device: (address, owner),
            MemoryPointer=lambda memory, offset: memory,
            runtime=SimpleNamespace(memcpyAsync=copied, memcpy=copied),
        ),
    )
    made.cuda.Device = Device
    made.ndarray = lambda shape, dtype, memory: SimpleNamespace(
        data=SimpleNamespace(ptr=memory[0]), owner=memory[1]
    )
    monkeypatch.setitem(sys.modules, "cupy", made)
    monkeypatch.setattr(runtime.transfers, "_movers", None)
    return made


class Device(nullcontext):
    id = 0


def double(run, n, a, b):
    b.values[:n] = 2 * a.values[:n]


def called(n_bytes: int):
    sections = {
        "a": ((0, n_bytes), (0, 0), (0, n_bytes)),
        "b": ((8, n_bytes), (8, n_bytes), (8, 16)),
    }
    parameters = [("n", "scalar", "int32"), ("a", "array", "float64"), ("b", "array", "float64")]
    given = ("double", parameters, [("a", "b")], lambda n: sections)
    return runtime.Arguments(*given)


@pytest.mark.parametrize("n", [5, 100, 3_000_000])
def test_only_sections_are_moved_and_come_back(cupy, n):
    a, b = np.arange(float(n)), np.full(n, -1.0)
    run = runtime.Run(lambda *_: None, cupy)
    known = called(8 * n).prepared((n, a, b))
    runtime.executed(run, double, known, (n, a, b))
    assert b[0] == -1  # outside of what comes out
    np.testing.assert_array_equal(b[1:], 2 * a[1:])


def test_arrays_of_the_device_stay_there(cupy):
    a, b = Array(np.arange(4.0)), Array(np.zeros(4))
    known = called(32).prepared((4, a, b))
    assert known.is_there
    cupy.room.n_bytes = 0
    runtime.executed(runtime.Run(lambda *_: None, cupy), double, known, (4, a, b))
    np.testing.assert_array_equal(b.values, [0, 2, 4, 6])


def test_too_little_memory_is_told_before_anything_changes(cupy):
    a, b = np.arange(4.0), np.zeros(4)
    cupy.room.n_bytes = 8
    run, known = runtime.Run(lambda *_: None, cupy), called(32).prepared((4, a, b))
    with pytest.raises(runtime.NotExecutedError):
        runtime.executed(run, double, known, (4, a, b))
    assert not b.any()


def test_too_little_memory_of_a_later_step_is_an_error_if_an_array_may_have_changed(cupy):
    def steps(run, n, a, b):
        if n == 4:
            run.grid("double", (n,), (a, b))
        raise MemoryError

    run, (a, b) = runtime.Run(lambda *_: None, cupy), (np.arange(4.0), np.zeros(4))
    with pytest.raises(runtime.NotExecutedError):
        runtime.executed(run, steps, called(32).prepared((4, a, b)), (4, a, b))
    there = Array(np.zeros(4))
    for args in ((4, a, there), (4, there, Array(np.zeros(4)))):
        with pytest.raises(MemoryError):
            runtime.executed(run, steps, called(32).prepared(args), args)
        before = (3, *args[1:])  # nothing is launched before there is too little memory
        with pytest.raises(runtime.NotExecutedError):
            runtime.executed(run, steps, called(32).prepared(before), before)


def test_storage_for_a_section_has_the_addresses_of_the_whole_array(cupy):
    seen = []

    def steps(run, n, a, b):
        seen.append((a.data.ptr, b.data.ptr))
        start = ctypes.cast(a.data.ptr, ctypes.POINTER(ctypes.c_double))
        to = ctypes.cast(b.data.ptr, ctypes.POINTER(ctypes.c_double))
        for i in range(n - 2, n):
            to[i] = 2 * start[i]

    n = 1000
    a, b = np.arange(float(n)), np.full(n, -1.0)
    last = (8 * n - 16, 8 * n)
    sections = {"a": (last, (0, 0), (0, 0)), "b": (last, last, (0, 0))}
    parameters = [("n", "scalar", "int32"), ("a", "array", "float64"), ("b", "array", "float64")]
    known = runtime.Arguments("f", parameters, [], lambda n: sections).prepared((n, a, b))
    cupy.room.n_bytes = 16
    runtime.parts_executed(runtime.Run(lambda *_: None, cupy), steps, known, (n, a, b))
    assert (b[: n - 2] == -1).all()
    assert b[n - 2 :].tolist() == [2 * n - 4, 2 * n - 2]
    assert seen[0][0] != a.ctypes.data
    cupy.room.n_bytes = 15
    with pytest.raises(runtime.NotExecutedError):
        runtime.parts_executed(runtime.Run(lambda *_: None, cupy), steps, known, (n, a, b))


@pytest.mark.parametrize(
    ("counts", "block"),
    [
        ((500, 500), (32, 8)),
        ((4, 1_000_000), (32, 16)),
        ((4, 20_000_000), (2, 512)),
        ((4, 3, 4_000_000), (4, 4, 64)),
        ((100,), (32,)),
    ],
)
def test_blocks_are_taller_where_a_grid_would_have_too_many_rows(counts, block):
    assert runtime.block_of(counts, runtime.BLOCKS) == block


def test_a_grid_that_no_block_makes_small_enough_is_not_launched(cupy):
    a, b = np.arange(4.0), np.zeros(4)

    def steps(run, n, a, b):
        run.grid("double", (1, 1 << 30), ())

    run, known = runtime.Run(lambda *_: None, cupy), called(32).prepared((4, a, b))
    with pytest.raises(runtime.NotExecutedError, match="blocks is too large") as error:
        runtime.executed(run, steps, known, (4, a, b))
    assert not error.value.is_memory


class FailedError(Exception):
    pass


@pytest.mark.parametrize("name", ["CompileException", "CUDADriverError"])
def test_kernels_that_the_gpu_cannot_load_are_an_error_of_their_own(cupy, name):
    def compiled():
        raise cupy.cuda.__dict__["errors"][name]("CUDA_ERROR_UNSUPPORTED_PTX_VERSION")

    kinds = {one: type(one, (FailedError,), {}) for one in ("CompileException", "CUDADriverError")}
    cupy.cuda.errors = kinds
    cupy.cuda.compiler = SimpleNamespace(CompileException=kinds["CompileException"])
    cupy.cuda.driver = SimpleNamespace(CUDADriverError=kinds["CUDADriverError"])
    cupy.RawModule = lambda **_: SimpleNamespace(compile=compiled)
    with pytest.raises(runtime.UnusableGpuError, match=f"{name}: CUDA_ERROR_UNSUPPORTED"):
        runtime.device_run("")


def test_arrays_that_share_storage_are_told(cupy):
    both = np.zeros(8)
    assert called(32).prepared((4, both[:4], both[4:])).overlap is None
    assert called(32).prepared((4, both[:5], both[4:])).overlap == ("a", "b")
    device = Array(both)
    assert called(32).prepared((4, both, device)).overlap is None  # of the host and of the device


SCALE = """
extern "C" __global__ void scale(int n, double by, const double *a, double *b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = by * a[i];
}
"""


@pytest.mark.skipif(gpu.problem() is not None, reason=str(gpu.problem()))
@pytest.mark.parametrize("n", [100, 3_000_000])
def test_arrays_of_numpy_and_cupy_on_a_gpu(n):
    import cupy as real

    def steps(run, n, by, a, b):
        run.grid("scale", (n,), (np.int32(n), np.float64(by), a, b))

    sections = {"a": ((0, 8 * n), (0, 0), (0, 8 * n)), "b": ((0, 8 * n), (0, 8 * n), (0, 8 * n))}
    parameters = [("n", "scalar", "int32"), ("by", "scalar", "float64")]
    parameters += [("a", "array", "float64"), ("b", "array", "float64")]
    call = runtime.Called("scale", parameters, [("a", "b")], lambda n: sections, steps, SCALE)
    a = np.arange(float(n))
    for module in (np, real):
        given, out = module.asarray(a), module.zeros(n)
        call(n, 3.0, given, out)
        np.testing.assert_array_equal(out if module is np else out.get(), 3 * a)
    with pytest.raises(runtime.ArgumentError, match="'a' and 'b' overlap"):
        call(n, 3.0, out, out)
    with pytest.raises(runtime.ArgumentError, match="'b' has 99 elements"):
        call(n, 3.0, given, out[:99])
