"""The arrays that a solve works on, and how they grow.

The **graph** is common to all shards: who flows into whom. A **shard** owns every n-th word of each
set, counted from 0 within it; shards never look at each other, so that in each wave as many threads
as there are shards propagate sets and apply rules, without a lock. The edges, nodes and facts that
rules ask for wait in the shard: the graph takes them over when all threads are done.

A node's set is the number of a row, and nodes with one source share its row. A row does not change,
unless the node that made it is the only one to name it. Row 0 is the empty set. A row that nobody
names any more is reclaimed when space runs out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32, I64, U64
from kleene.solvers.inclusion.cpu.rules import Rules

# Numbers in `Graph.n`
NODES, POSITIONS, EXTRA, FACTS = range(4)
N_GRAPH_COUNTS = 4
# Numbers in `Shard.n`
ROWS, WORDS, FREE_CELL, CELLS, CHANGED, AT, CLASSES, PORTS, TRIGGER, WORK, EPOCH, SLOTS = range(12)
FOUND, ASKED, NEW_NODES, COVER, STAGE, ITEM = range(12, 18)
ROWS_ROOM, WORDS_ROOM, CLASSES_ROOM, PORTS_ROOM, SLOTS_ROOM, FOUND_ROOM, ASKED_ROOM = range(18, 25)
RANGE, SET_WORDS, OUT, UNKNOWN_BIT, UNKNOWNS, LAST_CLASS = range(25, 31)
N_SHARD_COUNTS = 31
# An offset done: in which wave, for what row after what, by how much; the facts it brought
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
    trigger_head: I32  # per node: its triggers, a list
    trigger_next: I32  # per trigger
    is_unknown: NDArray[np.uint8]  # per node: whether it held U when the last wave ended


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
    changed: I32  # nodes with triggers that grew in this wave
    is_changed: NDArray[np.uint8]
    scratch: U64  # zero between uses
    touched: U64
    trigger_row: I32  # per trigger: what it has fired for
    trigger_class: I32
    class_row: I32
    class_parent: I32
    class_depth: I32
    class_members: I32
    class_children: I32
    class_epoch: I32  # the last wave in which a member grew
    class_grown: I32  # how many did; below 0 if not all alike
    class_lead: I32  # the row that the first of them has now
    class_port: I32
    port_kind: I32
    port_node: I32
    port_next: I32
    slots: I32  # classes by the hash of their rows
    covered: I64  # per node: the last cover that made an edge from or to it
    found_source: I32  # edges that the rules ask for
    found_target: I32
    asked_node: I32  # facts that offsets ask for, about words of any shard
    asked_index: I32
    asked_word: U64
    shifted: I64  # offsets done in this wave, by hash: S_EPOCH and so on
    wide: U64  # one whole set; zero between uses
    wide_touched: U64
    escaped: U64  # what OUT holds, but for U: unknown nodes do without it
    unknowns: I32  # nodes that came to hold U in this wave, if the shard has its word


def new_graph(rules: Rules) -> Graph:
    """Return a graph with the problem's copies, none of them ordered yet."""
    n_nodes, n_triggers = rules.n_nodes, len(rules.trigger_node)
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
        trigger_head=np.full(capacity, -1, np.int32),
        trigger_next=np.full(n_triggers, -1, np.int32),
        is_unknown=np.zeros(capacity, np.uint8),
    )


def new_shard(rules: Rules, first: int, step: int) -> Shard:
    """Return a shard for the words `first`, `first + step` and so on, all sets empty."""
    n_nodes = rules.n_nodes + 64
    n_triggers = len(rules.trigger_node)
    count = np.zeros(N_SHARD_COUNTS, np.int64)
    count[ROWS] = 1
    count[FREE_CELL] = -1
    count[TRIGGER] = -1
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
        trigger_row=ids(n_triggers),
        trigger_class=ids(n_triggers, -1),
        class_row=ids(FIRST_CLASSES),
        class_parent=ids(FIRST_CLASSES),
        class_depth=ids(FIRST_CLASSES),
        class_members=ids(FIRST_CLASSES),
        class_children=ids(FIRST_CLASSES),
        class_epoch=ids(FIRST_CLASSES),
        class_grown=ids(FIRST_CLASSES),
        class_lead=ids(FIRST_CLASSES),
        class_port=ids(FIRST_CLASSES),
        port_kind=ids(FIRST_CLASSES),
        port_node=ids(FIRST_CLASSES),
        port_next=ids(FIRST_CLASSES),
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
    s.n[PORTS_ROOM] = len(s.port_node)
    s.n[SLOTS_ROOM] = len(s.slots)
    s.n[FOUND_ROOM] = len(s.found_source)
    s.n[ASKED_ROOM] = len(s.asked_node)
    s.n[RANGE] = len(s.scratch)
    s.n[SET_WORDS] = len(s.wide)
    return s
