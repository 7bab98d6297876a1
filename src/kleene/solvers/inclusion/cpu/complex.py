"""Rules: what a pointer holds decides which edges there are.

A pointer that holds little gets its edges directly, else through its class. Offsets become facts.

What the shards' rules asked for becomes part of the graph, shard by shard.
"""

from __future__ import annotations

import numpy as np

from kleene.kernels.bits import lowest, mix
from kleene.kernels.pointers import as_pointers
from kleene.solvers.inclusion.compiled import device_function, entry_point
from kleene.solvers.inclusion.cpu import state
from kleene.solvers.inclusion.cpu.classes import connect_uses, group, reclassify
from kleene.solvers.inclusion.cpu.constraints import Rules
from kleene.solvers.inclusion.cpu.sets import size
from kleene.solvers.inclusion.cpu.state import Graph, Shard
from kleene.solvers.inclusion.problem import BY_LAYOUT, Images


@device_function
def _shift(g: Graph, rules: Rules, s: Shard, pointer: int, row: int, before: int) -> None:
    """State as facts what a pointer's offsets ask for, given what is new.

    Nodes that hold the same row are often offset alike: what the first brought goes to all.
    """
    for i in range(rules.offset_offsets[pointer], rules.offset_offsets[pointer + 1]):
        target, amount = g.root[rules.offset_to[i]], rules.offset_amount[i]
        known = _known(s, row, before, amount)
        if s.shifted[known + state.S_EPOCH] == s.n[state.EPOCH]:
            _repeat(s, target, s.shifted[known + state.S_FIRST], s.shifted[known + state.S_END])
        else:
            first = s.n[state.ASKED]
            _offset(rules, s, amount, row, before)
            _flush(s, target)
            s.shifted[known + state.S_EPOCH] = s.n[state.EPOCH]
            s.shifted[known + state.S_FIRST] = first
            s.shifted[known + state.S_END] = s.n[state.ASKED]


@device_function
def _known(s: Shard, row: int, before: int, amount: int) -> int:
    """Return where it is kept what this offset brought, if its iteration is this one."""
    known: int = mix(mix(row, before), amount) % state.N_SHIFTED * state.S_WIDTH
    if (
        s.shifted[known + state.S_ROW] != row
        or s.shifted[known + state.S_BEFORE] != before
        or s.shifted[known + state.S_AMOUNT] != amount
    ):
        s.shifted[known + state.S_EPOCH] = -1
        s.shifted[known + state.S_ROW], s.shifted[known + state.S_BEFORE] = row, before
        s.shifted[known + state.S_AMOUNT] = amount
    return known


@device_function
def _repeat(s: Shard, node: int, first: int, end: int) -> None:
    """State facts of another node about this one."""
    fact = s.n[state.ASKED]
    for other in range(first, end):
        s.asked_node[fact] = node
        s.asked_index[fact], s.asked_word[fact] = s.asked_index[other], s.asked_word[other]
        fact += 1
    s.n[state.ASKED] = fact


@device_function
def _offset(rules: Rules, s: Shard, amount: int, row: int, before: int) -> None:
    """Put into the scratch set where an offset leads from what a row has and another has not."""
    images = rules.images
    low = high = np.int64(0)  # the allocation that the last object was of
    table = np.int64(-1)  # and where the images of its first object are
    j = s.row_start[before]
    j_end = j + s.row_length[before]
    start = s.row_start[row]
    for at in range(start, start + s.row_length[row]):
        word = s.words[at]
        while j < j_end and s.indices[j] < s.indices[at]:
            j += 1
        if j < j_end and s.indices[j] == s.indices[at]:
            word &= ~s.words[j]
        index = np.int64(s.indices[at] * s.step + s.first)
        if amount > BY_LAYOUT:
            alone = word & rules.alone[index]
            word &= ~alone
            if alone != 0:
                _state(s, index, alone)
        while word != 0:
            o = (index << 6) + lowest(word)
            word &= word - np.uint64(1)
            if o >= high:
                low, high, table = np.int64(images.first[o]), np.int64(images.end[o]), np.int64(-1)
                if amount <= BY_LAYOUT and images.layout[o] >= 0:
                    table = np.int64(
                        images.rows[(BY_LAYOUT - amount) * images.n_layouts + images.layout[o]]
                    )
            if table >= 0:
                _add_images(s, images, low, table + o - low)
                continue
            first, end = low, high
            if amount >= 0 and o + amount < end:
                first, end = o + amount, o + amount + 1
            for image in range(first, end):
                _state(s, image >> 6, np.uint64(1) << np.uint64(image & 63))


