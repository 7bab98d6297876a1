"""Which side is expected to be faster, CPU or GPU; both start where that is uncertain.

What both sides take for chains (the Van Horn-Mairson programs, in which what arrives at a node is
sent on to one other) is measured once on each machine and kept in the cache of this user; what is
measured while others use the machine serves this process, and is not kept.

In other problems what arrives at a node is sent on to several, on average over all flows to
`spread`. The CPU carries sets along each of these ways, and one more takes it as long as one more
node of a chain. The GPU has ways to spare, and takes what it takes for a chain of n nodes; but each
kind of rules has launches of its own, which take as long as a chain of next to nothing.

Systems of real programs, known by their offset images, are far from chains. On an H200 the model
expected the GPU to be faster on libcurl and sqlite3, where one thread of the CPU took a third of
its time. So for these, where the expected times are within a factor of `UNCERTAIN`, both sides
race, and the first answer counts. Other problems are solved by the side that is expected to be
faster: a race of both took 1.2 to 3.8 times as long there, as they share the host's memory and
Python's lock.
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
from kleene.base.device import Device
from kleene.base.progress import task
from kleene.kernels import launch
from kleene.solvers.inclusion import cpu, cuda
from kleene.solvers.inclusion.cpu.constraints import spread
from kleene.solvers.inclusion.generate import van_horn_mairson
from kleene.solvers.inclusion.problem import Problem

LEVELS = (16, 128, 512, 1024, 2048, 4096, 8192)  # of the chains that are solved
N_REPEATS = 5
STEADY = 1.5  # the median by the least time, at most: else others use the machine, too
_KIND = "inclusion-machine"
FEW_NODES = 1_000  # a GPU takes some 3 ms for anything; nothing of this size takes a CPU longer
UNCERTAIN = 4.0  # by which the model was wrong on real programs


@dataclass(frozen=True, slots=True)
class Machine:
    """What chains of some sizes take, solved by one side alone."""

    nodes: list[int]
    cpu_s: list[float]  # one thread's
    gpu_s: list[float]

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
def this_machine(backend: launch.Backend) -> Machine:
    """Return what was measured for this machine and its GPU, now or by an earlier run."""
    what = (platform.node(), str(os.cpu_count()), backend.name, *map(str, LEVELS))
    kept, key = Cache(default_folder()), key_of(*what, *_sources())
    if (known := kept.get(_KIND, key)) is not None:
        return Machine(**json.loads(known))
    with task("measuring what CPU and GPU take for chains, once for this machine"):
        measured, is_steady = _measured()
    if is_steady:
        kept.put(_KIND, key, json.dumps(asdict(measured)).encode())
    return measured


def _sources() -> list[bytes]:
    """Return the solvers' own text: when that changes, times do."""
    folder = Path(__file__).parent
    files = [path for side in ("cpu", "cuda") for path in sorted((folder / side).glob("*.*"))]
    return [path.read_bytes() for path in files]


def _measured() -> tuple[Machine, bool]:
    """Return what is measured now, and whether nobody else seems to use the machine."""
    chains = [van_horn_mairson(m) for m in LEVELS]
    times = [_times(partial(cpu.solve, chain), partial(cuda.solve, chain)) for chain in chains]
    found = Machine(
        [chain.n_nodes for chain in chains],
        [on_cpu[0] for on_cpu, _ in times],
        [on_gpu[0] for _, on_gpu in times],
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


@dataclass(frozen=True, slots=True)
class Expected:
    """What each side would take alone, in seconds, and by which factor that may be wrong."""

    cpu_s: float
    gpu_s: float
    uncertain_by: float = 1.0

    @property
    def side(self) -> Device:
        """Who should solve: CPU, CUDA, or HYBRID where that is uncertain."""
        if self.cpu_s * self.uncertain_by < self.gpu_s:
            return Device.CPU
        return Device.CUDA if self.gpu_s * self.uncertain_by < self.cpu_s else Device.HYBRID

    def __str__(self) -> str:
        both = "; both race" if self.side is Device.HYBRID else ""
        times = f"{self.cpu_s * 1e3:.3g} ms expected on the CPU, {self.gpu_s * 1e3:.3g} on the GPU"
        return times + both


def expected(problem: Problem) -> Expected:
    """Return what each side is expected to take; a GPU must answer.

    Where the GPU is faster on a chain of this size already, the CPU's time is that of the chain.
    """
    backend = launch.current()
    if backend.xp is np:  # the host runner was chosen by hand, to see both sides at work
        return Expected(0.0, 0.0)
    machine, n_nodes = this_machine(backend), problem.n_nodes
    cpu_s = machine.on_cpu_s(n_nodes)
    gpu_s = machine.on_gpu_s(n_nodes) + (n_kinds(problem) - 1) * machine.gpu_s[0]
    if cpu_s <= gpu_s:
        cpu_s += n_nodes * max(0.0, spread(problem) - 1) * machine.way_s
    return Expected(cpu_s, gpu_s, UNCERTAIN if len(problem.images) else 1.0)


def n_kinds(problem: Problem) -> int:
    """Return how many kinds of rules a problem has for the GPU: a chain has one, calls."""
    p = problem
    pushes, pulls = len(p.store_source) + len(p.actuals), len(p.load_pointer)
    kinds = (len(p.copy_source), pushes, pulls + int((p.call_result >= 0).any()))
    return max(1, sum(map(bool, (*kinds, len(p.offset_source)))))
