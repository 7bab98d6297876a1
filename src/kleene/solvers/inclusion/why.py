"""Why does a node hold an object? Flows of a solved problem, and the shortest chain of them.

The constraints turned round: from which facts, by which row, does a fact follow at once?

A fact is (node, object): the node may hold the object. `OUTSIDE` is a node too: what it holds has
escaped. A `Flow` says that one fact gives another; every flow is a row of the problem, or a rule of
the outside world, whose premises hold in the solution. Flows into many nodes are found together,
with whole columns, so that a step costs a pass over the tables and not a search for each node; and
of the flows from one source at least one is given, not each.

The shortest chain of flows that carries an object to a node.

A search backwards, breadth first, over facts of the solution: from (node, object) to a row that
takes the object's address.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32, Bools, distinct
from kleene.solvers.inclusion.problem import (
    ANY,
    BY_LAYOUT,
    FROM_OUTSIDE,
    NONE,
    TO_OUTSIDE,
    Images,
    Problem,
    images_of,
)
from kleene.solvers.inclusion.solution import Solution

OUTSIDE = -1


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


class Flows:
    """Answers which flows lead into nodes, for one solved problem."""

    def __init__(self, problem: Problem, solution: Solution) -> None:
        self._problem = problem
        self._solution = solution

    def holders(self, object: int) -> Bools:
        """Return for each node whether it may hold an object, the outside's knowledge included."""
        rows = self._solution.rows
        has = (rows.word >> np.uint64(object & 63)) & np.uint64(1)
        hit = (rows.index == object >> 6) & (has != 0)
        in_row = np.zeros(len(rows), bool)
        in_row[np.searchsorted(rows.offsets, np.flatnonzero(hit), side="right") - 1] = True
        found: Bools = in_row[self._solution.row_of]
        return found | self._solution.unknown if self._solution.escaped[object] else found

    def addresses(self, nodes: Bools, object: int) -> Iterator[Flow]:
        """Yield the rows that put an object right into nodes."""
        p = self._problem
        for row in np.flatnonzero(nodes[p.address_node] & (p.address_object == object)).tolist():
            yield Flow(int(p.address_node[row]), object, NONE, object, Rule.ADDRESS, row)

    def into(self, nodes: Bools, object: int, fresh: Bools) -> Iterator[Flow]:
        """Yield flows of an object into nodes, from those of the `fresh` holders of it.

        Whoever takes a flow may take its source out of `fresh` meanwhile.
        """
        p = self._problem
        rows = np.flatnonzero(nodes[p.copy_destination] & fresh[p.copy_source])
        for row in rows.tolist():
            node, source = int(p.copy_destination[row]), int(p.copy_source[row])
            yield Flow(node, object, source, object, Rule.COPY, row)
        yield from self._loads(nodes, object, fresh)
        yield from self._stores(nodes, object, fresh)
        yield from self._calls(nodes, object, fresh)
        if self._solution.escaped[object]:
            yield from self._from_unknown(nodes, object, fresh)
            yield from self._from_outside(nodes, object)

    def by_offsets(self, nodes: Bools, object: int) -> Iterator[Flow]:
        """Yield the flows by offset edges that make an object of another one of its allocation."""
        p = self._problem
        rows = np.flatnonzero(nodes[p.offset_destination])
        amounts, which = np.unique(p.offset_amount[rows], return_inverse=True)
        for start in self._allocation(object):
            leads = np.array([self._leads(start, a, object) for a in amounts.tolist()], bool)
            if not leads.any():
                continue
            holders = self.holders(start)
            for row in rows[leads[which] & holders[p.offset_source[rows]]].tolist():
                node, source = int(p.offset_destination[row]), int(p.offset_source[row])
                yield Flow(node, object, source, start, Rule.OFFSET, row)

    def escaping(self, object: int) -> Iterator[Flow]:
        """Yield the flows by which an object gets outside: some object of its allocation does."""
        for start in self._allocation(object):
            for source, rule, row, via in self._out(self.holders(start)):
                yield Flow(OUTSIDE, object, source, start, rule, row, via)

    def _out(self, holders: Bools) -> Iterator[tuple[int, Rule, int, int]]:
        """Yield the holders whose content the outside can read: node, rule, row, via."""
        p, solution = self._problem, self._solution
        for row in np.flatnonzero((p.flags & TO_OUTSIDE != 0) & holders[p.flagged_node]).tolist():
            yield int(p.flagged_node[row]), Rule.ESCAPE, row, NONE
        through = solution.unknown[p.store_pointer] & holders[p.store_source]
        for row in np.flatnonzero(through).tolist():
            yield int(p.store_source[row]), Rule.STORE, row, int(p.store_pointer[row])
        for call in np.flatnonzero(solution.calls_outside).tolist():
            for actual in p.actuals[p.actual_offsets[call] : p.actual_offsets[call + 1]].tolist():
                if actual != NONE and holders[actual]:
                    yield actual, Rule.ARGUMENT, call, call
        contents = p.contents[solution.escaped & (p.contents >= 0)]
        results = p.function_result[solution.escaped[p.function_object]]
        for group in (contents, results[results >= 0]):
            for node in distinct(group[holders[group]]).tolist():
                yield node, Rule.ESCAPE, NONE, NONE

    def _from_unknown(self, nodes: Bools, object: int, fresh: Bools) -> Iterator[Flow]:
        """Yield flows of what escaped through offsets: the unknown, offset, is the unknown."""
        p = self._problem
        source = p.offset_source
        rows = nodes[p.offset_destination] & self._solution.unknown[source] & fresh[source]
        for row in np.flatnonzero(rows).tolist():
            node = int(p.offset_destination[row])
            yield Flow(node, object, int(source[row]), object, Rule.OFFSET, row)

    def _from_outside(self, nodes: Bools, object: int) -> Iterator[Flow]:
        """Yield flows of what escaped into nodes that the outside can write."""
        p, solution = self._problem, self._solution
        for row in np.flatnonzero((p.flags & FROM_OUTSIDE != 0) & nodes[p.flagged_node]).tolist():
            node = int(p.flagged_node[row])
            yield Flow(node, object, OUTSIDE, object, Rule.ENTER, row)
        entered = np.zeros_like(nodes)
        entered[p.contents[solution.escaped & (p.contents >= 0)]] = True
        is_open = solution.escaped[p.function_object]
        formals = p.formals[np.repeat(is_open, np.diff(p.formal_offsets))]
        for group in (formals, p.function_rest[is_open]):
            entered[group[group >= 0]] = True
        for node in np.flatnonzero(entered & nodes).tolist():
            yield Flow(node, object, OUTSIDE, object, Rule.ENTER, NONE)
        for row in np.flatnonzero(
            nodes[p.load_destination] & solution.unknown[p.load_pointer]
        ).tolist():
            node, pointer = int(p.load_destination[row]), int(p.load_pointer[row])
            yield Flow(node, object, OUTSIDE, object, Rule.LOAD, row, pointer)
        results = p.call_result
        for call in np.flatnonzero(solution.calls_outside & (results >= 0)).tolist():
            if nodes[results[call]]:
                yield Flow(int(results[call]), object, OUTSIDE, object, Rule.RESULT, call, call)

    def _loads(self, nodes: Bools, object: int, fresh: Bools) -> Iterator[Flow]:
        p = self._problem
        rows = np.flatnonzero(nodes[p.load_destination])
        _, first = np.unique(self._solution.row_of[p.load_pointer[rows]], return_index=True)
        for row in rows[first].tolist():  # equal pointers load from the same sources
            pointer = int(p.load_pointer[row])
            contents = p.contents[self._explicit(pointer)]
            contents = contents[contents >= 0]
            for source in distinct(contents[fresh[contents]]).tolist():
                node = int(p.load_destination[row])
                yield Flow(node, object, source, object, Rule.LOAD, row, pointer)

    def _stores(self, nodes: Bools, object: int, fresh: Bools) -> Iterator[Flow]:
        p = self._problem
        owners = np.flatnonzero((p.contents >= 0) & nodes[p.contents])
        if not len(owners):
            return
        rows = np.flatnonzero(fresh[p.store_source])
        rows = rows[self._may_hold(p.store_pointer[rows], owners)]
        _, first = np.unique(p.store_source[rows], return_index=True)
        for row in rows[first].tolist():
            pointer, source = int(p.store_pointer[row]), int(p.store_source[row])
            reached = np.intersect1d(owners, self._explicit(pointer))[0]
            yield Flow(int(p.contents[reached]), object, source, object, Rule.STORE, row, pointer)

    def _may_hold(self, pointers: I32, objects: NDArray[np.integer]) -> Bools:
        """Return for each pointer whether it may hold one of the objects."""
        found: Bools = self._solution.rows.with_any(objects)[self._solution.row_of[pointers]]
        return found

    def _explicit(self, pointer: int) -> NDArray[np.int64]:
        """Return what a pointer holds but for the unknown, whose flows lead through the outside."""
        return self._solution.rows.objects(int(self._solution.row_of[pointer]))

    def _calls(self, nodes: Bools, object: int, fresh: Bools) -> Iterator[Flow]:
        destination, source, call, is_result = self._call_flows
        chosen = np.flatnonzero(nodes[destination] & fresh[source])
        for i in chosen.tolist():
            rule = Rule.RESULT if is_result[i] else Rule.ARGUMENT
            node, origin, row = int(destination[i]), int(source[i]), int(call[i])
            yield Flow(node, object, origin, object, rule, row, row)

    @cached_property
    def _call_flows(self) -> tuple[I32, I32, I32, Bools]:
        """What resolved calls copy: destination, source, call, and whether it is a result.

        What calls of the unknown pass to functions that escaped goes through the outside.
        """
        p = self._problem
        rows: list[tuple[int, int, int, bool]] = []
        for call, function in self._solution.call_edges.tolist():
            actuals = p.actuals[p.actual_offsets[call] : p.actual_offsets[call + 1]].tolist()
            formals = p.formals[p.formal_offsets[function] : p.formal_offsets[function + 1]]
            rest = int(p.function_rest[function])
            targets = formals.tolist() + [rest] * max(0, len(actuals) - len(formals))
            rows += [(d, s, call, False) for d, s in zip(targets, actuals, strict=False)]
            rows.append((int(p.call_result[call]), int(p.function_result[function]), call, True))
        table = np.array([row for row in rows if row[0] >= 0 and row[1] >= 0], np.int32)
        destination, source, call, is_result = table.reshape(-1, 4).T
        return destination, source, call, is_result != 0

    def _allocation(self, object: int) -> range:
        """Return the objects of an object's allocation."""
        return range(int(self._images.first[object]), int(self._images.end[object]))

    @cached_property
    def _images(self) -> Images:
        return images_of(self._problem)

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