@device_function
def _add_images(s: Shard, images: Images, first: np.int64, row: np.int64) -> None:
    """State the images of the object of a row, in the allocation from `first` on."""
    for i in range(images.offsets[row], images.offsets[row + 1]):
        image = np.int64(first + images.images[i])
        _state(s, image >> 6, np.uint64(1) << np.uint64(image & 63))


@device_function
def _state(s: Shard, index: int | np.int64, word: np.uint64) -> None:
    s.wide[index] |= word
    s.wide_touched[index >> 6] |= np.uint64(1) << np.uint64(index & 63)


@device_function
def _flush(s: Shard, node: int) -> None:
    """Turn the scratch set into facts about a node."""
    for block in range((s.n[state.SET_WORDS] >> 6) + 1):
        places = s.wide_touched[block]
        s.wide_touched[block] = 0
        while places != 0:
            index = (block << 6) + lowest(places)
            places &= places - np.uint64(1)
            fact = s.n[state.ASKED]
            s.asked_node[fact] = node
            s.asked_index[fact] = index
            s.asked_word[fact] = s.wide[index]
            s.wide[index] = 0
            s.n[state.ASKED] = fact + 1


@device_function
def _lacks(rules: Rules, s: Shard, pointer: int, n_objects: int) -> int:
    """Return which arrays are too short for what a pointer may add, or `state.DONE`."""
    k = s.pointer_class[pointer]
    n_class_nodes, depth = 0, 1
    if k >= 0:
        depth += s.class_depth[k]
        class_node = s.class_first_node[k]
        while class_node >= 0:
            n_class_nodes += 1
            class_node = s.class_node_next[class_node]
    calls = rules.call_offsets[pointer], rules.call_offsets[pointer + 1]
    n_uses = rules.load_offsets[pointer + 1] - rules.load_offsets[pointer] + 1
    n_uses += rules.store_offsets[pointer + 1] - rules.store_offsets[pointer]
    n_kinds = np.int64(rules.n_kinds[pointer])
    n_uses += (calls[1] - calls[0]) * n_kinds
    n_edges = (
        n_uses
        + n_objects * (n_kinds + n_class_nodes)
        + min(n_objects, rules.n_direct) * n_uses
        + 2 * depth * n_kinds
    )
    if rules.outside >= 0:
        n_edges += rules.n_entries  # entries: each function once
    n_offsets = rules.offset_offsets[pointer + 1] - rules.offset_offsets[pointer]
    if s.n[state.FOUND] + n_edges > s.n[state.FOUND_ROOM]:
        return state.MORE_EDGES
    if s.n[state.ASKED] + n_offsets * s.n[state.SET_WORDS] > s.n[state.ASKED_ROOM]:
        return state.MORE_FACTS
    if s.n[state.CLASS_NODES] + (depth + 1) * n_kinds > s.n[state.CLASS_NODES_ROOM]:
        return state.MORE_CLASSES
    if s.n[state.CLASSES] == s.n[state.CLASSES_ROOM]:
        return state.MORE_CLASSES
    if 2 * s.n[state.SLOTS] > s.n[state.SLOTS_ROOM]:
        return state.MORE_CLASSES
    return state.DONE


