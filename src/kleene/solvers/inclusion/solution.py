"""What a solver found: sets by node, escaped objects, the call graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32, I64, U64, Bools, offsets_of

Trace = Callable[[Mapping[str, float]], None]  # is given a row of numbers for each iteration


def words_of(is_member: Bools) -> U64:
    """Return a set of objects as 64-bit words: bit b of word w is object 64 w + b."""
    words = np.zeros(-(-len(is_member) // 64) * 8, np.uint8)
    packed = np.packbits(is_member, bitorder="little")
    words[: len(packed)] = packed
    return words.view("<u8").astype(np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Sets of objects, sparse by 64-bit words: row r is `index/word[offsets[r]:offsets[r + 1]]`.

    Bit b of a word with index w is object 64 w + b. Indices ascend within a row; no word is zero.
    """

    offsets: I64
    index: I32
    word: U64

    @classmethod
    def of_sets(cls, sets: list[list[int]]) -> Rows:
        """Return the rows that hold the given objects."""
        rows = np.repeat(np.arange(len(sets)), [len(s) for s in sets])
        objects = np.array([o for s in sets for o in s], np.int64)
        return cls.of_pairs(len(sets), rows, objects)

    @classmethod
    def of_pairs(cls, n_rows: int, rows: NDArray[np.integer], objects: I64) -> Rows:
        """Return the rows with the given (row, object) pairs, in any order."""
        key = rows.astype(np.int64) << 32 | objects >> 6
        unique, place = np.unique(key, return_inverse=True)
        word = np.zeros(len(unique), np.uint64)
        np.bitwise_or.at(word, place, np.uint64(1) << (objects & 63).astype(np.uint64))
        offsets = np.searchsorted(unique >> 32, np.arange(n_rows + 1))
        return cls(offsets.astype(np.int64), (unique & 0xFFFFFFFF).astype(np.int32), word)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def objects(self, row: int) -> I64:
        """Return the objects of a row, ascending."""
        first, end = self.offsets[row], self.offsets[row + 1]
        bits = np.unpackbits(
            self.word[first:end].astype("<u8").view(np.uint8).reshape(-1, 8),
            axis=1,
            bitorder="little",
        )
        place, bit = np.nonzero(bits)
        return self.index[first:end][place].astype(np.int64) * 64 + bit

    def with_any(self, objects: NDArray[np.integer]) -> Bools:
        """Return for each row whether it has one of the objects."""
        n_words = max(self.index.max(initial=-1), objects.max(initial=-1) >> 6) + 1
        wanted = np.zeros(n_words, np.uint64)
        np.bitwise_or.at(wanted, objects >> 6, np.uint64(1) << (objects & 63).astype(np.uint64))
        hits = offsets_of((self.word & wanted[self.index]) != 0)
        found: Bools = hits[self.offsets[1:]] > hits[self.offsets[:-1]]
        return found

    def sizes(self) -> I64:
        """Return how many objects each row has."""
        counts = offsets_of(np.bitwise_count(self.word))
        return np.diff(counts[self.offsets])


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The least answer to a `Problem`, whoever found it."""

    row_of: I32  # per node: its row
    rows: Rows  # for unknown nodes without the escaped objects
    unknown: Bools  # per node: it may also hold every escaped object, and what the outside has
    escaped: Bools  # per object
    call_edges: I32  # (n, 2): call, function; sorted; for calls outside without what escaped
    calls_outside: Bools  # per call: it may call every escaped function, and what is not shown
    statistics: Mapping[str, float]
    plan: str = ""  # who solved it, and why

    def of(self, node: int) -> I64:
        """Return all objects that a node may hold, ascending."""
        found = self.rows.objects(int(self.row_of[node]))
        if self.unknown[node]:
            found = np.union1d(found, np.flatnonzero(self.escaped))
        return found

    @property
    def n_facts(self) -> int:
        """How many (node, object) pairs the rows state."""
        return int(self.rows.sizes()[self.row_of].sum())


def difference(left: Solution, right: Solution) -> str | None:
    """Return the first difference between two answers to one problem, or None."""
    for name in ("unknown", "escaped", "calls_outside", "call_edges"):
        mine, theirs = getattr(left, name), getattr(right, name)
        if mine.shape != theirs.shape:
            return f"{name}: {len(mine)} rows against {len(theirs)}"
        if (mine != theirs).any():
            return f"{name}: row {int(np.argwhere(mine != theirs)[0][0])}"
    pairs, first = np.unique(
        np.stack([left.row_of, right.row_of], axis=1), axis=0, return_index=True
    )
    for (mine, theirs), node in zip(pairs, first, strict=True):
        if not _same_row(left.rows, int(mine), right.rows, int(theirs)):
            ours, others = left.rows.objects(int(mine)), right.rows.objects(int(theirs))
            odd = np.setxor1d(ours, others)[0]
            side = "left" if odd in ours else "right"
            return f"node {int(node)}: object {int(odd)} is on the {side} only"
    return None


def _same_row(left: Rows, row: int, right: Rows, other: int) -> bool:
    mine = slice(left.offsets[row], left.offsets[row + 1])
    theirs = slice(right.offsets[other], right.offsets[other + 1])
    return np.array_equal(left.index[mine], right.index[theirs]) and np.array_equal(
        left.word[mine], right.word[theirs]
    )
