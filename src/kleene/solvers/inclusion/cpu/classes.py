"""Classes: triggers with equal sets have their edges in common.

The set of a trigger that holds much belongs to a **class**, shared by all triggers with an equal
set, and the class has a **port** for each kind of use: one node that all contents flow into for
loads, one that flows into all contents for stores, one per place for actuals, one for results. So
an object's edges are made once per distinct set, not once per use. A class with a parent covers
only what the parent does not, and its ports are joined to the parent's: a set that was extended
brings edges for its new members only.

When all members of a class grew alike, the class itself grows. Else they leave it for another; a
class that anyone has left, or that is a parent, never grows: they would come to hold too much.
"""

from __future__ import annotations

from kleene.solvers.inclusion.cpu.pointers import pointers
from kleene.solvers.inclusion.cpu.ports import (
    ENTRY,
    LOAD,
    PLACE,
    RESULT,
    STORE,
    cover,
    edge,
    port_of,
)
from kleene.solvers.inclusion.cpu.rows import hash_of, same, size
from kleene.solvers.inclusion.cpu.rules import Rules
from kleene.solvers.inclusion.cpu.state import (
    CHANGED,
    CLASSES,
    EPOCH,
    LAST_CLASS,
    SLOTS,
    SLOTS_ROOM,
    Graph,
    Shard,
)
from kleene.solvers.inclusion.offline.compiled import device_function, entry_point

MAX_DEPTH = 12  # of parents: each level is one more node on the way


@device_function
def _join(g: Graph, rules: Rules, s: Shard, k: int, trigger: int) -> None:
    """Let a trigger's uses flow through the ports of a class."""
    for i in range(rules.load_offsets[trigger], rules.load_offsets[trigger + 1]):
        edge(g, s, port_of(g, rules, s, k, LOAD), rules.load_to[i])
    for i in range(rules.store_offsets[trigger], rules.store_offsets[trigger + 1]):
        edge(g, s, rules.store_from[i], port_of(g, rules, s, k, STORE))
    for i in range(rules.call_offsets[trigger], rules.call_offsets[trigger + 1]):
        call = rules.calls[i]
        first = rules.actual_offsets[call]
        for a in range(first, rules.actual_offsets[call + 1]):
            if rules.actuals[a] >= 0:
                edge(g, s, rules.actuals[a], port_of(g, rules, s, k, PLACE + a - first))
        if rules.call_result[call] >= 0:
            edge(g, s, port_of(g, rules, s, k, RESULT), rules.call_result[call])
    if rules.entry_from[trigger] >= 0:
        edge(g, s, rules.entry_from[trigger], port_of(g, rules, s, k, ENTRY))


@device_function
def _slot(s: Shard, row: int) -> int:
    """Return the slot of the class with this very set, or the free one where it would go.

    A class that grew is found under its new set alone: old entries fail the comparison.
    """
    mask = s.n[SLOTS_ROOM] - 1
    slot: int = hash_of(s, row) & mask
    while s.slots[slot] >= 0 and not same(s, s.class_row[s.slots[slot]], row):
        slot = (slot + 1) & mask
    return slot


@device_function
def _new_class(s: Shard, row: int, left: int) -> int:
    """Return a class for a set; what the class just left covers is not covered again."""
    k: int = s.n[CLASSES]
    s.n[CLASSES] = k + 1
    parent = left
    if left >= 0 and (
        s.class_depth[left] >= MAX_DEPTH or 2 * size(s, s.class_row[left]) < size(s, row)
    ):
        parent = -1
    s.class_row[k] = row
    s.class_parent[k] = parent
    s.class_depth[k] = s.class_depth[parent] + 1 if parent >= 0 else 0
    if parent >= 0:
        s.class_children[parent] += 1
    s.class_members[k] = 0
    s.class_children[k] = 0
    s.class_epoch[k] = -1
    s.class_port[k] = -1
    return k


@device_function
def _grow_class(g: Graph, rules: Rules, s: Shard, k: int, row: int) -> None:
    """Let a class and its ports cover more."""
    port = s.class_port[k]
    while port >= 0:
        cover(g, rules, s, row, s.class_row[k], s.port_kind[port], s.port_node[port])
        port = s.port_next[port]
    s.class_row[k] = row
    slot = _slot(s, row)
    if s.slots[slot] < 0:
        s.slots[slot] = k
        s.n[SLOTS] += 1


@entry_point
def rehash(s_: Shard) -> None:
    """Enter every class under its present set, into slots that are free."""
    _rehash(pointers(s_))


@device_function
def _rehash(s: Shard) -> None:
    """Enter every class under its present set, into slots that are free."""
    s.n[SLOTS] = 0
    for k in range(s.n[CLASSES]):
        slot = _slot(s, s.class_row[k])
        if s.slots[slot] < 0:
            s.slots[slot] = k
            s.n[SLOTS] += 1


@device_function
def group(g: Graph, s: Shard) -> None:
    """Find out how many members of each class grew, and whether all alike."""
    s.n[EPOCH] += 1
    epoch = s.n[EPOCH]
    for i in range(s.n[CHANGED]):
        row = s.node_row[s.changed[i]]
        trigger = g.trigger_head[s.changed[i]]
        last, has_grown = -1, False  # triggers of one node are mostly of one class
        while trigger >= 0:
            k = s.trigger_class[trigger]
            if k != last:
                last, has_grown = k, k >= 0 and not same(s, row, s.class_row[k])
            if has_grown:
                if s.class_epoch[k] != epoch:
                    s.class_epoch[k] = epoch
                    s.class_grown[k] = 1
                    s.class_lead[k] = row
                elif s.class_grown[k] > 0 and same(s, row, s.class_lead[k]):
                    s.class_grown[k] += 1
                else:
                    s.class_grown[k] = -1
            trigger = g.trigger_next[trigger]


@device_function
def reclassify(g: Graph, rules: Rules, s: Shard, trigger: int, row: int) -> None:
    """Bring a trigger that holds `row` now into the class with that set."""
    k = s.trigger_class[trigger]
    if k >= 0:
        if same(s, row, s.class_row[k]):
            return
        if s.class_grown[k] == s.class_members[k] and s.class_children[k] == 0:
            _grow_class(g, rules, s, k, row)
            return
        s.class_members[k] -= 1
        s.class_grown[k] = -1
        s.class_children[k] += 1  # who leaves stays joined to its ports: they must not cover more
    joined = s.n[LAST_CLASS]
    if joined >= s.n[CLASSES] or s.class_row[joined] != row:
        slot = _slot(s, row)
        if s.slots[slot] < 0:
            s.slots[slot] = _new_class(s, row, k)
            s.n[SLOTS] += 1
        joined = s.n[LAST_CLASS] = s.slots[slot]
    s.class_members[joined] += 1
    s.trigger_class[trigger] = joined
    _join(g, rules, s, joined, trigger)
