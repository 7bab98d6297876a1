"""The rewrite rules of the points-to paper, one after the other, on vectors of `elements`.

Each has the shape of the paper's APPLY: for x, for y in E1(x), E3(x) gains E2(y). Identifiers are
objects (an object's contents have its number) and then other nodes; `leader` gives the node that
stands for a collapsed cycle. The pool may be replaced by a larger one: rules return it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I64
from kleene.solvers.inclusion.paper import device_function, entry_point
from kleene.solvers.inclusion.paper.elements import (
    BASE,
    N_BITS,
    NEXT,
    Heads,
    Pool,
    add,
    fold,
    give_back,
    join,
    members,
    with_room,
)
from kleene.solvers.inclusion.problem import BY_LAYOUT, Images


class Graph(NamedTuple):
    """Vectors by their heads (p: points to, c: copies, l: loads, s: stores), and what is fixed."""

    leader: Heads
    p: Heads
    new_p: Heads  # Δ: found in the last iteration
    found_p: Heads  # δ: found in this one
    c: Heads
    new_c: Heads
    found_c: Heads
    l: Heads  # noqa: E741 - the paper's letter
    s: Heads
    offset_source: Heads  # -1 for none
    offset_amount: Heads
    images: Images
    takes_stores: NDArray[np.bool_]  # per object
    function_of: Heads  # per object, -1 for none
    function_result: Heads
    function_rest: Heads
    formal_offsets: Heads
    formals: Heads
    call_callee: Heads
    call_result: Heads
    actual_offsets: Heads
    actuals: Heads
    used: I64
    buffer: I64


@device_function
def _apply(pool: Pool, g: Graph, e1: Heads, e2: Heads, e3: Heads, is_load: bool = False) -> Pool:
    """E3(x) gains E2(y) for every y in E1(x); unlike a copy, a load may be its own pointer."""
    n_most = len(g.leader) // N_BITS + 1
    for x in range(len(e1)):
        if e1[x]:
            for k in range(members(pool, e1[x], g.buffer)):
                y = g.leader[g.buffer[k]]
                if e2[y] and (is_load or y != x):
                    pool = with_room(pool, g.used, n_most)
                    join(pool, g.used, e3, x, e2[y])
    return pool


@device_function
def _offset(pool: Pool, g: Graph) -> Pool:
    """δP(x) gains z + o for every z in ΔP(y), where x has an offset edge to y."""
    n_most = len(g.leader) // N_BITS + 1
    m = g.images
    for x in range(len(g.offset_source)):
        y = g.offset_source[x]
        if y < 0 or not g.new_p[y]:
            continue
        pool = with_room(pool, g.used, n_most)
        for k in range(members(pool, g.new_p[y], g.buffer)):
            z = g.buffer[k]
            first, amount, table = m.first[z], g.offset_amount[x], -1
            if amount <= BY_LAYOUT and m.layout[z] >= 0:
                table = m.rows[(BY_LAYOUT - amount) * m.n_layouts + m.layout[z]]
            if table >= 0:
                at = table + z - first
                for i in range(m.offsets[at], m.offsets[at + 1]):
                    add(pool, g.used, g.found_p, x, first + m.images[i])
            elif 0 <= amount < m.end[z] - z:
                add(pool, g.used, g.found_p, x, z + amount)
            else:
                for each in range(first, m.end[z]):
                    add(pool, g.used, g.found_p, x, each)
    return pool


@device_function
def _store_pairs(pool: Pool, g: Graph) -> I64:
    """Return the pairs (x, y), as one number and sorted, with x in ΔP(y) and a store through y."""
    n_ids = len(g.leader)
    pairs = np.empty(1024, np.int64)
    n_pairs = 0
    for y in range(n_ids):
        if not (g.s[y] and g.new_p[y]):
            continue
        n_members = members(pool, g.new_p[y], g.buffer)
        if n_pairs + n_members > len(pairs):
            more = np.empty(2 * (n_pairs + n_members), np.int64)
            more[:n_pairs] = pairs[:n_pairs]
            pairs = more
        for k in range(n_members):
            if g.takes_stores[g.buffer[k]]:
                pairs[n_pairs] = g.leader[g.buffer[k]] * n_ids + y
                n_pairs += 1
    return np.sort(pairs[:n_pairs])


@device_function
def _store(pool: Pool, g: Graph) -> Pool:
    """δC(x) gains S(y) for every y with x in ΔP(y), in two phases: ΔP is not kept backwards."""
    n_ids = len(g.leader)
    for pair in _store_pairs(pool, g):
        pool = with_room(pool, g.used, n_ids // N_BITS + 1)
        join(pool, g.used, g.found_c, pair // n_ids, g.s[pair % n_ids])
    return pool


@device_function
def _call(pool: Pool, g: Graph) -> Pool:
    """δC gains the copies from actuals to formals and from results, for functions in ΔP(callee)."""
    for call in range(len(g.call_callee)):
        callee = g.call_callee[call]
        if not g.new_p[callee]:
            continue
        first = g.actual_offsets[call]
        n_actuals = g.actual_offsets[call + 1] - first
        for k in range(members(pool, g.new_p[callee], g.buffer)):
            function = g.function_of[g.buffer[k]]
            if function < 0:
                continue
            pool = with_room(pool, g.used, n_actuals + 2)
            first_formal = g.formal_offsets[function]
            n_formals = g.formal_offsets[function + 1] - first_formal
            for place in range(n_actuals):
                formal = g.function_rest[function]
                if place < n_formals:
                    formal = g.formals[first_formal + place]
                _edge(pool, g, formal, g.actuals[first + place])
            _edge(pool, g, g.call_result[call], g.function_result[function])
    return pool


@device_function
def _edge(pool: Pool, g: Graph, destination: int, source: int) -> None:
    if destination >= 0 and source >= 0 and destination != source:
        add(pool, g.used, g.found_c, destination, source)


@device_function
def _turn(pool: Pool, g: Graph, whole: Heads, new: Heads, found: Heads) -> tuple[Pool, bool]:
    """Fold δ into the whole, make what is new of it the next Δ; return whether there is any."""
    n_most = len(g.leader) // N_BITS + 1
    any_new = False
    for x in range(len(whole)):
        give_back(pool, g.used, new[x])
        new[x] = 0
        if found[x]:
            pool = with_room(pool, g.used, n_most)
            fold(pool, g.used, whole, found, x)
            new[x] = found[x]
            found[x] = 0
            any_new |= new[x] != 0
    return pool, any_new


@entry_point
def iterate(pool: Pool, g: Graph) -> tuple[Pool, int]:
    """Apply the rules to the fixed point; return the pool and the number of iterations."""
    n_iterations = 0
    pool, more = _turn(pool, g, g.p, g.new_p, g.found_p)
    while more:
        n_iterations += 1
        pool = _apply(pool, g, g.new_c, g.p, g.found_p)  # ΔCOPY
        pool = _apply(pool, g, g.c, g.new_p, g.found_p)  # COPY
        pool = _apply(pool, g, g.l, g.new_p, g.found_c, True)  # LOAD
        pool = _store(pool, g)
        pool = _call(pool, g)
        pool = _offset(pool, g)
        pool, more_copies = _turn(pool, g, g.c, g.new_c, g.found_c)
        pool, more = _turn(pool, g, g.p, g.new_p, g.found_p)
        more |= more_copies
    return pool, n_iterations


@entry_point
def fill(pool: Pool, used: I64, heads: Heads, node: Heads, bit: Heads) -> Pool:
    """Return the pool after setting one bit for each row; quick if bits descend."""
    for row in range(len(node)):
        pool = with_room(pool, used, 1)
        add(pool, used, heads, node[row], bit[row])
    return pool


@entry_point
def words(pool: Pool, heads: Heads, offsets: I64, index: Heads, word: NDArray[np.uint64]) -> int:
    """Return how many 64-bit words the vectors need; write them too unless `word` is empty."""
    n_words = 0
    for x in range(len(heads)):
        element = int(heads[x])
        while element:
            for k in range(15):
                low, high = int(pool[element, 2 * k]), int(pool[element, 2 * k + 1])
                if low or high:
                    if len(word):
                        index[n_words] = pool[element, BASE] * 15 + k
                        word[n_words] = np.uint64(low & 0xFFFFFFFF | (high & 0xFFFFFFFF) << 32)
                    n_words += 1
            element = int(pool[element, NEXT])
        offsets[x + 1] = n_words
    return n_words
