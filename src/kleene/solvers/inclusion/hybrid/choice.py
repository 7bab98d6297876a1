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
MANY_FLOWS = 1 << 16  # looking at more would take longer than a millisecond


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
    """Return what each side is expected to take; a GPU must answer.

    Where the GPU is faster on a chain of this size already, the CPU's time is that of the chain.
    """
    place = launch.current()
    if place.xp is np:  # the host runner was chosen by hand, whatever it takes
        return Expected(float("inf"), 0.0)
    machine, n_nodes = this_machine(place), problem.n_nodes
    cpu_s = machine.on_cpu_s(n_nodes)
    gpu_s = machine.on_gpu_s(n_nodes) + (n_kinds(problem) - 1) * machine.gpu_s[0]
    if cpu_s <= gpu_s:
        cpu_s += n_nodes * max(0.0, spread(problem) - 1) * machine.way_s
    return Expected(cpu_s, gpu_s)


def n_kinds(problem: Problem) -> int:
    """Return how many kinds of rules a problem has for the GPU: a chain has one, calls."""
    p = problem
    pushes, pulls = len(p.store_source) + len(p.actuals), len(p.load_pointer)
    kinds = (len(p.copy_source), pushes, pulls + int((p.call_result >= 0).any()))
    return max(1, sum(map(bool, (*kinds, len(p.offset_source)))))


def spread(problem: Problem) -> float:
    """Return to how many nodes, on average over flows, what arrives at a node is sent on.

    Flows are copies, what is stored and actuals. That is Σ ways² / Σ ways over the nodes. Of many
    flows some are drawn: two draws meet at a node with the probability Σ ways² / (Σ ways)².
    """
    columns = [problem.copy_source, problem.store_source, problem.actuals]
    n_flows = sum(map(len, columns))
    is_drawn = n_flows > MANY_FLOWS
    if is_drawn:
        at = np.random.default_rng(0)
        columns = [c[at.integers(0, len(c), MANY_FLOWS * len(c) // n_flows)] for c in columns]
    sources = np.concatenate(columns)
    n_ways = np.bincount(sources[sources >= 0])  # an actual may be none
    n_all, n_pairs = int(n_ways.sum()), int(np.dot(n_ways, n_ways))
    if is_drawn and n_all > 1:
        return n_flows / len(sources) * (n_pairs - n_all) / (n_all - 1)
    return n_pairs / max(1, n_all)
