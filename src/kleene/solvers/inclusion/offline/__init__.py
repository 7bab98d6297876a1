"""What can be settled before solving: nodes that must hold equal sets become one node.

Two steps, both exact. Cycles of copies hold one set. Then value numbering (Hardekopf and Lin,
"Exploiting Pointer and Location Equivalence to Optimize Pointer Analysis", 2007): in topological
order of the copies each node is labelled by the set of what flows in, and nodes with equal labels
are equal. A load through p, a result of calling p and an offset of p depend on pts(p) alone: they
are labelled by p's label of the round before, so that a second round merges what follows from the
first. A contents node, unless it is constant, a formal and a rest have sources that only solving
finds: each has a label of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32, I64, distinct
from kleene.graphs import Graph, strong_components
from kleene.solvers.inclusion.problem import FROM_OUTSIDE, NONE, TO_OUTSIDE, Problem
from kleene.solvers.inclusion.solution import Solution
from kleene.solvers.inclusion.threads import ALONE, Threads

_NO_IDS = np.empty(0, np.int32)
MANY_ROWS = 200_000  # with fewer, another thread is hardly awake when all is done
NOTHING = 0  # the node of a reduced problem that holds nothing
N_ROUNDS = 2  # merged 20 % more nodes than 1 on graphs like those of programs, 3 another 5 %


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """A smaller problem with the same answer. Objects, functions and calls keep their ids."""

    problem: Problem
    representative: I32  # per node of the first problem: its node here, `NOTHING` if it stays empty

    def expand(self, solution: Solution) -> Solution:
        """Return the answer to the first problem, from that to the smaller one."""
        return replace(
            solution,
            row_of=solution.row_of[self.representative],
            unknown=solution.unknown[self.representative],
        )


def reduce(problem: Problem, *, n_rounds: int = N_ROUNDS, threads: Threads = ALONE) -> Reduced:
    """Return the problem with equal nodes merged and rules that ask for nothing left out."""
    from kleene.solvers.inclusion.offline import tables

    problem = without_zero_offsets(problem)
    offsets, order = tables.grouped(problem.n_nodes, problem.copy_source)
    found = strong_components(Graph(offsets, problem.copy_destination[order]))
    label = np.arange(1, found.n_components + 1, dtype=np.int32)
    for _ in range(n_rounds):
        label = _numbered(problem, found.component, label)
    representative = label[found.component]
    several = threads if problem.n_constraints >= MANY_ROWS else ALONE
    return Reduced(_rewritten(problem, representative, several), representative)


def without_zero_offsets(problem: Problem) -> Problem:
    """Return the problem with each offset of 0 as the copy that it is."""
    still = problem.offset_amount == 0
    if not still.any():
        return problem
    stepping = ~still
    return replace(
        problem,
        copy_destination=np.append(problem.copy_destination, problem.offset_destination[still]),
        copy_source=np.append(problem.copy_source, problem.offset_source[still]),
        offset_destination=problem.offset_destination[stepping],
        offset_source=problem.offset_source[stepping],
        offset_amount=problem.offset_amount[stepping],
    )


def _numbered(problem: Problem, component: I32, before: I32) -> I32:
    """Return a label per component: equal labels, equal sets; 0: the empty set.

    What flows into a component is a set of tokens: an object, what the outside holds, a source of
    its own (which only solving finds), or a rule applied to a pointer's label of the round before;
    or, as `~source`, another component's set. A token of 0 is the empty set.
    """
    from kleene.solvers.inclusion.offline import numbering, tables

    p, label = problem, before[component]
    own = np.concatenate([p.store_contents(), p.formals, p.function_rest])
    own = own[own != NONE]
    outside = p.flagged_node[p.flags & FROM_OUTSIDE != 0]
    result, callee = p.call_result[p.call_result != NONE], p.call_callee[p.call_result != NONE]
    first_own = np.int64(p.n_objects + 2)
    first_load, first_result, first_offset = first_own + (len(before) + 1) * np.arange(1, 4)
    shifted = label[p.offset_source]
    first_like = numbering.first_equal(shifted, p.offset_amount)
    flows = (
        (p.address_node, p.address_object + 1),
        (outside, np.full(len(outside), p.n_objects + 1)),
        (own, first_own + component[own]),
        (p.load_destination, _applied(first_load, label[p.load_pointer])),
        (result, _applied(first_result, label[callee])),
        (p.offset_destination, np.where(shifted == 0, 0, first_offset + first_like)),
        (p.copy_destination, ~component[p.copy_source]),
    )
    nodes = np.concatenate([nodes for nodes, _ in flows])
    tokens = np.concatenate([tokens for _, tokens in flows]).astype(np.int64)
    offsets, order = tables.grouped(len(before), component[nodes])
    return numbering.number(offsets, tokens[order], first_offset + len(shifted))


def _applied(first: np.int64, label: I32) -> I64:
    """Return a token for a rule applied to each label, none if that is empty."""
    return np.where(label == 0, 0, first + label)


def _rewritten(problem: Problem, representative: I32, threads: Threads) -> Problem:
    """Return the problem over representatives, without repetitions and empty sources."""
    from kleene.solvers.inclusion.offline import tables

    p, n_nodes = problem, int(representative.max(initial=NOTHING)) + 1
    loads = n_nodes, representative, p.load_pointer, p.load_destination, _NO_IDS
    stores = n_nodes, representative, p.store_pointer, p.store_source, _NO_IDS
    offsets = n_nodes, representative, p.offset_source, p.offset_destination, p.offset_amount
    copy, load, store, offset, rest = threads.run(
        [
            partial(_copies, p, representative),
            partial(tables.renamed, *loads),
            partial(tables.renamed, *stores),
            partial(tables.renamed, *offsets),
            partial(_places, p, representative),
        ]
    )
    return replace(
        p,
        n_nodes=n_nodes,
        copy_source=copy[0],
        copy_destination=copy[1],
        load_pointer=load[0],
        load_destination=load[1],
        store_pointer=store[0],
        store_source=store[1],
        offset_source=offset[0],
        offset_destination=offset[1],
        offset_amount=offset[2],
        **rest,
    )


def _copies(problem: Problem, representative: I32) -> tuple[I32, I32]:
    """Return the copies between representatives, without loops and those from nothing."""
    source = representative[problem.copy_source]
    target = representative[problem.copy_destination]
    kept = (source != NOTHING) & (source != target)
    return source[kept], target[kept]


def _places(problem: Problem, representative: I32) -> dict[str, I32]:
    """Return the columns that name one node a row, with what it is called now."""
    p = problem

    def place(node: I32) -> I32:
        """Return where a place is now; nothing goes to or comes from `NOTHING`."""
        moved = np.where(node == NONE, NOTHING, representative[node])
        return np.where(moved == NOTHING, NONE, moved).astype(np.int32)

    node, flags = representative[p.flagged_node], p.flags
    shown = ((flags & FROM_OUTSIDE) | (flags & TO_OUTSIDE) * (node != NOTHING)) != 0
    address = distinct_pairs(representative[p.address_node], p.address_object)
    return {
        "contents": place(p.contents),
        "address_node": address[0],
        "address_object": address[1],
        "function_result": place(p.function_result),
        "function_rest": place(p.function_rest),
        "formals": place(p.formals),
        "call_callee": representative[p.call_callee],
        "call_result": place(p.call_result),
        "actuals": place(p.actuals),
        "flagged_node": node[shown],
        "flags": flags[shown],
    }


def distinct_pairs(first: NDArray[np.integer], second: NDArray[np.integer]) -> tuple[I32, I32]:
    """Return the distinct pairs, sorted."""
    key = distinct(first.astype(np.int64) << 32 | second.astype(np.int64))
    return (key >> 32).astype(np.int32), (key & 0xFFFFFFFF).astype(np.int32)
