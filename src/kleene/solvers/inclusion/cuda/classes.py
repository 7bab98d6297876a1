"""Rules through equal pointers, as one: what `classes.cu` needs, and in which order it runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.kernels import launch
from kleene.solvers.inclusion.cuda.layout import BLOCK, HERE, Matrix, threads, warps
from kleene.solvers.inclusion.cuda.sending import Triples

DETOUR = 2  # a flow through a slot costs about as much as this many without: bits are added twice
N_COUNTS = 5  # of a kind: light and heavy rules to fire; pairs with work, slots taken, rules joined


class Classes:
    """The pushes or the pulls of a problem, brought together round by round."""

    def __init__(self, kind: int, rules: Triples, matrix: Matrix, counts: Any) -> None:
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
        self.wanted = Triples(*(xp.zeros(n_most, np.int32) for _ in range(3)))
        self._joined = [xp.zeros(n_rules, np.int32) for _ in range(2)]  # rule, slot
        self.n_wanted = counts[:2]
        self._n_active, self._n_taken, self._n_joined = (counts[i : i + 1] for i in (2, 3, 4))

    def bring_together(self, dirty_mask: Any) -> None:
        """Leave in `wanted` the rules to fire this round, those of the slots among them."""
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
        to_fire = (*self.wanted, self.n_wanted, np.int32(len(self.wanted.first)))
        self._warps("compare", n_pairs, *by_pointer, *listed, *rows, *classes, *slots, *to_fire)
        found = (self._pair_of, self._class_of, class_slot, m.sizes, *m.widths)
        joined = (*self._joined, self._n_joined)
        self._threads("assign", self._n_rules, *asked, *found, *to_fire, *joined)
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