Fact = tuple[int, int]  # node, object


def chain(flows: Flows, nodes: list[int], objects: list[int], n_nodes: int) -> list[Flow] | None:
    """Return the shortest flows from an address to one of the facts asked for, or None."""
    frontier: dict[int, set[int]] = {}  # nodes by object
    for object in objects:
        holders = flows.holders(object)
        if start := {node for node in nodes if holders[node]}:
            frontier[object] = start
    reached: dict[Fact, Flow | None] = {(n, o): None for o, ns in frontier.items() for n in ns}
    fresh = {object: flows.holders(object) for object in frontier}
    while frontier:
        for object, level in frontier.items():
            for flow in flows.addresses(_bits(level, n_nodes), object):
                return _path(flow, reached)
        frontier = _next(flows, frontier, reached, fresh, n_nodes)
    return None


def _next(
    flows: Flows,
    frontier: dict[int, set[int]],
    reached: dict[Fact, Flow | None],
    fresh: dict[int, Bools],
    n_nodes: int,
) -> dict[int, set[int]]:
    """Return the facts that those of the frontier follow from, and were not met before."""
    found: dict[int, set[int]] = {}
    for object, level in frontier.items():
        if object not in fresh:
            fresh[object] = flows.holders(object)
        for flow in _into(flows, level, object, fresh[object], n_nodes):
            fact = (flow.source, flow.from_object)
            if fact not in reached:
                reached[fact] = flow
                found.setdefault(flow.from_object, set()).add(flow.source)
                if flow.from_object == object and flow.source != OUTSIDE:
                    fresh[object][flow.source] = False
    return found


