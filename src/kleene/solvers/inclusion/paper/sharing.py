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
from kleene.kernels.bits import lowest
from kleene.solvers.inclusion.cuda import expanded
from kleene.solvers.inclusion.cuda.answer import words
from kleene.solvers.inclusion.cuda.cycles import renamed, rows_of
from kleene.solvers.inclusion.cuda.rounds import BLOCK, HERE, Rounds, warps
from kleene.solvers.inclusion.cuda.tables import (
    CONSTANT,
    CONTENTS,
    COPY,
    OFFSET,
    PULL,
    PUSH,
    RESULT,
    Rules,
    Tables,
    send,
    tables_of,
)
from kleene.solvers.inclusion.paper import device_function, entry_point
from kleene.solvers.inclusion.problem import BY_LAYOUT, Problem
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
        if self.n_rules(PULL):
            self.mark_targets()

    def process_some(self, kind: int, rules: I64) -> None:
        """Queue some rules of one kind; they may run while the host goes on."""
        chosen = self.xp.asarray(rules)
        columns = Rules(*(column[chosen] for column in self.kinds[kind]))
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
        xp, m = self.xp, self.matrix
        every = xp.arange(self.tables.n_rows, dtype=np.int32)
        nothing = xp.zeros(m.n_words, np.uint64)
        return Words(*words(self, m.fresh, m.fresh_mask, every, nothing)[:3])

    def add(self, found: Words) -> None:
        """Add what the host found."""
        if len(found.place):
            m, n_rows = self.matrix, self.tables.n_rows
            sent = (*map(self.xp.asarray, found), np.int32(n_rows))
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
            tuple(device.fetch(c)[: device.n_rules(kind)] for c in columns)
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

    def add(self, found: Words) -> None:
        """Add what the device found."""
        add_words(*found, self._all, self._fresh)


# The rules of cuda/rules.cu on the CPU: the same rows and maps, without masks of blocks. A rule
# reads `every`, what rows hold, and `delta`, what they gained in the iteration before; what it
# finds goes to `every` and `fresh`. A row may be read while it gains: a bit seen too early is
# fresh, and has its turn in the next iteration.
_ONE = np.uint64(1)


@entry_point
def add_words(offsets: Any, place: Any, word: Any, every: Any, fresh: Any) -> None:
    """Add words to rows; what is new becomes fresh."""
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], offsets[row + 1]):
            new = word[i] & ~every[row, place[i]]
            every[row, place[i]] |= new
            fresh[row, place[i]] |= new


@entry_point
def apply(
    kind: int, columns: Any, rules: Any, rows: Any, maps: Any, special: Any, images: Any
) -> None:
    """Apply the given rules of one kind: see `cuda.tables` for what their columns are."""
    first, second, third = columns
    every, delta, fresh = rows
    for rule in rules:
        a, b, m = first[rule], second[rule], third[rule]
        if kind == COPY:
            _flow(every, delta, fresh, a, b, False)
        elif kind == OFFSET:
            for w in range(every.shape[1]):
                bits = delta[a, w]
                while bits != 0:
                    _add_images(every, fresh, images, b, 64 * w + lowest(bits), m)
                    bits &= bits - _ONE
        else:
            for w in range(every.shape[1]):
                bits = every[a, w]
                while bits != 0:
                    o = 64 * w + lowest(bits)
                    other = _target(maps, special, m, o, kind == PUSH)
                    is_new = (delta[a, w] >> np.uint64(o & 63)) & _ONE != 0
                    if other >= 0:
                        source, to = (b, other) if kind == PUSH else (other, b)
                        _flow(every, delta, fresh, source, to, is_new)
                    bits &= bits - _ONE


@device_function
def _flow(every: Any, delta: Any, fresh: Any, source: int, to: int, is_full: bool) -> None:
    """Add to row `to` all that `source` holds, or what it gained."""
    for w in range(every.shape[1]):
        new = (every[source, w] if is_full else delta[source, w]) & ~every[to, w]
        every[to, w] |= new
        fresh[to, w] |= new


@device_function
def _target(maps: Any, special: Any, m: int, o: int, is_into: bool) -> Any:
    """Return the row that object o stands for in map m, or -1; see `target` in rules.cu."""
    contents, function_of, result, rest, formal_offsets, formals = maps
    if o == special[0]:
        return special[2] if is_into else special[1]
    if m == CONTENTS:
        return -1 if is_into and function_of[o] == CONSTANT else contents[o]
    function = function_of[o]
    if function < 0:
        return -1
    if m == RESULT:
        return result[function]
    at = formal_offsets[function] + m
    return formals[at] if at < formal_offsets[function + 1] else rest[function]


@device_function
def _add_images(every: Any, fresh: Any, images: Any, to: int, o: int, amount: int) -> None:
    """Add the images of object o under an offset to row `to`."""
    start, end = images.first[o], images.end[o]
    if amount <= BY_LAYOUT and images.layout[o] >= 0:
        table = images.rows[(BY_LAYOUT - amount) * images.n_layouts + images.layout[o]]
        if table >= 0:
            at = table + o - start
            for i in range(images.offsets[at], images.offsets[at + 1]):
                _add(every, fresh, to, start + images.images[i])
            return
    if amount >= 0 and o + amount < end:
        start, end = o + amount, o + amount + 1
    for image in range(start, end):
        _add(every, fresh, to, image)


@device_function
def _add(every: Any, fresh: Any, to: int, o: int) -> None:
    bit = _ONE << np.uint64(o & 63)
    if every[to, o >> 6] & bit == 0:
        every[to, o >> 6] |= bit
        fresh[to, o >> 6] |= bit
