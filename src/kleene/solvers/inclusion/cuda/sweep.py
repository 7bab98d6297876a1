"""A sweep: all news along all present flows at once, however long the chains."""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I32
from kleene.kernels import launch
from kleene.solvers.inclusion.cuda.layout import BLOCK, HERE, warps
from kleene.solvers.inclusion.cuda.order import order
from kleene.solvers.inclusion.cuda.rounds import COPY, PULL, PUSH, Rounds
from kleene.solvers.inclusion.cuda.sending import Sent, columns_sent
from kleene.solvers.inclusion.cuda.tables import Tables

_SLICE_WORDS = 4  # what a block of the kernel owns of each row
FEW_LEVELS = 32  # rounds go that far in the time a sweep takes, and find new flows as they go
_NARROW = 16  # groups a level, what 64 threads do at once: more would only wait at barriers


class Sweeps(Rounds):
    """Rounds, and sweeps between them."""

    def __init__(self, tables: Tables, sent: Sent, names: I32 | None) -> None:
        super().__init__(tables, sent, names)
        self._sweep = launch.load(HERE / "sweep.cu")

    def sweep(self, most_flows: int) -> bool:
        """Carry all news along all present flows; return False where that does not pay.

        It does not where there are too many flows, or where no way along them is long.
        """
        found = self._flows(most_flows) if most_flows > len(self.kinds[COPY].first) else None
        if found is None:
            return False
        plan = order(self.tables.n_rows, *found)
        if plan.n_levels < FEW_LEVELS:
            return False
        groups = [plan.source_offsets, plan.sources, plan.member_offsets, plan.members]
        levels, *sent = columns_sent(self.xp, [plan.level_offsets, *groups])
        m = self.matrix
        rows = (m.all, m.fresh, m.fresh_mask, *m.widths)
        args = (levels, np.int32(plan.n_levels), *sent, *rows)
        is_narrow = plan.n_groups < _NARROW * plan.n_levels
        block = (64 if is_narrow else BLOCK,)
        self._sweep.launch("sweep", (m.n_words // _SLICE_WORDS,), block, args)
        return True

    def _flows(self, most: int) -> tuple[I32, I32] | None:
        """Return from where to where the rules let sets flow now, or None if that is too much."""
        copies = self.kinds[COPY]
        ends = self.fetch(self.xp.stack([copies.first, copies.second], axis=1))
        lists = [ends[: len(self.of_kind(COPY))]]
        for kind in (PUSH, PULL):
            if len(self.of_kind(kind)):
                found = self._flows_of(kind, most - sum(map(len, lists)))
                if found is None:
                    return None
                lists.append(found)
        ends = np.concatenate(lists)
        return ends[:, 0].copy(), ends[:, 1].copy()

    def _flows_of(self, kind: int, most: int) -> I32 | None:
        """Return the flows of pushes or pulls as pairs: counted first, then written."""
        m, rules = self.matrix, self.kinds[kind]
        xp, n_rules = self.xp, len(rules.first)
        grid = warps(n_rules)
        rows = (m.all, m.all_mask, *m.widths, *self.targets)
        args = (*rules, np.int32(n_rules), np.int32(kind == PUSH), *rows)
        counts, nowhere = xp.zeros(n_rules + 1, np.int64), xp.zeros((1, 2), np.int32)
        tail = (np.int32(1), counts[1:], counts, nowhere)
        self._sweep.launch("list_flows", grid, (BLOCK,), (*args, *tail))
        offsets = xp.cumsum(counts)
        n_flows = int(offsets[-1])
        if n_flows > most:
            return None
        ends = xp.zeros((max(1, n_flows), 2), np.int32)
        tail = (np.int32(0), counts[1:], offsets, ends)
        self._sweep.launch("list_flows", grid, (BLOCK,), (*args, *tail))
        flows: I32 = self.fetch(ends[:n_flows])
        return flows