def _into(flows: Flows, level: set[int], object: int, fresh: Bools, n_nodes: int) -> Iterator[Flow]:
    nodes = _bits(level, n_nodes)
    yield from flows.into(nodes, object, fresh)
    yield from flows.by_offsets(nodes, object)
    if OUTSIDE in level:
        yield from flows.escaping(object)


def _path(first: Flow, reached: dict[Fact, Flow | None]) -> list[Flow]:
    """Return the flows from an address-of constraint up to the fact asked for."""
    path = [first]
    while (flow := reached[path[-1].node, path[-1].object]) is not None:
        path.append(flow)
    return path


def _bits(nodes: set[int], n_nodes: int) -> Bools:
    bits = np.zeros(n_nodes, bool)
    bits[[node for node in nodes if node >= 0]] = True
    return bits


class Derivations:
    """Finds the shortest derivations of facts of one solved problem."""

    def __init__(self, problem: Problem, solution: Solution) -> None:
        self._n_nodes = problem.n_nodes
        self._solution = solution
        self._flows = Flows(problem, solution)

    def shortest(self, nodes: list[int], objects: list[int]) -> list[Flow] | None:
        """Return the fewest flows by which one of the nodes comes to hold one of the objects.

        None if no node holds an object.
        """
        found = chain(self._flows, nodes, objects, self._n_nodes)
        assert found is None or self.holds(found, nodes, objects), "a derivation that does not hold"
        return found

    def holds(self, found: list[Flow], nodes: list[int], objects: list[int]) -> bool:
        """Return whether flows are a derivation of one of the facts asked for.

        The first takes an address, each begins with the fact that the one before ends with, every
        fact is one of the solution, and the last is one that was asked for.
        """
        linked = all((a.node, a.object) == (b.source, b.from_object) for a, b in pairwise(found))
        held = {object: self._flows.holders(object) for object in {flow.object for flow in found}}
        facts = all(
            self._solution.escaped[flow.object]
            if flow.node == OUTSIDE
            else held[flow.object][flow.node]
            for flow in found
        )
        ends = found[-1].node in nodes and found[-1].object in objects
        return linked and facts and ends and found[0].rule is Rule.ADDRESS
