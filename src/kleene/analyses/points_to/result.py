"""The answer of a points-to analysis, and the questions it takes.

Names of pointers and objects are those of `answers.naming`; what people write is read by
`answers.lookup`. Every answer is a may-answer that covers all runs of the program, under the
assumptions that `statistics` lists; `must_alias` alone is a must-answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.points_to.answers import aliases, checks, export
from kleene.analyses.points_to.answers.call_graph import CallGraph, call_graph
from kleene.analyses.points_to.answers.calls import Calls, calls_of
from kleene.analyses.points_to.answers.explain import Explanation, Teller
from kleene.analyses.points_to.answers.lookup import Lookup
from kleene.analyses.points_to.answers.mod_ref import Accesses
from kleene.analyses.points_to.answers.naming import Naming
from kleene.analyses.points_to.answers.sets import Objects, ObjectSet
from kleene.analyses.points_to.answers.statistics import Phase, Statistics, statistics_of
from kleene.analyses.points_to.memory_model import ConstraintSystem
from kleene.base.arrays import offsets_of
from kleene.base.errors import SourceError
from kleene.ir import Program
from kleene.ir.codes import ValueKind
from kleene.results import Table
from kleene.solvers.inclusion import Solution
from kleene.solvers.inclusion.why import Flows, chain


@dataclass(frozen=True, slots=True)
class ModRef:
    """What a function may read and write, with all it calls."""

    reads: ObjectSet
    writes: ObjectSet


@dataclass(frozen=True, eq=False, repr=False)
class PointsToResult:
    """Which objects each pointer of a program may hold."""

    program: Program
    system: ConstraintSystem
    solution: Solution
    phases: tuple[Phase, ...] = ()

    def __repr__(self) -> str:
        problem = self.system.problem
        return (
            f"<PointsToResult of {self.program.name!r}: {problem.n_objects} objects,"
            f" {problem.n_constraints} constraints>"
        )

    def of(self, pointer: str) -> ObjectSet:
        """Return what a pointer may hold; a variable's name means all it holds at any time.

        Raises:
            SourceError: `points-to/no-such-name` with the nearest names, or
                `points-to/not-a-pointer`.
        """
        return self.of_nodes(self._lookup.pointer(pointer))

    def of_nodes(self, nodes: list[int]) -> ObjectSet:
        """Return what some of the problem's nodes may hold."""
        known = aliases.explicit(self.solution, nodes)
        return self._set(known, unknown=bool(self.solution.unknown[nodes].any()))

    def may_alias(self, left: str, right: str) -> bool:
        """Return whether accesses through two pointers may touch the same byte."""
        return self._may_alias(self._lookup.pointer(left), self._lookup.pointer(right))

    def must_alias(self, left: str, right: str) -> bool:
        """Return whether two pointers hold one and the same address, whenever they hold one."""
        nodes = self._lookup.pointer(left), self._lookup.pointer(right)
        return aliases.must_alias(self.program, self.system, self.solution, *nodes)

    def pointed_by(self, object: str) -> list[str]:
        """Return the pointers that may hold an address in storage: registers, storage, results.

        A name with a place asks for that place alone. Pointers that are merely unknown are left
        out; they count if the object `escapes`.
        """
        rows = np.flatnonzero(self._rows_with(self._lookup.objects(object)))
        nodes = np.flatnonzero(np.isin(self.solution.row_of, rows))
        nodes = nodes[self._is_named(nodes)]
        names = (self.naming.node(node) for node in nodes.tolist())
        return list(dict.fromkeys(name for name in names if name))

    def escapes(self, object: str) -> bool:
        """Return whether code outside the program may hold an address in this storage."""
        return bool(self.solution.escaped[self._lookup.objects(object)].any())

    def call_graph(self) -> CallGraph:
        """Return who may call whom, calls through pointers and callbacks resolved."""
        return self._call_graph

    def mod_ref(self, function: str) -> ModRef:
        """Return which objects a function, with all it calls, may read and write."""
        accesses = Accesses(self.program, self.system, self.solution, self._calls)
        found = accesses.of(self._lookup.symbols.function(function))
        reads, writes = np.flatnonzero(found.reads), np.flatnonzero(found.writes)
        return ModRef(
            self._set(reads, unknown=found.unknown), self._set(writes, unknown=found.unknown)
        )

    def explain(self, pointer: str, object: str) -> Explanation:
        """Return the shortest chain of statements by which an object reaches a pointer.

        Raises:
            SourceError: the pointer does not hold the object (`points-to/no-such-fact`).
        """
        nodes = self._lookup.pointer(pointer)
        return self._explain(nodes, pointer, object)

    def checks(self) -> list[checks.Check]:
        """Return the alias assertions of the program (`MAYALIAS(p, q)` and the like), judged.

        Raises:
            SourceError: an assertion has wrong arguments (`points-to/bad-check`).
        """
        return checks.checks_of(
            self.program, self._judge, self.naming.readable, self.naming.place_of
        )

    @cached_property
    def statistics(self) -> Statistics:
        """Sizes, the largest sets, unresolved calls, unknown externals, time and memory."""
        return statistics_of(
            *(self.program, self.system, self.solution, self.naming),
            *(self._call_graph, self._calls, self.phases),
        )

    def tables(self) -> dict[str, Table]:
        """Return every fact as the table `points_to`: pointer, object, its kind and place.

        A pointer that may hold anything that escaped has a row with the object `unknown`.
        """
        tables = self.program, self.system, self.solution
        return {"points_to": export.facts_of(*tables, self.naming)}

    def to_dot(self) -> str:
        """Return the call graph in Graphviz's DOT language."""
        return export.to_dot(self._call_graph)

    def to_json(self) -> str:
        """Return statistics, call graph and every set as JSON text."""
        return json.dumps(self.as_json(), sort_keys=True, indent=2)

    def as_json(self) -> dict[str, object]:
        """Return statistics, call graph and every set as plain data."""
        sets: dict[str, list[str]] = {}
        table = self.tables()["points_to"]
        for pointer, object in zip(table["pointer"], table["object"], strict=True):
            sets.setdefault(pointer, []).append(object)
        return {
            "statistics": self.statistics.as_json(),
            "call_graph": self._call_graph.as_json(),
            "pointers": sets,
        }

    @cached_property
    def naming(self) -> Naming:
        """What pointers and objects are called."""
        return Naming(self.program, self.system)

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.program, self.system, self.solution, self.naming)

    @cached_property
    def _objects(self) -> Objects:
        return Objects(self.program, self.system, self.naming)

    @cached_property
    def _calls(self) -> Calls:
        return calls_of(self.program, self.system, self.solution)

    @cached_property
    def _call_graph(self) -> CallGraph:
        def why(node: int, target: str) -> Explanation:
            return self._explain([node], self.naming.readable(node), target)

        tables = self.program, self.system, self.solution
        return call_graph(*tables, self.naming, self._calls, why)

    @cached_property
    def _flows(self) -> Flows:
        return Flows(self.system.problem, self.solution)

    def _set(self, known: NDArray[np.int64], *, unknown: bool) -> ObjectSet:
        return ObjectSet(self._objects, known, self.solution.escaped, unknown=unknown)

    def _may_alias(self, left: list[int], right: list[int]) -> bool:
        return aliases.may_alias(self.program, self.system, self.solution, left, right)

    def _judge(self, left: int, right: int) -> str:
        """Return "no", "may" or "must" for two values."""
        if aliases.must_alias(self.program, self.system, self.solution, [left], [right]):
            return "must"
        return "may" if self._may_alias([left], [right]) else "no"

    def _explain(self, nodes: list[int], pointer: str, object: str) -> Explanation:
        objects = self._lookup.objects(object)
        found = chain(self._flows, nodes, objects, self.system.problem.n_nodes)
        if found is None:
            message = f"'{pointer}' cannot hold '{object}'"
            note = f"it may hold {self.of_nodes(nodes)}"
            raise SourceError(None, "points-to/no-such-fact", message, note)
        steps = Teller(self.program, self.system, self.naming).steps(found)
        return Explanation(pointer, object, tuple(steps))

    def _rows_with(self, objects: Iterable[int]) -> NDArray[np.bool_]:
        """Return for each row of the solution whether it has one of the objects."""
        rows = self.solution.rows
        wanted = np.zeros(-(-self.system.problem.n_objects // 64), np.uint64)
        for object in objects:
            wanted[object >> 6] |= np.uint64(1) << np.uint64(object & 63)
        hits = offsets_of((rows.word & wanted[rows.index]) != 0)
        found: NDArray[np.bool_] = hits[rows.offsets[1:]] > hits[rows.offsets[:-1]]
        return found

    def _is_named(self, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which nodes are registers, storage or results: what has a name of its own."""
        first, end = self.program.bases[ValueKind.ARGUMENT], self.program.n_values
        may_hold_pointer = np.append(
            self.system.may_hold_pointer[:end], True
        )  # the last: all behind
        found: NDArray[np.bool_] = (nodes >= first) & may_hold_pointer[np.minimum(nodes, end)]
        return found
