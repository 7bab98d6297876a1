"""The solver for CPUs: iterations of difference propagation, on one thread or several.

| module | what it does |
|---|---|
| `small` | problems of some hundred nodes, by a plain worklist: it needs none of the rest |
| `offline` | substitution before solving: nodes that must hold equal sets become one |
| `constraints` | the complex constraints (load, store, call, offset) by pointer |
| `solver` | the iterations: propagate, process, adopt; order when many edges are new |
| `propagation` | difference propagation along the edges known so far, in topological order |
| `complex` | complex constraints of pointers whose sets grew: new edges, and facts for offsets |
| `classes` | pointers with equal sets share the edges of their constraints |
| `cycles` | the order of visits; nodes on a cycle become one |
| `sets` | sparse sets as rows of 64-bit words |
| `state` | the arrays of all this, and how they grow |
| `answer` | the solution, from the sets |

It ends because sets only grow and each pointer makes its edges once per object.
"""

from __future__ import annotations

from kleene.kernels import compiled
from kleene.solvers.inclusion.cpu import small
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Solution, Trace
from kleene.solvers.inclusion.threads import NEVER, Stop, Threads

N_ROUNDS = 1  # of merging: a second makes this solver faster by what it costs itself


def solve(
    problem: Problem, *, threads: int = 1, trace: Trace | None = None, stop: Stop = NEVER
) -> Solution:
    """Return the least answer to a checked problem.

    Args:
        problem: what to solve.
        threads: how many threads may work, each on its own words of every set.
        trace: is given a row of numbers for each iteration.
        stop: is looked at some hundred times a second.
    """
    from kleene.solvers.inclusion.cpu.solver import Solver  # small problems do without
    from kleene.solvers.inclusion.offline import reduce

    with Threads(threads) as running:
        reduced = reduce(problem, n_rounds=N_ROUNDS, threads=running)
        stop.look()
        return reduced.expand(Solver(reduced.problem, running, trace, stop=stop).solution())


def solve_by_size(problem: Problem, *, threads: int = 1, trace: Trace | None = None) -> Solution:
    """Return the least answer to a checked problem: if it is small by `small`, else by `solve`."""
    most = small.INTERPRETED_RULES if compiled.is_interpreting() else small.MOST_RULES
    if trace is None and problem.n_constraints <= most and small.is_small(problem):
        return small.solve(problem)
    return solve(problem, threads=threads, trace=trace)
