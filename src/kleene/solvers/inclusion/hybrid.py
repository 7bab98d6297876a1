"""CPU or GPU, whoever is faster: one side is chosen, or both race.

Where one side is surely faster (`choice`), it solves alone. Else both race, each with all of the
problem: the CPU starts, and the GPU when the CPU has taken longer than expected, since each slows
the other down. The first answer is taken, and the other side stops at its next look, between
iterations. Both have the same least answer, and rows are numbered by the first node that has them:
who was first changes nothing but the statistics. To share each iteration between the two, as Su, Ye
and Xue do, never gained on the machines measured: that is `paper.sharing`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kleene.base.device import Device
from kleene.solvers.inclusion import cpu, cuda
from kleene.solvers.inclusion.choice import FEW_NODES, expected
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Solution, Trace
from kleene.solvers.inclusion.threads import Stop, race


def solve(problem: Problem, *, threads: int | None = None, trace: Trace | None = None) -> Solution:
    """Return the least answer to a checked problem, as soon as either side has it.

    Args:
        problem: what to solve; ask `cuda.problem_with` first.
        threads: of the CPU's side; one by default.
        trace: is given a row of numbers for each iteration or round of the side chosen; where both
            race, of the CPU's.
    """
    side = Device.CPU if problem.n_nodes < FEW_NODES else expected(problem).side
    if side is Device.CPU:
        return cpu.solve(problem, threads=threads or 1, trace=trace)
    return (
        cuda.solve(problem, trace=trace) if side is Device.CUDA else both(problem, threads, trace)
    )


def both(problem: Problem, threads: int | None = None, trace: Trace | None = None) -> Solution:
    """Return the least answer, of the side that is first to have it."""
    on_cpu = partial(cpu.solve, problem, threads=threads or 1, trace=trace)

    def on_gpu(stop: Stop) -> Solution:
        stop.wait(expected(problem).cpu_s)
        return cuda.solve(problem, stop=stop)

    winner, found = race(lambda stop: on_cpu(stop=stop), on_gpu)
    statistics = {**found.statistics, "gpu_was_first": float(winner)}
    return replace(
        found.by_first_node(),
        statistics=statistics,
        plan=f"the {('CPU', 'GPU')[winner]} was first",
    )
