"""Rounds on the device: every rule on what changed in the round before."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from kleene.kernels import launch
from kleene.solvers.inclusion.cuda.tables import Rules, Tables
from kleene.solvers.inclusion.problem import Problem

HERE = Path(__file__).parent
BLOCK = 256
_MOST_BLOCKS = 132 * 16  # an H200 has 132 multiprocessors; more blocks than run even out the load
_STRIP_WORDS = 32  # what a warp reads at once
_N_BLOCKS = 64  # bits of a mask
_COPY, _PUSH, _PULL, _OFFSET = range(4)
ROUNDS_PER_LOOK = 4  # a look waits for the device; a round too many is some empty launches


class Rounds:
    """The rows of a problem on the device, and what can be done to them."""

    def __init__(self, problem: Problem, tables: Tables) -> None:
        place = launch.current()
        self.xp = place.xp
        self.to_host = place.to_host
        self.rules = launch.load(HERE / "rules.cu")
        self.tables = tables
        self.n_words = tables.n_words
        self.block_words = _block_words(self.n_words)
        send = self._send
        self.copy, self.push, self.pull, self.offset = (
            [send(column) for column in (kind.first, kind.second, kind.third)]
            for kind in self._kinds()
        )
        self.contents, self.function_of = send(tables.contents), send(tables.function_of)
        self.result, self.rest = send(problem.function_result), send(problem.function_rest)
        self.formal_offsets, self.formals = send(problem.formal_offsets), send(problem.formals)
        moves = tables.moves
        places = (send(moves.first), send(moves.end), send(moves.shape))
        landings = (send(moves.rows), send(moves.offsets), send(moves.landings))
        self.moves = (*places, np.int32(moves.n_shapes), *landings)
        self.times: list[dict[str, float]] | None = None  # by round: kinds of rules, if timed
        self._make_rows()

    def _make_rows(self) -> None:
        xp, n_rows, shape = self.xp, self.tables.n_rows, (self.tables.n_rows, self.n_words)
        self.all, self.delta, self.fresh = (xp.zeros(shape, np.uint64) for _ in range(3))
        masks = (xp.zeros(max(1, n_rows), np.uint64) for _ in range(3))
        self.all_mask, self.delta_mask, self.fresh_mask = masks
        self.dirty = xp.zeros(2 * self.n_words + 2, np.uint64)
        self.dirty_mask = self.dirty[2 * self.n_words :]
        largest = max(len(kind) for kind in self._kinds())
        self.active = xp.zeros(max(1, largest), np.int32)
        self.n_active = xp.zeros(4, np.int32)
        self.n_changed = xp.zeros(ROUNDS_PER_LOOK, np.int32)

    def _kinds(self) -> tuple[Rules, ...]:
        t = self.tables
        return (t.copy, t.push, t.pull, t.offset)

    def wait(self) -> None:
        """Wait until the device has done all it was asked for."""
        if self.xp is not np:
            self.xp.cuda.get_current_stream().synchronize()

    def n_visited(self) -> int:
        """Return how many strips of rows were visited since this was last asked."""
        count = self.xp.zeros(1, np.uint64)
        self.rules.launch("take_count", (1,), (1,), (count,))
        return int(self.fetch(count)[0])

    def some_rounds(self) -> list[int]:
        """Run some rounds; return how many rows had news in each that had any."""
        for slot in range(ROUNDS_PER_LOOK):
            if self.times is not None:
                self.wait()
                self.times.append({})
            self._turn(slot)
            self._fire()
        changed = np.zeros(ROUNDS_PER_LOOK, np.int32)
        self.to_host(self.n_changed, changed)
        self.n_changed.fill(0)
        return [n_changed for n_changed in changed.tolist() if n_changed]

    def _seed(self) -> None:
        rows, objects = self._send(self.tables.seed_row), self._send(self.tables.seed_object)
        n_seeds = len(self.tables.seed_row)
        args = (rows, objects, np.int32(n_seeds), self.all, self.fresh, self.fresh_mask)
        self.rules.launch("seed", _threads(n_seeds), (BLOCK,), (*args, *self._widths()))

    def _turn(self, slot: int) -> None:
        """Start a round: what was fresh is the delta now."""
        n_rows = self.tables.n_rows
        args = (self.delta, self.delta_mask, self.all_mask, self.fresh_mask, np.int32(n_rows))
        ends = (self.dirty_mask, self.n_active, self.n_changed, np.int32(slot))
        self.rules.launch("turn", _threads(n_rows), (BLOCK,), (*args, *self._widths(), *ends))
        self.delta, self.fresh = self.fresh, self.delta
        self.delta_mask, self.fresh_mask = self.fresh_mask, self.delta_mask

    def fetch(self, array: Any) -> Any:
        """Return the array on the host."""
        out = np.empty(array.shape, array.dtype)
        self.to_host(array, out)
        return out

    def _fire(self) -> None:
        targets = self._targets()
        start_s = time.perf_counter()
        if len(self.tables.copy):
            self._fire_kind("fire_copy", _COPY, self.copy, (), ())
            start_s = self._clock("copy_s", start_s)
        if len(self.tables.push):
            self._fire_kind("fire_push", _PUSH, self.push, (), targets)
            start_s = self._clock("push_s", start_s)
        if len(self.tables.pull):
            self._mark_targets()
            self._fire_kind("fire_pull", _PULL, self.pull, (self.dirty,), targets)
            start_s = self._clock("pull_s", start_s)
        if len(self.tables.offset):
            self._fire_kind("fire_offset", _OFFSET, self.offset, (), self.moves)
            self._clock("offset_s", start_s)

    def _clock(self, name: str, start_s: float) -> float:
        """Return the time; if each kind of rules is timed, wait for this one and write it down."""
        if self.times is not None:
            self.wait()
            self.times[-1][name] = time.perf_counter() - start_s
        return time.perf_counter()

    def _fire_kind(
        self, name: str, kind: int, columns: list[Any], before: tuple[Any, ...], after: Any
    ) -> None:
        n_rules, n_active = len(columns[0]), self.n_active[kind : kind + 1]
        masks = (self.delta_mask, self.all_mask, self.dirty_mask)
        args = (*columns, np.int32(n_rules), np.int32(kind), *masks, self.active, n_active)
        self.rules.launch("activate", _threads(n_rules), (BLOCK,), args)
        used = columns[:2] if kind == _COPY else columns
        rows = (self.all, self.fresh, self.fresh_mask, self.delta, self.delta_mask, self.all_mask)
        args = (*used, self.active, n_active, *before, *rows, *self._widths(), *after)
        self.rules.launch(name, self._warps(n_rules), (BLOCK,), args)

    def _mark_targets(self) -> None:
        t = self.tables
        args = (self.delta_mask, self.dirty, self.dirty_mask, np.int32(t.n_objects))
        maps = (self.contents, self.function_of, self.result)
        ends = (np.int32(t.outside), np.int32(t.unknown_row))
        grid = _threads(32 * self.n_words)
        self.rules.launch("mark_targets", grid, (BLOCK,), (*args, *self._widths(), *maps, *ends))

    def _targets(self) -> tuple[Any, ...]:
        t = self.tables
        places = (self.contents, self.function_of, self.result, self.rest)
        specials = (np.int32(t.outside), np.int32(t.unknown_row), np.int32(t.escaped_row))
        return (*places, self.formal_offsets, self.formals, *specials)

    def _widths(self) -> tuple[np.int32, np.int32]:
        return np.int32(self.n_words), np.int32(self.block_words)

    def _warps(self, n_rules: int) -> tuple[int]:
        """Return a grid of a warp for each rule and part, but no more than fill the device."""
        on_gpu = self.xp is not np
        return (min(-(-n_rules // (BLOCK // 32)) * (64 if on_gpu else 1), _MOST_BLOCKS),)

    def _send(self, column: Any) -> Any:
        """Return the column on the device; kernels are never given an empty one."""
        full = column if len(column) else np.zeros(1, np.int32)
        return self.xp.asarray(np.ascontiguousarray(full, np.int32))


def _block_words(n_words: int) -> int:
    """Return how many words a mask's bit covers: whole strips, doubled until 64 bits suffice."""
    words = _STRIP_WORDS
    while words * _N_BLOCKS < n_words:
        words *= 2
    return words


def _threads(n: int) -> tuple[int]:
    return (-(-max(1, n) // BLOCK),)
