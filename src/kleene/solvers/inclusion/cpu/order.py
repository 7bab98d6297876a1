"""The order of visits: edges without repetitions, cycles merged, the rest topologically sorted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kleene.graphs import Graph as Edges
from kleene.graphs import strong_components
from kleene.solvers.inclusion.cpu.pointers import pointers
from kleene.solvers.inclusion.cpu.rows import gather, room, take
from kleene.solvers.inclusion.cpu.rules import Rules
from kleene.solvers.inclusion.cpu.state import EXTRA, NODES, POSITIONS, RANGE, Graph, Shard
from kleene.solvers.inclusion.cpu.sweep import note
from kleene.solvers.inclusion.offline.compiled import entry, piece

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


def ordered(g: Graph, rules: Rules) -> tuple[Graph, I32]:
    """Return the graph with all edges in one table, in order; and (gone, leader) of what merged.

    What merged is sorted by leader. The arrays of edges found lately keep their values: the sets
    that they carry are still to be sent.
    """
    n_nodes, n_extra = int(g.n[NODES]), int(g.n[EXTRA])
    offsets, targets = _table(n_nodes, g, n_extra)
    found = strong_components(Edges(offsets, targets))
    leader = np.full(found.n_components, n_nodes, np.int32)
    nodes = np.arange(n_nodes, dtype=np.int32)
    np.minimum.at(leader, found.component, nodes)
    target = leader[found.component]
    gone = np.flatnonzero((target != nodes) & (g.root[:n_nodes] == nodes)).astype(np.int32)
    gone = gone[np.argsort(target[gone], kind="stable")]
    merged = np.stack([gone, target[gone]])
    g.root[:n_nodes] = target[g.root[:n_nodes]]
    g.position[:n_nodes] = found.component
    g.node_at[: found.n_components] = leader
    g.n[POSITIONS] = found.n_components
    if len(gone):
        offsets, targets = _table(
            n_nodes, g._replace(offsets=_padded(offsets, g), targets=targets), 0
        )
    g.extra_head[:n_nodes] = -1
    g.n[EXTRA] = 0
    _list_triggers(g, rules.trigger_node)
    return g._replace(offsets=_padded(offsets, g), targets=targets), merged


def _padded(offsets: I64, g: Graph) -> I64:
    """Return offsets for as many nodes as there is room for: those to come have no edges."""
    return np.append(offsets, np.full(len(g.root) + 1 - len(offsets), offsets[-1]))


@entry
def _table(n_nodes: int, g: Graph, n_extra: int) -> tuple[I64, I32]:
    """Return every edge between roots, by source, without loops and repetitions."""
    n_edges = len(g.targets)
    start = np.zeros(n_nodes + 1, np.int64)
    for node in range(n_nodes):
        start[g.root[node] + 1] += g.offsets[node + 1] - g.offsets[node]
    for e in range(n_extra):
        start[g.root[g.extra_source[e]] + 1] += 1
    for node in range(n_nodes):
        start[node + 1] += start[node]
    place = start[:-1].copy()
    targets = np.empty(n_edges + n_extra, np.int32)
    for node in range(n_nodes):
        source = g.root[node]
        for e in range(g.offsets[node], g.offsets[node + 1]):
            targets[place[source]] = g.root[g.targets[e]]
            place[source] += 1
    for e in range(n_extra):
        source = g.root[g.extra_source[e]]
        targets[place[source]] = g.root[g.extra_target[e]]
        place[source] += 1
    seen = np.full(n_nodes, -1, np.int32)
    offsets = np.zeros(n_nodes + 1, np.int64)
    at = 0
    for node in range(n_nodes):
        seen[node] = node
        for e in range(start[node], start[node + 1]):
            target = targets[e]
            if seen[target] != node:
                seen[target] = node
                targets[at] = target
                at += 1
        offsets[node + 1] = at
    return offsets, targets[:at].copy()


@entry
def _list_triggers(g: Graph, trigger_node: I32) -> None:
    """Hang each trigger on the node that its own was merged into."""
    g.trigger_head[:] = -1
    for trigger in range(len(trigger_node)):
        node = g.root[trigger_node[trigger]]
        g.trigger_next[trigger] = g.trigger_head[node]
        g.trigger_head[node] = trigger


@entry
def merge(g_: Graph, s_: Shard, merged: I32, first: int) -> int:
    """Give each leader what the nodes merged into it held; return where it stopped for space."""
    return _merge(pointers(g_), pointers(s_), merged, first)


@piece
def _merge(g: Graph, s: Shard, merged: I32, first: int) -> int:
    """Give each leader what the nodes merged into it held; return where it stopped for space."""
    n = merged.shape[1]
    while first < n:
        if not room(s, s.n[RANGE], 1):
            return first
        leader = merged[1, first]
        gather(s, s.node_row[leader])
        while first < n and merged[1, first] == leader:
            gone = merged[0, first]
            gather(s, s.node_row[gone])
            s.node_row[gone] = 0
            first += 1
        s.node_row[leader] = take(s, 0)
        note(g, s, leader)
    return first
