"""Rounds on the device: every rule on what changed in the round before.

`Matrix` has the bit rows, and how kernels are laid over them. `Classes` brings the rules through
pointers with equal sets together (`classes.cu`): their sources meet in one row that flows on.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from kleene.base.arrays import I32
from kleene.kernels import launch
from kleene.solvers.inclusion.cuda.tables import (
    COPY,
    OFFSET,
    PULL,
    PUSH,
    Rules,
    Sent,
    Tables,
    named,
)

HERE = Path(__file__).parent
BLOCK = 256
MOST_BLOCKS = 132 * 16  # an H200 has 132 multiprocessors; more blocks than run even out the load
_STRIP_WORDS = 32  # what a warp reads at once
_N_BLOCKS = 64  # bits of a mask
_ROWS_PER_SLOT = 8  # a slot of a class takes two rows: a quarter more than the problem's own


class Matrix:
    """The rows of a problem and behind them those of slots, as `rows.cuh` describes them."""

    def __init__(self, xp: Any, n_rows: int, n_words: int, n_rules: int) -> None:
        self.xp, self.n_rows, self.n_words = xp, n_rows, n_words
        self.block_words = block_words(n_words)
        self.widths = np.int32(n_words), np.int32(self.block_words)
        self.first_slot_row, self.n_slots = np.int32(n_rows), np.int32(slots(n_rows, n_rules))
        n_all = max(1, n_rows) + 2 * int(self.n_slots)
        self.all, self.delta, self.fresh = (xp.zeros((n_all, n_words), np.uint64) for _ in range(3))
        self.all_mask, self.delta_mask, self.fresh_mask = (
            xp.zeros(n_all, np.uint64) for _ in range(3)
        )
        self.sums, self.sizes = xp.zeros(n_all, np.uint64), xp.zeros(n_all, np.int32)
        self.n_visited = xp.zeros(1, np.uint64)  # strips

    def turn(self) -> None:
        """Let what was fresh be the delta, and the other way round."""
        self.delta, self.fresh = self.fresh, self.delta
        self.delta_mask, self.fresh_mask = self.fresh_mask, self.delta_mask

    def to_process(self) -> tuple[Any, ...]:
        """Return what every rule is given of the rows."""
        rows = (self.all, self.fresh, self.fresh_mask, self.delta, self.delta_mask, self.all_mask)
        return (*rows, *self.widths, self.n_visited)


def slots(n_rows: int, n_rules: int) -> int:
    """Return how many classes of rules can have rows of their own at a time."""
    return min(n_rules // 3, max(16, n_rows // _ROWS_PER_SLOT))


def block_words(n_words: int) -> int:
    """Return how many words a mask's bit covers: whole strips, doubled until 64 bits suffice."""
    words = _STRIP_WORDS
    while words * _N_BLOCKS < n_words:
        words *= 2
    return words


