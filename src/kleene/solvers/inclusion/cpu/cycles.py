"""The order of visits: edges without repetitions, cycles merged, the rest topologically sorted."""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I32, I64
from kleene.graphs import Graph as Edges
from kleene.graphs import strong_components
from kleene.solvers.inclusion.compiled import entry_point
from kleene.solvers.inclusion.cpu import state
from kleene.solvers.inclusion.cpu.constraints import Rules
from kleene.solvers.inclusion.cpu.state import Graph, Merged
from kleene.solvers.inclusion.offline.tables import grouped


def ordered(g: Graph, rules: Rules) -> tuple[Graph, Merged]:
    """Return the graph with all edges in one table, in order; and which nodes were merged.

    The arrays of edges found lately keep their values: what they carry is still to be sent.
    """
    n_nodes = int(g.n[state.NODES])
    offsets, targets = _joined(g)
    found = strong_components(Edges(offsets, targets))
    leader = _leaders(found.component, found.n_components, offsets)
    target = leader[found.component]
    gone = np.flatnonzero(target != np.arange(n_nodes)).astype(np.int32)
    gone = gone[np.argsort(target[gone], kind="stable")]
    g.root[:n_nodes] = target[g.root[:n_nodes]]
    g.position[:n_nodes] = found.component
    g.node_at[: found.n_components] = leader
    g.n[state.POSITIONS] = found.n_components
    merged = state.NOTHING_MERGED
    if len(gone):
        edges = _edges_of(gone, g.root, offsets, targets)
        merged = Merged(len(gone), gone, target[gone], len(edges[0]), *edges)
    members = grouped(found.n_components, found.component)
    g = g._replace(targets=_sorted(g, *members, offsets, targets))
    g.n[state.EXTRA] = 0
    _list_pointers(g, rules.pointer_node)
    return g, merged


@entry_point
def _joined(g: Graph) -> tuple[I64, I32]:
    """Return every edge between roots by source, the ones found lately too."""
    n_nodes, n_extra = g.n[state.NODES], g.n[state.EXTRA]
    root, first_edge, end_edge = g.root, g.first_edge, g.end_edge
    extra_source, extra_target, known = g.extra_source, g.extra_target, g.targets
    offsets = np.zeros(n_nodes + 1, np.int64)
    for node in range(n_nodes):
        offsets[node + 1] = end_edge[node] - first_edge[node]
    for e in range(n_extra):
        offsets[root[extra_source[e]] + 1] += 1
    for node in range(n_nodes):
        offsets[node + 1] += offsets[node]
    place = offsets[:-1].copy()
    targets = np.empty(offsets[n_nodes], np.int32)
    for node in range(n_nodes):
        for e in range(first_edge[node], end_edge[node]):
            targets[place[node]] = known[e]
            place[node] += 1
    for e in range(n_extra):
        source = root[extra_source[e]]
        targets[place[source]] = root[extra_target[e]]
        place[source] += 1
    return offsets, targets


@entry_point
def _sorted(g: Graph, starts: I64, members: I32, offsets: I64, targets: I32) -> I32:
    """Return the targets of each leader by position, without loops and repetitions."""
    root, node_at, first_edge, end_edge = g.root, g.node_at, g.first_edge, g.end_edge
    n_nodes = g.n[state.NODES]
    first_edge[:n_nodes] = 0
    end_edge[:n_nodes] = 0
    g.extra_head[:n_nodes] = -1
    kept = np.empty(len(targets), np.int32)
    seen = np.full(n_nodes, -1, np.int32)
    at = 0
    for position in range(g.n[state.POSITIONS]):
        leader = node_at[position]
        seen[leader] = position
        first_edge[leader] = at
        for i in range(starts[position], starts[position + 1]):
            for e in range(offsets[members[i]], offsets[members[i] + 1]):
                target = root[targets[e]]
                if seen[target] != position:
                    seen[target] = position
                    kept[at] = target
                    at += 1
        end_edge[leader] = at
    return kept[:at].copy()


@entry_point
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


@entry_point
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


@entry_point
def _list_pointers(g: Graph, pointer_node: I32) -> None:
    """Hang each pointer on the node that its own was merged into."""
    g.pointer_head[:] = -1
    for pointer in range(len(pointer_node)):
        node = g.root[pointer_node[pointer]]
        g.pointer_next[pointer] = g.pointer_head[node]
        g.pointer_head[node] = pointer
