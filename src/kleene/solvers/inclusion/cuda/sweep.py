"""Rounds until nothing changes, and a sweep where rounds take small steps.

A sweep carries all news along all present flows at once, however long the chains: flows are put in
an order in which one pass suffices, groups of rows by level.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.base.arrays import I32, offsets_of
from kleene.graphs import Graph, Rows, strong_components
from kleene.kernels import launch
from kleene.kernels.compiled import CompilationUnit
from kleene.solvers.inclusion.cuda.rounds import BLOCK, HERE, ROUNDS_PER_LOOK, Rounds, warps
from kleene.solvers.inclusion.cuda.tables import COPY, PULL, PUSH, Sent, Tables, columns_sent
from kleene.solvers.inclusion.solution import Trace
from kleene.solvers.inclusion.threads import NEVER, Stop


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """Groups of rows that flow into each other; all that flows in comes from lower levels."""

    level_offsets: I32  # the groups of each level
    source_offsets: I32  # per group: the rows outside it that flow into it
    sources: I32
    member_offsets: I32
    members: I32

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.member_offsets) - 1

    @property
    def n_levels(self) -> int:
        """How many levels there are: what flows in one is independent."""
        return len(self.level_offsets) - 1


def order(n_rows: int, from_: I32, to: I32) -> Order:
    """Return the rows that gain anything along the flows, in order."""
    found = strong_components(Graph.from_edges(n_rows, from_, to))
    n = found.n_components
    source, destination = found.component[from_], found.component[to]
    between = source != destination
    graph = Graph.from_edges(n, source[between], destination[between])
    level = _levels(graph.offsets, graph.targets)
    gains = np.bincount(destination, minlength=n) > 0  # others have no flow in, nor a cycle
    by_level = np.flatnonzero(gains)[np.argsort(level[gains], kind="stable")]
    n_groups = len(by_level)
    group = np.full(n, -1, np.int32)
    group[by_level] = np.arange(n_groups, dtype=np.int32)
    row_group = group[found.component]
    rows = np.flatnonzero(row_group >= 0).astype(np.int32)
    members = Rows.group(row_group[rows], n_groups, rows)
    sources = Rows.group(group[destination[between]], n_groups, from_[between])
    sizes = np.bincount(level[by_level], minlength=int(level.max(initial=0)) + 1)
    columns = (sources.offsets, sources.values, members.offsets, members.values)
    narrow = [np.ascontiguousarray(column, np.int32) for column in columns]
    return Order(offsets_of(sizes).astype(np.int32), *narrow)


@CompilationUnit(__file__).entry_point
def _levels(offsets: Any, targets: Any) -> Any:
    """Return the longest path to each node; nodes are numbered along the edges."""
    level = np.zeros(len(offsets) - 1, np.int32)
    for node in range(len(level)):
        for edge in range(offsets[node], offsets[node + 1]):
            level[targets[edge]] = max(level[targets[edge]], level[node] + 1)
    return level


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
        lists = [ends[: self.n_rules(COPY)]]
        for kind in (PUSH, PULL):
            if self.n_rules(kind):
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


# News that travel a long chain step by step change as many rows in each round. If their number did
# not halve in half of this many rounds, the flows are listed, ordered and swept along at once,
# provided that rounds have taken as long already as all orderings and this one will.
PATIENCE = 16
SECONDS_PER_FLOW = 5e-8  # to order, by row and flow: a few take 3e-8, millions 3e-7


def close(rounds: Sweeps, trace: Trace | None = None, stop: Stop = NEVER) -> dict[str, float]:
    """Close the rows under all rules; return how many rounds, sweeps and strips it took."""
    rounds.start()
    history: list[int] = []  # changed rows, by round since the last sweep was thought of
    n_rounds = n_sweeps = 0
    start_s, ordering_s = time.perf_counter(), 0.0
    while True:
        stop.look()
        rounds.times = [] if trace else None
        changed = rounds.some_rounds()
        if trace and rounds.times:
            for number, (n_changed, times) in enumerate(zip(changed, rounds.times, strict=False)):
                trace({"round": n_rounds + number, "changed_rows": n_changed, **times})
        n_rounds += len(changed)
        history += changed
        if len(changed) < ROUNDS_PER_LOOK:
            return {"rounds": n_rounds, "sweeps": n_sweeps, "strips": rounds.n_visited()}
        if len(history) >= PATIENCE and 2 * history[-1] > history[-PATIENCE // 2]:
            before_s = time.perf_counter()
            left_s = before_s - start_s - 2 * ordering_s
            n_sweeps += rounds.sweep(int(left_s / SECONDS_PER_FLOW) - rounds.tables.n_rows)
            ordering_s += time.perf_counter() - before_s
            history = []
