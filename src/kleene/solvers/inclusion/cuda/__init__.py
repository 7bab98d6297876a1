"""The inclusion solver for GPUs: dense bit rows, rounds of rules on what is new."""

from __future__ import annotations

import time
from dataclasses import replace

from kleene.base.errors import SourceError
from kleene.kernels import launch
from kleene.solvers.inclusion.cuda.answer import solution
from kleene.solvers.inclusion.cuda.cycles import renamed, rows_of
from kleene.solvers.inclusion.cuda.fixpoint import close
from kleene.solvers.inclusion.cuda.layout import slots
from kleene.solvers.inclusion.cuda.sending import send
from kleene.solvers.inclusion.cuda.sweep import Sweeps
from kleene.solvers.inclusion.cuda.tables import tables
from kleene.solvers.inclusion.offline import Reduced
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Solution, Trace

__all__ = ["forecast", "problem_with", "solve"]


def solve(problem: Problem, *, trace: Trace | None = None) -> Solution:
    """Return the least answer to a checked problem, found on the GPU.

    Args:
        problem: what to solve; ask `problem_with` first.
        trace: is given a row of numbers for each round, with the time of each kind of rules;
            the device waits after each, which takes longer.
    """
    start_s = time.perf_counter()
    row_of, n_rows = rows_of(problem)
    asked = tables(problem)
    stated, names = renamed(asked, row_of, n_rows)
    prepared_s = time.perf_counter()
    rounds = Sweeps(stated, send(launch.current().xp, problem, asked), names)
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
    merged = replace(problem, n_nodes=n_rows, call_callee=row_of[problem.call_callee])
    answer = Reduced(merged, row_of).expand(solution(merged, rounds, statistics))
    statistics["fetch_s"] = time.perf_counter() - solved_s
    return answer


def forecast(problem: Problem, n_rows: int | None = None) -> int:
    """Return the bytes of device memory that solving takes, by default with a row for each node."""
    p = problem
    n_rows = p.n_nodes if n_rows is None else n_rows
    n_words = -(-(p.n_objects + 1) // 256) * 4
    pushes, pulls = len(p.store_source) + len(p.actuals), len(p.load_pointer) + p.n_calls
    n_rules = len(p.copy_source) + pushes + pulls + len(p.offset_source)
    n_all = n_rows + 2 + 2 * slots(n_rows + 2, max(pushes, pulls))
    # A rule has three columns, a pair and places in lists and a table; sorting takes a part again.
    return 3 * n_all * (8 * n_words + 12) + 2 * 40 * n_rules + 20 * p.n_objects


def problem_with(problem: Problem) -> str | None:
    """Return why the GPU cannot take this problem, or None if it can."""
    try:
        place = launch.current()
    except SourceError:
        return launch.gpu_problem()
    if launch.gpu_problem() is not None:
        return None  # the host runner was chosen by hand
    free = launch.gpu_free_bytes()
    if forecast(problem) <= free or (needed := forecast(problem, rows_of(problem)[1])) <= free:
        return None
    return f"needs {needed / 2**30:.1f} GiB, {place.name} has {free / 2**30:.1f} GiB free"
