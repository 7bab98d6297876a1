"""A sweep: all news along all present flows at once, however long the chains."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.kernels import launch
from kleene.solvers.inclusion.cuda.order import order
from kleene.solvers.inclusion.cuda.rounds import BLOCK, HERE, Rounds
from kleene.solvers.inclusion.cuda.tables import Tables
from kleene.solvers.inclusion.problem import I32, Problem

_SLICE_WORDS = 4  # what a block of the kernel owns of each row
_NARROW = 16  # groups a level, what 64 threads do at once: more would only wait at barriers


class Sweeps(Rounds):
    """Rounds, and sweeps between them; `names` has the row of each that the tables name."""

    def __init__(self, problem: Problem, tables: Tables, names: I32) -> None:
        super().__init__(problem, tables)
        self.module = launch.load(HERE / "sweep.cu")
        row_of = self.xp.asarray(names)
        columns = (self.copy, self.push, self.pull, self.offset)
        renamed = ([row_of[first], row_of[second], third] for first, second, third in columns)
        self.copy, self.push, self.pull, self.offset = map(self._distinct, renamed)
        self.contents, self.formals = row_of[self.contents], row_of[self.formals]
        self.result, self.rest = row_of[self.result], row_of[self.rest]

    def _distinct(self, columns: list[Any]) -> list[Any]:
        """Return the rules without repetitions, sorted, if a rule fits a number of 63 bits."""
        xp, n_rows = self.xp, max(1, self.tables.n_rows)
        first, second, third = (column.astype(np.int64) for column in columns)
        low = int(third.min())
        n_thirds = int(third.max()) - low + 1
        if n_rows * n_rows * n_thirds >= 1 << 63:
            return columns
        key = xp.unique((first * n_rows + second) * n_thirds + (third - low))
        pair, third = key // n_thirds, key % n_thirds + low
        return [column.astype(np.int32) for column in (pair // n_rows, pair % n_rows, third)]

    def start(self) -> None:
        """Put the facts to start from into the rows."""
        self.n_visited()  # forget what others did
        self._seed()

    def sweep(self, most_flows: int) -> bool:
        """Carry all news along all present flows; return False where there are too many."""
        found = self._flows(most_flows) if most_flows > len(self.copy[0]) else None
        if found is None:
            return False
        plan = order(self.tables.n_rows, *found)
        levels = (self._send(plan.level_offsets), np.int32(plan.n_levels))
        groups = (plan.source_offsets, plan.sources, plan.member_offsets, plan.members)
        rows = (self.all, self.fresh, self.fresh_mask, *self._widths())
        args = (*levels, *map(self._send, groups), *rows)
        is_narrow = plan.n_groups < _NARROW * plan.n_levels
        block = (64 if is_narrow else BLOCK,)
        self.module.launch("sweep", (self.n_words // _SLICE_WORDS,), block, args)
        return True

    def _flows(self, most: int) -> tuple[I32, I32] | None:
        """Return from where to where the rules let sets flow now, or None if that is too much."""
        t = self.tables
        lists = [self.fetch(self.xp.stack(self.copy[:2], axis=1))[: len(t.copy)]]
        for columns, rules, into in ((self.push, t.push, 1), (self.pull, t.pull, 0)):
            if len(rules):
                found = self._flows_of(columns, into, most - sum(map(len, lists)))
                if found is None:
                    return None
                lists.append(found)
        ends = np.concatenate(lists)
        return ends[:, 0].copy(), ends[:, 1].copy()

    def _flows_of(self, columns: list[Any], into: int, most: int) -> I32 | None:
        """Return the flows of pushes (`into`) or pulls as pairs: counted first, then written."""
        xp, n_rules = self.xp, len(columns[0])
        grid = self._warps(n_rules)
        rows = (self.all, self.all_mask, *self._widths(), *self._targets())
        args = (*columns, np.int32(n_rules), np.int32(into), *rows)
        counts, nowhere = xp.zeros(n_rules + 1, np.int64), xp.zeros((1, 2), np.int32)
        tail = (np.int32(1), counts[1:], counts, nowhere)
        self.module.launch("list_flows", grid, (BLOCK,), (*args, *tail))
        offsets = xp.cumsum(counts)
        n_flows = int(offsets[-1])
        if n_flows > most:
            return None
        ends = xp.zeros((max(1, n_flows), 2), np.int32)
        tail = (np.int32(0), counts[1:], offsets, ends)
        self.module.launch("list_flows", grid, (BLOCK,), (*args, *tail))
        flows: I32 = self.fetch(ends[:n_flows])
        return flows
