"""The arrays that a solve works on, and how they grow.

The **graph** is common to all shards: who flows into whom. A **shard** owns every n-th word of each
set, counted from 0 within it; shards never look at each other, so that in each iteration as many
threads as there are shards propagate sets and process constraints, without a lock. The edges, nodes
and facts that constraints ask for wait in the shard: the graph takes them over when all threads are
done.

A node's set is the number of a row, and nodes with one source share its row. A row does not change,
unless the node that made it is the only one to name it. Row 0 is the empty set. A row that nobody
names any more is reclaimed when space runs out.

Room for more: arrays are doubled between calls, since compiled code cannot replace them. Those that
have an element for each of the same thing (`per`) begin and grow together: see `sized`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kleene.base.arrays import I32, I64, U8, U64
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


class Column(NamedTuple):
    """An array with an element for each `per`, which begins as `value`, or as anything if None."""

    per: str
    dtype: type
    value: int | None


def per(unit: str, dtype: type = np.int32, value: int | None = 0) -> Any:
    """Return the default of a field of `Graph` or `Shard`: `sized` puts an array in its place."""
    return Column(unit, dtype, value)


class Graph(NamedTuple):
    """Who flows into whom: successors in `targets`, and in lists those found since."""

    n: I64  # how many there are of each: NODES and so on
    root: I32 = per("node")  # the node that it was merged into
    position: I32 = per("node")  # its place in the order of visits
    node_at: I32 = per("node")  # by position
    first_edge: I64 = per("node", np.int64)  # where its targets begin, and where they end
    end_edge: I64 = per("node", np.int64)
    targets: I32 = per("target")
    extra_head: I32 = per("node", value=-1)
    extra_next: I32 = per("extra")
    extra_source: I32 = per("extra")
    extra_target: I32 = per("extra")
    fact_node: I32 = per("fact")
    fact_index: I32 = per("fact")
    fact_word: U64 = per("fact", np.uint64)
    pointer_head: I32 = per("node", value=-1)  # its pointers, a list
    pointer_next: I32 = per("pointer", value=-1)
    is_unknown: U8 = per("node", np.uint8)  # whether it held U when the last iteration ended


class Shard(NamedTuple):
    """Every n-th word of each set, and what was done with it."""

    n: I64  # how many there are of each: ROWS and so on
    first: int  # its words are those with number first + i * step
    step: int
    node_row: I32 = per("node")
    row_start: I64 = per("row", np.int64)
    row_length: I32 = per("row")
    row_owned: U8 = per("row", np.uint8)  # whether one node alone names it, and may change it
    indices: I32 = per("word", value=None)
    words: U64 = per("word", np.uint64, None)
    head: I32 = per("node", value=-1)  # rows that wait to be added, a list of cells
    cell_row: I32 = per("cell", value=None)
    cell_next: I32 = per("cell", value=None)
    dirty: U64 = per("node block", np.uint64)  # bits by position: nodes with rows waiting
    changed: I32 = per("node")  # those with pointers that grew in this iteration
    is_changed: U8 = per("node", np.uint8)
    scratch: U64 = per("own word", np.uint64)  # zero between uses
    touched: U64 = per("own block", np.uint64)
    pointer_row: I32 = per("pointer")  # what it has processed for
    pointer_class: I32 = per("pointer", value=-1)
    class_row: I32 = per("class")
    class_parent: I32 = per("class")
    class_depth: I32 = per("class")
    class_members: I32 = per("class")
    class_children: I32 = per("class")
    class_epoch: I32 = per("class")  # the last iteration in which a member grew
    class_grown: I32 = per("class")  # how many did; below 0 if not all alike
    class_lead: I32 = per("class")  # the row that the first of them has now
    class_first_node: I32 = per("class")
    class_node_kind: I32 = per("class node")
    class_node: I32 = per("class node")
    class_node_next: I32 = per("class node")
    slots: I32 = per("slot", value=-1)  # classes by the hash of their rows
    covered: I64 = per("node", np.int64)  # the last cover that made an edge from or to it
    found_source: I32 = per("found")  # edges that the rules ask for
    found_target: I32 = per("found")
    asked_node: I32 = per("asked")  # facts that offsets ask for, about words of any shard
    asked_index: I32 = per("asked")
    asked_word: U64 = per("asked", np.uint64)
    shifted: I64 = per("shifted", np.int64)  # offsets done in this iteration, by hash: S_EPOCH …
    wide: U64 = per("set word", np.uint64)  # one whole set; zero between uses
    wide_touched: U64 = per("set block", np.uint64)
    escaped: U64 = per("own word", np.uint64)  # what OUT holds, but for U: unknowns do without it
    unknowns: I32 = per("node")  # those that came to hold U in this iteration


Tables = TypeVar("Tables", Graph, Shard)
# Lengths that compiled code has to know, since it sees bare pointers
_ROOM = {
    "row": ROWS_ROOM,
    "word": WORDS_ROOM,
    "class": CLASSES_ROOM,
    "class node": CLASS_NODES_ROOM,
    "slot": SLOTS_ROOM,
    "found": FOUND_ROOM,
    "asked": ASKED_ROOM,
    "own word": RANGE,
    "set word": SET_WORDS,
}


def sized(tables: Tables, sizes: Mapping[str, int]) -> Tables:
    """Return the tables with arrays of these sizes, what they had before at the start of each."""
    if not sizes:
        return tables
    arrays: dict[str, Any] = {}
    for name, (unit, dtype, value) in tables._field_defaults.items():
        if unit in sizes:
            make = np.empty if value is None else np.zeros
            array = np.full(sizes[unit], value, dtype) if value else make(sizes[unit], dtype)
            before = getattr(tables, name)
            if isinstance(before, np.ndarray):
                array[: len(before)] = before
            arrays[name] = array
    if isinstance(tables, Shard):
        for unit in sizes.keys() & _ROOM.keys():
            tables.n[_ROOM[unit]] = sizes[unit]
    return tables._replace(**arrays)


def new_graph(rules: Rules) -> Graph:
    """Return a graph with the problem's copies, none of them ordered yet, and its facts."""
    key = rules.fact_node.astype(np.int64) << 32 | rules.fact_object >> 6
    starts = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
    bit = np.uint64(1) << (rules.fact_object & 63).astype(np.uint64)
    sizes = {"node": rules.n_nodes + 64, "pointer": len(rules.pointer_node), "target": 0}
    sizes |= {"extra": len(rules.copy_source), "fact": len(starts)}
    graph = sized(Graph(np.zeros(N_GRAPH_COUNTS, np.int64)), sizes)
    graph.n[NODES] = graph.n[POSITIONS] = rules.n_nodes
    graph.n[EXTRA], graph.n[FACTS] = len(rules.copy_source), len(starts)
    graph.root[:] = graph.position[:] = graph.node_at[:] = np.arange(len(graph.root))
    graph.extra_source[:], graph.extra_target[:] = rules.copy_source, rules.copy_target
    graph.fact_node[:], graph.fact_index[:] = key[starts] >> 32, key[starts] & 0xFFFFFFFF
    if len(starts):
        graph.fact_word[:] = np.bitwise_or.reduceat(bit, starts)
    return graph


