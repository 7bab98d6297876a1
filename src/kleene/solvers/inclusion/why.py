"""Why does a node hold an object? The shortest chain of flows of a solved problem.

A fact is (node, object): the node may hold the object. `OUTSIDE` is a node too: what it holds has
escaped. A `Flow` says that one fact gives another; every flow is a row of the problem, or a rule of
the outside world, whose premises hold in the solution. The search goes backwards, breadth first,
from the facts asked for to a row that takes the object's address: the constraints turned round.

Flows into many nodes are found together, with whole columns, so that a step costs a pass over the
tables and not a search for each node; and of the flows from one source at least one is given, not
each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32, Bools, Ints, distinct, ragged
from kleene.solvers.inclusion.problem import (
    ANY,
    BY_LAYOUT,
    FROM_OUTSIDE,
    NONE,
    TO_OUTSIDE,
    Problem,
    images_of,
)
from kleene.solvers.inclusion.solution import Solution

OUTSIDE = -1
Fact = tuple[int, int]  # node, object


class Rule(StrEnum):
    """Why a fact follows from another."""

    ADDRESS = "address"
    COPY = "copy"
    LOAD = "load"
    STORE = "store"
    OFFSET = "offset"
    ARGUMENT = "argument"
    RESULT = "result"
    ESCAPE = "escape"
    ENTER = "enter"


@dataclass(frozen=True, slots=True)
class Flow:
    """A fact (node, object) that follows from another (source, from_object) by a row of a table.

    For an address there is no source; `via` is the pointer of a load or store, and the call of an
    argument or result.
    """

    node: int
    object: int
    source: int
    from_object: int
    rule: Rule
    row: int
    via: int = NONE


class Derivations:
    """Finds the shortest derivations of facts of one solved problem."""

    def __init__(self, problem: Problem, solution: Solution) -> None:
        self._problem, self._solution = problem, solution
        self._images = images_of(problem)

    def shortest(self, nodes: list[int], objects: list[int]) -> list[Flow] | None:
        """Return the fewest flows by which one of the nodes comes to hold one of the objects.

        None if no node holds an object.
        """
        fresh: dict[int, Bools] = {}  # by object: who holds it and was not met yet
        frontier: dict[int, set[int]] = {}  # nodes by object
        reached: dict[Fact, Flow | None] = {}  # how the search went on from each fact
        for object in objects:
            fresh[object] = self._holders(object)
            if start := {node for node in nodes if fresh[object][node]}:
                frontier[object] = start
                reached |= {(node, object): None for node in start}
        while frontier:
            for object, level in frontier.items():
                for flow in self._addresses(level, object):
                    found = _path(flow, reached)
                    assert self.holds(found, nodes, objects), "a derivation that does not hold"
                    return found
            frontier = self._next(frontier, reached, fresh)
        return None

    def holds(self, found: list[Flow], nodes: list[int], objects: list[int]) -> bool:
        """Return whether flows are a derivation of one of the facts asked for.

        The first takes an address, each begins with the fact that the one before ends with, every
        fact is one of the solution, and the last is one that was asked for.
        """
        linked = all((a.node, a.object) == (b.source, b.from_object) for a, b in pairwise(found))
        held = {object: self._holders(object) for object in {flow.object for flow in found}}
        facts = all(
            self._solution.escaped[flow.object]
            if flow.node == OUTSIDE
            else held[flow.object][flow.node]
            for flow in found
        )
        ends = found[-1].node in nodes and found[-1].object in objects
        return linked and facts and ends and found[0].rule is Rule.ADDRESS

    def _next(
        self,
        frontier: dict[int, set[int]],
        reached: dict[Fact, Flow | None],
        fresh: dict[int, Bools],
    ) -> dict[int, set[int]]:
        """Return the facts that those of the frontier follow from, and were not met before."""
        found: dict[int, set[int]] = {}
        for object, level in frontier.items():
            if object not in fresh:
                fresh[object] = self._holders(object)
            for flow in self._into(level, object, fresh[object]):
                fact = (flow.source, flow.from_object)
                if fact not in reached:
                    reached[fact] = flow
                    found.setdefault(flow.from_object, set()).add(flow.source)
                    if flow.from_object == object and flow.source != OUTSIDE:
                        fresh[object][flow.source] = False
        return found

    def _holders(self, object: int) -> Bools:
        """Return for each node whether it may hold an object, the outside's knowledge included."""
        rows = self._solution.rows
        at = np.flatnonzero(rows.index == object >> 6)
        at = at[rows.word[at] >> np.uint64(object & 63) & np.uint64(1) != 0]
        in_row = np.zeros(len(rows), bool)
        in_row[np.searchsorted(rows.offsets, at, side="right") - 1] = True
        found: Bools = in_row[self._solution.row_of]
        return found | self._solution.unknown if self._solution.escaped[object] else found

    def _among(self, level: set[int]) -> Bools:
        """Return for each node whether it is one of these."""
        among = np.zeros(self._problem.n_nodes, bool)
        among[[node for node in level if node != OUTSIDE]] = True
        return among

    def _addresses(self, level: set[int], object: int) -> Iterator[Flow]:
        """Yield the rows that put an object right into nodes."""
        p = self._problem
        rows = np.flatnonzero(self._among(level)[p.address_node] & (p.address_object == object))
        return _flows(Rule.ADDRESS, p.address_node[rows], object, NONE, object, rows)

    def _into(self, level: set[int], object: int, fresh: Bools) -> Iterator[Flow]:
        """Yield flows of an object into nodes, from those of the `fresh` holders of it.

        Whoever takes a flow may take its source out of `fresh` meanwhile.
        """
        p, nodes = self._problem, self._among(level)
        yield from self._along(Rule.COPY, p.copy_destination, p.copy_source, nodes, object, fresh)
        yield from self._loads(nodes, object, fresh)
        yield from self._stores(nodes, object, fresh)
        for rule, (to, source, call) in self._call_flows.items():
            yield from self._along(rule, to, source, nodes, object, fresh, call)
        if self._solution.escaped[object]:  # what is unknown, offset, is unknown
            is_unknown = fresh & self._solution.unknown
            ends = p.offset_destination, p.offset_source
            yield from self._along(Rule.OFFSET, *ends, nodes, object, is_unknown)
            yield from self._from_outside(nodes, object)
        yield from self._offsets(nodes, object)
        if OUTSIDE in level:
            for start in self._allocation(object):
                yield from self._out(object, start, self._holders(start))

    def _along(
        self,
        rule: Rule,
        destination: I32,
        source: I32,
        nodes: Bools,
        object: int,
        fresh: Bools,
        calls: I32 | None = None,
    ) -> Iterator[Flow]:
        """Yield the flows along the rows of a table; of call flows, their calls are the rows."""
        rows = np.flatnonzero(nodes[destination] & fresh[source])
        ends = destination[rows], object, source[rows], object
        via = NONE if calls is None else calls[rows]
        return _flows(rule, *ends, rows if calls is None else via, via)

    def _loads(self, nodes: Bools, object: int, fresh: Bools) -> Iterator[Flow]:
        p = self._problem
        rows = np.flatnonzero(nodes[p.load_destination])
        _, first = np.unique(self._solution.row_of[p.load_pointer[rows]], return_index=True)
        for row in rows[first].tolist():  # equal pointers load from the same sources
            pointer = int(p.load_pointer[row])
            contents = p.contents[self._explicit(pointer)]
            contents = contents[contents >= 0]
            source = distinct(contents[fresh[contents]])
            yield from _flows(
                Rule.LOAD, p.load_destination[row], object, source, object, row, pointer
            )

    def _stores(self, nodes: Bools, object: int, fresh: Bools) -> Iterator[Flow]:
        p = self._problem
        written = p.store_contents()
        owners = np.flatnonzero((written >= 0) & nodes[written])
        if not len(owners):
            return
        rows = np.flatnonzero(fresh[p.store_source])
        row_of = self._solution.row_of[p.store_pointer[rows]]
        rows = rows[self._solution.rows.with_any(owners)[row_of]]
        _, first = np.unique(p.store_source[rows], return_index=True)
        for row in rows[first].tolist():
            pointer, source = int(p.store_pointer[row]), int(p.store_source[row])
            reached = np.intersect1d(owners, self._explicit(pointer))[0]
            yield Flow(int(p.contents[reached]), object, source, object, Rule.STORE, row, pointer)

    def _explicit(self, pointer: int) -> NDArray[np.int64]:
        """Return what a pointer holds but for the unknown, whose flows lead through the outside."""
        return self._solution.rows.objects(int(self._solution.row_of[pointer]))

    @cached_property
    def _call_flows(self) -> dict[Rule, tuple[I32, I32, I32]]:
        """What resolved calls copy, by rule: destinations, sources, calls.

        What calls of the unknown pass to functions that escaped goes through the outside.
        """
        p = self._problem
        call, function = self._solution.call_edges.T
        edge, at = ragged(p.actual_offsets[call], p.actual_offsets[call + 1])
        place = p.formal_offsets[function[edge]] + at - p.actual_offsets[call[edge]]
        is_formal = place < p.formal_offsets[function[edge] + 1]
        formals = np.append(p.formals, np.int32(NONE))
        rest = p.function_rest[function[edge]]
        passed = np.where(is_formal, formals[np.where(is_formal, place, -1)], rest)
        results = p.call_result[call], p.function_result[function], call
        found = {}
        for rule, flows in (
            (Rule.ARGUMENT, (passed, p.actuals[at], call[edge])),
            (Rule.RESULT, results),
        ):
            there = (flows[0] >= 0) & (flows[1] >= 0)
            found[rule] = flows[0][there], flows[1][there], flows[2][there]
        return found

    def _offsets(self, nodes: Bools, object: int) -> Iterator[Flow]:
        """Yield the flows by offset edges that make an object of another one of its allocation."""
        p = self._problem
        rows = np.flatnonzero(nodes[p.offset_destination])
        amounts, which = np.unique(p.offset_amount[rows], return_inverse=True)
        for start in self._allocation(object):
            leads = np.array([self._leads(start, a, object) for a in amounts.tolist()], bool)
            if leads.any():
                some = rows[leads[which] & self._holders(start)[p.offset_source[rows]]]
                ends = p.offset_destination[some], object, p.offset_source[some], start
                yield from _flows(Rule.OFFSET, *ends, some)

    def _leads(self, start: int, amount: int, object: int) -> bool:
        """Return whether `object` is an image of `start`, in the same allocation."""
        images, inside = self._images, self._allocation(object)
        if amount > ANY:
            return start + amount == object or start + amount not in inside
        if amount == ANY:
            return True
        row = int(images.rows[(BY_LAYOUT - amount) * images.n_layouts + images.layout[start]])
        if row == NONE:
            return True
        where = row + start - inside.start
        found = images.images[images.offsets[where] : images.offsets[where + 1]]
        return bool((found == object - inside.start).any())

    def _allocation(self, object: int) -> range:
        """Return the objects of an object's allocation."""
        return range(int(self._images.first[object]), int(self._images.end[object]))

    def _out(self, object: int, start: int, holders: Bools) -> Iterator[Flow]:
        """Yield the flows by which an object gets outside, as one of its allocation, `start`, does.

        The sources are those of its holders whose content the outside can read.
        """
        p, solution = self._problem, self._solution

        def out(rule: Rule, source: I32, row: Ints | int, via: Ints | int) -> Iterator[Flow]:
            return _flows(rule, OUTSIDE, object, source, start, row, via)

        rows = np.flatnonzero((p.flags & TO_OUTSIDE != 0) & holders[p.flagged_node])
        yield from out(Rule.ESCAPE, p.flagged_node[rows], rows, NONE)
        rows = np.flatnonzero(solution.unknown[p.store_pointer] & holders[p.store_source])
        yield from out(Rule.STORE, p.store_source[rows], rows, p.store_pointer[rows])
        call = np.repeat(np.arange(p.n_calls), np.diff(p.actual_offsets))
        rows = np.flatnonzero(solution.calls_outside[call] & (p.actuals >= 0) & holders[p.actuals])
        yield from out(Rule.ARGUMENT, p.actuals[rows], call[rows], call[rows])
        contents = p.contents[solution.escaped & (p.contents >= 0)]
        results = p.function_result[solution.escaped[p.function_object]]
        for group in (contents, results[results >= 0]):
            yield from out(Rule.ESCAPE, distinct(group[holders[group]]), NONE, NONE)

    def _from_outside(self, nodes: Bools, object: int) -> Iterator[Flow]:
        """Yield flows of what escaped into nodes that the outside can write."""
        p, solution = self._problem, self._solution

        def enter(rule: Rule, node: Ints, row: Ints | int, via: Ints | int) -> Iterator[Flow]:
            return _flows(rule, node, object, OUTSIDE, object, row, via)

        rows = np.flatnonzero((p.flags & FROM_OUTSIDE != 0) & nodes[p.flagged_node])
        yield from enter(Rule.ENTER, p.flagged_node[rows], rows, NONE)
        is_open = solution.escaped[p.function_object]
        formals = p.formals[np.repeat(is_open, np.diff(p.formal_offsets))]
        entered = np.zeros_like(nodes)
        for group in (p.store_contents()[solution.escaped], formals, p.function_rest[is_open]):
            entered[group[group >= 0]] = True
        yield from enter(Rule.ENTER, np.flatnonzero(entered & nodes), NONE, NONE)
        rows = np.flatnonzero(nodes[p.load_destination] & solution.unknown[p.load_pointer])
        yield from enter(Rule.LOAD, p.load_destination[rows], rows, p.load_pointer[rows])
        has_result = solution.calls_outside & (p.call_result >= 0)
        calls = np.flatnonzero(has_result & nodes[p.call_result])
        yield from enter(Rule.RESULT, p.call_result[calls], calls, calls)


def _flows(
    rule: Rule,
    node: Ints | int,
    object: int,
    source: Ints | int,
    from_object: int,
    row: Ints | int,
    via: Ints | int = NONE,
) -> Iterator[Flow]:
    """Yield a flow for each element of the columns; a number stands for a column of it."""
    columns = (column.tolist() for column in np.broadcast_arrays(node, source, row, via))
    for to, origin, which, through in zip(*columns, strict=True):
        yield Flow(to, object, origin, from_object, rule, which, through)


def _path(first: Flow, reached: dict[Fact, Flow | None]) -> list[Flow]:
    """Return the flows from an address-of constraint up to the fact asked for."""
    path = [first]
    while (flow := reached[path[-1].node, path[-1].object]) is not None:
        path.append(flow)
    return path
