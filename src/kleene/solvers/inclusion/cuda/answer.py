"""The device's rows as a `Solution`: only distinct rows travel, and of them words with a bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.base.arrays import I32, Bools
from kleene.kernels import launch
from kleene.solvers.inclusion.cuda.rounds import BLOCK, HERE, Rounds, threads, warps
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Rows, Solution, words_of


def solution(problem: Problem, rounds: Rounds, statistics: dict[str, float]) -> Solution:
    """Return what the closed rows say of the problem; equal rows are one."""
    module = launch.load(HERE / "answer.cu")
    escaped_words = _escaped_words(rounds)
    row_of, distinct = _distinct(module, rounds, problem.n_nodes)
    matrix, outside = rounds.matrix, rounds.tables.outside
    held = words(rounds, matrix.all, matrix.all_mask, distinct, escaped_words, outside)
    offsets, index, word, is_unknown = held
    escaped = np.zeros(problem.n_objects, bool)
    if outside >= 0:
        bits = np.unpackbits(rounds.fetch(escaped_words).view(np.uint8), bitorder="little")
        escaped = bits[: problem.n_objects].astype(bool)
    unknown = is_unknown.astype(bool)[row_of]
    return Solution(
        row_of=row_of,
        rows=Rows(offsets, index, word),
        unknown=unknown,
        escaped=escaped,
        call_edges=_inside(problem, _call_edges(module, rounds, problem), unknown, escaped),
        calls_outside=unknown[problem.call_callee],
        statistics=statistics,
    )


def _escaped_words(rounds: Rounds) -> Any:
    if rounds.tables.outside < 0:
        return rounds.xp.zeros(rounds.matrix.n_words, np.uint64)
    return rounds.matrix.all[rounds.tables.escaped_row]


def _distinct(module: launch.Module, rounds: Rounds, n_rows: int) -> tuple[I32, Any]:
    """Return each row's place among the distinct ones, and those, on the device."""
    xp, m, n = rounds.xp, rounds.matrix, np.int32(n_rows)
    if not n_rows:
        return np.empty(0, np.int32), xp.zeros(0, np.int32)
    n_places = 1 << (2 * n_rows).bit_length()
    keys, first = xp.zeros(n_places, np.uint64), xp.zeros(n_places, np.int32)
    place_of, like = xp.zeros(n_rows, np.int32), xp.zeros(n_rows, np.int32)
    table = (np.int32(n_places), keys, first, place_of)
    module.launch("enter_rows", threads(n_rows), (BLOCK,), (m.sums, n, *table))
    rows = (m.all, m.all_mask, *m.widths)
    module.launch("compare_rows", warps(n_rows), (BLOCK,), (*rows, n, first, place_of, like))
    is_first = like == xp.arange(n_rows, dtype=np.int32)
    number = (xp.cumsum(is_first) - 1).astype(np.int32)
    return rounds.fetch(number[like]), xp.flatnonzero(is_first).astype(np.int32)


def words(
    rounds: Rounds, rows: Any, mask: Any, chosen: Any, without: Any, outside: int = -1
) -> list[Any]:
    """Return the chosen rows as sparse words: offsets, indices, words, and which rows are unknown.

    Those that hold the object `outside` are unknown: they are given without the set `without`.
    """
    xp, module, n_rows = rounds.xp, launch.load(HERE / "answer.cu"), len(chosen)
    unknown = xp.zeros(max(1, n_rows), np.uint8)
    counts = xp.zeros(n_rows + 1, np.int64)
    sizes = (np.int32(n_rows), *rounds.matrix.widths, np.int32(outside))
    args = (rows, mask, without, chosen, *sizes)
    grid = warps(n_rows) if n_rows else (0,)
    module.launch("count_words", grid, (BLOCK,), (*args, counts[1:], unknown))
    offsets = xp.cumsum(counts)
    n_words = int(offsets[-1])
    index, word = xp.zeros(max(1, n_words), np.int32), xp.zeros(max(1, n_words), np.uint64)
    module.launch("write_words", grid, (BLOCK,), (*args, offsets, index, word))
    there = (offsets, index[:n_words], word[:n_words], unknown[:n_rows])
    return [rounds.fetch(array) for array in there]


def _inside(problem: Problem, edges: I32, unknown: Bools, escaped: Bools) -> I32:
    """Return the edges without those from unknown callees to what escaped."""
    if not escaped.any():
        return edges
    to_all = unknown[problem.call_callee[edges[:, 0]]]
    return edges[~(to_all & escaped[problem.function_object[edges[:, 1]]])]


def _call_edges(module: launch.Module, rounds: Rounds, problem: Problem) -> I32:
    """Return the pairs of call and function, sorted."""
    xp, m, n_calls = rounds.xp, rounds.matrix, problem.n_calls
    if not n_calls or not problem.n_functions:
        return np.empty((0, 2), np.int32)
    is_function = np.zeros(64 * m.n_words, bool)
    is_function[problem.function_object] = True
    functions = xp.asarray(words_of(is_function))
    counts = xp.zeros(n_calls + 1, np.int64)
    callee = xp.asarray(np.ascontiguousarray(problem.call_callee))
    args = (m.all, m.all_mask, functions, callee, np.int32(n_calls), *m.widths)
    module.launch("count_edges", warps(n_calls), (BLOCK,), (*args, counts[1:]))
    offsets = xp.cumsum(counts)
    n_edges = int(offsets[-1])
    edges = xp.empty((max(1, n_edges), 2), np.int32)
    ends = (offsets, rounds.maps[1], edges)
    module.launch("write_edges", warps(n_calls), (BLOCK,), (*args, *ends))
    found: I32 = rounds.fetch(edges[:n_edges])
    if (np.diff(problem.function_object) < 0).any():  # the device wrote them by object
        found = found[np.lexsort((found[:, 1], found[:, 0]))]
    return found
