"""`solve`: checks a problem, chooses who solves it, and says why.

`plan` gives the choice and the memory it takes before anything starts; `solve` names its task by
it, so that a program that shows progress shows it first. Where a GPU answers and its dense rows
fit, whoever is expected to be much faster on this machine solves, else both race (`choice`).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

from kleene.base import memory
from kleene.base.device import Device
from kleene.base.errors import SourceError
from kleene.base.progress import task
from kleene.kernels import compiled, launch
from kleene.solvers.inclusion.check import check
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Solution, Trace
from kleene.solvers.inclusion.threads import Stop, race

# A CPU solves less before a GPU answers: 1 s to import CuPy, 3 to 5 to load kernels the first time;
# of what we measured, only a graph of a million nodes took one thread longer than 1.7 s.
WAKING_NODES = 500_000


@dataclass(frozen=True, slots=True)
class Plan:
    """Who solves a problem, why, and in how much memory."""

    device: Device
    reason: str
    needed_bytes: int  # on a GPU: what the rows take; on a CPU: at most, were all rows dense
    free_bytes: int

    def __str__(self) -> str:
        at_most = "at most " if self.device is Device.CPU else ""
        needed, free = self.needed_bytes / 2**30, self.free_bytes / 2**30
        return f"{self.device}: {self.reason}; {at_most}{needed:.2f} GiB, {free:.2f} GiB are free"


def plan(problem: Problem, device: Device | str = Device.AUTO) -> Plan:
    """Return who would solve the problem, were `device` asked for.

    Raises:
        SourceError: a GPU is asked for by name and cannot take the problem.
    """
    wanted = Device(device)
    if wanted is Device.CPU:
        return _on_cpu(problem, "as asked")
    is_open = wanted in (Device.AUTO, Device.HYBRID)
    is_asleep = wanted is Device.AUTO and "cupy" not in sys.modules
    if is_asleep and problem.n_nodes < WAKING_NODES:
        return _on_cpu(problem, f"{problem.n_nodes} nodes; a GPU may pay from {WAKING_NODES}")
    from kleene.solvers.inclusion import choice, cuda  # small problems are solved without these

    few = 0 if is_asleep else choice.FEW_NODES
    if is_open and problem.n_nodes < few:
        return _on_cpu(problem, f"{problem.n_nodes} nodes; a GPU may pay from {few}")
    if refused := cuda.problem_with(problem):
        if wanted is Device.AUTO:
            return _on_cpu(problem, f"no GPU: {refused}")
        note = "use the device 'cpu', or 'auto' to let Kleene choose"
        raise SourceError(None, "inclusion/no-gpu", f"the GPU cannot solve this: {refused}", note)
    free = launch.gpu_free_bytes() if launch.gpu_problem() is None else memory.free_bytes()
    if not is_open:
        return Plan(wanted, "as asked", cuda.forecast(problem), free)
    times = choice.expected(problem)
    if times.side is Device.CPU:
        return _on_cpu(problem, str(times))
    return Plan(times.side, str(times), cuda.forecast(problem), free)


def solve(
    problem: Problem,
    *,
    device: Device | str = Device.AUTO,
    threads: int | None = None,
    trace: Trace | None = None,
) -> Solution:
    """Return the least answer to a problem.

    Args:
        problem: what to solve; it is checked first.
        device: "cpu", "cuda", "hybrid" (whoever is faster), or "auto".
        threads: of the CPU, at most; one by default, and one where more would not pay.
        trace: is given a row of numbers for each iteration or round.

    Raises:
        SourceError: the problem is none, or the GPU asked for cannot take it.
    """
    check(problem)
    chosen = plan(problem, device)
    with task(f"solving on {chosen}"):
        found = _solved(problem, chosen.device, threads, trace)
    outcome = f"; {found.plan}" if found.plan else ""
    return replace(found, plan=f"{chosen}{outcome}")


def _solved(problem: Problem, device: Device, threads: int | None, trace: Trace | None) -> Solution:
    if device is Device.CPU:
        from kleene.solvers.inclusion import cpu

        n_threads = 1 if compiled.is_interpreting() else threads or 1
        return cpu.solve_by_size(problem, threads=n_threads, trace=trace)
    if device is Device.CUDA:
        from kleene.solvers.inclusion import cuda

        return cuda.solve(problem, trace=trace)
    return both(problem, threads, trace)


def both(problem: Problem, threads: int | None = None, trace: Trace | None = None) -> Solution:
    """Return the least answer, of the side that is first to have it.

    The CPU starts, and the GPU when the CPU has taken longer than expected, since each slows the
    other down. The side that lost stops at its next look, between iterations. Both have the same
    sets; each numbers rows in its own way. To share each iteration between the two, as Su, Ye and
    Xue do, never gained on the machines measured: that is `paper.sharing`.
    """
    from kleene.solvers.inclusion import choice, cpu, cuda

    def on_cpu(stop: Stop) -> Solution:
        return cpu.solve(problem, threads=threads or 1, trace=trace, stop=stop)

    def on_gpu(stop: Stop) -> Solution:
        stop.wait(choice.expected(problem).cpu_s)
        return cuda.solve(problem, stop=stop)

    winner, found = race(on_cpu, on_gpu)
    statistics = {**found.statistics, "gpu_was_first": float(winner)}
    return replace(found, statistics=statistics, plan=f"the {('CPU', 'GPU')[winner]} was first")


def _on_cpu(problem: Problem, reason: str) -> Plan:
    n_words = -(-problem.n_objects // 64)
    return Plan(Device.CPU, reason, 8 * problem.n_nodes * n_words, memory.free_bytes())
