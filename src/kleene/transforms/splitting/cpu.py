"""The loops of live-range splitting: renaming, pruning, last uses."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kleene.base.arrays import I32, I64, Bools
from kleene.kernels.compiled import CompilationUnit

UNIT = CompilationUnit(Path(__file__).parent)
entry_point = UNIT.entry_point


@entry_point
def versions(variable: I64, moment: I64, last: I64, defines: I64, reads: I64, n_reads: int) -> I64:
    """Return what each read reads: the nearest definition of its variable that dominates it.

    Events come by variable, then by their moment in the preorder of the dominator tree. An event
    either defines the name `defines`, which holds until the moment `last` at the end of the
    definition's subtree, or else it is the read `reads`.
    """
    found = np.full(n_reads, -1, np.int64)
    stack = np.empty(len(variable), np.int64)
    n_stack = 0
    for event in range(len(variable)):
        if event > 0 and variable[event] != variable[event - 1]:
            n_stack = 0
        while n_stack > 0 and last[stack[n_stack - 1]] < moment[event]:
            n_stack -= 1
        if defines[event] >= 0:
            stack[n_stack] = event
            n_stack += 1
        elif n_stack > 0:
            found[reads[event]] = defines[stack[n_stack - 1]]
    return found


@entry_point
def closure(offsets: I64, targets: I64, is_member: Bools) -> None:
    """Add to the members every node that edges lead to from one."""
    work = np.empty(len(is_member), np.int64)
    n_work = 0
    for node in range(len(is_member)):
        if is_member[node]:
            work[n_work] = node
            n_work += 1
    while n_work > 0:
        n_work -= 1
        node = work[n_work]
        for edge in range(offsets[node], offsets[node + 1]):
            target = targets[edge]
            if not is_member[target]:
                is_member[target] = True
                work[n_work] = target
                n_work += 1


@entry_point
def last_uses(
    offsets: I64, predecessors: I32, variable: I64, node: I64, slot: I64, is_definition: Bools
) -> Bools:
    """Return which accesses are uses whose variable is dead afterwards.

    The rows come by variable, node and slot; the graph comes reversed. A variable is live at the
    end of a node if a path from there leads to a use and past no definition.
    """
    n_rows, n_nodes = len(variable), len(offsets) - 1
    found = np.zeros(n_rows, np.bool_)
    defined_for = np.full(n_nodes, -1, np.int64)
    live_out_for = np.full(n_nodes, -1, np.int64)
    work = np.empty(n_nodes + 1, np.int64)
    start = 0
    while start < n_rows:
        end = start
        while end < n_rows and variable[end] == variable[start]:
            if is_definition[end]:
                defined_for[node[end]] = variable[start]
            end += 1
        for row in range(start, end):
            if is_definition[row] or (row > start and node[row - 1] == node[row]):
                continue
            n_work = 1
            work[0] = node[row]  # a node with a use that no definition in it comes before
            while n_work > 0:
                n_work -= 1
                below = work[n_work]
                for edge in range(offsets[below], offsets[below + 1]):
                    above = predecessors[edge]
                    if live_out_for[above] == variable[start]:
                        continue
                    live_out_for[above] = variable[start]
                    if defined_for[above] != variable[start]:
                        work[n_work] = above
                        n_work += 1
        for row in range(start, end):
            after = row + 1
            while after < end and node[after] == node[row] and slot[after] == slot[row]:
                after += 1
            if not is_definition[row]:
                found[row] = (
                    is_definition[after]
                    if after < end and node[after] == node[row]
                    else live_out_for[node[row]] != variable[start]
                )
        start = end
    return found
