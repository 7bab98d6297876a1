"""How fast both sides of this machine are: measured once, then kept in the cache of this user."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib.metadata import version
from itertools import pairwise

import numpy as np

from kleene.base.cache import Cache, default_folder, key_of
from kleene.base.progress import task
from kleene.kernels import launch
from kleene.solvers.inclusion import cpu, cuda
from kleene.solvers.inclusion.generate import van_horn_mairson

LEVELS = (16, 128, 512, 1024, 2048, 4096)  # of the chains that are solved
_PROBE_BYTES = 1 << 28  # beyond every cache, and long enough that a launch does not count
_KIND = "inclusion-machine"


@dataclass(frozen=True, slots=True)
class Machine:
    """What chains of some sizes take, solved by one side alone, and how fast rows are read."""

    nodes: list[int]
    cpu_s: list[float]  # one thread's
    gpu_s: list[float]
    gpu_bytes_per_s: float  # adding rows
    cpu_bytes_per_s: float  # one thread's
    bus_bytes_per_s: float

    def on_cpu_s(self, n_nodes: float) -> float:
        """Return what the CPU takes for a chain of that size."""
        return _between(self.nodes, self.cpu_s, n_nodes)

    def on_gpu_s(self, n_nodes: float) -> float:
        """Return what the GPU takes for a chain of that size."""
        return _between(self.nodes, self.gpu_s, n_nodes)


def _between(sizes: list[int], times: list[float], size: float) -> float:
    """Return the time for a size on the line through the two measured ones next to it."""
    for (low, low_s), (high, high_s) in pairwise(zip(sizes, times, strict=True)):
        slope = (high_s - low_s) / (high - low)
        if size < high:
            break
    return max(low_s + slope * (size - low), 0.0)


@cache
def this_machine(place: launch.Backend) -> Machine:
    """Return what was measured for this machine and its GPU, now or by an earlier run."""
    what = (platform.node(), str(os.cpu_count()), place.name, version("kleene"))
    kept, key = Cache(default_folder()), key_of(*what, *map(str, LEVELS))
    if (known := kept.get(_KIND, key)) is not None:
        return Machine(**json.loads(known))
    with task("measuring what CPU and GPU take for chains, once for this machine"):
        measured = _measured(place)
    kept.put(_KIND, key, json.dumps(asdict(measured)).encode())
    return measured


def _measured(place: launch.Backend) -> Machine:
    chains = [van_horn_mairson(m) for m in LEVELS]
    host, xp = np.ones(_PROBE_BYTES // 8, np.uint64), place.xp
    device, wait = xp.asarray(host), xp.cuda.get_current_stream().synchronize
    return Machine(
        nodes=[chain.n_nodes for chain in chains],
        cpu_s=[_seconds(partial(cpu.solve, chain)) for chain in chains],
        gpu_s=[_seconds(partial(cuda.solve, chain)) for chain in chains],
        gpu_bytes_per_s=_PROBE_BYTES
        / _seconds(lambda: (xp.bitwise_or(device, device, out=device), wait())),
        cpu_bytes_per_s=_PROBE_BYTES / _seconds(lambda: np.bitwise_or(host, host, out=host)),
        bus_bytes_per_s=_PROBE_BYTES / _seconds(lambda: device.get(out=host)),
    )


def _seconds(work: Callable[[], object]) -> float:
    """Return the median of five times, after a first."""
    work()
    times = []
    for _ in range(5):
        start_s = time.perf_counter()
        work()
        times.append(time.perf_counter() - start_s)
    return sorted(times)[2]
