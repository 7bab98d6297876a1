"""The solver for CPUs: waves of difference propagation, on one thread or several.

Equal nodes are merged first (`offline`). Then each wave sends what is new along the edges known so
far (`propagate`, `sweep`), and applies the rules to the sets that grew, which asks for new edges
(`fire`); the graph takes these over (`adopt`), and when many are new, it is put in order again and
its cycles are merged (`order`). It ends because sets only grow and each trigger makes its edges
once per object.
"""

from __future__ import annotations

from kleene.solvers.inclusion.offline import reduce
from kleene.solvers.inclusion.offline.threads import Threads
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Solution, Trace

N_ROUNDS = 1  # of merging: a second makes this solver faster by what it costs itself


def solve(problem: Problem, *, threads: int = 1, trace: Trace | None = None) -> Solution:
    """Return the least answer to a checked problem.

    Args:
        problem: what to solve.
        threads: how many threads may work, each on its own words of every set.
        trace: is given a row of numbers for each wave.
    """
    from kleene.solvers.inclusion.cpu.waves import Waves

    with Threads(threads) as running:
        reduced = reduce(problem, n_rounds=N_ROUNDS, threads=running)
        return reduced.expand(Waves(reduced.problem, running, trace).solution())
