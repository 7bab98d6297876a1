"""The GPU's side of a shared round: some of the rules, and the exchange of what was found."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32
from kleene.kernels import launch
from kleene.solvers.inclusion.cuda.layout import BLOCK, HERE, warps
from kleene.solvers.inclusion.cuda.rounds import PULL, PUSH
from kleene.solvers.inclusion.cuda.sending import Sent, Triples
from kleene.solvers.inclusion.cuda.sweep import Sweeps
from kleene.solvers.inclusion.cuda.tables import Tables
from kleene.solvers.inclusion.hybrid.exchange import Words


class OnHost(NamedTuple):
    """The rules and maps of a problem as the device has them, fetched."""

    tables: Tables
    kinds: list[tuple[I32, I32, I32]]
    maps: tuple[I32, ...]


class DeviceRounds(Sweeps):
    """Rounds that can also be run in parts, with rules chosen by the host."""

    def __init__(self, tables: Tables, sent: Sent, names: I32 | None) -> None:
        super().__init__(tables, sent, names)
        self._words = launch.load(HERE / "exchange.cu")
        self._answer = launch.load(HERE / "answer.cu")
        self._lists: list[Triples] = []
        self._pending: list[tuple[int, Any, Any]] = []
        self.seconds = [0.0, 0.0, 0.0, 0.0]
        self._turns = 0

    def on_host(self) -> OnHost:
        """Return what the host needs to fire the same rules."""
        kinds = []
        for kind, columns in enumerate(self.kinds):
            n_rules = len(columns.first) if len(self.of_kind(kind)) else 0
            first, second, third = (self.fetch(column)[:n_rules] for column in columns)
            kinds.append((first, second, third))
        return OnHost(self.tables, kinds, tuple(map(self.fetch, self.maps)))

    def rows(self, matrix: Any, mask: Any) -> tuple[Any, Any]:
        """Return the rows of the problem and their masks, fetched."""
        n_rows = self.tables.n_rows
        return self.fetch(matrix[:n_rows]), self.fetch(mask[:n_rows])

    def begin(self, active: list[NDArray[np.int64]]) -> None:
        """Take the rules that have something to do this round, by kind."""
        self._lists = []
        for columns, rules in zip(self.kinds, active, strict=True):
            chosen = self.xp.asarray(rules.astype(np.int32))
            self._lists.append(Triples(*(column[chosen] for column in columns)))
        if len(active[PULL]):
            self.mark_targets()

    def fire_some(self, kind: int, first: int, end: int) -> None:
        """Queue the active rules first..end of one kind; they may run while the host goes on."""
        start = self._stamp()
        rules = Triples(*(column[first:end] for column in self._lists[kind]))
        counts = [0, end - first] if kind in (PUSH, PULL) else [end - first, 0]
        self.fire(kind, rules, self.xp.asarray(np.array(counts, np.int32)), end - first)
        self._pending.append((kind, start, self._stamp()))

    def is_idle(self) -> bool:
        """Return whether everything queued has run; the host runner, never busy, takes turns."""
        if not self._pending:
            return True
        if self.on_gpu:
            return bool(self._pending[-1][2].done)
        self._turns += 1
        return self._turns % 2 == 0

    def wait_for_parts(self) -> None:
        """Wait for everything queued, and add up its seconds by kind."""
        for kind, start, end in self._pending:
            self.seconds[kind] += self._between(start, end)
        self._pending.clear()

    def export(self) -> Words:
        """Return the fresh words of every row."""
        xp, m, n_rows = self.xp, self.matrix, self.tables.n_rows
        nothing, every = xp.zeros(m.n_words, np.uint64), xp.arange(n_rows, dtype=np.int32)
        counts, unused = xp.zeros(n_rows + 1, np.int64), xp.zeros(n_rows, np.uint8)
        args = (m.fresh, m.fresh_mask, nothing, every, np.int32(n_rows), *m.widths)
        grid = warps(n_rows)
        ends: tuple[Any, ...] = (np.int32(-1), counts[1:], unused)
        self._answer.launch("count_words", grid, (BLOCK,), (*args, *ends))
        offsets = xp.cumsum(counts)
        n_found = int(offsets[-1])
        index, word = xp.zeros(max(1, n_found), np.int32), xp.zeros(max(1, n_found), np.uint64)
        ends = (np.int32(-1), offsets, index, word)
        self._answer.launch("write_words", grid, (BLOCK,), (*args, *ends))
        return Words(*(self.fetch(array) for array in (offsets, index[:n_found], word[:n_found])))

    def merge(self, words: Words) -> None:
        """Add what the host found to the rows, as fresh words."""
        if not len(words.place):
            return
        sent = tuple(self.xp.asarray(column) for column in words)
        m, n_rows = self.matrix, self.tables.n_rows
        rows = (m.all, m.fresh, m.fresh_mask, *m.widths)
        self._words.launch("merge_words", warps(n_rows), (BLOCK,), (*sent, np.int32(n_rows), *rows))

    def _stamp(self) -> Any:
        if not self.on_gpu:
            return time.perf_counter()
        event = self.xp.cuda.Event()
        event.record()
        return event

    def _between(self, start: Any, end: Any) -> float:
        if not self.on_gpu:
            return float(end - start)
        end.synchronize()
        return float(self.xp.cuda.get_elapsed_time(start, end)) / 1000
