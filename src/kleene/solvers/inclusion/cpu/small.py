"""Small problems: every rule applied to dense rows of bits, over and over, in one compiled loop.

Ordering, merging and classes take a millisecond or more to set up, whatever the problem's size; a
problem of some hundred nodes is solved by plain passes in a few hundredths of that. Passes go over
the rules forwards and backwards in turn, so that long chains of copies take few. Where even so
many passes do not suffice, the answer is left to the solver for all sizes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kleene.base.arrays import I32, I64, U64
from kleene.kernels.bits import lowest
from kleene.solvers.inclusion.compiled import device_function, entry_point
from kleene.solvers.inclusion.problem import ANY, BY_LAYOUT, NONE, Problem
from kleene.solvers.inclusion.solution import Rows, Solution

MOST_NODES, MOST_OBJECTS, MOST_RULES = 1000, 512, 1500
INTERPRETED_RULES = 300  # plain Python makes passes slower than all the rest from here on
_MOST_PASSES = 40


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
    """Return whether a problem is closed and small enough for plain passes."""
    return (
        problem.n_nodes <= MOST_NODES
        and len(problem.contents) <= MOST_OBJECTS
        and len(problem.flags) == 0
        and problem.n_constraints <= MOST_RULES
    )


def solve(problem: Problem) -> Solution | None:
    """Return the least answer to a small problem, or None where it takes too many passes."""
    columns = _Small(*[getattr(problem, name) for name in _Small._fields])
    n_passes, offsets, index, word, edges = _solve(columns, problem.n_nodes)
    if n_passes > _MOST_PASSES:
        return None
    return Solution(
        row_of=np.arange(problem.n_nodes, dtype=np.int32),
        rows=Rows(offsets, index, word),
        unknown=np.zeros(problem.n_nodes, np.bool_),
        escaped=np.zeros(len(problem.contents), np.bool_),
        call_edges=edges,
        calls_outside=np.zeros(len(problem.call_callee), np.bool_),
        statistics={"iterations": float(n_passes)},
    )


@device_function
def _flow(sets: U64, n_words: int, source: int, target: int) -> bool:
    """Add what one node holds to another; return whether that was new. NONE holds nothing."""
    if source < 0 or target < 0 or source == target:
        return False
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
def _offset(p: _Small, sets: U64, n_words: int, of: I32, rule: int) -> bool:
    """Apply one offset rule."""
    source, target = p.offset_source[rule], p.offset_destination[rule]
    amount = int(p.offset_amount[rule])
    n_layouts, grew = 0, False
    for each in p.allocation_layout:
        n_layouts = max(n_layouts, int(each) + 1)
    for w in range(n_words):
        left = sets[source * n_words + w]
        while left:
            o = (w << 6) + lowest(left)
            left &= left - np.uint64(1)
            allocation = of[o]
            low, high = p.allocation_offsets[allocation], p.allocation_offsets[allocation + 1]
            if amount <= BY_LAYOUT:
                kind = int(p.allocation_layout[allocation])
                row = int(p.image_rows[(BY_LAYOUT - amount) * n_layouts + kind])
                if row != NONE:
                    row += o - low
                    for i in range(p.image_offsets[row], p.image_offsets[row + 1]):
                        grew |= _add(sets, n_words, target, low + p.images[i])
                    continue
            elif amount != ANY and o + amount < high:
                grew |= _add(sets, n_words, target, o + amount)
                continue
            for each in range(low, high):
                grew |= _add(sets, n_words, target, each)
    return grew


@device_function
def _call(p: _Small, sets: U64, n_words: int, function_of: I32, call: int) -> bool:
    """Apply one call rule."""
    grew, callee, first_actual = False, p.call_callee[call], p.actual_offsets[call]
    n_actuals = p.actual_offsets[call + 1] - first_actual
    for w in range(n_words):
        left = sets[callee * n_words + w]
        while left:
            function = function_of[(w << 6) + lowest(left)]
            left &= left - np.uint64(1)
            if function < 0:
                continue
            first = p.formal_offsets[function]
            n_formals = p.formal_offsets[function + 1] - first
            for place in range(n_actuals):
                formal = p.function_rest[function]
                if place < n_formals:
                    formal = p.formals[first + place]
                grew |= _flow(sets, n_words, p.actuals[first_actual + place], formal)
            grew |= _flow(sets, n_words, p.function_result[function], p.call_result[call])
    return grew


@device_function
def _access(sets: U64, n_words: int, node_of: I32, pointer: int, other: int, loads: bool) -> bool:
    """Apply one load or store rule."""
    grew = False
    for w in range(n_words):
        left = sets[pointer * n_words + w]
        while left:
            inside = node_of[(w << 6) + lowest(left)]
            left &= left - np.uint64(1)
            if loads:
                grew |= _flow(sets, n_words, inside, other)
            else:
                grew |= _flow(sets, n_words, other, inside)
    return grew


@device_function
def _pass(
    p: _Small, sets: U64, n_words: int, written: I32, function_of: I32, of: I32, backwards: bool
) -> bool:
    """Apply every rule once; return whether anything was new."""
    grew, n = False, len(p.copy_source)
    for k in range(n):
        i = n - 1 - k if backwards else k
        grew |= _flow(sets, n_words, p.copy_source[i], p.copy_destination[i])
    for i in range(len(p.load_pointer)):
        pointer, target = p.load_pointer[i], p.load_destination[i]
        grew |= _access(sets, n_words, p.contents, pointer, target, True)
    for i in range(len(p.store_pointer)):
        pointer, source = p.store_pointer[i], p.store_source[i]
        grew |= _access(sets, n_words, written, pointer, source, False)
    for i in range(len(p.offset_source)):
        grew |= _offset(p, sets, n_words, of, i)
    n = len(p.call_callee)
    for k in range(n):
        grew |= _call(p, sets, n_words, function_of, n - 1 - k if backwards else k)
    return grew


@entry_point
def _solve(p: _Small, n_nodes: int) -> tuple[int, I64, I32, U64, I32]:
    """Return how many passes it took, the rows of all nodes, and the calls with their functions."""
    n_objects = len(p.contents)
    n_words = (n_objects + 63) // 64
    sets = np.zeros(n_nodes * n_words, np.uint64)
    function_of = np.full(n_objects, NONE, np.int32)
    for function in range(len(p.function_object)):
        function_of[p.function_object[function]] = function
    written = p.contents.copy()
    for i in range(len(p.constant_object)):
        written[p.constant_object[i]] = NONE
    of = np.empty(n_objects, np.int32)
    for allocation in range(len(p.allocation_offsets) - 1):
        for o in range(p.allocation_offsets[allocation], p.allocation_offsets[allocation + 1]):
            of[o] = allocation
    for i in range(len(p.address_node)):
        _add(sets, n_words, p.address_node[i], p.address_object[i])
    n_passes = 1
    while _pass(p, sets, n_words, written, function_of, of, n_passes % 2 == 0):
        n_passes += 1
        if n_passes > _MOST_PASSES:
            break
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
    return n_passes, offsets, index, word, _edges(p, sets, n_words, function_of)


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
