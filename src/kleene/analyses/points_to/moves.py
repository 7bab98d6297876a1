"""The moves of a program's pointers, each distinct one once.

A move adds a constant, and multiples of one or more strides: p + c + i·t + j·u with i and j not
known, as indexing in arrays of structs with arrays does. A stride says at which array an index
works, so strides must not be replaced by their greatest common divisor: `a[i].b[j]` moves from one
struct to another, `b[j]` does not. Where a landing table is needed, see `landings`.
"""

from __future__ import annotations

import numpy as np

from kleene.ir.tables import I32, I64


class Moves:
    """Numbers moves; the same move has the same number, from 0."""

    def __init__(self) -> None:
        self._ids: dict[tuple[int, ...], int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def number(self, constant: int, *strides: int) -> int:
        """Return the number of the move by `constant` and multiples of the strides (0: none)."""
        found = {abs(stride) for stride in strides if stride}
        move = (constant, *sorted(found, reverse=True))
        return self._ids.setdefault(move, len(self._ids))

    def numbers(self, constants: I64, strides: I64) -> I32:
        """Return the number of each move by one constant and one stride (0: none)."""
        pairs = np.stack([constants, np.abs(strides)], axis=1).astype(np.int64)
        distinct, index = np.unique(pairs, axis=0, return_inverse=True)
        ids = [self.number(constant, stride) for constant, stride in distinct.tolist()]
        return np.array(ids, np.int32)[index.reshape(-1)] if ids else np.empty(0, np.int32)

    def columns(self) -> tuple[I64, I64, I64]:
        """Return the constants, and the strides of each move as CSR, the largest first."""
        moves = list(self._ids)
        constants = np.array([move[0] for move in moves], np.int64)
        offsets = np.zeros(len(moves) + 1, np.int64)
        np.cumsum([len(move) - 1 for move in moves], out=offsets[1:])
        return constants, offsets, np.array([t for move in moves for t in move[1:]], np.int64)
