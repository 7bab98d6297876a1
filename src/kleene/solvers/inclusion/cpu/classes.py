"""Pointer-equivalence classes: pointers with equal sets share the edges of their constraints.

A *pointer* is a node that complex constraints (loads, stores, calls) dereference. One that holds
much belongs to a **class**, shared by all pointers with an equal set. The class has a node of its
own for each kind of use: one that all contents flow into for loads, one that flows into all
contents for stores, one per place for actuals, one for results. So an object's edges are made once
per distinct set, not once per use:

    contents of o ─┐                    ┌─► d1   (d1 = *p)
    contents of u ─┼─► node for loads ──┼─► d2   (d2 = *q, pts(q) = pts(p))

A class with a parent covers only what the parent does not, and its nodes are joined to the
parent's: a set that was extended brings edges for its new members only.

When all members of a class grew alike, the class itself grows. Else they leave it for another. A
class that anyone has left, or that is a parent, never grows: those who left, and the children,
stay joined to its nodes, and would be given objects that they do not hold.
"""

from __future__ import annotations

import numpy as np

from kleene.kernels.bits import lowest
from kleene.kernels.pointers import as_pointers
from kleene.solvers.inclusion.compiled import device_function, entry_point
from kleene.solvers.inclusion.cpu import state
from kleene.solvers.inclusion.cpu.constraints import Rules
from kleene.solvers.inclusion.cpu.sets import hash_of, same, size
from kleene.solvers.inclusion.cpu.state import Graph, Shard, sized

# Kinds of use; actuals of place i are of kind PLACE + i
LOAD, STORE, RESULT, ENTRY, PLACE = range(5)


@device_function
def edge(g: Graph, s: Shard, source: int, target: int) -> None:
    """Ask for a flow, unless it is from a node to itself; a node yet to be made is its own root."""
    if source < g.n[state.NODES]:
        source = g.root[source]
    if target < g.n[state.NODES]:
        target = g.root[target]
    if source == target:
        return
    e = s.n[state.FOUND]
    s.found_source[e] = source
    s.found_target[e] = target
    s.n[state.FOUND] = e + 1


@device_function
def _flow(g: Graph, s: Shard, kind: int, node: int, other: int) -> None:
    """Let a node flow into `other` in loads and results, and `other` into it in all other uses."""
    if kind in (LOAD, RESULT):
        edge(g, s, node, other)
    else:
        edge(g, s, other, node)


@device_function
def _tie(g: Graph, s: Shard, node: int, kind: int, other: int) -> None:
    """Let a node flow from or to `other`, once per cover: many may have merged into one."""
    if node < 0:
        return
    node = g.root[node]
    if s.covered[node] == s.n[state.COVER]:
        return
    s.covered[node] = s.n[state.COVER]
    _flow(g, s, kind, node, other)


@device_function
def _connect(g: Graph, rules: Rules, s: Shard, o: int, kind: int, other: int) -> None:
    """Let an object's contents, formals or result flow from or to the node `other`."""
    if kind == LOAD:
        _tie(g, s, rules.load_contents[o], kind, other)
        return
    if kind == STORE:
        _tie(g, s, rules.store_contents[o], kind, other)
        return
    function = rules.function_of[o]
    if function < 0:
        return
    first, end = rules.formal_offsets[function], rules.formal_offsets[function + 1]
    if kind == RESULT:
        _tie(g, s, rules.function_result[function], kind, other)
    elif kind == ENTRY:
        for i in range(first, end):
            _tie(g, s, rules.formals[i], kind, other)
        _tie(g, s, rules.function_rest[function], kind, other)
    elif kind - PLACE < end - first:
        _tie(g, s, rules.formals[first + kind - PLACE], kind, other)
    else:
        _tie(g, s, rules.function_rest[function], kind, other)


@device_function
def cover(g: Graph, rules: Rules, s: Shard, row: int, before: int, kind: int, other: int) -> None:
    """Connect the node `other` with every object that `row` has and `before` has not."""
    s.n[state.COVER] += 1
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
            o = int((np.int64(index * s.step + s.first) << 6) + lowest(word))
            _connect(g, rules, s, o, kind, other)
            word &= word - np.uint64(1)


@device_function
def _find_class_node(s: Shard, k: int, kind: int) -> int:
    class_node = s.class_first_node[k]
    while class_node >= 0:
        if s.class_node_kind[class_node] == kind:
            node: int = s.class_node[class_node]
            return node
        class_node = s.class_node_next[class_node]
    return -1


@device_function
def _new_class_node(g: Graph, s: Shard, k: int, kind: int) -> int:
    node: int = g.n[state.NODES] + s.n[state.NEW_NODES]
    s.n[state.NEW_NODES] += 1
    class_node = s.n[state.CLASS_NODES]
    s.n[state.CLASS_NODES] = class_node + 1
    s.class_node_kind[class_node] = kind
    s.class_node[class_node] = node
    s.class_node_next[class_node] = s.class_first_node[k]
    s.class_first_node[k] = class_node
    return node


@device_function
def class_node_of(g: Graph, rules: Rules, s: Shard, k: int, kind: int) -> int:
    """Return a class's node for a kind of use, made with those of its parents if need be."""
    wanted = child = -1
    while k >= 0:
        node = _find_class_node(s, k, kind)
        is_new = node < 0
        if is_new:
            node = _new_class_node(g, s, k, kind)
            parent = s.class_parent[k]
            covered = 0
            if parent >= 0:
                covered = s.class_row[parent]
            cover(g, rules, s, s.class_row[k], covered, kind, node)
        if child >= 0:
            _flow(g, s, kind, node, child)
        else:
            wanted = node
        if not is_new:
            break
        child = node
        k = s.class_parent[k]
    return wanted


