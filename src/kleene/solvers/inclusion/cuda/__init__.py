"""The inclusion solver for GPUs: dense bit rows, rounds of rules on what is new."""

from __future__ import annotations

import time

import numpy as np

from kleene.base.errors import SourceError
from kleene.kernels import launch
from kleene.solvers.inclusion import offline
from kleene.solvers.inclusion.cuda.answer import solution
from kleene.solvers.inclusion.cuda.close import Trace, close
from kleene.solvers.inclusion.cuda.sweep import Sweeps
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
    return _bytes_of(tables(problem))


def problem_with(problem: Problem) -> str | None:
    """Return why the GPU cannot take this problem, or None if it can."""
    try:
        place = launch.current()
    except SourceError as error:
        return error.message
    if launch.gpu_problem() is not None:
        return None  # the host runner was chosen by hand
    free = launch.gpu_free_bytes()
    if forecast(problem) <= free or (needed := forecast(_reduced(problem).problem)) <= free:
        return None
    return f"needs {needed / 2**30:.1f} GiB, {place.name} has {free / 2**30:.1f} GiB free"


def _reduced(problem: Problem) -> offline.Reduced:
    """Return the problem with cycles of copies merged.

    Merging more is not worth the host's time: at 1 M nodes and 10 M rows it takes 3 s instead of
    1 s, for 140,000 rows on the device instead of 166,000.
    """
    if len(problem.copy_source) or len(problem.offset_source):
        return offline.reduce(problem, n_rounds=0)
    return offline.Reduced(problem, np.arange(problem.n_nodes, dtype=np.int32))


def _bytes_of(stated: Tables) -> int:
    rules = (stated.copy, stated.push, stated.pull, stated.offset)
    rows = 3 * stated.n_rows * (8 * stated.n_words + 8)
    return rows + 12 * sum(map(len, rules)) + 4 * max(map(len, rules)) + 20 * stated.n_objects
