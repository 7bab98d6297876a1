"""How fast are a GPU and its host? Measured once, and kept by the GPU's name.

Every speed is that of a program that one thing alone holds up: multiply-adds in registers, reads
that the second-level cache has or has not, loads that wait for each other, empty launches, copies
of NumPy's arrays. The host's speeds are of C that the bundled compiler makes, on one core and on
all. Where no GPU answers, the speeds of an H200 and its host stand in: they were measured likewise.
"""

from __future__ import annotations

import ctypes
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from importlib.resources import files
from typing import Any

import numpy as np

from kleene.base.cache import Cache, default_folder, key_of

_VERSION = "3"  # of what is measured


@dataclass(frozen=True, slots=True)
class Machine:
    """The speeds of a GPU and of its host, in units a second, and what a start costs in seconds."""

    name: str = "NVIDIA H200"
    is_measured: bool = False  # here; else on another machine with such a GPU
    n_multiprocessors: int = 132
    double_flops: float = 32.9e12  # multiply-add as two
    single_flops: float = 62.5e12
    integer_ops: float = 33e12
    clock_s: float = 1.95e9  # cycles
    memory_bytes_s: float = 3.97e12  # read
    memory_write_bytes_s: float = 2.8e12
    cache_bytes_s: float = 7.3e12
    cache_bytes: int = 60 << 20
    latency_s: float = 0.344e-6  # of a load from memory
    cache_latency_s: float = 0.146e-6
    atomics_s: float = 32e9
    launch_s: float = 8.3e-6  # a launch of many, from Python
    queue_s: float = 0.52e-6  # a launch of many that are queued already
    sync_s: float = 13e-6  # waiting for the last one
    to_device_bytes_s: float = 42.6e9  # arrays of NumPy
    from_device_bytes_s: float = 43.9e9
    move_s: float = 13.6e-6  # an array, however small
    transfer_s: float = 0.49e-3  # the beginning of arrays above a mebibyte, all together
    registers: int = 65536  # of a multiprocessor, and so on
    shared_bytes: int = 228 * 1024
    n_threads: int = 2048
    n_blocks: int = 32
    n_cores: int = 16
    core_flops: float = 10.8e9  # of one core: side by side in its first cache
    core_chain_flops: float = 1.47e9  # each waiting for the one before
    core_bytes_s: float = 10.7e9
    core_line_s: float = 2.9e-9  # a line that is some lines from the one before
    core_page_s: float = 18e-9  # one a power of two away, where caches have few places
    cores_flops: float = 146e9  # of all cores
    cores_chain_flops: float = 18.9e9
    cores_bytes_s: float = 113e9
    cores_line_s: float = 0.29e-9
    cores_page_s: float = 1.5e-9
    region_s: float = 12e-6  # a loop on all cores, however short


H200 = Machine()


def calibrated(measure: Callable[[], Machine] | None = None, name: str | None = None) -> Machine:
    """Return the speeds of the GPU that answers, measured once and kept by its name.

    Args:
        measure: what measures them, instead of CuPy.
        name: that of the GPU, instead of what CuPy says.
    """
    name = name or _gpu_name()
    kept = kept_for(name)
    if kept is None:
        kept = replace((measure or measured)(), is_measured=True)
        Cache(default_folder()).put("machine", _key(name), json.dumps(asdict(kept)).encode())
    return kept


def kept_for(name: str) -> Machine | None:
    """Return the speeds that were measured here of a GPU, if they were."""
    found = Cache(default_folder()).get("machine", _key(name))
    return None if found is None else Machine(**json.loads(found))


def known_machine() -> Machine:
    """Return the speeds of the GPU that answers if they were measured, else those of an H200."""
    from kleene.kernels.launch import gpu

    if gpu.problem() is not None:
        return H200
    return kept_for(_gpu_name()) or H200


@cache
def _gpu_name() -> str:
    from kleene.kernels.launch import gpu

    return gpu.Gpu().name


def _key(name: str) -> str:
    return key_of("machine", _VERSION, name, str(os.cpu_count()))


def measured(library: Any = None) -> Machine:
    """Measure the GPU by CuPy, and the host by C; about ten seconds.

    Args:
        library: the host's functions, compiled; else the bundled compiler makes them.
    """
    return with_host(_device(), library)


