"""Complex constraints by the pointer they dereference, with the outside world made ordinary.

The outside is one more object U and two more nodes: IN holds U; whatever reaches OUT escapes.
A node is unknown if it holds U, and the rules of `problem` become those that are there anyway:

- what is loaded from U is in IN; what is stored to U goes to OUT; U is a function whose rest is
  OUT and whose result is IN; U offset by anything is U.
- E is pts(OUT): OUT loads from, stores IN to, and calls with IN all that it holds, and holds the
  whole allocation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kleene.base.arrays import I32, I64, U64
from kleene.solvers.inclusion.offline import distinct_pairs
from kleene.solvers.inclusion.offline.tables import grouped
from kleene.solvers.inclusion.problem import (
    ANY,
    FROM_OUTSIDE,
    NONE,
    TO_OUTSIDE,
    Images,
    Problem,
    images_of,
)
from kleene.solvers.inclusion.solution import words_of

MANY_FLOWS = 1 << 16  # looking at more would take longer than a millisecond
N_DIRECT = 32  # a class costs a node more on the way, which pays for larger sets only: measured


class Rules(NamedTuple):
    """Tables that do not change while solving; T pointers, of loads, stores, calls, offsets."""

    n_nodes: int  # with IN and OUT
    n_objects: int  # with U
    outside: int  # the id of OUT, or NONE for a closed program; IN is the node before
    load_contents: I32  # per object: what a load reads
    store_contents: I32  # per object: what a store writes
    function_of: I32  # per object
    function_result: I32
    function_rest: I32
    formal_offsets: I32
    formals: I32
    images: Images
    alone: U64  # bits: objects that are alone in their allocation
    pointer_node: I32
    load_offsets: I64  # T + 1
    load_to: I32
    store_offsets: I64
    store_from: I32
    call_offsets: I64
    calls: I32
    call_result: I32
    actual_offsets: I32
    actuals: I32
    offset_offsets: I64
    offset_to: I32
    offset_amount: I32
    entry_from: I32  # per pointer: what enters every formal of every function, or NONE
    n_kinds: I32  # per pointer: how many kinds of class nodes its uses need
    copy_source: I32
    copy_target: I32
    fact_node: I32  # what is held from the start, sorted by node and object
    fact_object: I32
    n_entries: int  # formals and rests in all
    n_direct: int  # sets up to this size get direct edges


def rules_of(problem: Problem, n_direct: int = N_DIRECT) -> Rules:
    """Return the rules of a problem, grouped by pointer."""
    p = problem
    is_open = len(p.flagged_node) > 0
    n, n_objects = p.n_nodes, p.n_objects
    inside, outside = (n, n + 1) if is_open else (NONE, NONE)
    extra = [n_objects] if is_open else []
    images = images_of(p, len(extra))
    into = p.flagged_node[p.flags & FROM_OUTSIDE != 0]
    out = p.flagged_node[p.flags & TO_OUTSIDE != 0]
    calls = _more(p.call_callee, outside)
    load = _more(p.load_pointer, outside), _more(p.load_destination, outside)
    store = _more(p.store_pointer, outside), _more(p.store_source, inside)
    offset = _more(p.offset_source, outside), _more(p.offset_destination, outside)
    amount = np.append(p.offset_amount, [ANY] if is_open else []).astype(np.int32)
    last_actual = p.actual_offsets[-1:] if is_open else p.actual_offsets[:0]
    actual_offsets = np.append(p.actual_offsets, last_actual)
    is_pointer = np.zeros(n + 2, bool)
    for pointer in (load[0], store[0], offset[0], calls):
        is_pointer[pointer] = True
    pointers = np.flatnonzero(is_pointer).astype(np.int32)
    number = np.cumsum(is_pointer, dtype=np.int32) - np.int32(1)
    load_offsets, load_order = grouped(len(pointers), number[load[0]])
    store_offsets, store_order = grouped(len(pointers), number[store[0]])
    call_offsets, call_order = grouped(len(pointers), number[calls])
    offset_offsets, offset_order = grouped(len(pointers), number[offset[0]])
    n_places = np.zeros(len(pointers), np.int32)
    np.maximum.at(n_places, number[calls], np.diff(actual_offsets))
    held = np.concatenate([p.address_object, np.full(len(into), n_objects), extra])
    fact_node, fact_object = distinct_pairs(
        np.concatenate([p.address_node, into, [inside] * len(extra)]), held
    )
    return Rules(
        n_nodes=n + 2 * is_open,
        n_objects=n_objects + len(extra),
        outside=outside,
        load_contents=_more(p.contents, inside),
        store_contents=_more(p.store_contents(), outside),
        function_of=_more(p.function_of(), p.n_functions if is_open else NONE),
        function_result=_more(p.function_result, inside),
        function_rest=_more(p.function_rest, outside),
        formal_offsets=_more(p.formal_offsets, int(p.formal_offsets[-1]) if is_open else NONE),
        formals=p.formals,
        images=images,
        alone=words_of(images.end - images.first == 1),
        pointer_node=pointers,
        load_offsets=load_offsets,
        load_to=load[1][load_order],
        store_offsets=store_offsets,
        store_from=store[1][store_order],
        call_offsets=call_offsets,
        calls=call_order,
        call_result=_more(p.call_result, outside),
        actual_offsets=actual_offsets.astype(np.int32),
        actuals=p.actuals,
        offset_offsets=offset_offsets,
        offset_to=offset[1][offset_order],
        offset_amount=amount[offset_order],
        entry_from=np.where(pointers == outside, inside, NONE).astype(np.int32),
        n_kinds=n_places + np.int32(4),
        copy_source=np.append(p.copy_source, out),
        copy_target=np.append(p.copy_destination, np.full(len(out), outside, np.int32)),
        fact_node=fact_node,
        fact_object=fact_object,
        n_entries=len(p.formals) + p.n_functions + 1,
        n_direct=n_direct,
    )


def _more(column: I32, value: int) -> I32:
    """Return the column with one value more, unless that is `NONE`."""
    return np.append(column, np.int32(value)) if value != NONE else column


def spread(problem: Problem) -> float:
    """Return to how many nodes, on average over flows, what arrives at a node is sent on.

    Flows are copies, what is stored and actuals. That is Σ ways² / Σ ways over the nodes. Of many
    flows some are drawn: two draws meet at a node with the probability Σ ways² / (Σ ways)².
    """
    columns = [problem.copy_source, problem.store_source, problem.actuals]
    n_flows = sum(map(len, columns))
    is_drawn = n_flows > MANY_FLOWS
    if is_drawn:
        at = np.random.default_rng(0)
        columns = [c[at.integers(0, len(c), MANY_FLOWS * len(c) // n_flows)] for c in columns]
    sources = np.concatenate(columns)
    n_ways = np.bincount(sources[sources >= 0])  # an actual may be none
    n_all, n_pairs = int(n_ways.sum()), int(np.dot(n_ways, n_ways))
    if is_drawn and n_all > 1:
        return n_flows / len(sources) * (n_pairs - n_all) / (n_all - 1)
    return n_pairs / max(1, n_all)
