"""The solution, from the shards' rows.

A row of the answer is a set that some node holds, and rows are numbered by the first node that
holds them: the answer does not depend on how many shards there were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32, I64, U64
from kleene.kernels.bits import lowest, n_set
from kleene.solvers.inclusion.compiled import entry_point
from kleene.solvers.inclusion.cpu import state
from kleene.solvers.inclusion.cpu.constraints import Rules
from kleene.solvers.inclusion.cpu.sets import hash_of, same
from kleene.solvers.inclusion.cpu.state import Graph, Shard
from kleene.solvers.inclusion.offline.numbering import first_equal
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Rows, Solution, words_of
from kleene.solvers.inclusion.threads import ALONE, Threads


def answer(
    problem: Problem,
    rules: Rules,
    g: Graph,
    shards: list[Shard],
    threads: Threads,
    statistics: Mapping[str, float],
) -> Solution:
    """Return what the shards hold as a solution to the (reduced) problem."""
    root = g.root[: rules.n_nodes]
    row_of = _numbered(shards, threads, root)
    named = root[np.flatnonzero(np.diff(np.maximum.accumulate(row_of), prepend=-1))]
    n_words = (rules.n_objects + 63) // 64
    rows = _rows([s.node_row[named] for s in shards], shards, threads, n_words)
    is_unknown = np.zeros(len(rows), np.bool_)
    escaped = np.zeros(problem.n_objects + 1, np.bool_)
    if rules.outside >= 0:
        escaped[rows.objects(int(row_of[rules.outside]))] = True
        is_unknown, rows = _stripped(rows, problem.n_objects, escaped)
    row_of = row_of[: problem.n_nodes]
    return Solution(
        row_of=row_of,
        rows=rows,
        unknown=is_unknown[row_of],
        escaped=escaped[:-1],
        call_edges=call_edges(problem, rows, row_of, threads),
        calls_outside=is_unknown[row_of[problem.call_callee]],
        statistics=statistics,
    )


def _numbered(shards: list[Shard], threads: Threads, root: I32) -> I32:
    """Return a number for the set of each node, from 0 on by the first node that holds it."""
    number, *others = threads.run([partial(_number_sets, s, root) for s in shards])
    for other in others:
        first = first_equal(number, other)
        number = (np.cumsum(first == np.arange(len(first)), dtype=np.int32) - 1)[first]
    return number  # type: ignore[no-any-return]


@entry_point
def _number_sets(s: Shard, root: I32) -> I32:
    """Return a number for what each node holds in one shard: equal for equal sets."""
    number = np.full(s.n[state.ROWS], -1, np.int32)  # per row
    n_slots = 16
    while n_slots < 2 * min(len(root), s.n[state.ROWS]):
        n_slots *= 2
    slots = np.full(n_slots, -1, np.int32)  # the first row of each set
    found = np.empty(len(root), np.int32)
    n = 0
    for node in range(len(root)):
        row = s.node_row[root[node]]
        if number[row] < 0:
            slot = hash_of(s, row) & (n_slots - 1)
            while slots[slot] >= 0 and not same(s, slots[slot], row):
                slot = (slot + 1) & (n_slots - 1)
            if slots[slot] < 0:
                slots[slot] = row
                number[row] = n
                n += 1
            else:
                number[row] = number[slots[slot]]
        found[node] = number[row]
    return found


def _in_parts(threads: Threads, n: int, work: Callable[[int, int], None]) -> None:
    """Do n items of work, by all threads."""
    n_parts = 4 * threads.n if threads.n > 1 else 1  # more than threads: parts differ
    ends = np.linspace(0, n, n_parts + 1).astype(int).tolist()
    threads.run([partial(work, first, end) for first, end in pairwise(ends)])


def _rows(names: list[I32], shards: list[Shard], threads: Threads, n_words: int) -> Rows:
    """Return the sets, of which each shard has the words in rows of its own."""
    offsets = np.zeros(len(names[0]) + 1, np.int64)
    for rows, s in zip(names, shards, strict=True):
        offsets[1:] += s.row_length[rows]
    np.cumsum(offsets, out=offsets)
    index = np.empty(offsets[-1], np.int32)
    word = np.empty(offsets[-1], np.uint64)

    def fill(first: int, end: int) -> None:
        place = offsets[first:end].copy()
        for rows, s in zip(names, shards, strict=True):
            _fill(s, rows[first:end], place, index, word)
        if len(shards) > 1:
            _sort(offsets[first : end + 1], index, word, n_words)

    _in_parts(threads, len(offsets) - 1, fill)
    return Rows(offsets, index, word)


@entry_point
def _fill(s: Shard, rows: I32, place: I64, index: I32, word: U64) -> None:
    """Write a shard's part of each row at its place."""
    for r in range(len(rows)):
        start, at = s.row_start[rows[r]], place[r]
        for i in range(s.row_length[rows[r]]):
            index[at + i] = s.indices[start + i] * s.step + s.first
            word[at + i] = s.words[start + i]
        place[r] = at + s.row_length[rows[r]]