# The GPU


def _device() -> Machine:
    import cupy

    from kleene.codegen import runtime

    told = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    source = files("kleene.offload.plans").joinpath("speeds.cu").read_text(encoding="utf-8")
    launch = runtime.Launcher(source)
    n = int(told["multiProcessorCount"])
    flops = {
        kind: _flops(launch, f"multiply_add_{kind}", n, dtype)
        for kind, dtype in (("double", "f8"), ("float", "f4"), ("int", "i4"))
    }
    cache_bytes = int(told.get("l2CacheSize", 40 << 20))
    large = cupy.zeros(1 << 27)
    reads: dict[str, Any] = {
        "memory_bytes_s": _read(launch, large, 1, n),
        "cache_bytes_s": _read(launch, cupy.zeros(1 << 21), 32, n),
        "atomics_s": _atomics(launch, n),
    }
    other = cupy.empty_like(large)
    copied = best(partial(cupy.copyto, other, large), 3)
    written_s = copied - large.nbytes / reads["memory_bytes_s"]  # a copy reads and writes
    reads["memory_write_bytes_s"] = large.nbytes / max(written_s, copied / 4)
    del large, other
    moved = _transfers(runtime.Run(launch, cupy))
    return replace(
        H200,
        name=told["name"].decode(),
        n_multiprocessors=n,
        clock_s=flops["double"] / (n * 128),
        double_flops=flops["double"],
        single_flops=flops["float"],
        integer_ops=flops["int"],
        cache_bytes=cache_bytes,
        latency_s=_follow(launch, 1 << 25),
        cache_latency_s=_follow(launch, 1 << 21),
        **moved,
        **reads,
        **_launches(launch),
    )


def _transfers(link: Any) -> dict[str, Any]:
    """Return the speeds of arrays of NumPy, and what moving begins with: of small and large ones.

    Times of 8 and of 256 MiB give a speed and a beginning: bytes / speed + beginning.
    """
    from kleene.codegen import runtime

    few, many = (np.ones(n << 17) for n in (8, 256))  # written: zeros would be read from one page
    times: list[list[float]] = []
    for array in (few, many):
        section = [(0, array.nbytes)]
        (on_device,) = runtime.moved_in(link, [array], section)

        def out(array: Any = array, there: Any = on_device, section: Any = section) -> None:
            runtime.moved_out(link, [array], [there], section)

        n = 3 if array is many else 20
        times.append([best(partial(runtime.moved_in, link, [array], section), n), best(out, n)])
    apart = many.nbytes - few.nbytes
    speeds = [apart / max(late - early, late / 2) for early, late in zip(*times, strict=True)]
    begins = [
        max(early - few.nbytes / one, 0.0) for early, one in zip(times[0], speeds, strict=True)
    ]
    little, each = np.zeros(8), [(0, 64)]

    def both() -> None:
        runtime.moved_out(link, [little], runtime.moved_in(link, [little], each), each)

    return {
        "to_device_bytes_s": speeds[0],
        "from_device_bytes_s": speeds[1],
        "transfer_s": sum(begins) / 2,
        "move_s": best(both, 50) / 2,
    }


def best(call: Callable[[], Any], n: int) -> float:
    """Return the shortest of five times: n calls, and waiting for the GPU."""
    import cupy

    times = []
    for _ in range(5):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        for _ in range(n):
            call()
        cupy.cuda.Device().synchronize()
        times.append((time.perf_counter() - start) / n)
    return min(times)


def _flops(launch: Any, name: str, n_multiprocessors: int, dtype: str) -> float:
    import cupy

    out = cupy.zeros(1, dtype)
    blocks, times = n_multiprocessors * 8, 4000
    args = (out, np.int32(times), np.dtype(dtype).type(3))
    seconds = best(lambda: launch(name, (blocks,), (256,), args), 1)
    return 2 * 16 * times * blocks * 256 / seconds


def _read(launch: Any, array: Any, times: int, n_multiprocessors: int) -> float:
    import cupy

    out = cupy.zeros(1)
    args = (array, out, np.int64(array.size), np.int32(times))
    grid = (n_multiprocessors * 8,)
    return float(times * array.nbytes / best(lambda: launch("read_all", grid, (256,), args), 3))


