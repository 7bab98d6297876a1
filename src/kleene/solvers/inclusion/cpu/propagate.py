"""One wave of propagation in a shard: merge, let what is new wait at its nodes, sweep."""

from __future__ import annotations

from kleene.solvers.inclusion.cpu.order import Merged, merge
from kleene.solvers.inclusion.cpu.pointers import pointers
from kleene.solvers.inclusion.cpu.state import DONE, FACTS, ITEM, MORE_WORDS, STAGE, Graph, Shard
from kleene.solvers.inclusion.cpu.sweep import inject_edge, inject_facts, sweep
from kleene.solvers.inclusion.offline.compiled import device_function, entry_point

MERGING, STATING, SENDING, SWEEPING = range(4)


@entry_point
def propagate(g_: Graph, s_: Shard, merged_: Merged, first: int, end: int, work: int) -> int:
    """Send what is new until nothing waits; come back for space, or after so much work.

    New are what was merged, the facts, and all that the sources of the edges found last hold.
    """
    return _propagate(pointers(g_), pointers(s_), pointers(merged_), first, end, work)


@device_function
def _propagate(g: Graph, s: Shard, merged: Merged, first: int, end: int, work: int) -> int:
    if s.n[STAGE] == MERGING:
        s.n[ITEM] = merge(g, s, merged, s.n[ITEM])
        if s.n[ITEM] < merged.n_gone:
            return MORE_WORDS
        s.n[STAGE] = STATING
        s.n[ITEM] = 0
    if s.n[STAGE] == STATING:
        s.n[ITEM] = inject_facts(g, s, s.n[ITEM])
        if s.n[ITEM] < g.n[FACTS]:
            return MORE_WORDS
        s.n[STAGE] = SENDING
        s.n[ITEM] = 0
    if s.n[STAGE] == SENDING:
        for e in range(first, end):
            inject_edge(g, s, g.extra_source[e], g.extra_target[e])
        for e in range(merged.n_edges):
            inject_edge(g, s, merged.edge_source[e], merged.edge_target[e])
        s.n[STAGE] = SWEEPING
    why: int = sweep(g, s, work)
    if why == DONE:
        s.n[STAGE] = MERGING
    return why
