"""The order of visits: edges without repetitions, cycles merged, the rest topologically sorted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.graphs import Graph as Edges
from kleene.graphs import strong_components
from kleene.solvers.inclusion.cpu.pointers import pointers
from kleene.solvers.inclusion.cpu.rows import gather, room, take
from kleene.solvers.inclusion.cpu.rules import Rules
from kleene.solvers.inclusion.cpu.state import EXTRA, NODES, POSITIONS, RANGE, Graph, Shard
from kleene.solvers.inclusion.cpu.sweep import grow, note, send_on
from kleene.solvers.inclusion.offline.compiled import entry, piece

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class Merged(NamedTuple):
    """Nodes that became part of others, by leader; and the edges that they brought along."""

    gone: I32
    leader: I32
    edge_source: I32
    edge_target: I32


_NO_IDS = np.empty(0, np.int32)
NOTHING_MERGED = Merged(_NO_IDS, _NO_IDS, _NO_IDS, _NO_IDS)


def ordered(g: Graph, rules: Rules) -> tuple[Graph, Merged]:
    """Return the graph with all edges in one table, in order; and which nodes were merged.

    The arrays of edges found lately keep their values: what they carry is still to be sent.
    """
    n_nodes, n_extra = int(g.n[NODES]), int(g.n[EXTRA])
    offsets, targets = _table(n_nodes, g, n_extra)
    found = strong_components(Edges(offsets, targets))
    leader = _leaders(found.component, found.n_components, offsets)
    nodes = np.arange(n_nodes, dtype=np.int32)
    target = leader[found.component]
    gone = np.flatnonzero(target != nodes).astype(np.int32)
    gone = gone[np.argsort(target[gone], kind="stable")]
    g.root[:n_nodes] = target[g.root[:n_nodes]]
    g.position[:n_nodes] = found.component
    g.node_at[: found.n_components] = leader
    g.n[POSITIONS] = found.n_components
    merged = NOTHING_MERGED
    if len(gone):
        merged = Merged(gone, target[gone], *_edges_of(gone, g.root, offsets, targets))
        kept = g._replace(offsets=_padded(offsets, g), targets=targets)
        offsets, targets = _table(n_nodes, kept, 0)
    g.extra_head[:n_nodes] = -1
    g.n[EXTRA] = 0
    _list_triggers(g, rules.trigger_node)
    return g._replace(offsets=_padded(offsets, g), targets=targets), merged


@entry
def _leaders(component: I32, n_components: int, offsets: I64) -> I32:
    """Return the node of each component that has the most edges: they need not be sent again."""
    leader = np.full(n_components, -1, np.int32)
    for node in range(len(component)):
        k = component[node]
        other = leader[k]
        n_edges = offsets[node + 1] - offsets[node]
        if other < 0 or n_edges > offsets[other + 1] - offsets[other]:
            leader[k] = node
    return leader


@entry
def _edges_of(gone: I32, root: I32, offsets: I64, targets: I32) -> tuple[I32, I32]:
    """Return the edges that left the nodes given, between the nodes they are part of now."""
    n = 0
    for node in gone:
        n += offsets[node + 1] - offsets[node]
    edges = np.empty((2, n), np.int32)
    n = 0
    for node in gone:
        for e in range(offsets[node], offsets[node + 1]):
            if root[targets[e]] != root[node]:
                edges[0, n] = root[node]
                edges[1, n] = root[targets[e]]
                n += 1
    return edges[0, :n].copy(), edges[1, :n].copy()


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
def merge(g_: Graph, s_: Shard, gone: I32, leaders: I32, first: int) -> int:
    """Give each leader what the nodes merged into it held; return where it stopped for space."""
    return _merge(pointers(g_), pointers(s_), gone, leaders, first)


@piece
def _merge(g: Graph, s: Shard, gone: I32, leaders: I32, first: int) -> int:
    while first < len(gone):
        leader = leaders[first]
        known = s.node_row[leader]
        if not room(s, s.row_length[known] + 2 * s.n[RANGE], 2):
            return first
        while first < len(gone) and leaders[first] == leader:
            gather(s, s.node_row[gone[first]])
            s.node_row[gone[first]] = 0
            first += 1
        new = take(s, known)
        if new > 0:
            grow(g, s, leader, new)
            send_on(g, s, new, leader)
        note(g, s, leader)
    return first
