"""Cycles of copies as one row each: the one reduction that pays for the GPU.

Finding more equal nodes (`offline.reduce`) costs the host more than the device saves by it. The
host finds the cycles; naming rows in the rules anew is left to the device, and so are the rules
that become equal by it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit

from kleene.graphs import Graph, strong_components
from kleene.solvers.inclusion.cuda.tables import Tables
from kleene.solvers.inclusion.problem import I32, Problem


def rows_of(problem: Problem) -> tuple[I32, int]:
    """Return each node's row and the number of rows: nodes in a cycle of copies share one."""
    still = problem.offset_amount == 0  # an offset of 0 is a copy
    copies = (problem.copy_source, problem.copy_destination)
    moves = (problem.offset_source[still], problem.offset_destination[still])
    if not len(copies[0]) and not len(moves[0]):
        return np.arange(problem.n_nodes, dtype=np.int32), problem.n_nodes
    found = strong_components(Graph(*_successors(problem.n_nodes, *copies, *moves)))
    if found.n_components == problem.n_nodes:
        return np.arange(problem.n_nodes, dtype=np.int32), problem.n_nodes
    return found.component, found.n_components


def renamed(tables: Tables, row_of: I32, n_rows: int) -> tuple[Tables, I32 | None]:
    """Return the tables with as many rows, and the row of each of the old; -1 is -1.

    The rules still name the old rows; if each is its own row, there are no names.
    """
    if n_rows == len(row_of):
        return tables, None
    n_special = tables.n_rows - len(row_of)
    special = np.arange(n_rows, n_rows + n_special, dtype=np.int32)
    names = np.concatenate([row_of, special, np.array([-1], np.int32)])
    few = replace(
        tables,
        n_rows=n_rows + n_special,
        unknown_row=int(names[tables.unknown_row]),
        escaped_row=int(names[tables.escaped_row]),
        seed_row=names[tables.seed_row],
    )
    return few, names


@njit(cache=True)
def _successors(n_nodes, source, destination, other_source, other_destination):  # type: ignore[no-untyped-def]
    """Return the offsets and targets of each node's copies, of both lists, by counting."""
    offsets = np.zeros(n_nodes + 1, np.int64)
    for node in source:
        offsets[node + 1] += 1
    for node in other_source:
        offsets[node + 1] += 1
    for node in range(n_nodes):
        offsets[node + 1] += offsets[node]
    place = offsets[:-1].copy()
    targets = np.empty(len(source) + len(other_source), np.int32)
    for edge in range(len(source)):
        targets[place[source[edge]]] = destination[edge]
        place[source[edge]] += 1
    for edge in range(len(other_source)):
        targets[place[other_source[edge]]] = other_destination[edge]
        place[other_source[edge]] += 1
    return offsets, targets
