"""Prabhu, Ramalingam, Might, Hall: EigenCFA (POPL 2011), the sparse algorithm, on one thread.

A node's row is a header (its next free slot) and object numbers in the order in which they came.
Rows start with room for 4 % of all functions. A pass takes every call, every function in the row of
its callee, and appends what the row of an actual holds to the row of the formal unless a search
from the row's start finds it there. Passes repeat until one appends nothing. A full row ends the
pass, and the next starts with rows twice as wide; what was found is kept, which the paper does not
say and which costs nothing.

The paper's programs are binary CPS: functions and calls with two places and no result. Any number
of places is taken here; results, rests and the rules of other analyses are refused.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32
from kleene.solvers.inclusion.paper import closed, entry_point
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Rows, Solution

INITIAL_SHARE = 0.04
_SAME, _GREW, _FULL = 0, 1, 2


def refuses(problem: Problem) -> str | None:
    """Return why the paper's algorithm cannot take this problem, or None if it can."""
    for name in ("copy_source", "load_pointer", "store_pointer", "offset_source", "flags"):
        if len(getattr(problem, name)):
            return f"EigenCFA knows addresses, functions and calls alone: {name} has rows"
    for name in ("function_result", "function_rest", "call_result"):
        if (getattr(problem, name) >= 0).any():
            return f"EigenCFA's functions only have formals: {name} has nodes"
    return None


def solve(problem: Problem) -> Solution:
    """Return the least answer to a problem of closures and calls."""
    assert refuses(problem) is None, refuses(problem)
    calls = (problem.call_callee, problem.actual_offsets, problem.actuals)
    functions = (problem.function_of(), problem.formal_offsets, problem.formals)
    width, n_passes, outcome = _first_width(problem), 0, _FULL
    rows = np.zeros((problem.n_nodes, 1 + width), np.int32)
    for node, place in zip(problem.address_node, problem.address_object, strict=True):
        assert _append(rows[node], place) != _FULL
    start_s = time.perf_counter()
    while outcome != _SAME:
        n_passes += 1
        outcome = _pass(rows, *calls, *functions)
        if outcome == _FULL:
            rows = np.concatenate([rows, np.zeros((len(rows), width), np.int32)], axis=1)
            width *= 2
    passes_s = time.perf_counter() - start_s  # without filling the rows and reading them back
    statistics = {"n_passes": float(n_passes), "row_width": float(width), "passes_s": passes_s}
    return _solution(problem, rows, statistics)


def _first_width(problem: Problem) -> int:
    """Return the paper's width, or more if the addresses of a node need it."""
    most = np.bincount(problem.address_node).max(initial=1)
    return max(int(np.ceil(INITIAL_SHARE * problem.n_functions)), int(most))


@entry_point
def _append(row: I32, place: int) -> int:
    n_used = row[0]
    for slot in range(1, n_used + 1):
        if row[slot] == place:
            return _SAME
    if n_used + 1 == len(row):
        return _FULL
    row[n_used + 1] = place
    row[0] = n_used + 1
    return _GREW


@entry_point
def _pass(
    rows: NDArray[np.int32],
    call_callee: I32,
    actual_offsets: I32,
    actuals: I32,
    function_of: I32,
    formal_offsets: I32,
    formals: I32,
) -> int:
    outcome = _SAME
    for call in range(len(call_callee)):
        callee = rows[call_callee[call]]
        first_actual = actual_offsets[call]
        n_actuals = actual_offsets[call + 1] - first_actual
        for slot in range(1, callee[0] + 1):
            function = function_of[callee[slot]]
            if function < 0:
                continue
            first = formal_offsets[function]
            for place in range(min(n_actuals, formal_offsets[function + 1] - first)):
                source, destination = actuals[first_actual + place], formals[first + place]
                if source < 0 or destination < 0 or source == destination:
                    continue
                given = rows[source]
                for found in range(1, given[0] + 1):
                    got = _append(rows[destination], given[found])
                    if got == _FULL:
                        return _FULL
                    outcome |= got
    return outcome


def _solution(problem: Problem, rows: NDArray[np.int32], statistics: dict[str, float]) -> Solution:
    node, slot = np.nonzero(np.arange(rows.shape[1] - 1) < rows[:, :1])
    objects = rows[node, slot + 1].astype(np.int64)
    row_of = np.arange(problem.n_nodes, dtype=np.int32)
    found = Rows.of_pairs(problem.n_nodes, node, objects)
    return closed(problem, row_of, found, statistics)
