"""The loops of live-range splitting: renaming, pruning, last uses."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kleene.base.arrays import I32, I64, Bools
from kleene.kernels.compiled import CompilationUnit, linear

_INTERPRETED_S_AN_ELEMENT = 2e-6  # of points, blocks and edges

UNIT = CompilationUnit(Path(__file__).parent, interpreted_s=linear(_INTERPRETED_S_AN_ELEMENT))
entry_point, device_function = UNIT.entry_point, UNIT.device_function


@entry_point
def positions(
    points: I64, is_definition: Bools, block_of: I64, first: I64, n_edges: int
) -> tuple[I64, I64]:
    """Return the block or edge of each point, and the slot of a use or definition there.

    `flow` says how points and slots are numbered.
    """
    n_instructions, n_blocks = len(block_of), len(first) - 1
    nodes, slots = np.empty(len(points), np.int64), np.empty(len(points), np.int64)
    for row in range(len(points)):
        beyond = points[row] - n_instructions
        defines = 1 if is_definition[row] else 0
        if beyond < 0:
            block = block_of[points[row]]
            nodes[row], slots[row] = block, 2 * (points[row] - first[block]) + 2 + defines
        elif beyond < n_blocks:
            nodes[row], slots[row] = beyond, 0
        elif beyond < 2 * n_blocks:
            block = beyond - n_blocks
            nodes[row], slots[row] = block, 2 * (first[block + 1] - first[block]) + 2
        elif beyond < 2 * n_blocks + n_edges:
            nodes[row], slots[row] = beyond - n_blocks, 1 - defines
        else:
            nodes[row], slots[row] = beyond - n_blocks - n_edges, 3 - defines
    return nodes, slots


@device_function
def _sort_by(keys: I64, n_keys: int, rows: I64) -> I64:
    """Return the rows by their keys, which are below n_keys; equal ones keep their order."""
    place = np.zeros(n_keys + 1, np.int64)
    for row in rows:
        place[keys[row] + 1] += 1
    for key in range(n_keys):
        place[key + 1] += place[key]
    found = np.empty(len(rows), np.int64)
    for row in rows:
        found[place[keys[row]]] = row
        place[keys[row]] += 1
    return found


@entry_point
def ordered(variable: I64, n_variables: int, moment: I64, n_moments: int) -> I64:
    """Return the rows whose moment is not -1 by variable, and then by moment."""
    n_rows = 0
    rows = np.empty(len(variable), np.int64)
    for row in range(len(variable)):
        if moment[row] >= 0:
            rows[n_rows] = row
            n_rows += 1
    return _sort_by(variable, n_variables, _sort_by(moment, n_moments, rows[:n_rows]))


@entry_point
def versions(order: I64, variable: I64, moment: I64, last: I64, n_reads: int) -> I64:
    """Return what each read reads: the nearest definition of its variable that dominates it.

    Rows are definitions and then reads; `order` has them by variable, then by their moment in the
    preorder of the dominator tree. The definition n holds until the moment `last[n]` at the end of
    its subtree.
    """
    found = np.full(n_reads, -1, np.int64)
    stack = np.empty(len(last), np.int64)
    n_stack, before = 0, -1
    for row in order:
        if variable[row] != before:
            n_stack, before = 0, variable[row]
        while n_stack > 0 and last[stack[n_stack - 1]] < moment[row]:
            n_stack -= 1
        if row < len(last):
            stack[n_stack] = row
            n_stack += 1
        elif n_stack > 0:
            found[row - len(last)] = stack[n_stack - 1]
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


@device_function
def _live(
    start: int,
    end: int,
    offsets: I64,
    predecessors: I32,
    variable: I64,
    node: I64,
    is_definition: Bools,
    defined_for: I64,
    live_out_for: I64,
    work: I64,
) -> int:
    """Mark the nodes at whose end a variable is live, and return the row after its accesses.

    That is where a path leads to a use and past no definition. Marks are the variable's number.
    """
    while end < len(variable) and variable[end] == variable[start]:
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
    return end


@entry_point
def last_uses(
    offsets: I64, predecessors: I32, variable: I64, node: I64, slot: I64, is_definition: Bools
) -> Bools:
    """Return which accesses are uses whose variable is dead afterwards.

    The rows come by variable, node and slot; the graph comes reversed.
    """
    n_rows, n_nodes = len(variable), len(offsets) - 1
    found = np.zeros(n_rows, np.bool_)
    defined_for = np.full(n_nodes, -1, np.int64)
    live_out_for = np.full(n_nodes, -1, np.int64)
    work = np.empty(n_nodes + 1, np.int64)
    start = 0
    while start < n_rows:
        end = _live(
            start, start, offsets, predecessors, variable, node, is_definition, defined_for,
            live_out_for, work,
        )  # fmt: skip
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


@device_function
def _grown(column: I64, n_used: int) -> I64:
    """Return the column, with more room if all of it is used."""
    if n_used < len(column):
        return column
    return np.concatenate((column, np.empty(len(column), np.int64)))


@entry_point
def placement(
    back_offsets: I64,
    predecessors: I32,
    offsets: I64,
    successors: I32,
    frontier_offsets: I64,
    frontiers: I32,
    post_offsets: I64,
    post_frontiers: I32,
    variable: I64,
    node: I64,
    is_definition: Bools,
    up_offsets: I64,
    up: I64,
    down_offsets: I64,
    down: I64,
    out_offsets: I64,
    out: I64,
) -> tuple[I64, I64, I64, I64, Bools]:
    """Return where φ and σ go: variables and joins, variables and forks; and which `out` are live.

    Among the forks are the ends of endless loops, which have an exit that is never taken.

    Rows of accesses come by variable, node and slot; `up` and `down` are the nodes at which each
    variable's information begins, definitions among them; `out` are more forks. Where a variable is
    dead nothing is placed, and nothing need be placed for its sake: a path from a dead φ to a
    live one would make the first live.
    """
    n_nodes = len(offsets) - 1
    defined_for = np.full(n_nodes, -1, np.int64)
    live_out_for = np.full(n_nodes, -1, np.int64)
    fork_for, join_for = live_out_for.copy(), live_out_for.copy()
    is_live = np.zeros(len(out), np.bool_)
    work = np.empty(16, np.int64)
    walk = np.empty(n_nodes + 1, np.int64)
    join_variable, join = np.empty(16, np.int64), np.empty(16, np.int64)
    fork_variable, fork = np.empty(16, np.int64), np.empty(16, np.int64)
    n_joins = n_forks = 0
    start = 0
    while start < len(variable):
        here = variable[start]
        end = _live(
            start, start, back_offsets, predecessors, variable, node, is_definition, defined_for,
            live_out_for, walk,
        )  # fmt: skip
        first_fork = n_forks
        n_work = 0
        for place in range(up_offsets[here], up_offsets[here + 1]):
            work = _grown(work, n_work)
            work[n_work] = up[place]
            n_work += 1
        while n_work > 0:
            n_work -= 1
            below = work[n_work]
            for edge in range(post_offsets[below], post_offsets[below + 1]):
                above = post_frontiers[edge]
                if fork_for[above] == here or live_out_for[above] != here:
                    continue
                fork_for[above] = here
                work = _grown(work, n_work)
                work[n_work] = above
                n_work += 1
                fork_variable, fork = _grown(fork_variable, n_forks), _grown(fork, n_forks)
                fork_variable[n_forks], fork[n_forks] = here, above
                n_forks += 1
        for place in range(first_fork, n_forks):
            for edge in range(offsets[fork[place]], offsets[fork[place] + 1]):
                work = _grown(work, n_work)
                work[n_work] = successors[edge]
                n_work += 1
        for place in range(out_offsets[here], out_offsets[here + 1]):
            is_live[place] = live_out_for[out[place]] == here
        for place in range(down_offsets[here], down_offsets[here + 1]):
            work = _grown(work, n_work)
            work[n_work] = down[place]
            n_work += 1
        while n_work > 0:
            n_work -= 1
            above = work[n_work]
            for edge in range(frontier_offsets[above], frontier_offsets[above + 1]):
                below = frontiers[edge]
                into = predecessors[back_offsets[below]]  # live at the end of one edge, and of all
                if join_for[below] == here or live_out_for[into] != here:
                    continue
                join_for[below] = here
                work = _grown(work, n_work)
                work[n_work] = below
                n_work += 1
                if back_offsets[below + 1] - back_offsets[below] < 2:
                    continue
                join_variable, join = _grown(join_variable, n_joins), _grown(join, n_joins)
                join_variable[n_joins], join[n_joins] = here, below
                n_joins += 1
        start = end
    return (
        join_variable[:n_joins].copy(),
        join[:n_joins].copy(),
        fork_variable[:n_forks].copy(),
        fork[:n_forks].copy(),
        is_live,
    )
