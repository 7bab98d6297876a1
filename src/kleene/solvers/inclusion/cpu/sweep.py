"""Propagation inside one shard: what is new at a node goes to its successors, in order.

A node waits with a list of rows to be added (cells). Nodes are visited by rising position, which is
a topological order but for edges found since it was made; what such an edge carries backwards
waits for the next sweep. A visit adds all waiting rows at once, and passes on only what was new.
"""

from __future__ import annotations

import numpy as np

from kleene.kernels.bits import lowest
from kleene.solvers.inclusion.cpu.outside import any_escaped, hides, holds_unknown, learn
from kleene.solvers.inclusion.cpu.rows import extend, gather, keep, minus, room, take, union
from kleene.solvers.inclusion.cpu.state import (
    AT,
    CELLS,
    CHANGED,
    DONE,
    FACTS,
    FREE_CELL,
    MORE_TIME,
    MORE_WORDS,
    OUT,
    POSITIONS,
    RANGE,
    WORDS,
    WORK,
    Graph,
    Shard,
)
from kleene.solvers.inclusion.offline.compiled import device_function


@device_function
def send(g: Graph, s: Shard, row: int, node: int) -> None:
    """Let a row wait at a node."""
    top = s.head[node]
    if row == s.node_row[node] or (top >= 0 and s.cell_row[top] == row):
        return
    cell = s.n[FREE_CELL]
    if cell >= 0:
        s.n[FREE_CELL] = s.cell_next[cell]
    else:
        cell = s.n[CELLS]
        s.n[CELLS] = cell + 1
    s.cell_row[cell] = row
    s.cell_next[cell] = top
    s.head[node] = cell
    position = g.position[node]
    s.dirty[position >> 6] |= np.uint64(1) << np.uint64(position & 63)


@device_function
def send_on(g: Graph, s: Shard, row: int, node: int) -> None:
    """Let a row wait at every successor of a node."""
    for e in range(g.first_edge[node], g.end_edge[node]):
        send(g, s, row, g.targets[e])
    e = g.extra_head[node]
    while e >= 0:
        send(g, s, row, g.extra_target[e])
        e = g.extra_next[e]


@device_function
def inject_facts(g: Graph, s: Shard, fact: int) -> int:
    """Let the facts from `fact` on wait at their nodes; return where it stopped for space."""
    n_facts = g.n[FACTS]
    while fact < n_facts:
        node, last = g.fact_node[fact], np.int32(-1)
        if not room(s, s.n[RANGE], 1):
            return fact
        at = s.n[WORDS]
        while fact < n_facts and g.fact_node[fact] == node and g.fact_index[fact] > last:
            last = g.fact_index[fact]
            if last % s.step == s.first:
                s.indices[at] = last // s.step
                s.words[at] = g.fact_word[fact]
                at += 1
            fact += 1
        row = keep(s, at)
        if row > 0:
            send(g, s, row, g.root[node])
    return fact


@device_function
def inject_edge(g: Graph, s: Shard, source: int, target: int) -> None:
    """Let what the source of an edge holds wait at its target."""
    source, target = g.root[source], g.root[target]
    row = s.node_row[source]
    if row > 0 and source != target:
        send(g, s, row, target)


@device_function
def note(g: Graph, s: Shard, node: int) -> None:
    """Remember that a node grew, if anything depends on what it holds."""
    if g.trigger_head[node] >= 0 and s.is_changed[node] == 0:
        s.is_changed[node] = 1
        s.changed[s.n[CHANGED]] = node
        s.n[CHANGED] += 1


@device_function
def _release(s: Shard, first: int, last: int) -> None:
    """Give back the cells of a list."""
    s.cell_next[last] = s.n[FREE_CELL]
    s.n[FREE_CELL] = first


@device_function
def _visit(g: Graph, s: Shard, node: int) -> int:
    """Add what waits at a node to its set; return a row for what was new."""
    known, first = s.node_row[node], s.head[node]
    s.head[node] = -1
    hide = hides(g, s, node, known)
    if s.cell_next[first] < 0:
        row: int = s.cell_row[first]
        _release(s, first, first)
        hide |= holds_unknown(s, row) and node != g.root[s.n[OUT]]
        if known == 0 and not (hide and any_escaped(s, row)):
            s.node_row[node] = row
            s.row_owned[row] = 0
            learn(g, s, node, row)
            return row
        new = minus(s, row, known, hide)
    else:
        cell = first
        last = first
        while cell >= 0:
            gather(s, s.cell_row[cell])
            hide |= holds_unknown(s, s.cell_row[cell]) and node != g.root[s.n[OUT]]
            s.n[WORK] += s.row_length[s.cell_row[cell]]
            last = cell
            cell = s.cell_next[cell]
        _release(s, first, last)
        new = take(s, known, hide)
    if new > 0:
        grow(g, s, node, new)
        learn(g, s, node, new)
    s.n[WORK] += 16
    return new


@device_function
def grow(g: Graph, s: Shard, node: int, new: int) -> None:
    """Add a row to a node's set."""
    known = s.node_row[node]
    if known == 0:
        s.node_row[node] = new
        return
    if s.row_owned[known] != 0 and extend(s, known, new):
        s.n[WORK] += s.row_length[new]
        return
    row = union(s, known, new)
    s.row_owned[row] = g.trigger_head[node] < 0  # a trigger remembers rows that it has seen
    s.node_row[node] = row
    s.n[WORK] += s.row_length[row]


@device_function
def sweep(g: Graph, s: Shard, work: int) -> int:
    """Propagate until nothing waits; come back for space, or after so much work."""
    stop = s.n[WORK] + work
    n_blocks = (g.n[POSITIONS] + 63) >> 6
    position = s.n[AT]
    any_visited = position > 0
    while True:
        block = position >> 6
        if block >= n_blocks:
            if not any_visited:
                s.n[AT] = 0
                return DONE
            position, any_visited = 0, False
            continue
        waiting = s.dirty[block] >> np.uint64(position & 63)
        if waiting == 0:
            position = (block + 1) << 6
            continue
        position += lowest(waiting)
        node = g.node_at[position]
        s.n[AT] = position
        if not room(s, s.row_length[s.node_row[node]] + 2 * s.n[RANGE], 2):
            return MORE_WORDS
        if s.n[WORK] > stop:
            return MORE_TIME
        s.dirty[position >> 6] &= ~(np.uint64(1) << np.uint64(position & 63))
        new = _visit(g, s, node)
        if new > 0:
            note(g, s, node)
            send_on(g, s, new, node)
        any_visited = True
        position += 1
