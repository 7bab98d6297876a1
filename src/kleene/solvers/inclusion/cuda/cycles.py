"""Cycles of copies merged before solving: the one reduction that pays for the GPU.

Finding more equal nodes (`offline.reduce`) costs the host more than the device saves by it. Rules
that become equal stay for now: the device sorts faster.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit

from kleene.graphs import Graph, strong_components
from kleene.solvers.inclusion.offline import Reduced
from kleene.solvers.inclusion.problem import I32, Problem

_NOT_NODES = {"address_object", "function_object", "offset_amount", "flags"}


def collapse(problem: Problem) -> Reduced:
    """Return the problem with each cycle of copies as one node; an offset of 0 is a copy."""
    problem = _without_zero_offsets(problem)
    if not len(problem.copy_source):
        return Reduced(problem, np.arange(problem.n_nodes, dtype=np.int32))
    ends = (problem.copy_source, problem.copy_destination)
    found = strong_components(Graph(*_successors(problem.n_nodes, *ends)))
    component = np.append(found.component, np.int32(-1))  # NONE is the last of them
    moved = {
        name: component[column]
        for name, column in problem.columns().items()
        if not name.endswith("_offsets") and name not in _NOT_NODES
    }
    return Reduced(replace(problem, n_nodes=found.n_components, **moved), found.component)


def _without_zero_offsets(problem: Problem) -> Problem:
    still = problem.offset_amount == 0
    if not still.any():
        return problem
    moves = ~still
    return replace(
        problem,
        copy_destination=np.append(problem.copy_destination, problem.offset_destination[still]),
        copy_source=np.append(problem.copy_source, problem.offset_source[still]),
        offset_destination=problem.offset_destination[moves],
        offset_source=problem.offset_source[moves],
        offset_amount=problem.offset_amount[moves],
    )


@njit(cache=True)
def _successors(n_nodes: int, source: I32, destination: I32):  # type: ignore[no-untyped-def]
    """Return the offsets and targets of each node's copies, by one pass of counting."""
    offsets = np.zeros(n_nodes + 1, np.int64)
    for edge in range(len(source)):
        offsets[source[edge] + 1] += 1
    for node in range(n_nodes):
        offsets[node + 1] += offsets[node]
    place = offsets[:-1].copy()
    targets = np.empty(len(source), np.int32)
    for edge in range(len(source)):
        targets[place[source[edge]]] = destination[edge]
        place[source[edge]] += 1
    return offsets, targets
