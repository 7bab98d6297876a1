"""When sharing a round pays: a model with three measured numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.kernels import launch
from kleene.solvers.inclusion.hybrid.machine import this_machine


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
        """Return the costs on this machine."""
        place = launch.current()
        n_useful = 1 + (threads - 1) / 2  # 16 threads OR rows 8 times as fast as one
        if place.xp is np:
            return cls(1 / n_useful, float("inf"))  # the host runner: no side is faster
        machine = this_machine(place)
        ratio = machine.gpu_bytes_per_s / (machine.cpu_bytes_per_s * n_useful)
        return cls(ratio, machine.bus_bytes_per_s)

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
