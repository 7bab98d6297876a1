"""The bit rows on the device, and how kernels are laid over them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

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

    def to_fire(self) -> tuple[Any, ...]:
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
