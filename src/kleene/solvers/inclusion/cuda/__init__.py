"""The inclusion solver for GPUs: dense bit rows, rounds of rules on what is new."""

from __future__ import annotations

import time

import numpy as np

from kleene.base.errors import SourceError
from kleene.kernels import launch
from kleene.solvers.inclusion import offline
from kleene.solvers.inclusion.cuda.answer import solution
from kleene.solvers.inclusion.cuda.rounds import Rounds, Trace
from kleene.solvers.inclusion.cuda.tables import Tables, tables
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Solution

__all__ = ["forecast", "problem_with", "solve"]


def solve(problem: Problem, *, trace: Trace | None = None) -> Solution:
    """Return the least answer to a checked problem, found on the GPU.

    Args:
        problem: what to solve; ask `problem_with` first.
        trace: is given a row of numbers for each round.
    """
    start_s = time.perf_counter()
    reduced = _reduced(problem)
    stated = tables(reduced.problem)
    reduced_s = time.perf_counter()
    rounds = Rounds(reduced.problem, stated)
    counts = rounds.run(trace)
    solved_s = time.perf_counter()
    statistics = {
        **counts,
        "rows": stated.n_rows,
        "words_per_row": stated.n_words,
        "prepare_s": reduced_s - start_s,
        "solve_s": solved_s - reduced_s,
    }
    answer = reduced.expand(solution(reduced.problem, rounds, statistics))
    statistics["fetch_s"] = time.perf_counter() - solved_s
    return answer


def forecast(problem: Problem) -> int:
    """Return the bytes of device memory that solving the problem takes."""
    return _bytes_of(tables(_reduced(problem).problem))


def _reduced(problem: Problem) -> offline.Reduced:
    """Return the problem with equal nodes merged, where any can be told before solving."""
    p = problem
    if any(map(len, (p.copy_source, p.load_pointer, p.offset_source))):
        return offline.reduce(problem)
    return offline.Reduced(problem, np.arange(p.n_nodes, dtype=np.int32))


def problem_with(problem: Problem) -> str | None:
    """Return why the GPU cannot take this problem, or None if it can."""
    try:
        place = launch.current()
    except SourceError as error:
        return error.message
    if launch.gpu_problem() is not None:
        return None  # the host runner was chosen by hand
    needed, free = forecast(problem), launch.gpu_free_bytes()
    if needed <= free:
        return None
    return f"needs {needed / 2**30:.1f} GiB, {place.name} has {free / 2**30:.1f} GiB free"


def _bytes_of(stated: Tables) -> int:
    rules = (stated.copy, stated.push, stated.pull, stated.offset)
    n_rules = sum(map(len, rules))
    rows = 3 * stated.n_rows * (8 * stated.n_words + 8)
    return rows + 12 * n_rules + 4 * max(map(len, rules)) + 20 * stated.n_objects
