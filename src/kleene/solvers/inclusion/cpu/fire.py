"""Rules: what a trigger holds decides which edges there are.

A trigger that holds little gets its edges directly. Else its set belongs to a **class**, shared by
all triggers with an equal set, and the class has a **port** for each kind of use: one node that all
contents flow into for loads, one that flows into all contents for stores, one per place for
actuals, one for results. So an object's edges are made once per distinct set, not once per use.
A class with a parent covers only what the parent does not, and its ports are joined to the
parent's: a set that was extended brings edges for its new members only.

When all members of a class grew alike, the class itself grows. Else they leave it for another; a
class that anyone has left, or that is a parent, never grows: they would come to hold too much.
"""

from __future__ import annotations

import numpy as np

from kleene.solvers.inclusion.cpu.bits import lowest
from kleene.solvers.inclusion.cpu.pointers import pointers
from kleene.solvers.inclusion.cpu.rows import hash_of, same, size
from kleene.solvers.inclusion.cpu.rules import Rules
from kleene.solvers.inclusion.cpu.state import (
    AT,
    CHANGED,
    CLASSES,
    CLASSES_ROOM,
    COVER,
    DONE,
    EPOCH,
    EXTRA,
    EXTRA_ROOM,
    FACTS,
    FACTS_ROOM,
    MORE_CLASSES,
    MORE_EDGES,
    MORE_FACTS,
    MORE_NODES,
    NODES,
    NODES_ROOM,
    PORTS,
    PORTS_ROOM,
    POSITIONS,
    SET_WORDS,
    SLOTS,
    SLOTS_ROOM,
    TRIGGER,
    Graph,
    Shard,
)
from kleene.solvers.inclusion.offline.compiled import entry, piece

LOAD, STORE, RESULT, ENTRY, PLACE = range(5)
MAX_DEPTH = 12  # of parents: each level is one more node on the way


@piece
def edge(g: Graph, source: int, target: int) -> None:
    """Add a flow, unless it is from a node to itself or the one added last."""
    source, target = g.root[source], g.root[target]
    last = g.extra_head[source]
    if source == target or (last >= 0 and g.extra_target[last] == target):
        return
    e = g.n[EXTRA]
    g.extra_source[e] = source
    g.extra_target[e] = target
    g.extra_next[e] = last
    g.extra_head[source] = e
    g.n[EXTRA] = e + 1


@piece
def _tie(g: Graph, node: int, kind: int, port: int) -> None:
    """Let a node flow from or to a port, once per cover: many may have merged into one."""
    if node < 0:
        return
    node = g.root[node]
    if g.covered[node] == g.n[COVER]:
        return
    g.covered[node] = g.n[COVER]
    if kind in (LOAD, RESULT):
        edge(g, node, port)
    else:
        edge(g, port, node)


@piece
def _connect(g: Graph, rules: Rules, o: int, kind: int, port: int) -> None:
    """Let an object's contents, formals or result flow from or to a port."""
    if kind == LOAD:
        _tie(g, rules.load_contents[o], kind, port)
        return
    if kind == STORE:
        _tie(g, rules.store_contents[o], kind, port)
        return
    function = rules.function_of[o]
    if function < 0:
        return
    first, end = rules.formal_offsets[function], rules.formal_offsets[function + 1]
    if kind == RESULT:
        _tie(g, rules.function_result[function], kind, port)
    elif kind == ENTRY:
        for i in range(first, end):
            _tie(g, rules.formals[i], kind, port)
        _tie(g, rules.function_rest[function], kind, port)
    elif kind - PLACE < end - first:
        _tie(g, rules.formals[first + kind - PLACE], kind, port)
    else:
        _tie(g, rules.function_rest[function], kind, port)


@piece
def _cover(g: Graph, rules: Rules, s: Shard, row: int, before: int, kind: int, port: int) -> None:
    """Connect a port with every object that `row` has and `before` has not."""
    g.n[COVER] += 1
    j = s.row_start[before]
    j_end = j + s.row_length[before]
    start = s.row_start[row]
    for i in range(start, start + s.row_length[row]):
        index, word = s.indices[i], s.words[i]
        while j < j_end and s.indices[j] < index:
            j += 1
        if j < j_end and s.indices[j] == index:
            word &= ~s.words[j]
        while word != 0:
            _connect(g, rules, (np.int64(index) << 6) + lowest(word), kind, port)
            word &= word - np.uint64(1)