def _atomics(launch: Any, n_multiprocessors: int) -> float:
    import cupy

    out = cupy.zeros(1 << 13)
    grid, times = (n_multiprocessors * 8,), 64
    args = (out, np.int32(out.size), np.int32(times))
    seconds = best(lambda: launch("add_all", grid, (256,), args), 1)
    return grid[0] * 256 * times / seconds


def _follow(launch: Any, size: int) -> float:
    """Return the seconds of a load in a chain through `size` whole numbers of 4 bytes.

    A line of 32 numbers leads to the line `5 * at + 1`, counted modulo a power of two: with a
    factor that is 1 modulo 4 and an odd addend the chain meets every line before it comes back.
    """
    import cupy

    lines = size // 32
    order = (cupy.arange(lines, dtype="i8") * 1_000_005 + 1) % lines
    chain = cupy.zeros(size, "i4")
    chain[cupy.arange(lines) * 32] = order.astype("i4") * 32
    out, n = cupy.zeros(1, "i4"), lines
    args = (chain, out, np.int32(n))
    return best(lambda: launch("follow", (1,), (1,), args), 1) / n


def _launches(launch: Any) -> dict[str, Any]:
    import cupy

    out = cupy.zeros(1)
    args = (out, out, np.int32(0), np.int32(1), np.int32(2), np.float64(3))

    def one() -> None:
        launch("nothing", (1,), (32,), args)

    found = {"launch_s": best(one, 2000)}

    def waited() -> None:
        one()
        cupy.cuda.Device().synchronize()

    found["sync_s"] = best(waited, 100)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        for _ in range(1000):
            one()
        graph = stream.end_capture()
    found["queue_s"] = best(lambda: graph.launch(stream), 3) / 1000
    return found


# The host


def with_host(machine: Machine, library: Any = None) -> Machine:
    """Return a machine with the speeds of this host."""
    called = (library or host_library()).kleene_speed
    called.restype = None
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    a, b = np.zeros(1 << 24), np.ones(1 << 26)

    def seconds(kind: int, is_parallel: int, parts: int, times: int = 1, n: int = a.size) -> float:
        given = (ctypes.c_int(kind), ctypes.c_int(is_parallel), ctypes.c_longlong(parts))
        found = []
        for _ in range(5):
            start = time.perf_counter()
            called(*given, *pointers_of(a, b), ctypes.c_longlong(n), ctypes.c_int(times))
            found.append(time.perf_counter() - start)
        return min(found)

    speeds: dict[str, Any] = {}
    for is_parallel, prefix in ((0, "core"), (1, "cores")):
        parts = 64 if is_parallel else 4
        work = 2 * 2048 * parts
        speeds[f"{prefix}_flops"] = 2000 * work / seconds(0, is_parallel, parts, 2000)
        speeds[f"{prefix}_chain_flops"] = 500 * work / seconds(1, is_parallel, parts, 500)
        speeds[f"{prefix}_bytes_s"] = 2 * a.nbytes / seconds(2, is_parallel, 64)
        for name, apart, n in (("line_s", 1032, a.size), ("page_s", 8192, b.size)):
            taken = seconds(3, is_parallel, 64, apart, n)
            speeds[f"{prefix}_{name}"] = taken / (64 * (n // apart))
    regions = [seconds(4, 1, 64) for _ in range(20)]
    speeds["region_s"] = sorted(regions)[len(regions) // 2]
    return replace(machine, n_cores=n_cores, **speeds)


def pointers_of(*arrays: Any) -> tuple[ctypes.c_void_p, ...]:
    """Return where arrays of NumPy begin."""
    return tuple(ctypes.c_void_p(one.ctypes.data) for one in arrays)


def host_source() -> str:
    """Return the C that the host's speeds are measured by."""
    from kleene.codegen.threads import POOL

    text = files("kleene.offload.plans").joinpath("speeds.c").read_text(encoding="utf-8")
    return f"{POOL}\n{text}"


def host_library() -> Any:
    """Return the C compiled."""
    from kleene.offload.plans.built import compiled

    return compiled(host_source())
