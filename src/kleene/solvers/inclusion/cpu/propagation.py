"""Difference propagation in one shard: what is new at a node goes to its successors, in order.

A node waits with a list of rows to be added (cells). Nodes are visited by rising position, which is
a topological order but for edges found since it was made; what such an edge carries backwards
waits for the next sweep. A visit adds all waiting rows at once, and passes on only what was new.

**Unknown nodes do without what escaped.** An unknown node may hold all of E. If o is in E, then
whatever a constraint draws from o at an unknown node is in E and goes to nodes that are unknown:
contents, formals and results of E are unknown and hold nothing but E (see `problem`). So rows of
unknown nodes need no member of E, and their complex constraints need not be processed for it. How
early it is left out changes how long a solve takes, never its answer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32
from kleene.kernels.bits import lowest
from kleene.kernels.pointers import as_pointers
from kleene.solvers.inclusion.compiled import device_function, entry_point
from kleene.solvers.inclusion.cpu import state
from kleene.solvers.inclusion.cpu.sets import extend, gather, keep, minus, room, take, union
from kleene.solvers.inclusion.cpu.state import Graph, Merged, Shard


@device_function
def holds_unknown(s: Shard, row: int) -> bool:
    """Return whether a row has U, which is the last object of all."""
    last = s.row_start[row] + s.row_length[row] - 1
    bit = s.n[state.UNKNOWN_BIT]
    if bit < 0 or s.row_length[row] == 0 or s.indices[last] != s.n[state.RANGE] - 1:
        return False
    held: bool = (s.words[last] >> np.uint64(bit)) & np.uint64(1) != 0
    return held


@device_function
def hides(g: Graph, s: Shard, node: int, known: int) -> bool:
    """Return whether a node that holds the row `known` is one that does without what escaped."""
    if s.n[state.OUT] < 0 or node == g.root[s.n[state.OUT]]:
        return False
    return holds_unknown(s, known) or g.is_unknown[node] != 0


@device_function
def any_escaped(s: Shard, row: int) -> bool:
    """Return whether a row has something that escaped."""
    start = s.row_start[row]
    for i in range(start, start + s.row_length[row]):
        if s.words[i] & s.escaped[s.indices[i]] != 0:
            return True
    return False


@device_function
def learn(g: Graph, s: Shard, node: int, new: int) -> None:
    """Take note of what a node's new row says: that the node is unknown, or what escaped."""
    if s.n[state.OUT] < 0:
        return
    if node == g.root[s.n[state.OUT]]:
        start = s.row_start[new]
        for i in range(start, start + s.row_length[new]):
            s.escaped[s.indices[i]] |= s.words[i]
        if s.n[state.UNKNOWN_BIT] >= 0:
            s.escaped[s.n[state.RANGE] - 1] &= ~(np.uint64(1) << np.uint64(s.n[state.UNKNOWN_BIT]))
    elif s.step > 1 and holds_unknown(s, new):
        s.unknowns[s.n[state.UNKNOWNS]] = node
        s.n[state.UNKNOWNS] += 1


@entry_point
def find_unknown(g_: Graph, s_: Shard, found: NDArray[np.uint8]) -> None:
    """Mark the nodes that hold U, as the shard with its word knows; state.OUT is not asked."""
    _find_unknown(as_pointers(g_), as_pointers(s_), found)


@device_function
def _find_unknown(g: Graph, s: Shard, found: NDArray[np.uint8]) -> None:
    for node in range(len(found)):
        if g.root[node] == node and node != g.root[s.n[state.OUT]]:
            found[node] = holds_unknown(s, s.node_row[node])


@entry_point
def leave_out(s_: Shard, is_unknown: NDArray[np.uint8], without: I32, first: int) -> int:
    """Let unknown nodes from `first` on do without what escaped; return where space ran out.

    `without` has for each row the number of the one without what escaped, or -1.
    """
    return _leave_out(as_pointers(s_), is_unknown, without, first)


@device_function
def _leave_out(s: Shard, is_unknown: NDArray[np.uint8], without: I32, first: int) -> int:
    for node in range(first, len(is_unknown)):
        row = s.node_row[node]
        if is_unknown[node] == 0 or row >= len(without) or not any_escaped(s, row):
            continue
        if without[row] < 0:
            if not room(s, s.row_length[row], 1):
                return node
            without[row] = minus(s, row, 0, True)
        s.node_row[node] = without[row]
    return len(is_unknown)


@device_function
def send(g: Graph, s: Shard, row: int, node: int) -> None:
    """Let a row wait at a node."""
    top = s.head[node]
    if row == s.node_row[node] or (top >= 0 and s.cell_row[top] == row):
        return
    cell = s.n[state.FREE_CELL]
    if cell >= 0:
        s.n[state.FREE_CELL] = s.cell_next[cell]
    else:
        cell = s.n[state.CELLS]
        s.n[state.CELLS] = cell + 1
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
    n_facts = g.n[state.FACTS]
    while fact < n_facts:
        node, last = g.fact_node[fact], np.int32(-1)
        if not room(s, s.n[state.RANGE], 1):
            return fact
        at = s.n[state.WORDS]
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
    if g.pointer_head[node] >= 0 and s.is_changed[node] == 0:
        s.is_changed[node] = 1
        s.changed[s.n[state.CHANGED]] = node
        s.n[state.CHANGED] += 1


