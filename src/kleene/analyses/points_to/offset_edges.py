"""The moves of a program's pointers, each distinct one once.

A move adds a constant, and multiples of one or more strides: p + c + i·t + j·u with i and j not
known, as indexing in arrays of structs with arrays does. A stride says at which array an index
works, so strides must not be replaced by their greatest common divisor: `a[i].b[j]` moves from one
struct to another, `b[j]` does not. Where a landing table is needed, see `landings`.

A call through a pointer is a move by nothing that leaves behind whatever cannot be called there:
data, and functions that take more arguments. C has it that they take as many (C11, 6.5.2.2), but
programs do pass more, to `free` in a function that visits a list, say.
"""

from __future__ import annotations

from enum import IntEnum
from math import gcd

import numpy as np

from kleene.base.arrays import I64, U8, offsets_of


class Way(IntEnum):
    """What a move keeps to."""

    ELEMENTS = 0  # its steps and indices count elements, and stay in their array
    BYTES = 1  # no type says that its constant counts elements
    LOOSE = 2  # its index comes before the constant that leads to the array


class Moves:
    """Numbers moves; the same move has the same number, from 0."""

    def __init__(self, exact_calls: bool = False) -> None:
        self.exact_calls = exact_calls  # passing what functions take, as C has it, and no more
        self._moves: list[tuple[int, ...]] = []  # way, constant, then strides
        self._ids: dict[tuple[int, ...], int] = {}
        self._calls: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._moves)

    def number(self, constant: int, *strides: int, way: Way = Way.ELEMENTS) -> int:
        """Return the number of the move by `constant` and multiples of the strides (0: none)."""
        found = {abs(stride) for stride in strides if stride}
        if way == Way.LOOSE:  # every multiple counts, so more than the rest tells nothing
            found = {gcd(*found)}
            constant %= max(found)
        kept = Way.ELEMENTS if way == Way.BYTES and constant <= 0 else way
        move = (int(kept), constant, *sorted(found, reverse=True))
        if move not in self._ids:
            self._ids[move] = self._put(move)
        return self._ids[move]

    def called_with(self, n_arguments: int) -> int:
        """Return the number of the move of a pointer that is called with so many arguments."""
        if n_arguments not in self._calls:
            self._calls[n_arguments] = self._put((int(Way.ELEMENTS), 0))
        return self._calls[n_arguments]

    def assumptions(self) -> tuple[str, ...]:
        """Return what is assumed of calls, if there are some, as the user says."""
        if not (self.exact_calls and self._calls):
            return ()
        return ("calls through pointers pass exactly as many arguments as functions take",)

    def calls(self) -> dict[int, int]:
        """Return the moves that are calls, by how many arguments these have."""
        return dict(self._calls)

    def columns(self) -> tuple[I64, U8, I64, I64]:
        """Return constants, ways, and strides as CSR, the largest first."""
        moves = self._moves
        ways = np.array([move[0] for move in moves], np.uint8)
        constants = np.array([move[1] for move in moves], np.int64)
        offsets = offsets_of([len(move) - 2 for move in moves])
        strides = np.array([stride for move in moves for stride in move[2:]], np.int64)
        return constants, ways, offsets, strides

    def _put(self, move: tuple[int, ...]) -> int:
        self._moves.append(move)
        return len(self._moves) - 1
