"""The inclusion solver for GPUs: dense bit rows, rounds of rules on what is new."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace

from kleene.base.arrays import I32
from kleene.base.errors import SourceError
from kleene.kernels import launch
from kleene.solvers.inclusion.cuda.answer import solution
from kleene.solvers.inclusion.cuda.cycles import renamed, rows_of
from kleene.solvers.inclusion.cuda.rounds import Rounds, slots
from kleene.solvers.inclusion.cuda.sweep import Sweeps, close
from kleene.solvers.inclusion.cuda.tables import Sent, Tables, send, tables_of
from kleene.solvers.inclusion.offline import Reduced
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Solution, Trace
from kleene.solvers.inclusion.threads import NEVER, Stop, settle

__all__ = ["forecast", "problem_with", "solve"]


MANY_ROWS = 2_000_000  # with 600,000, nothing was gained by making tables while cycles are found


def solve(problem: Problem, *, trace: Trace | None = None, stop: Stop = NEVER) -> Solution:
    """Return the least answer to a checked problem, found on the GPU.

    Args:
        problem: what to solve; ask `problem_with` first.
        trace: is given a row of numbers for each round, with the time of each kind of rules;
            the device waits after each, which takes longer.
        stop: is looked at between rounds.
    """
    if stop is NEVER:
        settle()  # another use of the device could disturb the capture of graphs
    start_s = time.perf_counter()
    row_of, n_rows, asked, sent = _prepared(problem, stop)
    tables, names = renamed(asked, row_of, n_rows)
    prepared_s = time.perf_counter()
    rounds = Sweeps(tables, sent, names)
    rounds.wait()
    sent_s = time.perf_counter()
    counts = close(rounds, trace, stop)
    solved_s = time.perf_counter()
    statistics = {
        **counts,
        "rows": tables.n_rows,
        "words_per_row": tables.n_words,
        "prepare_s": prepared_s - start_s,
        "send_s": sent_s - prepared_s,
        "solve_s": solved_s - sent_s,
    }
    answer = expanded(problem, row_of, n_rows, rounds, statistics)
    statistics["fetch_s"] = time.perf_counter() - solved_s
    return answer


def _prepared(problem: Problem, stop: Stop) -> tuple[I32, int, Tables, Sent]:
    """Return each node's row, their number, and the tables, here and sent.

    The host makes and sends the tables of a large problem while the device looks for cycles.
    """
    xp = launch.current().xp

    def made_and_sent() -> tuple[Tables, Sent]:
        asked = tables_of(problem)
        stop.look()
        return asked, send(xp, problem, asked)

    if problem.n_constraints < MANY_ROWS:
        return *rows_of(problem), *made_and_sent()
    with ThreadPoolExecutor(1) as other:
        theirs = other.submit(copy_context().run, made_and_sent)
        return *rows_of(problem), *theirs.result()


def expanded(
    problem: Problem, row_of: I32, n_rows: int, rounds: Rounds, statistics: dict[str, float]
) -> Solution:
    """Return what the closed rows say of the problem, of whose nodes each has a row."""
    merged = replace(problem, n_nodes=n_rows, call_callee=row_of[problem.call_callee])
    return Reduced(merged, row_of).expand(solution(merged, rounds, statistics))


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