@device_function
def _release(s: Shard, first: int, last: int) -> None:
    """Give back the cells of a list."""
    s.cell_next[last] = s.n[state.FREE_CELL]
    s.n[state.FREE_CELL] = first


@device_function
def _visit(g: Graph, s: Shard, node: int) -> int:
    """Add what waits at a node to its set; return a row for what was new."""
    known, first = s.node_row[node], s.head[node]
    s.head[node] = -1
    hide = hides(g, s, node, known)
    if s.cell_next[first] < 0:
        row: int = s.cell_row[first]
        _release(s, first, first)
        hide |= holds_unknown(s, row) and node != g.root[s.n[state.OUT]]
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
            hide |= holds_unknown(s, s.cell_row[cell]) and node != g.root[s.n[state.OUT]]
            s.n[state.WORK] += s.row_length[s.cell_row[cell]]
            last = cell
            cell = s.cell_next[cell]
        _release(s, first, last)
        new = take(s, known, hide)
    if new > 0:
        grow(g, s, node, new)
        learn(g, s, node, new)
    s.n[state.WORK] += 16
    s.n[state.VISITS] += 1
    return new


@device_function
def grow(g: Graph, s: Shard, node: int, new: int) -> None:
    """Add a row to a node's set."""
    known = s.node_row[node]
    if known == 0:
        s.node_row[node] = new
        return
    if s.row_owned[known] != 0 and extend(s, known, new):
        s.n[state.WORK] += s.row_length[new]
        return
    row = union(s, known, new)
    s.row_owned[row] = g.pointer_head[node] < 0  # a pointer remembers rows that it has seen
    s.node_row[node] = row
    s.n[state.WORK] += s.row_length[row]


@device_function
def sweep(g: Graph, s: Shard, work: int) -> int:
    """Propagate until nothing waits; come back for space, or after so much work."""
    stop = s.n[state.WORK] + work
    n_blocks = (g.n[state.POSITIONS] + 63) >> 6
    position = s.n[state.AT]
    any_visited = position > 0
    while True:
        block = position >> 6
        if block >= n_blocks:
            if not any_visited:
                s.n[state.AT] = 0
                return state.DONE
            position, any_visited = 0, False
            continue
        waiting = s.dirty[block] >> np.uint64(position & 63)
        if waiting == 0:
            position = (block + 1) << 6
            continue
        position += lowest(waiting)
        node = g.node_at[position]
        s.n[state.AT] = position
        if not room(s, s.row_length[s.node_row[node]] + 2 * s.n[state.RANGE], 2):
            return state.MORE_WORDS
        if s.n[state.WORK] > stop:
            return state.MORE_TIME
        s.dirty[position >> 6] &= ~(np.uint64(1) << np.uint64(position & 63))
        new = _visit(g, s, node)
        if new > 0:
            note(g, s, node)
            send_on(g, s, new, node)
        any_visited = True
        position += 1


@device_function
def merge(g: Graph, s: Shard, merged: Merged, first: int) -> int:
    """Give each leader what the nodes merged into it held; return where it stopped for space."""
    while first < merged.n_gone:
        leader = merged.leader[first]
        known = s.node_row[leader]
        if not room(s, s.row_length[known] + 2 * s.n[state.RANGE], 2):
            return first
        while first < merged.n_gone and merged.leader[first] == leader:
            gather(s, s.node_row[merged.gone[first]])
            s.node_row[merged.gone[first]] = 0
            first += 1
        new = take(s, known, hides(g, s, leader, known))
        if new > 0:
            grow(g, s, leader, new)
            learn(g, s, leader, new)
            send_on(g, s, new, leader)
        note(g, s, leader)
    return first


MERGING, STATING, SENDING, SWEEPING = range(4)


@entry_point
def propagate(g_: Graph, s_: Shard, merged_: Merged, first: int, end: int, work: int) -> int:
    """Send what is new until nothing waits; come back for space, or after so much work.

    New are what was merged, the facts, and all that the sources of the edges found last hold.
    """
    return _propagate(as_pointers(g_), as_pointers(s_), as_pointers(merged_), first, end, work)


@device_function
def _propagate(g: Graph, s: Shard, merged: Merged, first: int, end: int, work: int) -> int:
    if s.n[state.STAGE] == MERGING:
        s.n[state.ITEM] = merge(g, s, merged, s.n[state.ITEM])
        if s.n[state.ITEM] < merged.n_gone:
            return state.MORE_WORDS
        s.n[state.STAGE] = STATING
        s.n[state.ITEM] = 0
    if s.n[state.STAGE] == STATING:
        s.n[state.ITEM] = inject_facts(g, s, s.n[state.ITEM])
        if s.n[state.ITEM] < g.n[state.FACTS]:
            return state.MORE_WORDS
        s.n[state.STAGE] = SENDING
        s.n[state.ITEM] = 0
    if s.n[state.STAGE] == SENDING:
        for e in range(first, end):
            inject_edge(g, s, g.extra_source[e], g.extra_target[e])
        for e in range(merged.n_edges):
            inject_edge(g, s, merged.edge_source[e], merged.edge_target[e])
        s.n[state.STAGE] = SWEEPING
    why: int = sweep(g, s, work)
    if why == state.DONE:
        s.n[state.STAGE] = MERGING
    return why
