"""CPU and GPU at once: one worklist, taken from both ends; only what is found crosses the bus.

After Su, Ye and Xue (HiPC 2013). Both sides hold all rows. In a shared round the rules that have
something to do stand in one list by kind: offsets, loads and results, stores and actuals, copies,
in the order in which the work per rule grows more uneven. The GPU takes many rules at a time from
the even end, the CPU few from the other, until they meet; then each side sends the words that it
found, and both begin the next round with the same rows.

A shared round pays only where computing outweighs the exchange. The GPU works alone while rounds
are short. It goes back to that once the exchange takes more than a fifth of a shared round, the
paper's rule, or once two rounds on end have lost against what the GPU alone would have taken,
estimated kind by kind from its part of the rules.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kleene.solvers.inclusion.cuda.answer import solution
from kleene.solvers.inclusion.cuda.tables import tables
from kleene.solvers.inclusion.hybrid.device_rounds import DeviceRounds
from kleene.solvers.inclusion.hybrid.exchange import merge, pack
from kleene.solvers.inclusion.hybrid.host_rounds import HostRounds
from kleene.solvers.inclusion.hybrid.worklist import Worklist
from kleene.solvers.inclusion.offline import reduce
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Solution

Trace = Callable[[dict[str, float]], None]
KINDS = ("copy", "push", "pull", "offset")
SHARE_FROM_S = 2e-3  # a round shorter than this is not worth an exchange
EXCHANGE_SHARE = 0.2  # of a shared round's computing, at most
ROUNDS_TO_LOSE = 2  # shared rounds on end that lose before the GPU goes on alone


def solve(
    problem: Problem,
    *,
    threads: int | None = None,
    trace: Trace | None = None,
    share_from_s: float = SHARE_FROM_S,
) -> Solution:
    """Return the least answer to a checked problem, found by both sides.

    Args:
        problem: what to solve.
        threads: of the CPU's side; all of them by default.
        trace: is given a row of numbers for each round.
        share_from_s: how long a round of the GPU alone must take for sharing to be tried.
    """
    start = time.perf_counter()
    reduced = reduce(problem)
    sides = _Sides(reduced.problem, threads or os.cpu_count() or 1, share_from_s, trace)
    sides.run()
    sides.statistics["solve_s"] = time.perf_counter() - start
    return reduced.expand(solution(reduced.problem, sides.device, sides.statistics))


@dataclass(slots=True)
class _Sides:
    """Both sides of one solve, and who works when."""

    problem: Problem
    threads: int
    share_from_s: float
    trace: Trace | None
    device: DeviceRounds = field(init=False)
    host: HostRounds | None = field(init=False, default=None)
    statistics: dict[str, float] = field(init=False, default_factory=dict)
    _may_share: bool = field(init=False, default=True)
    _n_lost: int = field(init=False, default=0)

    def run(self) -> None:
        """Close the rows."""
        self.device = DeviceRounds(self.problem, tables(self.problem))
        self.device.seed()
        n_alone = n_shared = 0
        while self.device.begin_round():
            if self.host is None:
                seconds = self._alone()
                n_alone += 1
                if self._may_share and seconds > self.share_from_s:
                    self._take_part()
            else:
                self._shared()
                n_shared += 1
        self.statistics |= {
            "rounds": n_alone + n_shared,
            "shared_rounds": n_shared,
            "gpu_only_share": n_alone / max(1, n_alone + n_shared),
        }

    def _alone(self) -> float:
        start = time.perf_counter()
        self.device.fire()
        seconds = time.perf_counter() - start
        self._tell({"shared": 0.0, "gpu_s": seconds})
        return seconds

    def _take_part(self) -> None:
        """Give the host the rows as they are after the next `begin_round`."""
        device = self.device
        self.host = HostRounds(self.problem, device.tables, device.block_words, self.threads)
        self.host.adopt(*self.device.rows_on_host(), *self.device.fresh_on_host())

    def _shared(self) -> None:
        """Run one round on both sides, exchange, and decide whether to go on so."""
        assert self.host is not None
        host, device = self.host, self.device
        start = time.perf_counter()
        host.turn()
        active = host.active()
        work = Worklist([len(rules) for rules in active])
        host_s = self._compute(work, active)
        computed = time.perf_counter()
        found, mine = device.export(), pack(host.fresh, host.fresh_mask())
        device.merge(mine)
        merge(tuple(found), host.every, host.fresh, host.gained[0], host.block_words)
        end = time.perf_counter()
        row = {"shared": 1.0, "compute_s": computed - start, "exchange_s": end - computed}
        row["exchanged_bytes"] = found.n_bytes + mine.n_bytes
        alone_s = 0.0
        for kind, name in enumerate(KINDS):
            share = work.share_of_device(kind)
            row[f"cpu_{name}_s"], row[f"gpu_{name}_s"] = host_s[kind], device.seconds[kind]
            row[f"{name}_on_gpu"] = share
            alone_s += device.seconds[kind] / share if share else host_s[kind]
        row["gain_s"] = alone_s - (end - start)
        device.seconds = [0.0] * len(KINDS)
        self._tell(row)
        self._reconsider(row)

    def _compute(self, work: Worklist, active: list[NDArray[np.int64]]) -> list[float]:
        """Fire all rules, on whichever side is free; return the host's seconds by kind."""
        assert self.host is not None
        host_s = [0.0] * len(KINDS)
        self.device.begin(active)
        while (part := work.low() if self.device.is_idle() else work.high()) is not None:
            if part.for_device:
                self.device.fire_some(part.kind, part.first, part.end)
                continue
            before = time.perf_counter()
            self.host.fire(part.kind, active[part.kind][part.first : part.end])
            host_s[part.kind] += time.perf_counter() - before
        self.device.wait()
        return host_s

    def _reconsider(self, row: dict[str, float]) -> None:
        """Let the GPU go on alone if sharing does not pay."""
        self._n_lost = self._n_lost + 1 if row["gain_s"] < 0 else 0
        if self._n_lost == ROUNDS_TO_LOSE or row["exchange_s"] > EXCHANGE_SHARE * row["compute_s"]:
            self.host, self._may_share = None, False

    def _tell(self, row: dict[str, float]) -> None:
        if self.trace:
            self.trace(row)
