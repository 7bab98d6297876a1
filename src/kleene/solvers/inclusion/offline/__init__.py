"""What can be settled before solving: nodes that must hold equal sets become one node.

Two steps, both exact. Cycles of copies hold one set. Then value numbering (Hardekopf and Lin,
"Exploiting Pointer and Location Equivalence to Optimize Pointer Analysis", 2007): in topological
order of the copies each node is labelled by the set of what flows in, and nodes with equal labels
are equal. A load through p, a result of calling p and an offset of p depend on pts(p) alone: they
are labelled by p's label of the round before, so that a second round merges what follows from the
first. A contents node, a formal and a rest have sources that only solving finds: each has a label
of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kleene.graphs import Graph, strong_components
from kleene.solvers.inclusion.problem import FROM_OUTSIDE, NONE, TO_OUTSIDE, Problem
from kleene.solvers.inclusion.solution import Solution

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
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


def reduce(problem: Problem, *, n_rounds: int = N_ROUNDS) -> Reduced:
    """Return the problem with equal nodes merged and rules that ask for nothing left out."""
    problem = _without_zero_offsets(problem)
    graph = Graph.from_edges(problem.n_nodes, problem.copy_source, problem.copy_destination)
    found = strong_components(graph)
    label = np.arange(1, found.n_components + 1, dtype=np.int64)
    for _ in range(n_rounds):
        label = _dense(_numbered(problem, found.component, label))
    representative = label[found.component].astype(np.int32)
    return Reduced(_rewritten(problem, representative), representative)


def _without_zero_offsets(problem: Problem) -> Problem:
    """Return the problem with each offset of 0 as the copy that it is."""
    still = problem.offset_amount == 0
    if not still.any():
        return problem
    moves = ~still
    return replace(
        problem,
        copy_destination=np.append(problem.copy_destination, problem.offset_destination[still]),
        copy_source=np.append(problem.copy_source, problem.offset_source[still]),
        offset_destination=problem.offset_destination[moves],
        offset_source=problem.offset_source[moves],
        offset_amount=problem.offset_amount[moves],
    )


def _numbered(problem: Problem, component: I32, before: I64) -> I64:
    """Return a label per component: equal labels, equal sets; 0: the empty set.

    What flows in is a list of (component, token): an object, a source of its own, a rule applied
    to a pointer's label of the round before, or, as `~component`, whatever the other one holds.
    """
    n_components, n_objects = len(before), problem.n_objects
    pointer_label = before[component]
    outside = problem.flagged_node[problem.flags & FROM_OUTSIDE != 0]
    own = _nodes(problem.contents, problem.formals, problem.function_rest)
    first_own = n_objects + 2
    first_load = first_own + n_components
    first_result = first_load + n_components + 1
    first_offset = first_result + n_components + 1
    offset_token = _offset_tokens(problem, pointer_label)
    flows = [
        (problem.address_node, problem.address_object.astype(np.int64) + 1),
        (outside, np.full(len(outside), n_objects + 1)),
        (own, first_own + component[own]),
        (problem.load_destination, first_load + pointer_label[problem.load_pointer]),
        (problem.call_result, first_result + pointer_label[problem.call_callee]),
        (problem.offset_destination, first_offset + offset_token),
        (problem.copy_destination, ~component[problem.copy_source].astype(np.int64)),
    ]
    pointers = {3: problem.load_pointer, 4: problem.call_callee, 5: problem.offset_source}
    destinations, tokens = [], []
    for place, (node, token) in enumerate(flows):
        keep = node >= 0
        if place in pointers:
            keep &= pointer_label[pointers[place]] > 0
        destinations.append(component[node[keep]])
        tokens.append(token[keep].astype(np.int64))
    from kleene.solvers.inclusion.offline import labels

    first_tuple = first_offset + len(offset_token)
    return labels.number(
        n_components, np.concatenate(destinations), np.concatenate(tokens), first_tuple
    )


def _offset_tokens(problem: Problem, pointer_label: I64) -> I64:
    """Return an id below the number of offsets per offset: equal for equal label and amount."""
    amount = problem.offset_amount.astype(np.int64) + (1 << 31)
    key = pointer_label[problem.offset_source] << 32 | amount
    token: I64 = np.unique(key, return_inverse=True)[1].astype(np.int64)
    return token


def _nodes(*columns: I32) -> I32:
    every = np.concatenate(columns)
    return every[every >= 0]


def _dense(label: I64) -> I64:
    """Return the labels renumbered 1, 2, ... with 0 kept."""
    used = np.zeros(int(label.max(initial=0)) + 1, np.int64)
    used[label] = 1
    used[0] = 0
    number = np.cumsum(used)
    number[0] = 0
    return number[label]


def _rewritten(problem: Problem, representative: I32) -> Problem:
    """Return the problem over representatives, without repetitions and empty sources."""

    def at(node: I32) -> I32:
        return representative[node]

    def place(node: I32) -> I32:
        """Return where a place is now; nothing goes to or comes from `NOTHING`."""
        moved = np.where(node == NONE, NOTHING, representative[node])
        return np.where(moved == NOTHING, NONE, moved).astype(np.int32)

    source, destination = at(problem.copy_source), at(problem.copy_destination)
    address = _pairs(at(problem.address_node), problem.address_object)
    copy = _pairs(destination, source, (source != NOTHING) & (source != destination))
    load_pointer = at(problem.load_pointer)
    load = _pairs(at(problem.load_destination), load_pointer, load_pointer != NOTHING)
    pointer, source = at(problem.store_pointer), at(problem.store_source)
    store = _pairs(pointer, source, (pointer != NOTHING) & (source != NOTHING))
    move = at(problem.offset_destination), at(problem.offset_source), problem.offset_amount
    move = _triples(*move, move[1] != NOTHING)
    node, flags = at(problem.flagged_node), problem.flags
    shown = ((flags & FROM_OUTSIDE) | (flags & TO_OUTSIDE) * (node != NOTHING)) != 0
    return replace(
        problem,
        n_nodes=int(representative.max(initial=NOTHING)) + 1,
        contents=place(problem.contents),
        address_node=address[0],
        address_object=address[1],
        copy_destination=copy[0],
        copy_source=copy[1],
        load_destination=load[0],
        load_pointer=load[1],
        store_pointer=store[0],
        store_source=store[1],
        offset_destination=move[0],
        offset_source=move[1],
        offset_amount=move[2],
        function_result=place(problem.function_result),
        function_rest=place(problem.function_rest),
        formals=place(problem.formals),
        call_callee=at(problem.call_callee),
        call_result=place(problem.call_result),
        actuals=place(problem.actuals),
        flagged_node=node[shown],
        flags=flags[shown],
    )


def _triples(first: I32, second: I32, third: I32, keep: NDArray[np.bool_]) -> tuple[I32, I32, I32]:
    """Return the distinct triples to keep, sorted."""
    rows = first[keep], second[keep], third[keep]
    order = np.lexsort(rows[::-1])
    rows = rows[0][order], rows[1][order], rows[2][order]
    new = np.ones(len(order), bool)
    new[1:] = np.any([row[1:] != row[:-1] for row in rows], axis=0)
    return rows[0][new], rows[1][new], rows[2][new]


def _pairs(first: I32, second: I32, keep: NDArray[np.bool_] | None = None) -> tuple[I32, I32]:
    """Return the distinct pairs, sorted."""
    key = first.astype(np.int64) << 32 | second
    key = np.sort(key if keep is None else key[keep])
    if len(key):
        key = key[np.append(True, key[1:] != key[:-1])]
    return (key >> 32).astype(np.int32), (key & 0xFFFFFFFF).astype(np.int32)