@piece
def _find_port(s: Shard, k: int, kind: int) -> int:
    port = s.class_port[k]
    while port >= 0:
        if s.port_kind[port] == kind:
            node: int = s.port_node[port]
            return node
        port = s.port_next[port]
    return -1


@piece
def _new_port(g: Graph, s: Shard, k: int, kind: int) -> int:
    node: int = g.n[NODES]
    g.n[NODES] = node + 1
    position = g.n[POSITIONS]
    g.n[POSITIONS] = position + 1
    g.position[node] = position
    g.node_at[position] = node
    port = s.n[PORTS]
    s.n[PORTS] = port + 1
    s.port_kind[port] = kind
    s.port_node[port] = node
    s.port_next[port] = s.class_port[k]
    s.class_port[k] = port
    return node


@piece
def _port(g: Graph, rules: Rules, s: Shard, k: int, kind: int) -> int:
    """Return a class's port, made with those of its parents if need be."""
    wanted = child = -1
    while k >= 0:
        node = _find_port(s, k, kind)
        is_new = node < 0
        if is_new:
            node = _new_port(g, s, k, kind)
            parent = s.class_parent[k]
            covered = 0
            if parent >= 0:
                covered = s.class_row[parent]
            _cover(g, rules, s, s.class_row[k], covered, kind, node)
        if child >= 0:
            if kind in (LOAD, RESULT):
                edge(g, node, child)
            else:
                edge(g, child, node)
        else:
            wanted = node
        if not is_new:
            break
        child = node
        k = s.class_parent[k]
    return wanted


@piece
def _join(g: Graph, rules: Rules, s: Shard, k: int, trigger: int) -> None:
    """Let a trigger's uses flow through the ports of a class."""
    for i in range(rules.load_offsets[trigger], rules.load_offsets[trigger + 1]):
        edge(g, _port(g, rules, s, k, LOAD), rules.load_to[i])
    for i in range(rules.store_offsets[trigger], rules.store_offsets[trigger + 1]):
        edge(g, rules.store_from[i], _port(g, rules, s, k, STORE))
    for i in range(rules.call_offsets[trigger], rules.call_offsets[trigger + 1]):
        call = rules.calls[i]
        first = rules.actual_offsets[call]
        for a in range(first, rules.actual_offsets[call + 1]):
            if rules.actuals[a] >= 0:
                edge(g, rules.actuals[a], _port(g, rules, s, k, PLACE + a - first))
        if rules.call_result[call] >= 0:
            edge(g, _port(g, rules, s, k, RESULT), rules.call_result[call])
    if rules.entry_from[trigger] >= 0:
        edge(g, rules.entry_from[trigger], _port(g, rules, s, k, ENTRY))


@piece
def _fire_directly(g: Graph, rules: Rules, s: Shard, trigger: int, row: int, before: int) -> None:
    """Connect a trigger's uses with every object that is new."""
    for i in range(rules.load_offsets[trigger], rules.load_offsets[trigger + 1]):
        _cover(g, rules, s, row, before, LOAD, rules.load_to[i])
    for i in range(rules.store_offsets[trigger], rules.store_offsets[trigger + 1]):
        _cover(g, rules, s, row, before, STORE, rules.store_from[i])
    for i in range(rules.call_offsets[trigger], rules.call_offsets[trigger + 1]):
        call = rules.calls[i]
        first = rules.actual_offsets[call]
        for a in range(first, rules.actual_offsets[call + 1]):
            if rules.actuals[a] >= 0:
                _cover(g, rules, s, row, before, PLACE + a - first, rules.actuals[a])
        if rules.call_result[call] >= 0:
            _cover(g, rules, s, row, before, RESULT, rules.call_result[call])
    if rules.entry_from[trigger] >= 0:
        _cover(g, rules, s, row, before, ENTRY, rules.entry_from[trigger])


