"""The inclusion solver for GPUs: dense bit rows, rounds of rules on what is new."""

from __future__ import annotations

import time

from kleene.base.errors import SourceError
from kleene.kernels import launch
from kleene.solvers.inclusion.cuda.answer import solution
from kleene.solvers.inclusion.cuda.cycles import collapse
from kleene.solvers.inclusion.cuda.fixpoint import Trace, close
from kleene.solvers.inclusion.cuda.sweep import Sweeps
from kleene.solvers.inclusion.cuda.tables import tables
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
    reduced = collapse(problem)
    stated = tables(reduced.problem)
    prepared_s = time.perf_counter()
    rounds = Sweeps(reduced.problem, stated)
    rounds.wait()
    sent_s = time.perf_counter()
    counts = close(rounds, trace)
    solved_s = time.perf_counter()
    statistics = {
        **counts,
        "rows": stated.n_rows,
        "words_per_row": stated.n_words,
        "prepare_s": prepared_s - start_s,
        "send_s": sent_s - prepared_s,
        "solve_s": solved_s - sent_s,
    }
    answer = reduced.expand(solution(reduced.problem, rounds, statistics))
    statistics["fetch_s"] = time.perf_counter() - solved_s
    return answer


def forecast(problem: Problem) -> int:
    """Return the bytes of device memory that solving takes, if no nodes are merged before."""
    p = problem
    n_words = -(-(p.n_objects + 1) // 256) * 4
    pushes, pulls = len(p.store_source) + len(p.actuals), len(p.load_pointer) + p.n_calls
    n_rules = len(p.copy_source) + pushes + pulls + len(p.offset_source)
    # A rule has three columns, and a place among the active; sorting them takes as much again.
    return 3 * (p.n_nodes + 2) * (8 * n_words + 8) + 2 * 16 * n_rules + 20 * p.n_objects


def problem_with(problem: Problem) -> str | None:
    """Return why the GPU cannot take this problem, or None if it can."""
    try:
        place = launch.current()
    except SourceError as error:
        return error.message
    if launch.gpu_problem() is not None:
        return None  # the host runner was chosen by hand
    free = launch.gpu_free_bytes()
    if forecast(problem) <= free or (needed := forecast(collapse(problem).problem)) <= free:
        return None
    return f"needs {needed / 2**30:.1f} GiB, {place.name} has {free / 2**30:.1f} GiB free"
