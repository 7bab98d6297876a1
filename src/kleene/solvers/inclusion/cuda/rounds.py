"""Rounds on the device: every rule on what changed in the round before."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from kleene.base.arrays import I32
from kleene.kernels import launch
from kleene.solvers.inclusion.cuda.classes import N_COUNTS, Classes
from kleene.solvers.inclusion.cuda.layout import BLOCK, HERE, Matrix, threads, warps
from kleene.solvers.inclusion.cuda.sending import Sent, Triples, named
from kleene.solvers.inclusion.cuda.tables import Rules, Tables

COPY, PUSH, PULL, OFFSET = range(4)
FIRE = ("fire_copy", "fire_push", "fire_pull", "fire_offset")
ROUNDS_PER_LOOK = 4  # a look waits for the device; a round too many is some empty launches
_PARTS = 64  # warps that may share a rule
_PINNED_UP_TO_BYTES = 1 << 30  # of an answer's column: memory that cannot be swapped out


class Rounds:
    """The rows of a problem on the device, and what can be done to them.

    `names` has the row of each that was sent, or is None if those are the rows.
    """

    def __init__(self, tables: Tables, sent: Sent, names: I32 | None) -> None:
        place = launch.current()
        self.xp, self.to_host = place.xp, place.to_host
        self.module = launch.load(HERE / "rules.cu")
        self.tables = tables
        if names is not None:
            sent = named(self.xp, sent, names, tables.n_rows)
        self.kinds, self.maps, self._images, self._seeds = (
            sent.kinds,
            sent.maps,
            sent.images,
            sent.seeds,
        )
        specials = (tables.outside, tables.unknown_row, tables.escaped_row)
        self.targets = (*self.maps, *map(np.int32, specials))
        n_rules = max(len(tables.push), len(tables.pull))
        self.matrix = Matrix(self.xp, tables.n_rows, tables.n_words, n_rules)
        self.dirty = self.xp.zeros(2 * tables.n_words + 2, np.uint64)
        self.dirty_mask = self.dirty[2 * tables.n_words :]
        self._counts = self.xp.zeros(4 + 2 * N_COUNTS, np.int32)
        n_few = max(1, len(tables.copy), len(tables.offset))
        self._few = Triples(*(self.xp.zeros(n_few, np.int32) for _ in range(3)))
        self._classes = {
            kind: Classes(kind, self.kinds[kind], self.matrix, self._counts[first:])
            for kind, first in ((PUSH, 4), (PULL, 4 + N_COUNTS))
            if len(self.of_kind(kind))
        }
        self._changed = self.xp.zeros(max(1, tables.n_rows), np.int32)
        self._n_changed = self.xp.zeros(ROUNDS_PER_LOOK, np.int32)
        self.times: list[dict[str, float]] | None = None  # by round: kinds of rules, if timed
        self._graphs: dict[int, Any] = {}

    def of_kind(self, kind: int) -> Rules:
        """Return the tables' rules of a kind; the device may have fewer, where some are equal."""
        t = self.tables
        return (t.copy, t.push, t.pull, t.offset)[kind]

    def wait(self) -> None:
        """Wait until the device has done all it was asked for."""
        if self.on_gpu:
            self.xp.cuda.get_current_stream().synchronize()

    @property
    def on_gpu(self) -> bool:
        """Whether this is a GPU, which goes on while the host does."""
        return self.xp is not np

    def some_rounds(self) -> list[int]:
        """Run some rounds; return how many rows had news in each that had any."""
        if self.times is None and self.on_gpu:
            self._replay()
        else:
            self._queue()
        changed = np.zeros(ROUNDS_PER_LOOK, np.int32)
        self.to_host(self._n_changed, changed)
        return [n_changed for n_changed in changed.tolist() if n_changed]

    def _replay(self) -> None:
        """Queue some rounds as one graph, captured when they are first wanted."""
        key = self.matrix.delta.data.ptr  # which of the two it is
        if key not in self._graphs:
            with self.xp.cuda.Stream(non_blocking=True) as stream:
                stream.begin_capture()
                self._queue()
                self._graphs[key] = stream.end_capture()
        elif ROUNDS_PER_LOOK % 2:
            self.matrix.turn()
        self._graphs[key].launch(self.xp.cuda.get_current_stream())

    def _queue(self) -> None:
        self._n_changed.fill(0)
        for number in range(ROUNDS_PER_LOOK):
            if self.times is not None:
                self.wait()
                self.times.append({})
            self._turn(number)
            self._fire()

    def start(self) -> None:
        """Put the facts to start from into the rows."""
        m, n_seeds = self.matrix, len(self.tables.seed_row)
        args = (*self._seeds, np.int32(n_seeds), m.all, m.fresh, m.fresh_mask, *m.widths)
        self.module.launch("seed", threads(n_seeds), (BLOCK,), args)

    def _turn(self, number: int) -> None:
        """Start a round of a look: what was fresh is the delta now."""
        m, n_rows = self.matrix, np.int32(self.tables.n_rows)
        changed = (self._changed, self._n_changed[number : number + 1])
        counts = (self.dirty_mask, self._counts, np.int32(len(self._counts)))
        args = (m.delta, m.delta_mask, m.all_mask, m.fresh_mask, n_rows, *m.widths)
        self.module.launch("turn", threads(int(n_rows)), (BLOCK,), (*args, *counts, *changed))
        m.turn()
        if self._classes:
            rows = (m.all, m.delta, m.delta_mask, *m.widths, m.sums, m.sizes)
            self.module.launch("digest", warps(int(n_rows)), (BLOCK,), (*changed, *rows))

    def one_turn(self) -> int:
        """Start a round by itself; return how many rows have news."""
        self._n_changed.fill(0)
        self._turn(0)
        return int(self.fetch(self._n_changed)[0])

    def fetch(self, array: Any) -> Any:
        """Return the array on the host, in memory that the device can write to itself."""
        if not self.on_gpu or not 0 < array.nbytes <= _PINNED_UP_TO_BYTES:
            out = np.empty(array.shape, array.dtype)
        else:
            memory = self.xp.cuda.alloc_pinned_memory(array.nbytes)
            out = np.frombuffer(memory, array.dtype, array.size).reshape(array.shape)
        self.to_host(array, out)
        return out

    def n_visited(self) -> int:
        """Return how many strips of rows were visited."""
        return int(self.fetch(self.matrix.n_visited)[0])

    def _fire(self) -> None:
        for kind, name in enumerate(("copy_s", "push_s", "pull_s", "offset_s")):
            if not len(self.of_kind(kind)):
                continue
            start_s = time.perf_counter()
            if kind in self._classes:
                self._fire_together(kind, self._classes[kind])
            else:
                self._fire_few(kind)
            if self.times is not None:
                self.wait()
                self.times[-1][name] = time.perf_counter() - start_s

    def _fire_few(self, kind: int) -> None:
        """Fire the copies or offsets from rows with news."""
        rules, at = self.kinds[kind], 0 if kind == COPY else 2
        n_rules, n_active = len(rules.first), self._counts[at : at + 2]
        args = (*rules, np.int32(n_rules), self.matrix.delta_mask, *self._few, n_active)
        self.module.launch("activate", threads(n_rules), (BLOCK,), args)
        self.fire(kind, self._few, n_active, n_rules)

    def _fire_together(self, kind: int, classes: Classes) -> None:
        """Fire the pushes or pulls with something to do, those with equal pointers as one."""
        if kind == PULL:
            self.mark_targets()
        classes.bring_together(self.dirty_mask)
        self.fire(kind, classes.wanted, classes.n_wanted, len(classes.wanted.first))
        if kind == PULL:
            classes.spread()
        classes.forget()

    def fire(self, kind: int, rules: Triples, counts: Any, n_most: int) -> None:
        """Queue rules of one kind: as many light and heavy ones as the device says then."""
        after: tuple[Any, ...] = ()
        if kind == OFFSET:
            after = self._images
        elif kind != COPY:
            after = (*self.targets, self.dirty) if kind == PULL else self.targets
        args = (*rules, counts, np.int32(n_most), *self.matrix.to_fire(), *after)
        grid = warps(n_most, _PARTS if self.on_gpu else 1)
        self.module.launch(FIRE[kind], grid, (BLOCK,), args)

    def mark_targets(self) -> None:
        """Say which objects have contents or a result with news."""
        t, m = self.tables, self.matrix
        contents, function_of, result = self.maps[:3]
        args = (m.delta_mask, self.dirty, self.dirty_mask, np.int32(t.n_objects), *m.widths)
        ends = (contents, function_of, result, np.int32(t.outside), np.int32(t.unknown_row))
        self.module.launch("mark_targets", threads(32 * m.n_words), (BLOCK,), (*args, *ends))
