"""The GPU's side of a shared round: some of the rules, and the exchange of what was found."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.kernels import launch
from kleene.solvers.inclusion.cuda.rounds import BLOCK, HERE
from kleene.solvers.inclusion.cuda.sweep import Sweeps
from kleene.solvers.inclusion.cuda.tables import Tables
from kleene.solvers.inclusion.hybrid.exchange import Words
from kleene.solvers.inclusion.problem import I32, Problem

_FIRE = ("fire_copy", "fire_push", "fire_pull", "fire_offset")
_COPY, _PUSH, _PULL, _OFFSET = range(4)


class OnHost(NamedTuple):
    """The rules and maps of a problem as the device has them, fetched."""

    tables: Tables
    kinds: list[tuple[I32, I32, I32]]
    maps: tuple[I32, ...]


class DeviceRounds(Sweeps):
    """Rounds that can also be run in parts, with rules chosen by the host."""

    def __init__(self, problem: Problem, tables: Tables, names: I32) -> None:
        super().__init__(problem, tables, names)
        self._words = launch.load(HERE / "exchange.cu")
        self._answer = launch.load(HERE / "answer.cu")
        self._columns = (self.copy, self.push, self.pull, self.offset)
        self._lists: list[Any] = []
        self._pending: list[tuple[int, Any, Any]] = []
        self.seconds = [0.0, 0.0, 0.0, 0.0]
        self._turns = 0

    def on_host(self) -> OnHost:
        """Return what the host needs to fire the same rules."""
        kinds = []
        for columns, rules in zip(self._columns, self._kinds(), strict=True):
            first, second, third = (self.fetch(column)[: len(rules)] for column in columns)
            kinds.append((first, second, third))
        by_object = (self.contents, self.function_of)
        by_function = (self.result, self.rest, self.formal_offsets, self.formals)
        return OnHost(self.tables, kinds, tuple(map(self.fetch, (*by_object, *by_function))))

    def begin(self, active: list[NDArray[np.int64]]) -> None:
        """Take the rules that have something to do this round, by kind."""
        self._lists = [self.xp.asarray(rules.astype(np.int32)) for rules in active]
        if len(active[_PULL]):
            self._mark_targets()

    def fire_some(self, kind: int, first: int, end: int) -> None:
        """Queue the active rules first..end of one kind; they may run while the host goes on."""
        start = self._stamp()
        active = self._lists[kind][first:end]
        n_active = self.xp.asarray(np.array([end - first], np.int32))
        columns = self._columns[kind]
        used = columns[:2] if kind == _COPY else columns
        before = (self.dirty,) if kind == _PULL else ()
        after: tuple[Any, ...] = ()
        if kind == _OFFSET:
            after = self.moves
        elif kind != _COPY:
            after = self._targets()
        rows = (self.all, self.fresh, self.fresh_mask, self.delta, self.delta_mask, self.all_mask)
        args = (*used, active, n_active, *before, *rows, *self._widths(), *after)
        self.rules.launch(_FIRE[kind], self._warps(end - first), (BLOCK,), args)
        self._pending.append((kind, start, self._stamp()))

    def is_idle(self) -> bool:
        """Return whether everything queued has run; the host runner, never busy, takes turns."""
        if not self._pending:
            return True
        if self._on_gpu:
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
        xp, n_rows = self.xp, self.tables.n_rows
        nothing = xp.zeros(self.n_words, np.uint64)
        counts, unused = xp.zeros(n_rows + 1, np.int64), xp.zeros(n_rows, np.uint8)
        args = (self.fresh, self.fresh_mask, nothing, np.int32(n_rows), *self._widths())
        grid = (min(-(-n_rows * 32 // BLOCK), 132 * 16),)
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
        n_rows = self.tables.n_rows
        grid = (min(-(-n_rows * 32 // BLOCK), 132 * 16),)
        rows = (self.all, self.fresh, self.fresh_mask, *self._widths())
        self._words.launch("merge_words", grid, (BLOCK,), (*sent, np.int32(n_rows), *rows))

    @property
    def _on_gpu(self) -> bool:
        return self.xp is not np

    def _stamp(self) -> Any:
        if not self._on_gpu:
            return time.perf_counter()
        event = self.xp.cuda.Event()
        event.record()
        return event

    def _between(self, start: Any, end: Any) -> float:
        if not self._on_gpu:
            return float(end - start)
        end.synchronize()
        return float(self.xp.cuda.get_elapsed_time(start, end)) / 1000
