"""Edges of one kind of use: between a port and the contents, formals or results of objects."""

from __future__ import annotations

import numpy as np

from kleene.kernels.bits import lowest
from kleene.solvers.inclusion.cpu.rules import Rules
from kleene.solvers.inclusion.cpu.state import COVER, FOUND, NEW_NODES, NODES, PORTS, Graph, Shard
from kleene.solvers.inclusion.offline.compiled import device_function

# Kinds of use; actuals of place i are of kind PLACE + i
LOAD, STORE, RESULT, ENTRY, PLACE = range(5)


@device_function
def edge(g: Graph, s: Shard, source: int, target: int) -> None:
    """Ask for a flow, unless it is from a node to itself; a node yet to be made is its own root."""
    if source < g.n[NODES]:
        source = g.root[source]
    if target < g.n[NODES]:
        target = g.root[target]
    if source == target:
        return
    e = s.n[FOUND]
    s.found_source[e] = source
    s.found_target[e] = target
    s.n[FOUND] = e + 1


@device_function
def _tie(g: Graph, s: Shard, node: int, kind: int, port: int) -> None:
    """Let a node flow from or to a port, once per cover: many may have merged into one."""
    if node < 0:
        return
    node = g.root[node]
    if s.covered[node] == s.n[COVER]:
        return
    s.covered[node] = s.n[COVER]
    if kind in (LOAD, RESULT):
        edge(g, s, node, port)
    else:
        edge(g, s, port, node)


@device_function
def _connect(g: Graph, rules: Rules, s: Shard, o: int, kind: int, port: int) -> None:
    """Let an object's contents, formals or result flow from or to a port."""
    if kind == LOAD:
        _tie(g, s, rules.load_contents[o], kind, port)
        return
    if kind == STORE:
        _tie(g, s, rules.store_contents[o], kind, port)
        return
    function = rules.function_of[o]
    if function < 0:
        return
    first, end = rules.formal_offsets[function], rules.formal_offsets[function + 1]
    if kind == RESULT:
        _tie(g, s, rules.function_result[function], kind, port)
    elif kind == ENTRY:
        for i in range(first, end):
            _tie(g, s, rules.formals[i], kind, port)
        _tie(g, s, rules.function_rest[function], kind, port)
    elif kind - PLACE < end - first:
        _tie(g, s, rules.formals[first + kind - PLACE], kind, port)
    else:
        _tie(g, s, rules.function_rest[function], kind, port)


@device_function
def cover(g: Graph, rules: Rules, s: Shard, row: int, before: int, kind: int, port: int) -> None:
    """Connect a port with every object that `row` has and `before` has not."""
    s.n[COVER] += 1
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
            _connect(g, rules, s, o, kind, port)
            word &= word - np.uint64(1)


@device_function
def _find_port(s: Shard, k: int, kind: int) -> int:
    port = s.class_port[k]
    while port >= 0:
        if s.port_kind[port] == kind:
            node: int = s.port_node[port]
            return node
        port = s.port_next[port]
    return -1


@device_function
def _new_port(g: Graph, s: Shard, k: int, kind: int) -> int:
    node: int = g.n[NODES] + s.n[NEW_NODES]
    s.n[NEW_NODES] += 1
    port = s.n[PORTS]
    s.n[PORTS] = port + 1
    s.port_kind[port] = kind
    s.port_node[port] = node
    s.port_next[port] = s.class_port[k]
    s.class_port[k] = port
    return node


@device_function
def port_of(g: Graph, rules: Rules, s: Shard, k: int, kind: int) -> int:
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
            cover(g, rules, s, s.class_row[k], covered, kind, node)
        if child >= 0:
            if kind in (LOAD, RESULT):
                edge(g, s, node, child)
            else:
                edge(g, s, child, node)
        else:
            wanted = node
        if not is_new:
            break
        child = node
        k = s.class_parent[k]
    return wanted