def new_shard(
    rules: Rules, first: int, step: int, n_nodes: int = 0, n_rows: int = 0, n_words: int = 0
) -> Shard:
    """Return a shard for the words `first`, `first + step` and so on, all sets empty.

    There is room for so many nodes, rows and words, and for more.
    """
    count = np.zeros(N_SHARD_COUNTS, np.int64)
    count[ROWS] = 1
    count[FREE_CELL] = -1
    count[POINTER] = -1
    count[OUT] = rules.outside
    n_set_words = (rules.n_objects + 63) // 64
    owns_unknown = rules.outside >= 0 and (n_set_words - 1) % step == first
    count[UNKNOWN_BIT] = (rules.n_objects - 1) & 63 if owns_unknown else -1
    n_own_words = -(-(n_set_words - first) // step)
    sizes = _of_nodes(max(rules.n_nodes + 64, n_nodes)) | {
        "row": max(FIRST_ROWS, n_rows),
        "word": max(FIRST_WORDS, n_words, 8 * n_own_words),  # a visit may make three rows
        "cell": 0,
        "own word": n_own_words,
        "own block": n_own_words // 64 + 1,
        "pointer": len(rules.pointer_node),
        "class": FIRST_CLASSES,
        "class node": FIRST_CLASSES,
        "slot": 4 * FIRST_CLASSES,
        "found": FIRST_EDGES,
        "asked": FIRST_EDGES,
        "shifted": N_SHIFTED * S_WIDTH,
        "set word": n_set_words,
        "set block": n_set_words // 64 + 1,
    }
    return sized(Shard(count, first, step), sizes)


def _of_nodes(n_nodes: int) -> dict[str, int]:
    return {"node": n_nodes, "node block": n_nodes // 64 + 1}


def enough_cells(s: Shard, g: Graph, n_new: int) -> Shard:
    """Return the shard with cells for one propagation, all of them free.

    An edge has at most two rows waiting at its target: what its source held when the edge was
    new, and what was new at the source since the target was last visited.
    """
    n_cells = 2 * (len(g.targets) + int(g.n[EXTRA])) + n_new + int(g.n[FACTS])
    s.n[CELLS] = 0
    s.n[FREE_CELL] = -1
    return sized(s, {"cell": 2 * n_cells}) if n_cells > len(s.cell_row) else s


def more_edges(s: Shard) -> Shard:
    """Return the shard with room for edges."""
    return sized(s, {"found": 2 * len(s.found_source)})


def more_facts(s: Shard) -> Shard:
    """Return the shard with room for facts."""
    return sized(s, {"asked": 2 * len(s.asked_node)})


def room_to_adopt(g: Graph, shards: list[Shard]) -> tuple[Graph, list[Shard]]:
    """Return the graph and its shards with room for all that the shards ask for."""
    n_nodes, n_edges, n_facts = (
        int(g.n[known] + sum(s.n[new] for s in shards))
        for known, new in ((NODES, NEW_NODES), (EXTRA, FOUND), (FACTS, ASKED))
    )
    sizes = {}
    if n_nodes > len(g.root):
        sizes["node"] = 2 * n_nodes
        shards = [sized(s, _of_nodes(2 * n_nodes)) for s in shards]
    if n_edges > len(g.extra_next):
        sizes["extra"] = 2 * n_edges
    if n_facts > len(g.fact_node):
        sizes["fact"] = 2 * n_facts
    return sized(g, sizes), shards


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
