"""How fast both sides of this machine are: measured once, then kept in the cache of this user.

What is measured while others use the machine serves this process, and is not kept.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from kleene.base.cache import Cache, default_folder, key_of
from kleene.base.progress import task
from kleene.kernels import launch
from kleene.solvers.inclusion import cpu, cuda
from kleene.solvers.inclusion.generate import van_horn_mairson

LEVELS = (16, 128, 512, 1024, 2048, 4096, 8192)  # of the chains that are solved
N_REPEATS = 5
STEADY = 1.5  # the median by the least time, at most: else others use the machine, too
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

    @property
    def way_s(self) -> float:
        """What one more node takes the CPU, in chains whose sets a cache holds."""
        first, first_s = self.nodes[0], self.cpu_s[0]
        larger = zip(self.nodes[1:], self.cpu_s[1:], strict=True)
        return min((cpu_s - first_s) / (n_nodes - first) for n_nodes, cpu_s in larger)

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
    what = (platform.node(), str(os.cpu_count()), place.name, *map(str, LEVELS))
    kept, key = Cache(default_folder()), key_of(*what, *_sources())
    if (known := kept.get(_KIND, key)) is not None:
        return Machine(**json.loads(known))
    with task("measuring what CPU and GPU take for chains, once for this machine"):
        measured, is_steady = _measured(place)
    if is_steady:
        kept.put(_KIND, key, json.dumps(asdict(measured)).encode())
    return measured


def _sources() -> list[bytes]:
    """Return the solvers' own text: when that changes, times do."""
    room = Path(__file__).parent.parent
    files = [path for side in ("cpu", "cuda") for path in sorted((room / side).glob("*.*"))]
    return [path.read_bytes() for path in files]


def _measured(place: launch.Backend) -> tuple[Machine, bool]:
    """Return what is measured now, and whether nobody else seems to use the machine."""
    chains = [van_horn_mairson(m) for m in LEVELS]
    times = [_times(partial(cpu.solve, chain), partial(cuda.solve, chain)) for chain in chains]
    host, xp = np.ones(_PROBE_BYTES // 8, np.uint64), place.xp
    device, wait = xp.asarray(host), xp.cuda.get_current_stream().synchronize
    probes = _times(
        lambda: (xp.bitwise_or(device, device, out=device), wait()),
        lambda: np.bitwise_or(host, host, out=host),
        lambda: device.get(out=host),
    )
    found = Machine(
        [chain.n_nodes for chain in chains],
        [on_cpu[0] for on_cpu, _ in times],
        [on_gpu[0] for _, on_gpu in times],
        *(_PROBE_BYTES / probe[0] for probe in probes),
    )
    return found, all(one[N_REPEATS // 2] < STEADY * one[0] for both in times for one in both)


def _times(*works: Callable[[], object]) -> list[list[float]]:
    """Return the times of each, taken in turn after a first, from the least on."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(1 + N_REPEATS):
        for work, its in zip(works, times, strict=True):
            start_s = time.perf_counter()
            work()
            its.append(time.perf_counter() - start_s)
    return [sorted(its[1:]) for its in times]