MAX_DEPTH = 12  # of parents: each level is one more node on the way


@device_function
def connect_uses(
    g: Graph, rules: Rules, s: Shard, pointer: int, k: int, row: int, before: int
) -> None:
    """Connect the uses of a pointer with the nodes of class k.

    Where k is below 0, each is connected with every object that `row` has and `before` has not.
    """
    for i in range(rules.load_offsets[pointer], rules.load_offsets[pointer + 1]):
        _connect_use(g, rules, s, k, row, before, LOAD, rules.load_to[i])
    for i in range(rules.store_offsets[pointer], rules.store_offsets[pointer + 1]):
        _connect_use(g, rules, s, k, row, before, STORE, rules.store_from[i])
    for i in range(rules.call_offsets[pointer], rules.call_offsets[pointer + 1]):
        call = rules.calls[i]
        first = rules.actual_offsets[call]
        for a in range(first, rules.actual_offsets[call + 1]):
            _connect_use(g, rules, s, k, row, before, PLACE + a - first, rules.actuals[a])
        _connect_use(g, rules, s, k, row, before, RESULT, rules.call_result[call])
    _connect_use(g, rules, s, k, row, before, ENTRY, rules.entry_from[pointer])


@device_function
def _connect_use(
    g: Graph, rules: Rules, s: Shard, k: int, row: int, before: int, kind: int, node: int
) -> None:
    """Connect the node of one use, unless that is none."""
    if node < 0:
        return
    if k < 0:
        cover(g, rules, s, row, before, kind, node)
    else:
        _flow(g, s, kind, class_node_of(g, rules, s, k, kind), node)


@device_function
def _slot(s: Shard, row: int) -> int:
    """Return the slot of the class with this very set, or the free one where it would go.

    A class that grew is found under its new set alone: old entries fail the comparison.
    """
    mask = s.n[state.SLOTS_ROOM] - 1
    slot: int = hash_of(s, row) & mask
    while s.slots[slot] >= 0 and not same(s, s.class_row[s.slots[slot]], row):
        slot = (slot + 1) & mask
    return slot


@device_function
def _new_class(s: Shard, row: int, left: int) -> int:
    """Return a class for a set; what the class just left covers is not covered again."""
    k: int = s.n[state.CLASSES]
    s.n[state.CLASSES] = k + 1
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
    s.class_first_node[k] = -1
    return k


@device_function
def _grow_class(g: Graph, rules: Rules, s: Shard, k: int, row: int) -> None:
    """Let a class and its nodes cover more."""
    class_node = s.class_first_node[k]
    while class_node >= 0:
        cover(
            g,
            rules,
            s,
            row,
            s.class_row[k],
            s.class_node_kind[class_node],
            s.class_node[class_node],
        )
        class_node = s.class_node_next[class_node]
    s.class_row[k] = row
    slot = _slot(s, row)
    if s.slots[slot] < 0:
        s.slots[slot] = k
        s.n[state.SLOTS] += 1


@entry_point
def rehash(s_: Shard) -> None:
    """Enter every class under its present set, into slots that are free."""
    _rehash(as_pointers(s_))


@device_function
def _rehash(s: Shard) -> None:
    """Enter every class under its present set, into slots that are free."""
    s.n[state.SLOTS] = 0
    for k in range(s.n[state.CLASSES]):
        slot = _slot(s, s.class_row[k])
        if s.slots[slot] < 0:
            s.slots[slot] = k
            s.n[state.SLOTS] += 1


@device_function
def group(g: Graph, s: Shard) -> None:
    """Find out how many members of each class grew, and whether all alike."""
    s.n[state.EPOCH] += 1
    epoch = s.n[state.EPOCH]
    for i in range(s.n[state.CHANGED]):
        row = s.node_row[s.changed[i]]
        pointer = g.pointer_head[s.changed[i]]
        last, has_grown = -1, False  # pointers of one node are mostly of one class
        while pointer >= 0:
            k = s.pointer_class[pointer]
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
            pointer = g.pointer_next[pointer]


@device_function
def reclassify(g: Graph, rules: Rules, s: Shard, pointer: int, row: int) -> None:
    """Bring a pointer that holds `row` now into the class with that set."""
    k = s.pointer_class[pointer]
    if k >= 0:
        if same(s, row, s.class_row[k]):
            return
        if s.class_grown[k] == s.class_members[k] and s.class_children[k] == 0:
            _grow_class(g, rules, s, k, row)
            return
        s.class_members[k] -= 1
        s.class_grown[k] = -1
        s.class_children[k] += 1  # who leaves stays joined: it must not cover more
    joined = s.n[state.LAST_CLASS]
    if joined >= s.n[state.CLASSES] or s.class_row[joined] != row:
        slot = _slot(s, row)
        if s.slots[slot] < 0:
            s.slots[slot] = _new_class(s, row, k)
            s.n[state.SLOTS] += 1
        joined = s.n[state.LAST_CLASS] = s.slots[slot]
    s.class_members[joined] += 1
    s.pointer_class[pointer] = joined
    connect_uses(g, rules, s, pointer, joined, row, 0)


def more_classes(s: Shard) -> Shard:
    """Return the shard with room for classes, class nodes and slots."""
    s.slots[:] = -1
    sizes = {"class": len(s.class_row), "class node": len(s.class_node), "slot": len(s.slots)}
    s = sized(s, {unit: 2 * size for unit, size in sizes.items()})
    rehash(s)
    return s
