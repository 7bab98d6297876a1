"""Which side is expected to be faster alone: the model, and what it looks at.

In a chain, as the Van Horn-Mairson programs are, what arrives at a node is sent on to one other.
What both sides take for chains is measured on each machine (`machine`). In other problems it is
sent on to several, on average over all flows to `spread`. The CPU carries sets along each of these
ways, and one more takes it as long as one more node of a chain. The GPU has ways to spare, and
takes what it takes for a chain of n nodes; but each kind of rules has launches of its own, which
take as long as a chain of next to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.kernels import launch
from kleene.solvers.inclusion.hybrid.machine import this_machine
from kleene.solvers.inclusion.problem import Problem

FEW_NODES = 1_000  # a GPU takes some 3 ms for anything; nothing of this size takes a CPU longer


@dataclass(frozen=True, slots=True)
class Expected:
    """What each side would take alone, in seconds."""

    cpu_s: float
    gpu_s: float

    @property
    def on_cpu(self) -> bool:
        """Whether the CPU is expected to be faster."""
        return self.cpu_s <= self.gpu_s

    def __str__(self) -> str:
        return f"{self.cpu_s * 1e3:.3g} ms expected on the CPU, {self.gpu_s * 1e3:.3g} on the GPU"


def expected(problem: Problem) -> Expected:
    """Return what each side is expected to take; a GPU must answer."""
    place = launch.current()
    if place.xp is np:  # the host runner was chosen by hand, whatever it takes
        return Expected(float("inf"), 0.0)
    machine = this_machine(place)
    n_more_ways = problem.n_nodes * max(0.0, spread(problem) - 1)
    n_more_kinds = n_kinds(problem) - 1
    return Expected(
        cpu_s=machine.on_cpu_s(problem.n_nodes) + n_more_ways * machine.way_s,
        gpu_s=machine.on_gpu_s(problem.n_nodes) + n_more_kinds * machine.gpu_s[0],
    )


def n_kinds(problem: Problem) -> int:
    """Return how many kinds of rules a problem has for the GPU: a chain has one, calls."""
    p = problem
    pushes, pulls = len(p.store_source) + len(p.actuals), len(p.load_pointer)
    kinds = (len(p.copy_source), pushes, pulls + int((p.call_result >= 0).any()))
    return max(1, sum(map(bool, (*kinds, len(p.offset_source)))))


def spread(problem: Problem) -> float:
    """Return to how many nodes, on average over flows, what arrives at a node is sent on.

    Flows are copies, what is stored and actuals.
    """
    sources = np.concatenate([problem.copy_source, problem.store_source, problem.actuals])
    n_ways = np.bincount(sources[sources >= 0])
    return float(np.dot(n_ways, n_ways)) / max(1, int(n_ways.sum()))