@entry_point
def process(g_: Graph, rules_: Rules, s_: Shard) -> int:
    """Apply the rules of every node that grew; come back for space."""
    return _process(as_pointers(g_), as_pointers(rules_), as_pointers(s_))


@device_function
def _process(g: Graph, rules: Rules, s: Shard) -> int:
    """Apply the rules of every node that grew; come back for space."""
    if s.n[state.AT] == 0 and s.n[state.POINTER] < 0:
        group(g, s)
    while s.n[state.AT] < s.n[state.CHANGED]:
        node = s.changed[s.n[state.AT]]
        row = s.node_row[node]
        n_objects = size(s, row)
        s.row_owned[row] = 0  # pointers remember what they have processed for
        pointer = s.n[state.POINTER]
        if pointer < 0:
            pointer = g.pointer_head[node]
        while pointer >= 0:
            before = s.pointer_row[pointer]
            if row != before:
                lack = _lacks(rules, s, pointer, n_objects)
                if lack != state.DONE:
                    s.n[state.POINTER] = pointer
                    return lack
                if s.pointer_class[pointer] < 0 and n_objects <= rules.n_direct:
                    connect_uses(g, rules, s, pointer, -1, row, before)
                else:
                    reclassify(g, rules, s, pointer, row)
                    row = s.class_row[s.pointer_class[pointer]]  # equal, and the same for all
                    s.node_row[node] = row
                _shift(g, rules, s, pointer, row, before)
                s.pointer_row[pointer] = row
            pointer = g.pointer_next[pointer]
        s.n[state.POINTER] = -1
        s.is_changed[node] = 0
        s.n[state.AT] += 1
    s.n[state.CHANGED] = 0
    s.n[state.AT] = 0
    return state.DONE


@entry_point
def adopt(g_: Graph, s_: Shard, n_known: int) -> None:
    """Add a shard's nodes, edges and facts to the graph, which had `n_known` nodes before any.

    Every shard numbers its new nodes from `n_known` on; those of shards before it come first.
    """
    _adopt(as_pointers(g_), as_pointers(s_), n_known)


@device_function
def _adopt(g: Graph, s: Shard, n_known: int) -> None:
    shift = g.n[state.NODES] - n_known
    for class_node in range(s.n[state.CLASS_NODES] - s.n[state.NEW_NODES], s.n[state.CLASS_NODES]):
        s.class_node[class_node] += shift
        node = s.class_node[class_node]
        g.root[node] = node
        g.position[node] = g.n[state.POSITIONS]
        g.node_at[g.n[state.POSITIONS]] = node
        g.n[state.POSITIONS] += 1
    g.n[state.NODES] += s.n[state.NEW_NODES]
    for e in range(s.n[state.FOUND]):
        source, target = s.found_source[e], s.found_target[e]
        if source >= n_known:
            source += shift
        if target >= n_known:
            target += shift
        _link(g, source, target)
    for fact in range(s.n[state.ASKED]):
        at = g.n[state.FACTS]
        g.fact_node[at] = s.asked_node[fact]
        g.fact_index[at] = s.asked_index[fact]
        g.fact_word[at] = s.asked_word[fact]
        g.n[state.FACTS] = at + 1
    for i in range(s.n[state.UNKNOWNS]):
        g.is_unknown[g.root[s.unknowns[i]]] = 1
    s.n[state.UNKNOWNS] = 0
    s.n[state.NEW_NODES] = 0
    s.n[state.FOUND] = 0
    s.n[state.ASKED] = 0


@device_function
def _link(g: Graph, source: int, target: int) -> None:
    """Add an edge, unless it is the one that was added last to its source."""
    last = g.extra_head[source]
    if last >= 0 and g.extra_target[last] == target:
        return
    e = g.n[state.EXTRA]
    g.extra_source[e] = source
    g.extra_target[e] = target
    g.extra_next[e] = last
    g.extra_head[source] = e
    g.n[state.EXTRA] = e + 1
