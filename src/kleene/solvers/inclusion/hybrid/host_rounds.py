"""The CPU's copy of the rows, and its part of a round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.solvers.inclusion.cuda.tables import Rules, Tables
from kleene.solvers.inclusion.hybrid import host_rules
from kleene.solvers.inclusion.problem import Problem

Words = NDArray[np.uint64]


class HostRounds:
    """Rows in host memory that grow in rounds, as those of `cuda.rounds` do on the device."""

    def __init__(self, problem: Problem, tables: Tables, block_words: int, threads: int) -> None:
        shape = (tables.n_rows, tables.n_words)
        self.tables, self.block_words = tables, block_words
        self.every, self.delta, self.fresh = (np.zeros(shape, np.uint64) for _ in range(3))
        self.every_mask, self.delta_mask = (np.zeros(tables.n_rows, np.uint64) for _ in range(2))
        self.owned = _shares(-(-tables.n_words // block_words), threads)
        self.gained = np.zeros((len(self.owned), tables.n_rows), np.uint64)
        self._maps = (
            tables.contents,
            tables.function_of,
            problem.function_result,
            problem.function_rest,
            problem.formal_offsets,
            problem.formals,
        )
        self._special = (tables.outside, tables.unknown_row, tables.escaped_row)
        self._ends = (tables.allocation_start, tables.allocation_end)
        self._kinds = [_columns(k) for k in (tables.copy, tables.push, tables.pull, tables.offset)]
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
            self._ends,
            self.owned,
            self.gained,
        )

    def fresh_mask(self) -> Words:
        """Return which blocks of each row gained something this round."""
        mask: Words = np.bitwise_or.reduce(self.gained, axis=0)
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

    def adopt(self, every: Words, every_mask: Words, fresh: Words, fresh_mask: Words) -> None:
        """Take over rows as they are at the end of a round."""
        self.every, self.every_mask = every, every_mask
        self.fresh[:] = fresh
        self.gained[:] = 0
        self.gained[0] = fresh_mask


def _columns(rules: Rules) -> tuple[Any, ...]:
    return (rules.first, rules.second, rules.third)


def _shares(n_blocks: int, threads: int) -> Words:
    """Return the blocks of each thread as masks: every block in one, neighbours dealt out."""
    n_shares = max(1, min(threads, n_blocks))
    masks = [sum(1 << block for block in range(s, n_blocks, n_shares)) for s in range(n_shares)]
    return np.array(masks, np.uint64)
