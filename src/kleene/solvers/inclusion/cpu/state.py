"""The arrays that a solve works on, and how they grow.

The **graph** is common to all shards: who flows into whom. A **shard** owns every n-th word of each
set, counted from 0 within it; shards never look at each other, so that in each iteration as many
threads as there are shards propagate sets and process constraints, without a lock. The edges, nodes
and facts that constraints ask for wait in the shard: the graph takes them over when all threads are
done.

A node's set is the number of a row, and nodes with one source share its row. A row does not change,
unless the node that made it is the only one to name it. Row 0 is the empty set. A row that nobody
names any more is reclaimed when space runs out.

Room for more: arrays are doubled between calls, since compiled code cannot replace them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32, I64, U64
from kleene.solvers.inclusion.cpu.constraints import Rules

# Numbers in `Graph.n`
NODES, POSITIONS, EXTRA, FACTS = range(4)
N_GRAPH_COUNTS = 4
# Numbers in `Shard.n`
ROWS, WORDS, FREE_CELL, CELLS, CHANGED, AT, CLASSES, CLASS_NODES, POINTER, WORK, EPOCH, SLOTS = (
    range(12)
)
FOUND, ASKED, NEW_NODES, COVER, STAGE, ITEM = range(12, 18)
ROWS_ROOM, WORDS_ROOM, CLASSES_ROOM, CLASS_NODES_ROOM, SLOTS_ROOM, FOUND_ROOM, ASKED_ROOM = range(
    18, 25
)
RANGE, SET_WORDS, OUT, UNKNOWN_BIT, UNKNOWNS, LAST_CLASS, VISITS = range(25, 32)
N_SHARD_COUNTS = 32
# An offset done: in which iteration, for what row after what, by how much; the facts it brought
S_EPOCH, S_ROW, S_BEFORE, S_AMOUNT, S_FIRST, S_END = range(6)
S_WIDTH = 6
N_SHIFTED = 1 << 14
# Why a compiled loop came back
DONE, MORE_WORDS, MORE_EDGES, MORE_FACTS, MORE_CLASSES, MORE_TIME = range(6)
# How much a shard begins with; all of it grows. Pages that are never touched cost nothing
FIRST_WORDS, FIRST_ROWS, FIRST_EDGES, FIRST_CLASSES = 1 << 20, 1 << 18, 1 << 14, 64


class Graph(NamedTuple):
    """Who flows into whom: successors in `offsets, targets`, and in lists those found since."""

    n: I64  # how many there are of each: NODES and so on
    root: I32  # per node: the node that it was merged into
    position: I32  # per node: its place in the order of visits
    node_at: I32  # per position
    first_edge: I64  # per node: where its targets begin, and where they end
    end_edge: I64
    targets: I32
    extra_head: I32
    extra_next: I32
    extra_source: I32
    extra_target: I32
    fact_node: I32
    fact_index: I32
    fact_word: U64
    pointer_head: I32  # per node: its pointers, a list
    pointer_next: I32  # per pointer
    is_unknown: NDArray[np.uint8]  # per node: whether it held U when the last iteration ended


class Shard(NamedTuple):
    """Every n-th word of each set, and what was done with it."""

    n: I64  # how many there are of each: ROWS and so on
    first: int  # its words are those with number first + i * step
    step: int
    node_row: I32
    row_start: I64
    row_length: I32
    row_owned: NDArray[np.uint8]  # whether one node alone names it, and may change it
    indices: I32
    words: U64
    head: I32  # per node: rows that wait to be added, a list of cells
    cell_row: I32
    cell_next: I32
    dirty: U64  # bits by position: nodes with rows waiting
    changed: I32  # nodes with pointers that grew in this iteration
    is_changed: NDArray[np.uint8]
    scratch: U64  # zero between uses
    touched: U64
    pointer_row: I32  # per pointer: what it has processed for
    pointer_class: I32
    class_row: I32
    class_parent: I32
    class_depth: I32
    class_members: I32
    class_children: I32
    class_epoch: I32  # the last iteration in which a member grew
    class_grown: I32  # how many did; below 0 if not all alike
    class_lead: I32  # the row that the first of them has now
    class_first_node: I32
    class_node_kind: I32
    class_node: I32
    class_node_next: I32
    slots: I32  # classes by the hash of their rows
    covered: I64  # per node: the last cover that made an edge from or to it
    found_source: I32  # edges that the rules ask for
    found_target: I32
    asked_node: I32  # facts that offsets ask for, about words of any shard
    asked_index: I32
    asked_word: U64
    shifted: I64  # offsets done in this iteration, by hash: S_EPOCH and so on
    wide: U64  # one whole set; zero between uses
    wide_touched: U64
    escaped: U64  # what OUT holds, but for U: unknown nodes do without it
    unknowns: I32  # nodes that came to hold U in this iteration, if the shard has its word


def new_graph(rules: Rules) -> Graph:
    """Return a graph with the problem's copies, none of them ordered yet."""
    n_nodes, n_pointers = rules.n_nodes, len(rules.pointer_node)
    capacity = n_nodes + 64
    count = np.zeros(N_GRAPH_COUNTS, np.int64)
    count[NODES] = count[POSITIONS] = n_nodes
    count[EXTRA] = len(rules.copy_source)
    return Graph(
        n=count,
        root=np.arange(capacity, dtype=np.int32),
        position=np.arange(capacity, dtype=np.int32),
        node_at=np.arange(capacity, dtype=np.int32),
        first_edge=np.zeros(capacity, np.int64),
        end_edge=np.zeros(capacity, np.int64),
        targets=np.empty(0, np.int32),
        extra_head=np.full(capacity, -1, np.int32),
        extra_next=np.empty(len(rules.copy_source), np.int32),
        extra_source=rules.copy_source.copy(),
        extra_target=rules.copy_target.copy(),
        fact_node=np.empty(0, np.int32),
        fact_index=np.empty(0, np.int32),
        fact_word=np.empty(0, np.uint64),
        pointer_head=np.full(capacity, -1, np.int32),
        pointer_next=np.full(n_pointers, -1, np.int32),
        is_unknown=np.zeros(capacity, np.uint8),
    )


