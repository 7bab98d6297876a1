"""Rounds that both sides may share, decided as they go."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32
from kleene.solvers.inclusion.cuda.rounds import ROUNDS_PER_LOOK
from kleene.solvers.inclusion.cuda.sending import Sent
from kleene.solvers.inclusion.cuda.tables import Tables
from kleene.solvers.inclusion.hybrid.costs import Costs
from kleene.solvers.inclusion.hybrid.device_rounds import DeviceRounds
from kleene.solvers.inclusion.hybrid.exchange import merge, pack
from kleene.solvers.inclusion.hybrid.host_rounds import HostRounds
from kleene.solvers.inclusion.hybrid.worklist import KINDS, Worklist
from kleene.solvers.inclusion.solution import Trace


class SharedRounds(DeviceRounds):
    """The GPU's rounds, some of which the CPU takes part in."""

    def __init__(
        self,
        tables: Tables,
        sent: Sent,
        names: I32 | None,
        threads: int,
        costs: Costs,
        trace: Trace | None,
    ) -> None:
        super().__init__(tables, sent, names)
        self.threads, self.costs, self.trace = threads, costs, trace
        self.host: HostRounds | None = None
        self.may_share = True
        self.n_alone = self.n_shared = self.n_lost = 0

    def statistics(self) -> dict[str, float]:
        """Return how the rounds were shared."""
        n_rounds = max(1, self.n_alone + self.n_shared)
        return {"shared_rounds": self.n_shared, "gpu_only_share": self.n_alone / n_rounds}

    def some_rounds(self) -> list[int]:
        """Run some rounds, shared or not; return how many rows had news in each that had any."""
        if self.host is not None:
            return self._shared_rounds()
        start_s = time.perf_counter()
        changed = super().some_rounds()
        seconds = time.perf_counter() - start_s
        self.n_alone += len(changed)
        self._tell({"shared": 0.0, "rounds": len(changed), "gpu_s": seconds})
        going_on = len(changed) == ROUNDS_PER_LOOK and self.may_share
        m = self.matrix
        row_bytes = self.tables.n_rows * m.n_words * 8
        if going_on and self.costs.pays(seconds / ROUNDS_PER_LOOK, self.n_alone, row_bytes):
            self.host = HostRounds(self.on_host(), m.block_words, self.threads)
            self.host.adopt(*self.rows(m.all, m.all_mask))
            self.host.add_fresh(*self.rows(m.fresh, m.fresh_mask))
        return changed

    def sweep(self, most_flows: int) -> bool:
        """Sweep on the device alone: the host's rows would have to be sent anew."""
        return self.host is None and super().sweep(most_flows)

    def _shared_rounds(self) -> list[int]:
        changed: list[int] = []
        while self.host is not None and len(changed) < ROUNDS_PER_LOOK:
            n_changed = self.one_turn()
            if not n_changed:
                break
            changed.append(n_changed)
            self._share(self.host)
        if self.host is None and len(changed) < ROUNDS_PER_LOOK:
            changed += super().some_rounds()
        return changed

    def _share(self, host: HostRounds) -> None:
        """Run one round on both sides and exchange what they found."""
        start_s = time.perf_counter()
        host.turn()
        active = host.active()
        work = Worklist([len(rules) for rules in active])
        host_s = self._compute(host, work, active)
        computed_s = time.perf_counter()
        found, mine = self.export(), pack(host.fresh, host.fresh_mask())
        self.merge(mine)
        merge(tuple(found), host.every, host.fresh, host.gained[0], host.block_words)
        end_s = time.perf_counter()
        self.n_shared += 1
        row = {"shared": 1.0, "compute_s": computed_s - start_s, "exchange_s": end_s - computed_s}
        row["exchanged_bytes"] = found.n_bytes + mine.n_bytes
        row["gain_s"] = self._alone_s(row, work, host_s) - (end_s - start_s)
        self._tell(row)
        self._reconsider(row)

    def _compute(
        self, host: HostRounds, work: Worklist, active: list[NDArray[np.int64]]
    ) -> list[float]:
        """Fire all rules, on whichever side is free; return the host's seconds by kind."""
        host_s = [0.0] * len(KINDS)
        self.begin(active)
        while (part := work.low() if self.is_idle() else work.high()) is not None:
            if part.for_device:
                self.fire_some(part.kind, part.first, part.end)
                continue
            before_s = time.perf_counter()
            host.fire(part.kind, active[part.kind][part.first : part.end])
            host_s[part.kind] += time.perf_counter() - before_s
        self.wait_for_parts()
        return host_s

    def _alone_s(self, row: dict[str, float], work: Worklist, host_s: list[float]) -> float:
        """Return what the GPU alone would have taken, and write the sides' times into the row."""
        alone_s = 0.0
        for kind, name in enumerate(KINDS):
            share, gpu_s = work.share_of_device(kind), self.seconds[kind]
            row[f"{name}_rules"], row[f"{name}_on_gpu"] = work.counts[kind], share
            row[f"cpu_{name}_s"], row[f"gpu_{name}_s"] = host_s[kind], gpu_s
            alone_s += gpu_s / share if share else host_s[kind] / max(1, self.costs.speed_ratio)
        self.seconds = [0.0] * len(KINDS)
        return alone_s

    def _reconsider(self, row: dict[str, float]) -> None:
        """Let the GPU go on alone if sharing does not pay."""
        self.n_lost = self.n_lost + 1 if row["gain_s"] < 0 else 0
        is_dear = row["exchange_s"] > self.costs.exchange_share * row["compute_s"]
        if is_dear or self.n_lost == self.costs.n_losses:
            self.host, self.may_share = None, False

    def _tell(self, row: dict[str, float]) -> None:
        if self.trace:
            self.trace(row)
