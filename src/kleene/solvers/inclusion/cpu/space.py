"""Room for more: arrays are doubled between calls, since compiled code cannot replace them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.solvers.inclusion.cpu import classes, rows
from kleene.solvers.inclusion.cpu.rules import Rules
from kleene.solvers.inclusion.cpu.state import (
    ASKED,
    CELLS,
    EXTRA,
    FACTS,
    FOUND,
    FREE_CELL,
    NEW_NODES,
    NODES,
    ROWS,
    WORDS,
    Graph,
    Shard,
    measured_shard,
)


def with_first_facts(g: Graph, rules: Rules) -> Graph:
    """Return the graph with what nodes hold from the start as its facts."""
    key = rules.fact_node.astype(np.int64) << 32 | rules.fact_object >> 6
    is_first = np.append(True, key[1:] != key[:-1])[: len(key)]
    starts = np.flatnonzero(is_first)
    bit = np.uint64(1) << (rules.fact_object & 63).astype(np.uint64)
    g = g._replace(
        fact_node=(key[starts] >> 32).astype(np.int32),
        fact_index=(key[starts] & 0xFFFFFFFF).astype(np.int32),
        fact_word=np.bitwise_or.reduceat(bit, starts) if len(starts) else bit,
    )
    g.n[FACTS] = len(starts)
    return g


def enough_cells(s: Shard, g: Graph, n_new: int) -> Shard:
    """Return the shard with cells for one propagation, all of them free.

    An edge has at most two rows waiting at its target: what its source held when the edge was
    new, and what was new at the source since the target was last visited.
    """
    n_cells = 2 * (len(g.targets) + int(g.n[EXTRA])) + n_new + int(g.n[FACTS])
    s.n[CELLS] = 0
    s.n[FREE_CELL] = -1
    if n_cells > len(s.cell_row):
        s = s._replace(
            cell_row=np.empty(2 * n_cells, np.int32), cell_next=np.empty(2 * n_cells, np.int32)
        )
    return s


def more_words(s: Shard) -> Shard:
    """Return the shard with room for rows: those no longer named go, then arrays grow."""
    rows.reclaim(s)
    if 2 * s.n[WORDS] > len(s.words):
        size = 2 * len(s.words)
        indices, words = np.empty(size, np.int32), np.empty(size, np.uint64)
        used = int(s.n[WORDS])
        indices[:used], words[:used] = s.indices[:used], s.words[:used]
        s = s._replace(indices=indices, words=words)
    if 2 * s.n[ROWS] > len(s.row_start):
        size = 2 * len(s.row_start)
        s = s._replace(
            row_start=_grown(s.row_start, size),
            row_length=_grown(s.row_length, size),
            row_owned=_grown(s.row_owned, size),
        )
    return measured_shard(s)


def more_edges(s: Shard) -> Shard:
    """Return the shard with room for edges."""
    return measured_shard(_doubled(s, "found_source", "found_target"))


def more_facts(s: Shard) -> Shard:
    """Return the shard with room for facts."""
    return measured_shard(_doubled(s, "asked_node", "asked_index", "asked_word"))


def _doubled(s: Shard, *names: str) -> Shard:
    size = 2 * len(getattr(s, names[0]))
    larger: dict[str, Any] = {name: _grown(getattr(s, name), size) for name in names}
    return s._replace(**larger)


def room_to_adopt(g: Graph, shards: list[Shard]) -> tuple[Graph, list[Shard]]:
    """Return the graph and its shards with room for all that the shards ask for."""
    n_nodes, n_edges, n_facts = (
        int(g.n[known] + sum(s.n[new] for s in shards))
        for known, new in ((NODES, NEW_NODES), (EXTRA, FOUND), (FACTS, ASKED))
    )
    if n_nodes > len(g.root):
        g, shards = _more_nodes(g, shards, 2 * n_nodes)
    g = _with_room(g, n_edges, "extra_next", "extra_source", "extra_target")
    return _with_room(g, n_facts, "fact_node", "fact_index", "fact_word"), shards


def _with_room(g: Graph, size: int, *names: str) -> Graph:
    if size <= len(getattr(g, names[0])):
        return g
    return g._replace(**{name: _grown(getattr(g, name), 2 * size) for name in names})


def _more_nodes(g: Graph, shards: list[Shard], size: int) -> tuple[Graph, list[Shard]]:
    g = g._replace(
        root=np.append(g.root, np.arange(len(g.root), size, dtype=np.int32)),
        position=_grown(g.position, size),
        node_at=_grown(g.node_at, size),
        first_edge=_grown(g.first_edge, size),
        end_edge=_grown(g.end_edge, size),
        extra_head=_grown(g.extra_head, size, -1),
        trigger_head=_grown(g.trigger_head, size, -1),
        is_unknown=_grown(g.is_unknown, size),
    )
    return g, [_with_nodes(s, size) for s in shards]


def _with_nodes(s: Shard, size: int) -> Shard:
    return s._replace(
        node_row=_grown(s.node_row, size),
        head=_grown(s.head, size, -1),
        dirty=_grown(s.dirty, size // 64 + 1),
        changed=_grown(s.changed, size),
        is_changed=_grown(s.is_changed, size),
        covered=_grown(s.covered, size),
        unknowns=_grown(s.unknowns, size),
    )


def more_classes(s: Shard) -> Shard:
    """Return the shard with room for classes, ports and slots."""
    larger: dict[str, Any] = {
        name: _grown(getattr(s, name), 2 * len(getattr(s, name)))
        for name in s._fields
        if name.startswith(("class_", "port_"))
    }
    slots = np.full(2 * len(s.slots), -1, np.int32)
    s = measured_shard(s._replace(slots=slots, **larger))
    classes.rehash(s)
    return s


def _grown(array: NDArray[Any], size: int, value: int = 0) -> NDArray[Any]:
    larger = np.empty(size, array.dtype)
    larger[: len(array)] = array
    larger[len(array) :] = value
    return larger
