"""Small problems: a worklist over dense rows of bits, in one compiled loop.

Ordering, merging and classes take a millisecond or more to set up, whatever the problem's size; a
problem of some hundred nodes is solved in a few hundredths of that by the textbook's worklist.
Nodes that have grown wait in a queue. One that is taken out hands what it holds along its edges;
each object that is new to the rules at it, as a pointer or a callee, makes edges of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kleene.base.arrays import I32, I64, U64, Bools
from kleene.kernels.bits import lowest
from kleene.solvers.inclusion.compiled import device_function, entry_point
from kleene.solvers.inclusion.problem import ANY, BY_LAYOUT, NONE, Problem
from kleene.solvers.inclusion.solution import Rows, Solution

MOST_NODES, MOST_OBJECTS, MOST_RULES = 3000, 512, 4000
INTERPRETED_RULES = 300  # plain Python makes this slower than all the rest from here on


class _Small(NamedTuple):
    """The columns of a closed problem."""

    contents: I32
    allocation_offsets: I32
    constant_object: I32
    address_node: I32
    address_object: I32
    copy_destination: I32
    copy_source: I32
    load_destination: I32
    load_pointer: I32
    store_pointer: I32
    store_source: I32
    offset_destination: I32
    offset_source: I32
    offset_amount: I32
    allocation_layout: I32
    image_rows: I32
    image_offsets: I32
    images: I32
    function_object: I32
    function_result: I32
    function_rest: I32
    formal_offsets: I32
    formals: I32
    call_callee: I32
    call_result: I32
    actual_offsets: I32
    actuals: I32


def is_small(problem: Problem) -> bool:
    """Return whether a problem is closed and small enough for a plain worklist."""
    return (
        problem.n_nodes <= MOST_NODES
        and len(problem.contents) <= MOST_OBJECTS
        and len(problem.flags) == 0
        and problem.n_constraints <= MOST_RULES
    )


def solve(problem: Problem) -> Solution:
    """Return the least answer to a small problem."""
    columns = _Small(*[getattr(problem, name) for name in _Small._fields])
    n_steps, offsets, index, word, edges = _solve(columns, problem.n_nodes)
    return Solution(
        row_of=np.arange(problem.n_nodes, dtype=np.int32),
        rows=Rows(offsets, index, word),
        unknown=np.zeros(problem.n_nodes, np.bool_),
        escaped=np.zeros(len(problem.contents), np.bool_),
        call_edges=edges,
        calls_outside=np.zeros(len(problem.call_callee), np.bool_),
        statistics={"iterations": float(n_steps)},
    )


@device_function
def _chains(n_nodes: int, node: I32) -> tuple[I32, I32]:
    """Return the first rule at each node, and behind each rule the next one there, or NONE."""
    first, following = np.full(n_nodes, NONE, np.int32), np.empty(len(node), np.int32)
    for rule in range(len(node) - 1, -1, -1):
        if node[rule] >= 0:
            following[rule] = first[node[rule]]
            first[node[rule]] = rule
    return first, following


@device_function
def _flow(sets: U64, n_words: int, source: int, target: int) -> bool:
    """Add what one node holds to another; return whether that was new."""
    grew = False
    for w in range(n_words):
        new = sets[source * n_words + w] & ~sets[target * n_words + w]
        if new:
            sets[target * n_words + w] |= new
            grew = True
    return grew


@device_function
def _add(sets: U64, n_words: int, node: int, found: int) -> bool:
    bit = np.uint64(1) << np.uint64(found & 63)
    at = node * n_words + (found >> 6)
    if sets[at] & bit:
        return False
    sets[at] |= bit
    return True


@device_function
def _step(p: _Small, sets: U64, n_words: int, n_layouts: int, of: I32, rule: int, o: int) -> bool:
    """Apply one offset rule to one object that its source holds."""
    target, amount, grew = p.offset_destination[rule], int(p.offset_amount[rule]), False
    low, high = p.allocation_offsets[of[o]], p.allocation_offsets[of[o] + 1]
    if amount <= BY_LAYOUT:
        kind = int(p.allocation_layout[of[o]])
        row = int(p.image_rows[(BY_LAYOUT - amount) * n_layouts + kind])
        if row != NONE:
            row += o - low
            for i in range(p.image_offsets[row], p.image_offsets[row + 1]):
                grew |= _add(sets, n_words, target, low + p.images[i])
            return grew
    elif amount != ANY and o + amount < high:
        return _add(sets, n_words, target, o + amount)
    for each in range(low, high):
        grew |= _add(sets, n_words, target, each)
    return grew


@device_function
def _call(p: _Small, call: int, function: int, source: I32, target: I32, n: int) -> int:
    """Write the edges between a call and a function behind the `n` there are; return how many."""
    first, first_actual = p.formal_offsets[function], p.actual_offsets[call]
    n_formals = p.formal_offsets[function + 1] - first
    for place in range(p.actual_offsets[call + 1] - first_actual):
        source[n], target[n] = p.actuals[first_actual + place], p.function_rest[function]
        if place < n_formals:
            target[n] = p.formals[first + place]
        n += 1
    source[n], target[n] = p.function_result[function], p.call_result[call]
    return n + 1


@entry_point
def _solve(p: _Small, n_nodes: int) -> tuple[int, I64, I32, U64, I32]:
    """Return how many nodes were taken, the rows of all, and the calls with their functions."""
    n_objects = len(p.contents)
    n_words = (n_objects + 63) // 64
    sets = np.zeros(n_nodes * n_words, np.uint64)
    seen = np.zeros(n_nodes * n_words, np.uint64)  # what the rules at a node were applied to
    function_of = np.full(n_objects, NONE, np.int32)
    for function in range(len(p.function_object)):
        function_of[p.function_object[function]] = function
    written = p.contents.copy()
    for i in range(len(p.constant_object)):
        written[p.constant_object[i]] = NONE
    of, n_layouts = np.empty(n_objects, np.int32), 0
    for each in p.allocation_layout:
        n_layouts = max(n_layouts, int(each) + 1)
    for allocation in range(len(p.allocation_offsets) - 1):
        for o in range(p.allocation_offsets[allocation], p.allocation_offsets[allocation + 1]):
            of[o] = allocation
    n_loads, n_stores = len(p.load_pointer), len(p.store_pointer)
    n_offsets, n_calls = len(p.offset_source), len(p.call_callee)
    rules = (p.load_pointer, p.store_pointer, p.offset_source, p.call_callee)
    first_rule, next_rule = _chains(n_nodes, np.concatenate(rules))
    first_edge, next_edge = _chains(n_nodes, p.copy_source)
    source, target, n_edges = p.copy_source.copy(), p.copy_destination.copy(), len(p.copy_source)
    most = 1  # edges that one rule and one object make
    for call in range(n_calls):
        most = max(most, p.actual_offsets[call + 1] - p.actual_offsets[call] + 1)
    queue, waits = np.empty(n_nodes + 1, np.int32), np.zeros(n_nodes, np.bool_)  # a ring
    head, tail, n_steps = 0, 0, 0
    for i in range(len(p.address_node)):
        node = p.address_node[i]
        if _add(sets, n_words, node, p.address_object[i]):
            tail = _wait(queue, waits, tail, node)
    while head != tail:
        node, n_steps, n_linked = queue[head], n_steps + 1, n_edges
        head = head + 1 if head < n_nodes else 0
        waits[node] = False
        for w in range(n_words if first_rule[node] >= 0 else 0):
            left = sets[node * n_words + w] & ~seen[node * n_words + w]
            seen[node * n_words + w] |= left
            while left:
                o = (w << 6) + lowest(left)
                left &= left - np.uint64(1)
                rule = first_rule[node]
                while rule >= 0:
                    if n_edges + most > len(source):
                        source, target = _doubled(source, most), _doubled(target, most)
                        next_edge = _doubled(next_edge, most)
                    i, rule = rule, next_rule[rule]
                    if i < n_loads:
                        source[n_edges], target[n_edges] = p.contents[o], p.load_destination[i]
                        n_edges += 1
                        continue
                    i -= n_loads
                    if i < n_stores:
                        source[n_edges], target[n_edges] = p.store_source[i], written[o]
                        n_edges += 1
                        continue
                    i -= n_stores
                    if i < n_offsets:
                        if _step(p, sets, n_words, n_layouts, of, i, o):
                            tail = _wait(queue, waits, tail, p.offset_destination[i])
                    elif function_of[o] >= 0:
                        call = i - n_offsets
                        n_edges = _call(p, call, function_of[o], source, target, n_edges)
        edge = first_edge[node]
        while edge >= 0:
            if _flow(sets, n_words, node, target[edge]):
                tail = _wait(queue, waits, tail, target[edge])
            edge = next_edge[edge]
        for edge in range(n_linked, n_edges):
            if source[edge] >= 0 and target[edge] >= 0:
                next_edge[edge] = first_edge[source[edge]]
                first_edge[source[edge]] = edge
                if _flow(sets, n_words, source[edge], target[edge]):
                    tail = _wait(queue, waits, tail, target[edge])
    offsets, index, word = _rows(sets, n_nodes, n_words)
    return n_steps, offsets, index, word, _edges(p, sets, n_words, function_of)


@device_function
def _wait(queue: I32, waits: Bools, tail: int, node: int) -> int:
    """Put a node into the queue, if it is not there; return where the queue ends."""
    if waits[node]:
        return tail
    queue[tail], waits[node] = node, True
    return tail + 1 if tail + 1 < len(queue) else 0


@device_function
def _doubled(array: I32, least: int) -> I32:
    """Return a copy with twice the room, and at least some more."""
    found = np.empty(2 * len(array) + least, np.int32)
    found[: len(array)] = array
    return found


@device_function
def _rows(sets: U64, n_nodes: int, n_words: int) -> tuple[I64, I32, U64]:
    """Return the words that hold anything: where each node's begin, their places, and they."""
    n_held = 0
    for at in range(len(sets)):
        n_held += 1 if sets[at] else 0
    offsets = np.empty(n_nodes + 1, np.int64)
    index, word, at = np.empty(n_held, np.int32), np.empty(n_held, np.uint64), 0
    for node in range(n_nodes):
        offsets[node] = at
        for w in range(n_words):
            if sets[node * n_words + w]:
                index[at], word[at] = w, sets[node * n_words + w]
                at += 1
    offsets[n_nodes] = at
    return offsets, index, word


@device_function
def _edges(p: _Small, sets: U64, n_words: int, function_of: I32) -> I32:
    """Return calls and the functions they reach, sorted."""
    n, n_calls = 0, len(p.call_callee)
    for call in range(n_calls):
        for w in range(n_words):
            left = sets[p.call_callee[call] * n_words + w]
            while left:
                n += 1 if function_of[(w << 6) + lowest(left)] >= 0 else 0
                left &= left - np.uint64(1)
    found, n = np.empty((n, 2), np.int32), 0
    for call in range(n_calls):
        first = n
        for w in range(n_words):
            left = sets[p.call_callee[call] * n_words + w]
            while left:
                function = function_of[(w << 6) + lowest(left)]
                left &= left - np.uint64(1)
                if function < 0:
                    continue
                at = n
                while at > first and found[at - 1, 1] > function:
                    found[at, 0], found[at, 1] = call, found[at - 1, 1]
                    at -= 1
                found[at, 0], found[at, 1] = call, function
                n += 1
    return found
