"""The oracle: the rules of `problem` on Python sets, applied until nothing changes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from kleene.solvers.inclusion.problem import ANY, BY_LAYOUT, FROM_OUTSIDE, NONE, TO_OUTSIDE, Problem
from kleene.solvers.inclusion.solution import Rows, Solution


def solve(problem: Problem) -> Solution:
    """Return the least answer, slowly and plainly."""
    state = _State(problem)
    while state.apply_all():
        pass
    return state.solution()


class _State:
    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.pts: list[set[int]] = [set() for _ in range(problem.n_nodes)]
        self.unknown: set[int] = set()
        self.escaped: set[int] = set()
        self.edges: set[tuple[int, int]] = set()
        self.outside: set[int] = set()
        self.written = problem.store_contents().tolist()
        self.function_of = {int(o): f for f, o in enumerate(problem.function_object)}
        bounds = problem.allocation_offsets.tolist()
        self.allocation = [
            range(low, high) for low, high in pairwise(bounds) for _ in range(low, high)
        ]

    def apply_all(self) -> bool:
        """Apply every rule once; return whether anything changed."""
        before = self._size()
        p = self.problem
        for node, o in _rows(p.address_node, p.address_object):
            self.pts[node].add(o)
        for node, flags in _rows(p.flagged_node, p.flags):
            if flags & FROM_OUTSIDE:
                self.unknown.add(node)
            if flags & TO_OUTSIDE:
                self.escaped |= self.pts[node]
        for destination, source in _rows(p.copy_destination, p.copy_source):
            self.flow(source, destination)
        for destination, pointer in _rows(p.load_destination, p.load_pointer):
            for o in list(self.pts[pointer]):
                self.flow(int(p.contents[o]), destination)
            if pointer in self.unknown:
                self.unknown.add(destination)
        for pointer, source in _rows(p.store_pointer, p.store_source):
            for o in list(self.pts[pointer]):
                self.flow(source, self.written[o])
            if pointer in self.unknown:
                self.escaped |= self.pts[source]
        for destination, source, amount in _rows(
            p.offset_destination, p.offset_source, p.offset_amount
        ):
            for o in list(self.pts[source]):
                self.pts[destination].update(self.images(o, amount))
            if source in self.unknown:
                self.unknown.add(destination)
        for call in range(p.n_calls):
            self.call(call)
        for o in list(self.escaped):
            self.escape(o)
        return self._size() != before

    def flow(self, source: int, destination: int) -> None:
        """Let everything at `source` reach `destination`; a missing node has nothing."""
        if source < 0 or destination < 0:
            return
        self.pts[destination] |= self.pts[source]
        if source in self.unknown:
            self.unknown.add(destination)

    def images(self, o: int, amount: int) -> list[int]:
        """Return the objects `amount` behind o: all of its allocation if that is not known."""
        p, inside = self.problem, self.allocation[o]
        if amount <= BY_LAYOUT:
            layout = p.allocation_layout[np.searchsorted(p.allocation_offsets, o, "right") - 1]
            row = p.image_rows[(BY_LAYOUT - amount) * p.n_layouts + layout]
            if row == NONE:
                return list(inside)
            first, end = p.image_offsets[row + o - inside.start :][:2]
            return [inside.start + place for place in p.images[first:end].tolist()]
        if amount != ANY and o + amount in inside:
            return [o + amount]
        return list(inside)

    def call(self, call: int) -> None:
        """Let a call's actuals and results flow."""
        p = self.problem
        callee, result = int(p.call_callee[call]), int(p.call_result[call])
        actuals = p.actuals[p.actual_offsets[call] : p.actual_offsets[call + 1]].tolist()
        for o in list(self.pts[callee]):
            if o not in self.function_of:
                continue
            function = self.function_of[o]
            self.edges.add((call, function))
            formals = p.formals[p.formal_offsets[function] : p.formal_offsets[function + 1]]
            for place, actual in enumerate(actuals):
                rest = int(p.function_rest[function])
                self.flow(actual, int(formals[place]) if place < len(formals) else rest)
            self.flow(int(p.function_result[function]), result)
        if callee in self.unknown:
            self.outside.add(call)
            for actual in actuals:
                if actual >= 0:
                    self.escaped |= self.pts[actual]
            if result >= 0:
                self.unknown.add(result)

    def escape(self, o: int) -> None:
        """Draw the consequences of an object's having escaped."""
        p = self.problem
        self.escaped.update(self.allocation[o])
        contents = int(p.contents[o])
        if contents >= 0:
            self.escaped |= self.pts[contents]
        if self.written[o] >= 0:
            self.unknown.add(self.written[o])
        if o in self.function_of:
            function = self.function_of[o]
            formals = p.formals[p.formal_offsets[function] : p.formal_offsets[function + 1]]
            entries = [*formals.tolist(), int(p.function_rest[function])]
            self.unknown.update(node for node in entries if node >= 0)
            result = int(p.function_result[function])
            if result >= 0:
                self.escaped |= self.pts[result]

    def solution(self) -> Solution:
        """Return the state as a solution."""
        p = self.problem
        sets = [
            sorted(found - self.escaped if node in self.unknown else found)
            for node, found in enumerate(self.pts)
        ]
        return Solution(
            row_of=np.arange(p.n_nodes, dtype=np.int32),
            rows=Rows.of_sets(sets),
            unknown=_mask(p.n_nodes, self.unknown),
            escaped=_mask(p.n_objects, self.escaped),
            call_edges=np.array(self.call_edges(), np.int32).reshape(-1, 2),
            calls_outside=_mask(p.n_calls, self.outside),
            statistics={},
        )

    def call_edges(self) -> list[tuple[int, int]]:
        """Return the calls found, but of unknown callees none to what escaped."""
        escaped = {function for o, function in self.function_of.items() if o in self.escaped}
        return sorted(
            (call, function)
            for call, function in self.edges
            if call not in self.outside or function not in escaped
        )

    def _size(self) -> tuple[int, ...]:
        n_outside = (len(self.unknown), len(self.escaped), len(self.outside))
        return (sum(map(len, self.pts)), len(self.edges), *n_outside)


def _rows(*columns: np.ndarray) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _mask(size: int, members: set[int]) -> np.ndarray:
    mask = np.zeros(size, bool)
    mask[list(members)] = True
    return mask
