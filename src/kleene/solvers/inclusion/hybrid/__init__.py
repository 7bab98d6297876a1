"""CPU and GPU at once: one worklist, taken from both ends; only what is found crosses the bus.

After Su, Ye and Xue (HiPC 2013). Both sides hold all rows. In a shared round the rules that have
something to do stand in one list by kind: offsets, loads and results, stores and actuals, copies,
in the order in which the work per rule grows more uneven. The GPU takes many rules at a time from
the even end, the CPU few from the other, until they meet; then each side sends the words that it
found, and both begin the next round with the same rows.

A problem on which the CPU alone is expected to be faster is left to it (`choice`). Else the host
makes and sends the tables of a large problem while the device looks for cycles. Sharing has its
price: the host must be given the rows, and what is found must be exchanged. So the GPU begins as
`cuda` does, alone, and sharing starts when `Costs` expects it to pay; it ends when the exchange
takes more than a fifth of a shared round (the paper's rule), or when two rounds on end took longer
than the GPU alone would have, estimated kind by kind from its part of the rules.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from kleene.base.arrays import I32
from kleene.kernels import launch
from kleene.solvers.inclusion import cpu
from kleene.solvers.inclusion.cuda.answer import solution
from kleene.solvers.inclusion.cuda.cycles import renamed, rows_of
from kleene.solvers.inclusion.cuda.fixpoint import close
from kleene.solvers.inclusion.cuda.sending import Sent, send
from kleene.solvers.inclusion.cuda.tables import Tables, tables
from kleene.solvers.inclusion.hybrid.choice import FEW_NODES, Expected, expected
from kleene.solvers.inclusion.hybrid.costs import Costs
from kleene.solvers.inclusion.hybrid.report import paper_columns
from kleene.solvers.inclusion.hybrid.shared import SharedRounds
from kleene.solvers.inclusion.offline import Reduced
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Solution, Trace

__all__ = ["FEW_NODES", "Costs", "Expected", "expected", "paper_columns", "solve", "together"]

MANY_ROWS = 2_000_000  # with 600,000, nothing was gained by making tables while cycles are found


def solve(problem: Problem, *, threads: int | None = None, trace: Trace | None = None) -> Solution:
    """Return the least answer to a checked problem, found by whom it is expected of soonest.

    Args:
        problem: what to solve; ask `cuda.problem_with` first.
        threads: of the CPU's side; all of them by default.
        trace: is given a row of numbers for each wave of the CPU alone, each shared round and each
            batch of the GPU's own.
    """
    if problem.n_nodes < FEW_NODES or expected(problem).on_cpu:
        return cpu.solve(problem, threads=1, trace=trace)
    return together(problem, threads=threads, trace=trace)


def together(
    problem: Problem,
    *,
    threads: int | None = None,
    trace: Trace | None = None,
    costs: Costs | None = None,
) -> Solution:
    """Return the least answer to a checked problem, found by both sides.

    Args:
        problem: what to solve; ask `cuda.problem_with` first.
        threads: of the CPU's side; all of them by default.
        trace: is given a row of numbers for each shared round and each batch of the GPU's own.
        costs: when to share; by default measured on this machine.
    """
    start_s = time.perf_counter()
    n_threads = threads or os.cpu_count() or 1
    (row_of, n_rows), asked, sent = _prepared(problem, n_threads)
    stated, names = renamed(asked, row_of, n_rows)
    costs = costs or Costs.measured(n_threads)
    sides = SharedRounds(stated, sent, names, n_threads, costs, trace)
    counts = close(sides)
    solve_s = time.perf_counter() - start_s
    statistics = {**counts, **sides.statistics(), "solve_s": solve_s}
    merged = replace(problem, n_nodes=n_rows, call_callee=row_of[problem.call_callee])
    return Reduced(merged, row_of).expand(solution(merged, sides, statistics))


def _prepared(problem: Problem, n_threads: int) -> tuple[tuple[I32, int], Tables, Sent]:
    """Return each node's row, and the tables, here and sent; of large problems at once."""
    xp = launch.current().xp

    def stated() -> tuple[Tables, Sent]:
        asked = tables(problem)
        return asked, send(xp, problem, asked)

    if n_threads == 1 or problem.n_constraints < MANY_ROWS:
        return rows_of(problem), *stated()
    with ThreadPoolExecutor(1) as other:
        theirs = other.submit(stated)
        return rows_of(problem), *theirs.result()
