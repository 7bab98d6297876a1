"""The device's rows as a `Solution`: only words that are not zero travel."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.kernels import launch
from kleene.solvers.inclusion.cuda.rounds import BLOCK, HERE, Rounds
from kleene.solvers.inclusion.problem import I32, Problem
from kleene.solvers.inclusion.solution import Bits, Rows, Solution


def solution(problem: Problem, rounds: Rounds, statistics: dict[str, float]) -> Solution:
    """Return what the closed rows say of the problem."""
    module = launch.load(HERE / "answer.cu")
    escaped_words = _escaped_words(rounds)
    rows, unknown = _rows(module, rounds, problem.n_nodes, escaped_words)
    escaped = np.zeros(problem.n_objects, bool)
    if rounds.tables.outside >= 0:
        bits = np.unpackbits(rounds.fetch(escaped_words).view(np.uint8), bitorder="little")
        escaped = bits[: problem.n_objects].astype(bool)
    return Solution(
        row_of=np.arange(problem.n_nodes, dtype=np.int32),
        rows=rows,
        unknown=unknown,
        escaped=escaped,
        call_edges=_call_edges(module, rounds, problem),
        calls_outside=unknown[problem.call_callee],
        statistics=statistics,
    )


def _escaped_words(rounds: Rounds) -> Any:
    if rounds.tables.outside < 0:
        return rounds.xp.zeros(rounds.n_words, np.uint64)
    return rounds.all[rounds.tables.escaped_row]


def _rows(module: launch.Module, rounds: Rounds, n_rows: int, escaped: Any) -> tuple[Rows, Bits]:
    xp = rounds.xp
    unknown = xp.zeros(max(1, n_rows), np.uint8)
    counts = xp.zeros(n_rows + 1, np.int64)
    widths = (np.int32(rounds.n_words), np.int32(rounds.block_words))
    outside = np.int32(rounds.tables.outside)
    args = (rounds.all, rounds.all_mask, escaped, np.int32(n_rows), *widths, outside)
    module.launch("count_words", _warps(n_rows), (BLOCK,), (*args, counts[1:], unknown))
    offsets = xp.cumsum(counts)
    n_words = int(offsets[-1])
    index, word = xp.zeros(max(1, n_words), np.int32), xp.zeros(max(1, n_words), np.uint64)
    module.launch("write_words", _warps(n_rows), (BLOCK,), (*args, offsets, index, word))
    there = (offsets, index[:n_words], word[:n_words], unknown[:n_rows])
    offsets, index, word, unknown = (rounds.fetch(array) for array in there)
    return Rows(offsets, index, word), unknown.astype(bool)


def _call_edges(module: launch.Module, rounds: Rounds, problem: Problem) -> I32:
    """Return the pairs of call and function, sorted."""
    xp, n_calls = rounds.xp, problem.n_calls
    if not n_calls or not problem.n_functions:
        return np.empty((0, 2), np.int32)
    is_function = np.zeros(64 * rounds.n_words, bool)
    is_function[problem.function_object] = True
    functions = xp.asarray(np.packbits(is_function, bitorder="little").view(np.uint64))
    counts = xp.zeros(n_calls + 1, np.int64)
    widths = (np.int32(rounds.n_words), np.int32(rounds.block_words))
    callee = xp.asarray(np.ascontiguousarray(problem.call_callee))
    args = (rounds.all, rounds.all_mask, functions, callee, np.int32(n_calls), *widths)
    module.launch("count_edges", _warps(n_calls), (BLOCK,), (*args, counts[1:]))
    offsets = xp.cumsum(counts)
    edges = xp.zeros((max(1, int(offsets[-1])), 2), np.int32)
    ends = (offsets, rounds.function_of, edges)
    module.launch("write_edges", _warps(n_calls), (BLOCK,), (*args, *ends))
    found: I32 = rounds.fetch(edges[: int(offsets[-1])])
    if (np.diff(problem.function_object) < 0).any():  # the device wrote them by object
        found = found[np.lexsort((found[:, 1], found[:, 0]))]
    return found


def _warps(n: int) -> tuple[int]:
    return (min(-(-n * 32 // BLOCK), 132 * 16),)
