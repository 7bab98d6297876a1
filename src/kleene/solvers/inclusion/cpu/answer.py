"""The solution, from the shards' rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from kleene.solvers.inclusion.cpu.bits import lowest, n_set
from kleene.solvers.inclusion.cpu.rules import Rules
from kleene.solvers.inclusion.cpu.state import Graph, Shard
from kleene.solvers.inclusion.offline.compiled import entry
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Rows, Solution

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Words = NDArray[np.uint64]
InParts = Callable[[int, Callable[[slice], None]], None]  # does so many items, slice by slice


def answer(
    problem: Problem,
    rules: Rules,
    g: Graph,
    shards: list[Shard],
    in_parts: InParts,
    statistics: Mapping[str, float],
) -> Solution:
    """Return what the shards hold as a solution to the (reduced) problem."""
    row_of, names = _distinct([s.node_row[g.root[: rules.n_nodes]] for s in shards])
    escaped = np.zeros((rules.n_objects + 63) // 64, np.uint64)
    unknown_object = -1
    if rules.outside >= 0:
        unknown_object = rules.n_objects - 1
        for s in shards:
            _add(s, s.node_row[g.root[rules.outside]], escaped)
    is_unknown = np.zeros(len(names), bool)
    if unknown_object >= 0:
        is_unknown = _holding(shards[-1], names[:, -1], unknown_object)
    rows = _rows(shards, in_parts, names, is_unknown, escaped, unknown_object)
    row_of = row_of[: problem.n_nodes]
    callee_row = row_of[problem.call_callee]
    return Solution(
        row_of=row_of,
        rows=rows,
        unknown=is_unknown[row_of],
        escaped=np.unpackbits(escaped.astype("<u8").view(np.uint8), bitorder="little")[
            : problem.n_objects
        ].astype(bool),
        call_edges=_call_edges(problem, rules, shards, in_parts, names[callee_row]),
        calls_outside=is_unknown[callee_row],
        statistics=statistics,
    )


def _distinct(columns: list[I32]) -> tuple[I32, I32]:
    """Return each node's place among the distinct tuples of rows, and those tuples."""
    key = columns[0].astype(np.int64)
    for column in columns[1:]:
        key = np.unique(key, return_inverse=True)[1] << 32 | column
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return inverse.astype(np.int32), np.stack([column[first] for column in columns], axis=1)


def _rows(
    shards: list[Shard],
    in_parts: InParts,
    names: I32,
    is_unknown: NDArray[np.bool_],
    escaped: Words,
    unknown: int,
) -> Rows:
    lengths = sum(s.row_length[names[:, i]].astype(np.int64) for i, s in enumerate(shards))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    index = np.empty(offsets[-1], np.int32)
    word = np.empty(offsets[-1], np.uint64)
    place = offsets[:-1].copy()

    def fill(part: slice) -> None:
        for i, s in enumerate(shards):
            rows = names[part, i].copy()
            _fill(s, rows, is_unknown[part], escaped, place[part], index, word)

    in_parts(len(names), fill)
    if unknown >= 0:
        n_words = _squeeze(offsets, place, index, word, unknown)
        return Rows(offsets, index[:n_words], word[:n_words])
    return Rows(offsets, index, word)


@entry
def _add(s: Shard, row: int, into: Words) -> None:
    start = s.row_start[row]
    for i in range(start, start + s.row_length[row]):
        into[s.indices[i]] |= s.words[i]


@entry
def _holding(s: Shard, rows: I32, o: int) -> NDArray[np.bool_]:
    """Return for each row whether it holds the last object of all."""
    holds = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        length = s.row_length[rows[i]]
        if length > 0:
            last = s.row_start[rows[i]] + length - 1
            is_there = s.words[last] >> np.uint64(o & 63) & np.uint64(1) != 0
            holds[i] = s.indices[last] == o >> 6 and is_there
    return holds


@entry
def _fill(
    s: Shard,
    rows: I32,
    is_unknown: NDArray[np.bool_],
    escaped: Words,
    place: I64,
    index: I32,
    word: Words,
) -> None:
    """Write a shard's part of each row at its place, for unknown ones without what escaped."""
    for r in range(len(rows)):
        start = s.row_start[rows[r]]
        at = place[r]
        if is_unknown[r]:
            for i in range(start, start + s.row_length[rows[r]]):
                rest = s.words[i] & ~escaped[s.indices[i]]
                if rest != 0:
                    index[at] = s.indices[i]
                    word[at] = rest
                    at += 1
        else:
            for i in range(start, start + s.row_length[rows[r]]):
                index[at] = s.indices[i]
                word[at] = s.words[i]
                at += 1
        place[r] = at


@entry
def _squeeze(offsets: I64, end: I64, index: I32, word: Words, unknown: int) -> int:
    """Close the gaps between rows, without the unknown object; return how many words are left."""
    at = 0
    for r in range(len(end)):
        first = offsets[r]
        offsets[r] = at
        for i in range(first, end[r]):
            left = word[i]
            if index[i] == unknown >> 6:
                left &= ~(np.uint64(1) << np.uint64(unknown & 63))
            if left != 0:
                index[at] = index[i]
                word[at] = left
                at += 1
    offsets[len(end)] = at
    return at


def _call_edges(
    problem: Problem, rules: Rules, shards: list[Shard], in_parts: InParts, rows: I32
) -> I32:
    """Return (call, function) for every function that a callee holds, sorted."""
    n_words = (rules.n_objects + 63) // 64
    functions = np.zeros(n_words * 64, np.uint8)
    functions[problem.function_object] = 1
    mask = np.packbits(functions, bitorder="little").view("<u8").astype(np.uint64)
    count = np.zeros(len(rows) + 1, np.int64)
    for i, s in enumerate(shards):
        _count_functions(s, rows[:, i].copy(), mask, count)
    place = np.cumsum(count)
    edges = np.empty((int(place[-1]), 2), np.int32)

    def fill(part: slice) -> None:
        for i, s in enumerate(shards):
            called = rows[part, i].copy()
            _list_functions(s, called, part.start, mask, rules.function_of, place[part], edges)

    in_parts(len(rows), fill)
    if (np.diff(problem.function_object) < 0).any():
        edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
    return edges


@entry
def _count_functions(s: Shard, rows: I32, mask: Words, count: I64) -> None:
    for call in range(len(rows)):
        start = s.row_start[rows[call]]
        for i in range(start, start + s.row_length[rows[call]]):
            count[call + 1] += n_set(s.words[i] & mask[s.indices[i]])


@entry
def _list_functions(
    s: Shard, rows: I32, first: int, mask: Words, function_of: I32, place: I64, edges: I32
) -> None:
    """Write (call, function) for the calls from `first` on, each from its place on."""
    for call in range(len(rows)):
        start = s.row_start[rows[call]]
        at = place[call]
        for i in range(start, start + s.row_length[rows[call]]):
            found = s.words[i] & mask[s.indices[i]]
            while found != 0:
                edges[at, 0] = first + call
                edges[at, 1] = function_of[(np.int64(s.indices[i]) << 6) + lowest(found)]
                found &= found - np.uint64(1)
                at += 1
        place[call] = at
