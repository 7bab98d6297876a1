"""Which addresses do places stand for, and which accesses at them overlap?

An exact place stands for one address; a repeating one for a row of them, a stride apart, up to the
end of its array; the blur for every byte. A row ends before the next exact place of its storage,
because behind the first element of an array all is of its rows.
"""

from __future__ import annotations

from math import gcd, inf

import numpy as np

from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET, ConstraintSystem
from kleene.base.arrays import I64


class Geometry:
    """Answers which places of one program's storage overlap."""

    def __init__(self, system: ConstraintSystem) -> None:
        self._places = system.locations
        self._offsets = system.problem.allocation_offsets
        self._ends: dict[int, float] = {}

    def overlap(self, left: I64, left_bytes: int, right: I64, right_bytes: int) -> bool:
        """Return whether accesses of so many bytes at some of the objects may touch one byte."""
        if len(np.intersect1d(left, right)):
            return True
        allocation = self._places.allocation
        for shared in np.intersect1d(allocation[left], allocation[right]).tolist():
            ours = left[allocation[left] == shared].tolist()
            theirs = right[allocation[right] == shared].tolist()
            if any(self.meet(a, left_bytes, b, right_bytes) for a in ours for b in theirs):
                return True
        return False

    def touched(self, object: int, n_bytes: int) -> list[int]:
        """Return the places that an access of `n_bytes` at an object may touch."""
        allocation = int(self._places.allocation[object])
        reach = self._places.n_bytes
        return [
            other
            for other in range(*self._offsets[allocation : allocation + 2].tolist())
            if reach[other] > 0 and self.meet(object, n_bytes, other, int(reach[other]))
        ]

    def meet(self, left: int, left_bytes: int, right: int, right_bytes: int) -> bool:
        """Return whether accesses at two places of one piece of storage may touch one byte."""
        first, second = int(self._places.byte[left]), int(self._places.byte[right])
        if UNKNOWN_OFFSET in (first, second):
            return True
        step, other_step = int(self._places.stride[left]), int(self._places.stride[right])
        end, other_end = self._end(left), self._end(right)
        if first >= other_end - 1 + right_bytes or second >= end - 1 + left_bytes:
            return False
        if step and other_step:
            distance = (first - second) % (common := gcd(step, other_step))
            return distance < right_bytes or common - distance < left_bytes
        if step:
            return _meets_row(second, right_bytes, first, step, end, left_bytes)
        if other_step:
            return _meets_row(first, left_bytes, second, other_step, other_end, right_bytes)
        return True

    def _end(self, object: int) -> float:
        """Return the byte before which every address that a place stands for lies."""
        byte = int(self._places.byte[object])
        if not self._places.stride[object]:
            return byte + 1
        if object not in self._ends:
            allocation = int(self._places.allocation[object])
            here = slice(*self._offsets[allocation : allocation + 2].tolist())
            exact = self._places.byte[here][self._places.stride[here] == 0]
            self._ends[object] = min(exact[exact > byte].tolist(), default=inf)
        return self._ends[object]


def _meets_row(
    exact: int, exact_bytes: int, start: int, step: int, end: float, row_bytes: int
) -> bool:
    """Return whether bytes at one address meet those at each step from `start` to before `end`."""
    behind = exact - row_bytes - start + 1  # the row's first element that ends behind `exact`
    nearest = start + max(0, -(-behind // step)) * step
    return nearest < min(end, exact + exact_bytes)