@entry_point
def _sort(offsets: I64, index: I32, word: U64, n_words: int) -> None:
    """Sort the words of each row."""
    whole = np.zeros(n_words, np.uint64)
    touched = np.zeros(n_words // 64 + 1, np.uint64)
    for r in range(len(offsets) - 1):
        for i in range(offsets[r], offsets[r + 1]):
            whole[index[i]] = word[i]
            touched[index[i] >> 6] |= np.uint64(1) << np.uint64(index[i] & 63)
        at = offsets[r]
        block = 0
        while at < offsets[r + 1]:
            places = touched[block]
            touched[block] = 0
            while places != 0:
                index[at] = (block << 6) + lowest(places)
                word[at] = whole[index[at]]
                places &= places - np.uint64(1)
                at += 1
            block += 1


def _stripped(
    rows: Rows, unknown: int, escaped: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], Rows]:
    """Return which rows hold the object `unknown`; and all without it, those without what escaped.

    It is the last object of all.
    """
    escaped[unknown] = True
    words = words_of(escaped)
    is_unknown = np.zeros(len(rows), np.bool_)
    n_words = _strip(rows.offsets, rows.index, rows.word, unknown, words, is_unknown)
    return is_unknown, Rows(rows.offsets, rows.index[:n_words], rows.word[:n_words])


@entry_point
def _strip(
    offsets: I64,
    index: I32,
    word: U64,
    unknown: int,
    escaped: U64,
    is_unknown: NDArray[np.bool_],
) -> int:
    """Close the gaps that what is left out leaves in the rows; return how many words are left."""
    at = first = 0
    for r in range(len(is_unknown)):
        end = offsets[r + 1]
        if end > first and index[end - 1] == unknown >> 6:
            is_unknown[r] = word[end - 1] >> np.uint64(unknown & 63) & np.uint64(1) != 0
        for i in range(first, end):
            left = word[i]
            if is_unknown[r]:
                left &= ~escaped[index[i]]
            if left != 0:
                index[at] = index[i]
                word[at] = left
                at += 1
        offsets[r + 1] = at
        first = end
    return at


def call_edges(problem: Problem, rows: Rows, row_of: I32, threads: Threads = ALONE) -> I32:
    """Return (call, function) for every function that a callee holds, sorted."""
    function_of = problem.function_of()
    mask = words_of(function_of >= 0)
    called = row_of[problem.call_callee]
    offsets = _count_functions(rows.offsets, rows.index, rows.word, called, mask)
    edges = np.empty((int(offsets[-1]), 2), np.int32)

    def fill(first: int, end: int) -> None:
        table = rows.offsets, rows.index, rows.word
        _list_functions(*table, called, first, end, mask, function_of, offsets, edges)

    _in_parts(threads, len(called), fill)
    if (np.diff(problem.function_object) < 0).any():
        edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
    return edges


@entry_point
def _count_functions(offsets: I64, index: I32, word: U64, called: I32, mask: U64) -> I64:
    """Return where the functions of each call begin; a row that several calls hold counts once."""
    n_called = np.full(len(offsets) - 1, -1, np.int64)  # per row
    place = np.zeros(len(called) + 1, np.int64)
    for call in range(len(called)):
        row = called[call]
        if n_called[row] < 0:
            n_called[row] = 0
            for i in range(offsets[row], offsets[row + 1]):
                n_called[row] += n_set(word[i] & mask[index[i]])
        place[call + 1] = place[call] + n_called[row]
    return place


@entry_point
def _list_functions(
    offsets: I64,
    index: I32,
    word: U64,
    called: I32,
    first: int,
    end: int,
    mask: U64,
    function_of: I32,
    place: I64,
    edges: I32,
) -> None:
    """Write (call, function) for the calls from `first` to before `end`, each from its place on."""
    for call in range(first, end):
        at = place[call]
        for i in range(offsets[called[call]], offsets[called[call] + 1]):
            found = word[i] & mask[index[i]]
            while found != 0:
                edges[at, 0] = call
                edges[at, 1] = function_of[(np.int64(index[i]) << 6) + lowest(found)]
                found &= found - np.uint64(1)
                at += 1
