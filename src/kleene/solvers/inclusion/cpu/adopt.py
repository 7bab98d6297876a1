"""What the shards' rules asked for becomes part of the graph, shard by shard."""

from __future__ import annotations

from kleene.solvers.inclusion.cpu.pointers import pointers
from kleene.solvers.inclusion.cpu.state import (
    ASKED,
    EXTRA,
    FACTS,
    FOUND,
    NEW_NODES,
    NODES,
    PORTS,
    POSITIONS,
    UNKNOWNS,
    Graph,
    Shard,
)
from kleene.solvers.inclusion.offline.compiled import device_function, entry_point


@entry_point
def adopt(g_: Graph, s_: Shard, n_known: int) -> None:
    """Add a shard's nodes, edges and facts to the graph, which had `n_known` nodes before any.

    Every shard numbers its new nodes from `n_known` on; those of shards before it come first.
    """
    _adopt(pointers(g_), pointers(s_), n_known)


@device_function
def _adopt(g: Graph, s: Shard, n_known: int) -> None:
    shift = g.n[NODES] - n_known
    for port in range(s.n[PORTS] - s.n[NEW_NODES], s.n[PORTS]):
        s.port_node[port] += shift
        g.position[s.port_node[port]] = g.n[POSITIONS]
        g.node_at[g.n[POSITIONS]] = s.port_node[port]
        g.n[POSITIONS] += 1
    g.n[NODES] += s.n[NEW_NODES]
    for e in range(s.n[FOUND]):
        source, target = s.found_source[e], s.found_target[e]
        if source >= n_known:
            source += shift
        if target >= n_known:
            target += shift
        _link(g, source, target)
    for fact in range(s.n[ASKED]):
        at = g.n[FACTS]
        g.fact_node[at] = s.asked_node[fact]
        g.fact_index[at] = s.asked_index[fact]
        g.fact_word[at] = s.asked_word[fact]
        g.n[FACTS] = at + 1
    for i in range(s.n[UNKNOWNS]):
        g.is_unknown[g.root[s.unknowns[i]]] = 1
    s.n[UNKNOWNS] = 0
    s.n[NEW_NODES] = 0
    s.n[FOUND] = 0
    s.n[ASKED] = 0


@device_function
def _link(g: Graph, source: int, target: int) -> None:
    """Add an edge, unless it is the one that was added last to its source."""
    last = g.extra_head[source]
    if last >= 0 and g.extra_target[last] == target:
        return
    e = g.n[EXTRA]
    g.extra_source[e] = source
    g.extra_target[e] = target
    g.extra_next[e] = last
    g.extra_head[source] = e
    g.n[EXTRA] = e + 1
