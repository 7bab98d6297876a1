"""The scheme of Su, Ye and Xue (HiPC 2013): CPU and GPU share every iteration.

Both sides hold all rows. In an iteration the rules that have something to do stand in one worklist
by kind: offsets, loads and results, stores and actuals, copies, in the order in which the work per
rule grows more uneven. The GPU takes many rules at a time from the even end, the CPU few from the
other, until they meet; then each side sends the words that it found, and both begin the next
iteration with the same rows. Left out is the paper's rule for when to leave all to the GPU: this
is a baseline, and whether sharing pays is what is measured with it.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np

from kleene.base.arrays import I32, I64, U64, offsets_of
from kleene.kernels import launch
from kleene.solvers.inclusion.cuda import expanded
from kleene.solvers.inclusion.cuda.cycles import renamed, rows_of
from kleene.solvers.inclusion.cuda.rounds import (
    BLOCK,
    COPY,
    HERE,
    OFFSET,
    PULL,
    PUSH,
    Rounds,
    warps,
)
from kleene.solvers.inclusion.cuda.tables import Tables, Triples, send, tables_of
from kleene.solvers.inclusion.paper.sharing_host import add_words, apply
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Solution

ORDER = (OFFSET, PULL, PUSH, COPY)  # from even work per rule to uneven
DEVICE_TAKES = 8192  # rules at a time
HOST_TAKES = 128


class Words(NamedTuple):
    """Words by row as they cross the bus: row r has `place/word[offsets[r]:offsets[r + 1]]`."""

    offsets: I64
    place: I32
    word: U64


def solve(problem: Problem) -> Solution:
    """Return the least answer to a checked problem; ask `cuda.problem_with` first."""
    row_of, n_rows = rows_of(problem)
    asked = tables_of(problem)
    tables, names = renamed(asked, row_of, n_rows)
    device = _Device(tables, send(launch.current().xp, problem, asked), names)
    device.start()
    host = _Host(device)
    host.add(device.found())
    counts = {"rounds": 0, "rules_on_gpu": 0, "rules_on_cpu": 0}
    while device.one_turn():
        host.turn()
        worklist = host.worklist()
        device.begin()
        while worklist:
            if device.is_idle():
                taken = [worklist.popleft()]
                while worklist and len(taken) < DEVICE_TAKES // HOST_TAKES:
                    taken.append(worklist.popleft())
                for kind, rules in taken:
                    device.process_some(kind, rules)
                    counts["rules_on_gpu"] += len(rules)
            else:
                kind, rules = worklist.pop()
                host.process(kind, rules)
                counts["rules_on_cpu"] += len(rules)
        theirs, mine = device.found(), host.found()
        device.add(mine)
        host.add(theirs)
        counts["rounds"] += 1
    return expanded(problem, row_of, n_rows, device, {k: float(n) for k, n in counts.items()})


class _Device(Rounds):
    """The GPU's side: rounds in parts, and the exchange of what was found."""

    def __init__(self, tables: Tables, sent: Any, names: I32 | None) -> None:
        super().__init__(tables, sent, names)
        self._last: Any = None
        self._turns = 0

    def begin(self) -> None:
        """Make ready for rules of any kind."""
        self._last = None
        if len(self.of_kind(PULL)):
            self.mark_targets()

    def process_some(self, kind: int, rules: I64) -> None:
        """Queue some rules of one kind; they may run while the host goes on."""
        chosen = self.xp.asarray(rules)
        columns = Triples(*(column[chosen] for column in self.kinds[kind]))
        n = len(rules)
        counts = [0, n] if kind in (PUSH, PULL) else [n, 0]  # heavy rules, light rules
        self.process(kind, columns, self.xp.asarray(np.array(counts, np.int32)), n)
        if self.on_gpu:
            self._last = self.xp.cuda.Event()
            self._last.record()

    def is_idle(self) -> bool:
        """Return whether everything queued has run; the host runner, never busy, takes turns."""
        if self.on_gpu:
            return self._last is None or bool(self._last.done)
        self._turns += 1
        return self._turns % 2 == 0

    def found(self) -> Words:
        """Return the words that this iteration added."""
        xp, m, n_rows = self.xp, self.matrix, self.tables.n_rows
        module, grid = launch.load(HERE / "answer.cu"), warps(n_rows)
        nothing, every = xp.zeros(m.n_words, np.uint64), xp.arange(n_rows, dtype=np.int32)
        counts, unused = xp.zeros(n_rows + 1, np.int64), xp.zeros(n_rows, np.uint8)
        rows = (m.fresh, m.fresh_mask, nothing, every, np.int32(n_rows), *m.widths, np.int32(-1))
        module.launch("count_words", grid, (BLOCK,), (*rows, counts[1:], unused))
        offsets = xp.cumsum(counts)
        n = int(offsets[-1])
        place, word = xp.zeros(max(1, n), np.int32), xp.zeros(max(1, n), np.uint64)
        module.launch("write_words", grid, (BLOCK,), (*rows, offsets, place, word))
        return Words(*(self.fetch(array) for array in (offsets, place[:n], word[:n])))

    def add(self, words: Words) -> None:
        """Add what the host found."""
        if len(words.place):
            m, n_rows = self.matrix, self.tables.n_rows
            sent = (*map(self.xp.asarray, words), np.int32(n_rows))
            rows = (m.all, m.fresh, m.fresh_mask, *m.widths)
            module = launch.load(HERE / "exchange.cu")
            module.launch("merge_words", warps(n_rows), (BLOCK,), (*sent, *rows))


class _Host:
    """The CPU's side: its own copy of all rows."""

    def __init__(self, device: Rounds) -> None:
        t = device.tables
        self._all, self._delta, self._fresh = (
            np.zeros((t.n_rows, t.n_words), np.uint64) for _ in range(3)
        )
        self._kinds = [
            tuple(device.fetch(c)[: len(device.of_kind(kind))] for c in columns)
            for kind, columns in enumerate(device.kinds)
        ]
        self._maps = tuple(map(device.fetch, device.maps))
        self._special = (t.outside, t.unknown_row, t.escaped_row)
        self._images = t.images

    def turn(self) -> None:
        """Begin an iteration: what was fresh is the delta now."""
        self._delta, self._fresh = self._fresh, self._delta
        self._fresh[:] = 0

    def worklist(self) -> deque[tuple[int, I64]]:
        """Return the rules that have something to do, a few at a time, the even ones first."""
        holds, gained = (np.bitwise_or.reduce(m, axis=1) != 0 for m in (self._all, self._delta))
        parts: deque[tuple[int, I64]] = deque()
        for kind in ORDER:
            by_first = holds if kind in (PUSH, PULL) else gained
            active = np.flatnonzero(by_first[self._kinds[kind][0]])
            parts += [(kind, active[i : i + HOST_TAKES]) for i in range(0, len(active), HOST_TAKES)]
        return parts

    def process(self, kind: int, rules: I64) -> None:
        """Process some rules of one kind."""
        rows = (self._all, self._delta, self._fresh)
        columns = self._kinds[kind]
        apply(kind, columns, rules, rows, self._maps, self._special, self._images)

    def found(self) -> Words:
        """Return the words that this iteration added."""
        row, place = np.nonzero(self._fresh)
        offsets = offsets_of(np.bincount(row, minlength=len(self._fresh)))
        return Words(offsets, place.astype(np.int32), self._fresh[row, place])

    def add(self, words: Words) -> None:
        """Add what the device found."""
        add_words(*words, self._all, self._fresh)
