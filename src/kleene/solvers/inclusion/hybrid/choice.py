"""Which side is expected to be faster alone: the model, and what it looks at.

In a chain, as the Van Horn-Mairson programs are, what arrives at a node is sent on to one other.
What both sides take for chains is measured on each machine (`machine`). In other problems it is
sent on to several, on average over all flows to `spread`. The CPU carries sets along each of these
ways: n nodes take it as long as a chain of n · spread. The GPU has ways to spare, and takes what it
takes for a chain of n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.kernels import launch
from kleene.solvers.inclusion.hybrid.machine import this_machine
from kleene.solvers.inclusion.problem import Problem

FEW_NODES = 1_000  # a GPU takes some 3 ms for anything; nothing of this size takes a CPU longer
_SAMPLE = 1 << 15  # nodes at most that are looked at: then looking takes well under a millisecond
_SIGN = -(1 << 31)


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
    n_ways = problem.n_nodes * max(1.0, spread(problem))
    return Expected(machine.on_cpu_s(n_ways), machine.on_gpu_s(problem.n_nodes))


def spread(problem: Problem) -> float:
    """Return to how many nodes, on average over flows, what arrives at a node is sent on.

    Flows are copies, what is stored and actuals. Of many nodes a part is looked at.
    """
    shift = max(0, problem.n_nodes.bit_length() - _SAMPLE.bit_length())
    others = np.int32(_SIGN | ((1 << shift) - 1))  # bits of no node, and of nodes left out
    n_ways = np.zeros((problem.n_nodes >> shift) + 1, np.int64)
    for column in (problem.copy_source, problem.store_source, problem.actuals):
        chosen = column[(column & others) == 0] >> shift
        n_ways += np.bincount(chosen, minlength=len(n_ways))
    total = int(n_ways.sum())
    return float((n_ways * n_ways).sum()) / total if total else 0.0