@piece
def _shift(g: Graph, rules: Rules, s: Shard, trigger: int, row: int, before: int) -> None:
    """State as facts what a trigger's offsets ask for, given what is new."""
    source = g.root[rules.trigger_node[trigger]]
    for i in range(rules.offset_offsets[trigger], rules.offset_offsets[trigger + 1]):
        target = g.root[rules.offset_to[i]]
        amount = rules.offset_amount[i]
        j = s.row_start[before]
        j_end = j + s.row_length[before]
        start = s.row_start[row]
        for at in range(start, start + s.row_length[row]):
            index, word = np.int64(s.indices[at]), s.words[at]
            while j < j_end and s.indices[j] < index:
                j += 1
            if j < j_end and s.indices[j] == index:
                word &= ~s.words[j]
            alone = word & rules.alone[index]
            word &= ~alone
            if target != source and alone != 0:
                _state(g, index, alone)
            while word != 0:
                o = (index << 6) + lowest(word)
                word &= word - np.uint64(1)
                first, end = np.int64(rules.allocation_first[o]), rules.allocation_end[o]
                if amount >= 0 and o + amount < end:
                    first, end = o + amount, o + amount + 1
                for moved in range(first, end):
                    _state(g, moved >> 6, np.uint64(1) << np.uint64(moved & 63))
        _flush(g, target)


@piece
def _state(g: Graph, index: int | np.int64, word: np.uint64) -> None:
    g.scratch[index] |= word
    g.touched[index >> 6] |= np.uint64(1) << np.uint64(index & 63)


@piece
def _flush(g: Graph, node: int) -> None:
    """Turn the scratch set into facts about a node."""
    for block in range((g.n[SET_WORDS] >> 6) + 1):
        places = g.touched[block]
        g.touched[block] = 0
        while places != 0:
            index = (block << 6) + lowest(places)
            places &= places - np.uint64(1)
            fact = g.n[FACTS]
            g.fact_node[fact] = node
            g.fact_index[fact] = index
            g.fact_word[fact] = g.scratch[index]
            g.scratch[index] = 0
            g.n[FACTS] = fact + 1


@piece
def _slot(s: Shard, row: int) -> int:
    """Return the slot of the class with this very set, or the free one where it would go.

    A class that grew is found under its new set alone: old entries fail the comparison.
    """
    mask = s.n[SLOTS_ROOM] - 1
    slot: int = hash_of(s, row) & mask
    while s.slots[slot] >= 0 and not same(s, s.class_row[s.slots[slot]], row):
        slot = (slot + 1) & mask
    return slot


@piece
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


@piece
def _grow_class(g: Graph, rules: Rules, s: Shard, k: int, row: int) -> None:
    """Let a class and its ports cover more."""
    port = s.class_port[k]
    while port >= 0:
        _cover(g, rules, s, row, s.class_row[k], s.port_kind[port], s.port_node[port])
        port = s.port_next[port]
    s.class_row[k] = row
    slot = _slot(s, row)
    if s.slots[slot] < 0:
        s.slots[slot] = k
        s.n[SLOTS] += 1


@entry
def rehash(s_: Shard) -> None:
    """Enter every class under its present set, into slots that are free."""
    _rehash(pointers(s_))


@piece
def _rehash(s: Shard) -> None:
    """Enter every class under its present set, into slots that are free."""
    s.n[SLOTS] = 0
    for k in range(s.n[CLASSES]):
        slot = _slot(s, s.class_row[k])
        if s.slots[slot] < 0:
            s.slots[slot] = k
            s.n[SLOTS] += 1


@entry
def group(g_: Graph, s_: Shard) -> None:
    """Find out how many members of each class grew, and whether all alike."""
    _group(pointers(g_), pointers(s_))


@piece
def _group(g: Graph, s: Shard) -> None:
    s.n[EPOCH] += 1
    epoch = s.n[EPOCH]
    for i in range(s.n[CHANGED]):
        row = s.node_row[s.changed[i]]
        trigger = g.trigger_head[s.changed[i]]
        while trigger >= 0:
            k = s.trigger_class[trigger]
            if k >= 0 and not same(s, row, s.class_row[k]):
                if s.class_epoch[k] != epoch:
                    s.class_epoch[k] = epoch
                    s.class_grown[k] = 1
                    s.class_lead[k] = row
                elif s.class_grown[k] > 0 and same(s, row, s.class_lead[k]):
                    s.class_grown[k] += 1
                else:
                    s.class_grown[k] = -1
            trigger = g.trigger_next[trigger]


