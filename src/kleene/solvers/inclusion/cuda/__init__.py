"""The inclusion solver for GPUs: dense bit rows, rounds of rules on what is new."""

from __future__ import annotations

import time

from kleene.base.errors import SourceError
from kleene.kernels import launch
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
    start = time.perf_counter()
    stated = tables(problem)
    rounds = Rounds(problem, stated)
    n_rounds = rounds.run(trace)
    solved = time.perf_counter()
    answer = solution(problem, rounds, {"rounds": n_rounds, "solve_s": solved - start})
    return answer


def forecast(problem: Problem) -> int:
    """Return the bytes of device memory that solving the problem takes."""
    return _bytes_of(tables(problem))


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