def threads(n: int) -> tuple[int]:
    """Return a grid of a thread for each of n."""
    return (-(-max(1, n) // BLOCK),)


def warps(n: int, parts: int = 1) -> tuple[int]:
    """Return a grid of a warp for each of n, in parts, but no more than fill the device."""
    return (min(-(-max(1, n) // (BLOCK // 32)) * parts, MOST_BLOCKS),)


DETOUR = 2  # a flow through a slot costs about as much as this many without: bits are added twice
N_COUNTS = (
    5  # of a kind: light and heavy rules to process; pairs with work, slots taken, rules joined
)


class Classes:
    """The pushes or the pulls of a problem, brought together round by round."""

    def __init__(self, kind: int, rules: Rules, matrix: Matrix, counts: Any) -> None:
        xp = matrix.xp
        self.kind, self.rules, self.matrix = np.int32(kind), rules, matrix
        self._module = launch.load(HERE / "classes.cu", DETOUR=DETOUR)
        n_rules = len(rules.first)
        self._n_rules = np.int32(n_rules)
        # Rules of one pair stand together where they were sorted; if not, they are several pairs.
        starts = xp.ones(n_rules, bool)
        starts[1:] = (rules.first[1:] != rules.first[:-1]) | (rules.third[1:] != rules.third[:-1])
        self._pair_of = (xp.cumsum(starts) - 1).astype(np.int32)
        self._pair_start = xp.flatnonzero(starts).astype(np.int32)
        n_pairs = len(self._pair_start)
        self._n_wanted, self._class_of, self._active = (
            xp.zeros(n_pairs, np.int32) for _ in range(3)
        )
        n_places = 1 << (2 * n_pairs).bit_length()
        self._keys = xp.zeros(n_places, np.uint64)
        self._of_class = [xp.zeros(n_places, np.int32) for _ in range(3)]  # rules, first, slot
        n_most = n_rules + matrix.n_slots
        self.wanted = Rules(*(xp.zeros(n_most, np.int32) for _ in range(3)))
        self._joined = [xp.zeros(n_rules, np.int32) for _ in range(2)]  # rule, slot
        self.n_wanted = counts[:2]
        self._n_active, self._n_taken, self._n_joined = (counts[i : i + 1] for i in (2, 3, 4))

    def bring_together(self, dirty_mask: Any) -> None:
        """Leave in `wanted` the rules to process this round, those of the slots among them."""
        m, rules, slots = self.matrix, self.rules, self._slots()
        class_rules, class_first, class_slot = self._of_class
        asked = (*rules, self._n_rules, self.kind, m.delta_mask, m.all_mask, dirty_mask)
        self._threads("want", self._n_rules, *asked, self._pair_of, self._n_wanted)
        by_pointer = (rules.first, rules.third, self._pair_start)
        n_pairs = np.int32(len(self._pair_start))
        table = (np.int32(len(self._keys)), self._keys, class_rules, class_first, self._class_of)
        listed = (self._active, self._n_active)
        self._threads(
            "enter", n_pairs, *by_pointer, n_pairs, self._n_wanted, m.sums, *table, *listed
        )
        rows = (m.all, m.fresh, m.fresh_mask, m.all_mask, *m.widths, m.sizes)
        classes = (class_rules, class_first, self._class_of, class_slot)
        to_process = (*self.wanted, self.n_wanted, np.int32(len(self.wanted.first)))
        self._warps("compare", n_pairs, *by_pointer, *listed, *rows, *classes, *slots, *to_process)
        found = (self._pair_of, self._class_of, class_slot, m.sizes, *m.widths)
        joined = (*self._joined, self._n_joined)
        self._threads("assign", self._n_rules, *asked, *found, *to_process, *joined)
        pairs = (self._pair_of, self._pair_start, m.first_slot_row)
        sources = (m.all, m.delta, m.all_mask, m.delta_mask, *m.widths, m.n_visited)
        args = (rules.first, rules.second, self.kind, *joined, *pairs, *sources)
        self._warps("gather", self._n_rules, *args)

    def spread(self) -> None:
        """Give what pulls brought to the slots to the destinations."""
        m = self.matrix
        rows = (m.all, m.fresh, m.fresh_mask, *m.widths, m.n_visited)
        joined = (*self._joined, self._n_joined, m.first_slot_row)
        self._warps("spread", self._n_rules, self.rules.second, *joined, *rows)

    def forget(self) -> None:
        """Empty the table and the slots for the next to use them."""
        m = self.matrix
        pairs = (self._active, self._n_active, self._n_wanted)
        slots = (self._n_taken, m.n_slots, m.first_slot_row)
        table = (np.int32(len(self._keys)), self._keys, *self._of_class)
        rows = (m.all, m.delta, m.fresh, m.all_mask, m.delta_mask, m.fresh_mask, *m.widths)
        self._warps("forget", max(self._n_rules, m.n_slots), *pairs, *slots, *table, *rows)

    def _slots(self) -> tuple[Any, ...]:
        return (self.matrix.first_slot_row, self.matrix.n_slots, self._n_taken)

    def _threads(self, name: str, n: np.int32, *args: Any) -> None:
        self._module.launch(name, threads(int(n)), (BLOCK,), args)

    def _warps(self, name: str, n: np.int32, *args: Any) -> None:
        self._module.launch(name, warps(int(n)), (BLOCK,), args)


PROCESS = ("process_copy", "process_push", "process_pull", "process_offset")
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
        self.kinds, self.maps = sent.kinds, sent.maps
        self._images, self._seeds = sent.images, sent.seeds
        specials = (tables.outside, tables.unknown_row, tables.escaped_row)
        self.targets = (*self.maps, *map(np.int32, specials))
        n_rules = max(self.n_rules(PUSH), self.n_rules(PULL))
        self.matrix = Matrix(self.xp, tables.n_rows, tables.n_words, n_rules)
        self.dirty = self.xp.zeros(2 * tables.n_words + 2, np.uint64)
        self.dirty_mask = self.dirty[2 * tables.n_words :]
        self._counts = self.xp.zeros(4 + 2 * N_COUNTS, np.int32)
        n_few = max(1, self.n_rules(COPY), self.n_rules(OFFSET))
        self._few = Rules(*(self.xp.zeros(n_few, np.int32) for _ in range(3)))
        self._classes = {
            kind: Classes(kind, self.kinds[kind], self.matrix, self._counts[first:])
            for kind, first in ((PUSH, 4), (PULL, 4 + N_COUNTS))
            if self.n_rules(kind)
        }
        self._changed = self.xp.zeros(max(1, tables.n_rows), np.int32)
        self._n_changed = self.xp.zeros(ROUNDS_PER_LOOK, np.int32)
        self.times: list[dict[str, float]] | None = None  # by round: kinds of rules, if timed
        self._graphs: dict[int, Any] = {}

    def n_rules(self, kind: int) -> int:
        """Return how many rules of a kind there are; the device may have fewer: some are equal."""
        return len(self.tables.kinds[kind].first)

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
            self._process()

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

    def _process(self) -> None:
        for kind, name in enumerate(("copy_s", "push_s", "pull_s", "offset_s")):
            if not self.n_rules(kind):
                continue
            start_s = time.perf_counter()
            if kind in self._classes:
                self._process_together(kind, self._classes[kind])
            else:
                self._process_few(kind)
            if self.times is not None:
                self.wait()
                self.times[-1][name] = time.perf_counter() - start_s

    def _process_few(self, kind: int) -> None:
        """Process the copies or offsets from rows with news."""
        rules, at = self.kinds[kind], 0 if kind == COPY else 2
        n_rules, n_active = len(rules.first), self._counts[at : at + 2]
        args = (*rules, np.int32(n_rules), self.matrix.delta_mask, *self._few, n_active)
        self.module.launch("activate", threads(n_rules), (BLOCK,), args)
        self.process(kind, self._few, n_active, n_rules)

    def _process_together(self, kind: int, classes: Classes) -> None:
        """Process the pushes or pulls with something to do, those with equal pointers as one."""
        if kind == PULL:
            self.mark_targets()
        classes.bring_together(self.dirty_mask)
        self.process(kind, classes.wanted, classes.n_wanted, len(classes.wanted.first))
        if kind == PULL:
            classes.spread()
        classes.forget()

    def process(self, kind: int, rules: Rules, counts: Any, n_most: int) -> None:
        """Queue rules of one kind: as many light and heavy ones as the device says then."""
        after: tuple[Any, ...] = ()
        if kind == OFFSET:
            after = self._images
        elif kind != COPY:
            after = (*self.targets, self.dirty) if kind == PULL else self.targets
        args = (*rules, counts, np.int32(n_most), *self.matrix.to_process(), *after)
        grid = warps(n_most, _PARTS if self.on_gpu else 1)
        self.module.launch(PROCESS[kind], grid, (BLOCK,), args)

    def mark_targets(self) -> None:
        """Say which objects have contents or a result with news."""
        t, m = self.tables, self.matrix
        contents, function_of, result = self.maps[:3]
        args = (m.delta_mask, self.dirty, self.dirty_mask, np.int32(t.n_objects), *m.widths)
        ends = (contents, function_of, result, np.int32(t.outside), np.int32(t.unknown_row))
        self.module.launch("mark_targets", threads(32 * m.n_words), (BLOCK,), (*args, *ends))
