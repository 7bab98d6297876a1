"""Which addresses do objects stand for, and which accesses at them overlap?

An exact object stands for the one address `byte`. A repeating one stands for `byte`,
`byte + stride`, and so on, up to the end of its array. The object with unknown offset stands for
every byte. The end of an array is the next exact object of its allocation, because behind the first
element of an array all is of the array's own objects:

    struct { int n; int a[3]; int m; }     objects  +0   +4    +4[]     +16
                                           byte      0    4     8        16
                                           stride    0    0     4         0
                                           stands   {0}  {4}  {8, 12}   {16}
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET, ConstraintSystem
from kleene.base.arrays import I32, I64, Bools, Ints, distinct, offsets_of, ragged
from kleene.graphs import Rows

_ENDLESS = np.int64(1) << 61
_EXPANDED = 1 << 21  # so many pairs of objects are looked at in one go


class Geometry:
    """Answers, for whole columns, which objects of one program's storage overlap."""

    def __init__(self, system: ConstraintSystem) -> None:
        self._locations = system.locations
        self._offsets = system.problem.allocation_offsets

    def overlap(self, left: I32, left_bytes: int, right: I32, right_bytes: int) -> bool:
        """Return whether accesses of so many bytes at some of the objects may touch one byte.

        Objects ascend. Accesses are of at least one byte, so that an object in common suffices.
        """
        if len(np.intersect1d(left, right, assume_unique=True)):
            return True
        allocation = self._locations.allocation
        for shared in np.intersect1d(allocation[left], allocation[right]).tolist():
            ours = left[allocation[left] == shared]
            theirs = right[allocation[right] == shared]
            sizes = np.int64(left_bytes), np.int64(right_bytes)
            if self.meet(ours[:, None], sizes[0], theirs[None, :], sizes[1]).any():
                return True
        return False

    def overlap_columns(
        self, left: Rows, left_bytes: I64, right: Rows, right_bytes: I64, pairs: tuple[I64, I64]
    ) -> Bools:
        """Return for each pair (i, j) whether `overlap` holds of left[i] and right[j]."""
        i, j = pairs
        found = np.zeros(len(i), bool)
        keys = _keys(right, right.values)
        for part in _parts(left.lengths()[i]):  # objects in common
            pair, at = ragged(left.offsets[i[part]], left.offsets[i[part] + 1])
            hit = _among(keys, j[part][pair] << 32 | left.values[at])
            found[part.start + pair[hit]] = True
        rest = np.flatnonzero(~found)
        mine, theirs = (
            _Runs(left, self._locations.allocation),
            _Runs(right, self._locations.allocation),
        )
        pair, run, other = mine.shared(theirs, i[rest], j[rest])
        sizes = mine.lengths[run] * theirs.lengths[other]
        for part in _parts(sizes):
            owner, within = ragged(np.zeros_like(sizes[part]), sizes[part])
            owner += part.start
            a, b = run[owner], other[owner]
            ours = left.values[mine.starts[a] + within // theirs.lengths[b]]
            others = right.values[theirs.starts[b] + within % theirs.lengths[b]]
            which = rest[pair[owner]]
            n_ours, n_others = left_bytes[i[which]], right_bytes[j[which]]
            found[which[self.meet(ours, n_ours, others, n_others)]] = True
        return found

    def touched_rows(self, objects: Rows, n_bytes: I64) -> Rows:
        """Return for each list of objects which objects accesses of so many bytes may touch.

        Objects of both ascend in each list; `n_bytes` is per list.
        """
        owner = np.repeat(np.arange(len(objects)), objects.lengths())
        # An object is looked at once for each size: many lists have it.
        pairs, which = np.unique(
            objects.values.astype(np.int64) << 32 | n_bytes[owner], return_inverse=True
        )
        starts, items = self.touched_by(pairs >> 32, pairs & 0xFFFFFFFF)
        pair, place = ragged(starts[which], starts[which + 1])
        found = distinct(owner[pair] << 32 | items[place])
        offsets = np.searchsorted(found >> 32, np.arange(len(objects) + 1))
        return Rows(offsets.astype(np.int64), (found & 0xFFFFFFFF).astype(np.int32))

    def touched_by(self, objects: I64, n_bytes: I64) -> tuple[I64, I64]:
        """Return which objects an access at each of the objects may touch, as CSR."""
        allocation = self._locations.allocation[objects]
        starts, ends = self._offsets[allocation], self._offsets[allocation + 1]
        owners, others = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for part in _parts(ends - starts):
            which, other = ragged(starts[part], ends[part])
            reach = self._locations.n_bytes[other]
            meets = self.meet(objects[part][which], n_bytes[part][which], other, reach)
            meets &= reach > 0
            owners.append(part.start + which[meets])
            others.append(other[meets])
        counts = np.bincount(np.concatenate(owners), minlength=len(objects))
        return offsets_of(counts), np.concatenate(others)

    def meet(
        self,
        left: Ints,
        left_bytes: Ints | np.integer,
        right: Ints,
        right_bytes: Ints | np.integer,
    ) -> Bools:
        """Return which accesses at two objects of one allocation may touch one byte.

        Accesses of n bytes at a and of m at b touch one byte iff `a < b + m` and `b < a + n`. For
        two rows with strides s and t the distances `a - b` are all numbers congruent to that of
        their starts modulo g = gcd(s, t), if ends are disregarded; so there are a and b with
        `0 <= a - b < m` iff `(a - b) mod g < m`, and with `0 < b - a < n` iff
        `g - (a - b) mod g < n`. Disregarding ends only adds pairs: the answer may be yes.
        """
        byte, stride = self._locations.byte, self._locations.stride
        first, second = byte[left], byte[right]
        step, other = stride[left].astype(np.int64), stride[right].astype(np.int64)
        is_unknown = (first == UNKNOWN_OFFSET) | (second == UNKNOWN_OFFSET)
        if not (step.any() or other.any()):
            disjoint = (first >= second + right_bytes) | (second >= first + left_bytes)
            return np.asarray(is_unknown | ~disjoint)
        end, other_end = self._ends[left], self._ends[right]
        in_reach = (first < other_end - 1 + right_bytes) & (second < end - 1 + left_bytes)
        common = np.maximum(np.gcd(step, other), 1)
        distance = (first - second) % common
        rows = (distance < right_bytes) | (common - distance < left_bytes)
        one = _meets_row(second, right_bytes, first, step, end, left_bytes)
        other_one = _meets_row(first, left_bytes, second, other, other_end, right_bytes)
        is_row, is_other = step > 0, other > 0
        meets = np.select([is_row & is_other, is_row, is_other], [rows, one, other_one], True)
        found: Bools = is_unknown | (in_reach & meets)
        return found

    @cached_property
    def _ends(self) -> I64:
        """Per object: the byte before which every address that it stands for lies."""
        byte, allocation = self._locations.byte, self._locations.allocation
        is_row = self._locations.stride > 0
        order = np.lexsort((byte, allocation))
        new = (np.diff(byte[order]) != 0) | (np.diff(allocation[order]) != 0)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.concatenate([[0], np.cumsum(new)])[: len(order)]
        exact = order[~is_row[order]]
        rows = np.flatnonzero(is_row)
        position = np.searchsorted(rank[exact], rank[rows], side="right")
        following = np.append(exact, -1)[position]
        is_there = (following >= 0) & (allocation[following] == allocation[rows])
        found = byte + 1
        found[rows] = np.where(is_there, byte[following], _ENDLESS)
        return found


class _Runs:
    """The objects of one allocation in each list: `lengths[r]` objects from `starts[r]` on."""

    def __init__(self, rows: Rows, allocation: I32) -> None:
        key = _keys(rows, allocation[rows.values])
        is_first = np.ones(len(key), bool)
        is_first[1:] = key[1:] != key[:-1]
        self.starts = np.flatnonzero(is_first)
        self.lengths = np.diff(np.append(self.starts, len(key)))
        self.keys = key[self.starts]
        self.offsets = np.searchsorted(self.starts, rows.offsets)

    def shared(self, other: _Runs, mine: I64, theirs: I64) -> tuple[I64, I64, I64]:
        """Return (pair, run here, run there) for each allocation that two lists have in common."""
        pair, run = ragged(self.offsets[mine], self.offsets[mine + 1])
        wanted = theirs[pair] << 32 | (self.keys[run] & 0xFFFFFFFF)
        hit = _among(other.keys, wanted)
        position = np.searchsorted(other.keys, wanted[hit])
        return pair[hit], run[hit], position


def _keys(rows: Rows, values: Ints) -> I64:
    """Return each value of a list with the list's number above it; ascending if values are."""
    owner = np.repeat(np.arange(len(rows)), rows.lengths())
    return owner << 32 | values


def _among(keys: I64, wanted: I64) -> Bools:
    """Return which of the wanted numbers are among ascending keys."""
    if not len(keys):
        return np.zeros(len(wanted), bool)
    position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found: Bools = keys[position] == wanted
    return found


def _parts(sizes: Ints) -> list[slice]:
    """Return consecutive slices of at most `_EXPANDED` altogether, or of one."""
    ends = offsets_of(sizes)[1:]
    parts, first, before = [], 0, 0
    while first < len(sizes):
        last = int(np.searchsorted(ends, before + _EXPANDED, side="right"))
        last = max(last, first + 1)
        parts.append(slice(first, last))
        first, before = last, int(ends[last - 1])
    return parts


def _meets_row(
    exact: I64,
    exact_bytes: Ints | np.integer,
    start: I64,
    step: I64,
    end: I64,
    row_bytes: Ints | np.integer,
) -> Bools:
    """Return whether bytes at one address meet those at each step from `start` to before `end`.

    The first element of the row that ends behind `exact` is the one to look at: the least
    `start + k * step` with `start + k * step + row_bytes > exact` and k at least 0.
    """
    step = np.maximum(step, 1)
    behind = exact - row_bytes - start + 1
    nearest = start + np.maximum(0, -(-behind // step)) * step
    found: Bools = nearest < np.minimum(end, exact + exact_bytes)
    return found
