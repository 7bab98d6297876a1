"""The CPU's copy of the rows, and its part of a round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import U64
from kleene.solvers.inclusion.hybrid import host_rules
from kleene.solvers.inclusion.hybrid.device_rounds import OnHost


class HostRounds:
    """Rows in host memory that grow in rounds, as those of `cuda.rounds` do on the device."""

    def __init__(self, given: OnHost, block_words: int, threads: int) -> None:
        tables = given.tables
        shape = (tables.n_rows, tables.n_words)
        self.block_words = block_words
        self.every, self.delta, self.fresh = (np.zeros(shape, np.uint64) for _ in range(3))
        self.every_mask, self.delta_mask = (np.zeros(tables.n_rows, np.uint64) for _ in range(2))
        self.owned = _shares(-(-tables.n_words // block_words), threads)
        self.gained = np.zeros((len(self.owned), tables.n_rows), np.uint64)
        self._kinds, self._maps = given.kinds, given.maps
        self._special = (tables.outside, tables.unknown_row, tables.escaped_row)
        self._images = tables.images
        self._dirty = np.zeros(2, np.uint64)
        self._active = [np.empty(len(columns[0]), np.int64) for columns in self._kinds]

    def active(self) -> list[NDArray[np.int64]]:
        """Return, by kind, the rules that have something to do this round."""
        masks = (self.every_mask, self.delta_mask)
        host_rules.dirty_blocks(self._maps, self._special, masks, self.block_words, self._dirty)
        return [
            out[: host_rules.active_rules(kind, columns, masks, self._dirty, out)]
            for kind, (columns, out) in enumerate(zip(self._kinds, self._active, strict=True))
        ]

    def fire(self, kind: int, active: NDArray[np.int64]) -> None:
        """Fire the given rules of one kind."""
        host_rules.fire(
            kind,
            self._kinds[kind],
            active,
            (self.every, self.delta, self.fresh, self.block_words),
            (self.every_mask, self.delta_mask),
            self._maps,
            self._special,
            self._images,
            self.owned,
            self.gained,
        )

    def fresh_mask(self) -> U64:
        """Return which blocks of each row gained something this round."""
        mask: U64 = np.bitwise_or.reduce(self.gained, axis=0)
        return mask

    def turn(self) -> int:
        """End the round: what is fresh is the delta of the next; return how many rows gained."""
        mask = self.fresh_mask()
        rows = np.flatnonzero(self.delta_mask)
        self.delta[rows] = 0
        self.delta, self.fresh = self.fresh, self.delta
        self.delta_mask = mask
        self.every_mask |= mask
        self.gained[:] = 0
        return int(np.count_nonzero(mask))

    def adopt(self, every: U64, every_mask: U64) -> None:
        """Take over rows as they were at the beginning of a round."""
        self.every, self.every_mask = every, every_mask

    def add_fresh(self, fresh: U64, mask: U64) -> None:
        """Take over what the round found; `adopt` has it already, but not as fresh."""
        self.fresh, self.gained[:] = fresh, 0
        self.gained[0] = mask


def _shares(n_blocks: int, threads: int) -> U64:
    """Return the blocks of each thread as masks: every block in one, neighbours dealt out."""
    n_shares = max(1, min(threads, n_blocks))
    masks = [sum(1 << block for block in range(s, n_blocks, n_shares)) for s in range(n_shares)]
    return np.array(masks, np.uint64)
