"""Cycles of copies as one row each: the one reduction that pays for the GPU.

Finding more equal nodes (`offline.reduce`) costs the host more than the device saves by it. The
host finds the cycles; naming rows in the rules anew is left to the device, and so are the rules
that become equal by it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kleene.graphs import Graph, strong_components
from kleene.kernels import launch
from kleene.solvers.inclusion.cuda.tables import Tables
from kleene.solvers.inclusion.problem import I32, Problem


def rows_of(problem: Problem) -> tuple[I32, int]:
    """Return each node's row and the number of rows: nodes in a cycle of copies share one."""
    still = problem.offset_amount == 0  # an offset of 0 is a copy
    source = np.append(problem.copy_source, problem.offset_source[still])
    destination = np.append(problem.copy_destination, problem.offset_destination[still])
    n_nodes = problem.n_nodes
    if len(source):
        found = strong_components(_successors(n_nodes, source, destination))
        if found.n_components < n_nodes:
            return found.component, found.n_components
    return np.arange(n_nodes, dtype=np.int32), n_nodes


def _successors(n_nodes: int, source: I32, destination: I32) -> Graph:
    """Return the copies as a graph, sorted on the device: that is where they will be wanted."""
    place = launch.current()
    xp = place.xp
    edges = xp.asarray(source).astype(np.int64) << 32 | xp.asarray(destination)
    edges.sort()
    offsets = xp.searchsorted(edges, xp.arange(n_nodes + 1, dtype=np.int64) << 32)
    columns = (offsets.astype(np.int64), (edges & 0xFFFFFFFF).astype(np.int32))
    fetched = [np.empty(column.shape, column.dtype) for column in columns]
    for column, out in zip(columns, fetched, strict=True):
        place.to_host(column, out)
    return Graph(*fetched)


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