def new_shard(rules: Rules, first: int, step: int) -> Shard:
    """Return a shard for the words `first`, `first + step` and so on, all sets empty."""
    n_nodes = rules.n_nodes + 64
    n_pointers = len(rules.pointer_node)
    count = np.zeros(N_SHARD_COUNTS, np.int64)
    count[ROWS] = 1
    count[FREE_CELL] = -1
    count[POINTER] = -1
    n_set_words = (rules.n_objects + 63) // 64
    count[OUT] = rules.outside
    owns_unknown = rules.outside >= 0 and (n_set_words - 1) % step == first
    count[UNKNOWN_BIT] = (rules.n_objects - 1) & 63 if owns_unknown else -1
    n_own_words = -(-(n_set_words - first) // step)
    n_words = max(FIRST_WORDS, 8 * n_own_words)  # a visit may make three rows

    def ids(size: int, value: int = 0) -> I32:
        return np.full(size, value, np.int32)

    shard = Shard(
        n=count,
        first=first,
        step=step,
        node_row=ids(n_nodes),
        row_start=np.zeros(FIRST_ROWS, np.int64),
        row_length=np.zeros(FIRST_ROWS, np.int32),
        row_owned=np.zeros(FIRST_ROWS, np.uint8),
        indices=np.empty(n_words, np.int32),
        words=np.empty(n_words, np.uint64),
        head=ids(n_nodes, -1),
        cell_row=ids(0),
        cell_next=ids(0),
        dirty=np.zeros(n_nodes // 64 + 1, np.uint64),
        changed=ids(n_nodes),
        is_changed=np.zeros(n_nodes, np.uint8),
        scratch=np.zeros(n_own_words, np.uint64),
        touched=np.zeros(n_own_words // 64 + 1, np.uint64),
        pointer_row=ids(n_pointers),
        pointer_class=ids(n_pointers, -1),
        class_row=ids(FIRST_CLASSES),
        class_parent=ids(FIRST_CLASSES),
        class_depth=ids(FIRST_CLASSES),
        class_members=ids(FIRST_CLASSES),
        class_children=ids(FIRST_CLASSES),
        class_epoch=ids(FIRST_CLASSES),
        class_grown=ids(FIRST_CLASSES),
        class_lead=ids(FIRST_CLASSES),
        class_first_node=ids(FIRST_CLASSES),
        class_node_kind=ids(FIRST_CLASSES),
        class_node=ids(FIRST_CLASSES),
        class_node_next=ids(FIRST_CLASSES),
        slots=ids(4 * FIRST_CLASSES, -1),
        covered=np.zeros(n_nodes, np.int64),
        found_source=ids(FIRST_EDGES),
        found_target=ids(FIRST_EDGES),
        asked_node=ids(FIRST_EDGES),
        asked_index=ids(FIRST_EDGES),
        asked_word=np.zeros(FIRST_EDGES, np.uint64),
        shifted=np.zeros(N_SHIFTED * S_WIDTH, np.int64),
        wide=np.zeros(n_set_words, np.uint64),
        wide_touched=np.zeros(n_set_words // 64 + 1, np.uint64),
        escaped=np.zeros(n_own_words, np.uint64),
        unknowns=ids(n_nodes),
    )
    return measured_shard(shard)


def measured_shard(s: Shard) -> Shard:
    """Return the shard with the lengths of its arrays noted, for code that sees pointers."""
    s.n[ROWS_ROOM] = len(s.row_start)
    s.n[WORDS_ROOM] = len(s.words)
    s.n[CLASSES_ROOM] = len(s.class_row)
    s.n[CLASS_NODES_ROOM] = len(s.class_node)
    s.n[SLOTS_ROOM] = len(s.slots)
    s.n[FOUND_ROOM] = len(s.found_source)
    s.n[ASKED_ROOM] = len(s.asked_node)
    s.n[RANGE] = len(s.scratch)
    s.n[SET_WORDS] = len(s.wide)
    return s


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


def more_edges(s: Shard) -> Shard:
    """Return the shard with room for edges."""
    return measured_shard(_doubled(s, "found_source", "found_target"))


def more_facts(s: Shard) -> Shard:
    """Return the shard with room for facts."""
    return measured_shard(_doubled(s, "asked_node", "asked_index", "asked_word"))


def _doubled(s: Shard, *names: str) -> Shard:
    size = 2 * len(getattr(s, names[0]))
    larger: dict[str, Any] = {name: grown(getattr(s, name), size) for name in names}
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
    return g._replace(**{name: grown(getattr(g, name), 2 * size) for name in names})


def _more_nodes(g: Graph, shards: list[Shard], size: int) -> tuple[Graph, list[Shard]]:
    g = g._replace(
        root=np.append(g.root, np.arange(len(g.root), size, dtype=np.int32)),
        position=grown(g.position, size),
        node_at=grown(g.node_at, size),
        first_edge=grown(g.first_edge, size),
        end_edge=grown(g.end_edge, size),
        extra_head=grown(g.extra_head, size, -1),
        pointer_head=grown(g.pointer_head, size, -1),
        is_unknown=grown(g.is_unknown, size),
    )
    return g, [with_nodes(s, size) for s in shards]


def with_nodes(s: Shard, size: int) -> Shard:
    """Return the shard with room for so many nodes."""
    return s._replace(
        node_row=grown(s.node_row, size),
        head=grown(s.head, size, -1),
        dirty=grown(s.dirty, size // 64 + 1),
        changed=grown(s.changed, size),
        is_changed=grown(s.is_changed, size),
        covered=grown(s.covered, size),
        unknowns=grown(s.unknowns, size),
    )


def grown(array: NDArray[Any], size: int, value: int = 0) -> NDArray[Any]:
    """Return a longer copy of an array, filled up with `value`."""
    larger = np.empty(size, array.dtype)
    larger[: len(array)] = array
    larger[len(array) :] = value
    return larger


class Merged(NamedTuple):
    """Nodes that became part of others, by leader; and the edges that they brought along."""

    n_gone: int
    gone: I32
    leader: I32
    n_edges: int
    edge_source: I32
    edge_target: I32


_NO_IDS = np.empty(0, np.int32)
NOTHING_MERGED = Merged(0, _NO_IDS, _NO_IDS, 0, _NO_IDS, _NO_IDS)
