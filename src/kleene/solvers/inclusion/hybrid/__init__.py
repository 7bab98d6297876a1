"""CPU and GPU at once: one worklist, taken from both ends; only what is found crosses the bus.

After Su, Ye and Xue (HiPC 2013). Both sides hold all rows. In a shared round the rules that have
something to do stand in one list by kind: offsets, loads and results, stores and actuals, copies,
in the order in which the work per rule grows more uneven. The GPU takes many rules at a time from
the even end, the CPU few from the other, until they meet; then each side sends the words that it
found, and both begin the next round with the same rows.

A problem of few nodes is the CPU's alone. Else sharing has its price: the host must be given the
rows, and what is found must be exchanged. So the GPU begins as `cuda` does, alone, and sharing
starts when `Costs` expects it to pay; it ends when the exchange takes more than a fifth of a shared
round (the paper's rule), or when two rounds on end took longer than the GPU alone would have,
estimated kind by kind from its part of the rules.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace

from kleene.solvers.inclusion import cpu
from kleene.solvers.inclusion.cuda.answer import solution
from kleene.solvers.inclusion.cuda.cycles import renamed, rows_of
from kleene.solvers.inclusion.cuda.fixpoint import Trace, close
from kleene.solvers.inclusion.cuda.tables import tables
from kleene.solvers.inclusion.hybrid.costs import Costs
from kleene.solvers.inclusion.hybrid.report import paper_columns
from kleene.solvers.inclusion.hybrid.shared import SharedRounds
from kleene.solvers.inclusion.offline import Reduced
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Solution

__all__ = ["FROM_NODES", "Costs", "paper_columns", "solve"]

# Measured on an H200 (benchmarks/inclusion_families.py): the GPU takes some 5 ms for anything. On
# chains of closures one CPU thread is even with that at 9,000 nodes, on dense closures at 3,000.
FROM_NODES = 6_000


def solve(
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
        costs: when to share, and then a problem of any size is the GPU's or both's; by default
            measured on this machine.
    """
    if costs is None and problem.n_nodes < FROM_NODES:
        return cpu.solve(problem, threads=1, trace=trace)
    start_s = time.perf_counter()
    n_threads = threads or os.cpu_count() or 1
    row_of, n_rows = rows_of(problem)
    stated, names = renamed(tables(problem), row_of, n_rows)
    sides = SharedRounds(
        problem, stated, names, n_threads, costs or Costs.measured(n_threads), trace
    )
    counts = close(sides)
    solve_s = time.perf_counter() - start_s
    statistics = {**counts, **sides.statistics(), "solve_s": solve_s}
    merged = replace(problem, n_nodes=n_rows, call_callee=row_of[problem.call_callee])
    return Reduced(merged, row_of).expand(solution(merged, sides, statistics))