@piece
def _reclassify(g: Graph, rules: Rules, s: Shard, trigger: int, row: int) -> None:
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
    slot = _slot(s, row)
    if s.slots[slot] < 0:
        s.slots[slot] = _new_class(s, row, k)
        s.n[SLOTS] += 1
    joined = s.slots[slot]
    s.class_members[joined] += 1
    s.trigger_class[trigger] = joined
    _join(g, rules, s, joined, trigger)


@piece
def _lacks(g: Graph, rules: Rules, s: Shard, trigger: int, row: int) -> int:
    """Return which arrays are too short for what a trigger may add, or `DONE`."""
    k = s.trigger_class[trigger]
    n_ports, depth = 0, 1
    if k >= 0:
        depth += s.class_depth[k]
        port = s.class_port[k]
        while port >= 0:
            n_ports += 1
            port = s.port_next[port]
    calls = rules.call_offsets[trigger], rules.call_offsets[trigger + 1]
    n_uses = rules.load_offsets[trigger + 1] - rules.load_offsets[trigger] + 1
    n_uses += rules.store_offsets[trigger + 1] - rules.store_offsets[trigger]
    n_kinds = np.int64(rules.n_kinds[trigger])
    n_uses += (calls[1] - calls[0]) * n_kinds
    n_objects = size(s, row)
    n_edges = (
        n_uses
        + n_objects * (n_kinds + n_ports)
        + min(n_objects, rules.n_direct) * n_uses
        + 2 * depth * n_kinds
    )
    if rules.outside >= 0:
        n_edges += rules.n_entries  # entries: each function once
    n_facts = (rules.offset_offsets[trigger + 1] - rules.offset_offsets[trigger]) * g.n[SET_WORDS]
    if g.n[EXTRA] + n_edges > g.n[EXTRA_ROOM]:
        return MORE_EDGES
    if g.n[FACTS] + n_facts > g.n[FACTS_ROOM]:
        return MORE_FACTS
    n_new = (depth + 1) * n_kinds
    if g.n[NODES] + n_new > g.n[NODES_ROOM]:
        return MORE_NODES
    if s.n[PORTS] + n_new > s.n[PORTS_ROOM]:
        return MORE_CLASSES
    if s.n[CLASSES] + 1 > s.n[CLASSES_ROOM] or 2 * s.n[SLOTS] > s.n[SLOTS_ROOM]:
        return MORE_CLASSES
    return DONE


@entry
def fire(g_: Graph, rules_: Rules, s_: Shard) -> int:
    """Apply the rules of every node that grew; come back for space."""
    return _fire(pointers(g_), pointers(rules_), pointers(s_))


@piece
def _fire(g: Graph, rules: Rules, s: Shard) -> int:
    """Apply the rules of every node that grew; come back for space."""
    while s.n[AT] < s.n[CHANGED]:
        node = s.changed[s.n[AT]]
        row = s.node_row[node]
        s.row_owned[row] = 0  # triggers remember what they have fired for
        trigger = s.n[TRIGGER]
        if trigger < 0:
            trigger = g.trigger_head[node]
        while trigger >= 0:
            before = s.trigger_row[trigger]
            if row != before:
                lack = _lacks(g, rules, s, trigger, row)
                if lack != DONE:
                    s.n[TRIGGER] = trigger
                    return lack
                _shift(g, rules, s, trigger, row, before)
                if s.trigger_class[trigger] < 0 and size(s, row) <= rules.n_direct:
                    _fire_directly(g, rules, s, trigger, row, before)
                else:
                    _reclassify(g, rules, s, trigger, row)
                s.trigger_row[trigger] = row
            trigger = g.trigger_next[trigger]
        s.n[TRIGGER] = -1
        s.is_changed[node] = 0
        s.n[AT] += 1
    s.n[CHANGED] = 0
    s.n[AT] = 0
    return DONE
