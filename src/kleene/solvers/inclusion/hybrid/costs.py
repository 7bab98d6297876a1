"""When sharing a round pays: a model with three measured numbers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache

import numpy as np

from kleene.kernels import launch

_PROBE_BYTES = 1 << 28  # beyond every cache, and long enough that a launch does not count


@dataclass(frozen=True, slots=True)
class Costs:
    """What a round costs on each side, and to whom its findings must be sent."""

    speed_ratio: float  # how much faster the GPU adds rows than all of the CPU's threads
    bus_bytes_per_s: float
    exchange_s: float = 1e-3  # of a shared round, at the least: launches, and waiting for them
    exchange_share: float = 0.2  # of the computing: beyond, sharing ends
    n_losses: int = 2  # shared rounds on end that lose before sharing ends

    @classmethod
    def measured(cls, threads: int) -> Costs:
        """Return the costs on this machine, measured once."""
        gpu_rate, cpu_rate, bus_rate = _rates(launch.current())
        n_useful = 1 + (threads - 1) / 2  # 16 threads OR rows 8 times as fast as one: bit_rows
        return cls(gpu_rate / (cpu_rate * n_useful), bus_rate)

    @classmethod
    def none(cls) -> Costs:
        """Return costs under which sharing starts at once and never ends, for tests."""
        return cls(0.0, float("inf"), 0.0, float("inf"), 1 << 30)

    def pays(self, round_s: float, n_rounds: int, row_bytes: int) -> bool:
        """Return whether sharing should start, after `n_rounds` that took `round_s` each.

        As many rounds are expected to follow. At best the CPU takes its part of the work off the
        GPU; before that it must be sent all rows, and their news.
        """
        gain_s = round_s / (1 + self.speed_ratio) - self.exchange_s
        return gain_s * n_rounds > 2 * row_bytes / self.bus_bytes_per_s


@cache
def _rates(place: launch.Backend) -> tuple[float, float, float]:
    """Return bytes a second that the GPU and a CPU thread OR, and that cross the bus."""
    host, xp = np.ones(_PROBE_BYTES // 8, np.uint64), place.xp
    cpu_rate = _rate(lambda: np.bitwise_or(host, host, out=host))
    if xp is np:
        return cpu_rate, cpu_rate, cpu_rate  # the host runner: no side is faster
    device = xp.asarray(host)
    wait = xp.cuda.get_current_stream().synchronize
    gpu_rate = _rate(lambda: (xp.bitwise_or(device, device, out=device), wait()))
    return gpu_rate, cpu_rate, _rate(lambda: device.get(out=host))


def _rate(work: object) -> float:
    """Return the probe's bytes a second, best of three after a first."""
    assert callable(work)
    work()
    times = []
    for _ in range(3):
        start_s = time.perf_counter()
        work()
        times.append(time.perf_counter() - start_s)
    return _PROBE_BYTES / min(times)
