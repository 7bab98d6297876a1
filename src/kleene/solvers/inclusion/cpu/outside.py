"""Unknown nodes do without what escaped: what follows from it there holds anyway.

An unknown node may hold all of E. If o is in E, then whatever a rule draws from o at an unknown
node is in E and goes to nodes that are unknown: contents, formals and results of E are unknown and
hold nothing but E (see `problem`). So rows of unknown nodes need no member of E, and the rules of
their triggers need not fire for it. How early it is left out changes how long a solve takes, never
its answer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32
from kleene.solvers.inclusion.cpu.pointers import pointers
from kleene.solvers.inclusion.cpu.rows import minus, room
from kleene.solvers.inclusion.cpu.state import OUT, RANGE, UNKNOWN_BIT, UNKNOWNS, Graph, Shard
from kleene.solvers.inclusion.offline.compiled import device_function, entry_point


@device_function
def holds_unknown(s: Shard, row: int) -> bool:
    """Return whether a row has U, which is the last object of all."""
    last = s.row_start[row] + s.row_length[row] - 1
    if s.n[UNKNOWN_BIT] < 0 or s.row_length[row] == 0 or s.indices[last] != s.n[RANGE] - 1:
        return False
    held: bool = (s.words[last] >> np.uint64(s.n[UNKNOWN_BIT])) & np.uint64(1) != 0
    return held


@device_function
def hides(g: Graph, s: Shard, node: int, known: int) -> bool:
    """Return whether a node that holds the row `known` is one that does without what escaped."""
    if s.n[OUT] < 0 or node == g.root[s.n[OUT]]:
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
    if s.n[OUT] < 0:
        return
    if node == g.root[s.n[OUT]]:
        start = s.row_start[new]
        for i in range(start, start + s.row_length[new]):
            s.escaped[s.indices[i]] |= s.words[i]
        if s.n[UNKNOWN_BIT] >= 0:
            s.escaped[s.n[RANGE] - 1] &= ~(np.uint64(1) << np.uint64(s.n[UNKNOWN_BIT]))
    elif s.step > 1 and holds_unknown(s, new):
        s.unknowns[s.n[UNKNOWNS]] = node
        s.n[UNKNOWNS] += 1


@entry_point
def find_unknown(g_: Graph, s_: Shard, found: NDArray[np.uint8]) -> None:
    """Mark the nodes that hold U, as the shard with its word knows; OUT is not asked."""
    _find_unknown(pointers(g_), pointers(s_), found)


@device_function
def _find_unknown(g: Graph, s: Shard, found: NDArray[np.uint8]) -> None:
    for node in range(len(found)):
        if g.root[node] == node and node != g.root[s.n[OUT]]:
            found[node] = holds_unknown(s, s.node_row[node])


@entry_point
def leave_out(s_: Shard, is_unknown: NDArray[np.uint8], without: I32, first: int) -> int:
    """Let unknown nodes from `first` on do without what escaped; return where space ran out.

    `without` has for each row the number of the one without what escaped, or -1.
    """
    return _leave_out(pointers(s_), is_unknown, without, first)


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
