"""Cycles of copies as one row each: the one reduction that pays for the GPU.

Finding more equal nodes (`offline.reduce`) costs the host more than the device saves by it. Many
copies are searched for cycles on the device, few on the host. Naming rows in the rules anew is left
to the device, and so are the rules that become equal by it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kleene.base.arrays import I32
from kleene.graphs import Graph, strong_components
from kleene.kernels import launch
from kleene.solvers.inclusion.cuda.rounds import BLOCK, HERE, threads
from kleene.solvers.inclusion.cuda.tables import Tables
from kleene.solvers.inclusion.offline import without_zero_offsets
from kleene.solvers.inclusion.problem import Problem

ON_HOST_UP_TO = 100_000  # copies, which take it a few milliseconds
_MOST_PASSES = 16  # over the colours; what is left then goes to the host
_STEPS_PER_LOOK = 8


def rows_of(problem: Problem) -> tuple[I32, int]:
    """Return each node's row and the number of rows: nodes in a cycle of copies share one."""
    problem = without_zero_offsets(problem)
    source, destination, n_nodes = problem.copy_source, problem.copy_destination, problem.n_nodes
    found = None
    if len(source) > ON_HOST_UP_TO:
        found = components(n_nodes, source, destination)
    if found is None and len(source):
        on_host = strong_components(Graph.from_edges(n_nodes, source, destination))
        found = on_host.component, on_host.n_components
    if found is not None and found[1] < n_nodes:
        return found
    return np.arange(n_nodes, dtype=np.int32), n_nodes


def components(n_nodes: int, source: I32, destination: I32) -> tuple[I32, int] | None:
    """Return each node's strong component and their number, found on the device.

    None if a graph needs too many passes, as one does where larger numbers come first on long ways.
    """
    place = launch.current()
    xp, module = place.xp, launch.load(HERE / "cycles.cu")
    edges = (xp.asarray(source), xp.asarray(destination), np.int32(len(source)))
    colours, is_in = xp.arange(n_nodes, dtype=np.int32), xp.zeros(n_nodes, np.int32)
    root, count = xp.full(n_nodes, -1, np.int32), xp.zeros(1, np.int32)
    n, n_left = np.int32(n_nodes), n_nodes

    def until_nothing_changes(name: str, *args: Any) -> None:
        changed = 1
        while changed:
            count.fill(0)
            for _ in range(_STEPS_PER_LOOK):
                module.launch(name, threads(len(source)), (BLOCK,), (*edges, root, *args, count))
            changed = int(count[0])

    for _ in range(_MOST_PASSES):
        until_nothing_changes("colour", colours)
        module.launch("start_back", threads(n_nodes), (BLOCK,), (n, colours, is_in))
        until_nothing_changes("reach_back", colours, is_in)
        count.fill(0)
        module.launch("settle", threads(n_nodes), (BLOCK,), (n, is_in, root, colours, count))
        n_left = int(count[0])
        if not n_left:
            break
    if n_left:
        return None
    number = xp.cumsum(root == xp.arange(n_nodes, dtype=np.int32)) - 1
    component = np.empty(n_nodes, np.int32)
    place.to_host(number[root].astype(np.int32), component)
    return component, int(component.max()) + 1


def renamed(tables: Tables, row_of: I32, n_rows: int) -> tuple[Tables, I32 | None]:
    """Return the tables with as many rows, and the row of each of the old; -1 is -1.

    Rules and seeds still name the old rows; if each is its own row, there are no names.
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
    )
    return few, names
