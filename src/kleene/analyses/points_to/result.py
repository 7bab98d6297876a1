"""The answer of a points-to analysis, and the questions it takes.

Every question takes numbers, views of the program, or names; several at a time are answered as
columns. The number of a value is its `id` in the program (and its node in the inclusion problem),
that of a function or instruction its `row`, that of an object its index in the problem. Names are
those of `answers.naming`; what people write is read by `answers.lookup`.

Every answer is a may-answer that covers all runs of the program, under the assumptions that
`statistics` lists; `must_alias` alone is a must-answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from kleene.analyses.points_to.answers import sets
from kleene.analyses.points_to.answers.aliases import Aliases, Check, checks_of
from kleene.analyses.points_to.answers.calls import call_graph_of
from kleene.analyses.points_to.answers.explain import Steps
from kleene.analyses.points_to.answers.lookup import Lookup
from kleene.analyses.points_to.answers.memory import memory_accesses_of
from kleene.analyses.points_to.answers.mod_ref import EffectFinder, Effects, Regions
from kleene.analyses.points_to.answers.sets import ObjectSet, PointsToGraph, Sets, Solved
from kleene.analyses.points_to.answers.statistics import Phase, Statistics, statistics_of
from kleene.analyses.points_to.findings import findings_of
from kleene.base import json
from kleene.base.arrays import I32, Bools, Ints
from kleene.base.errors import SourceError
from kleene.graphs import Rows
from kleene.ir import Function, Instruction, Value
from kleene.ir.codes import ValueKind
from kleene.results import Finding, Table, findings_json
from kleene.results.call_graph import CallGraph
from kleene.results.explanation import Explanation, Step
from kleene.solvers.inclusion.why import Derivations
from kleene.transforms.memory_ssa import MemoryAccesses, MemorySSA, memory_ssa
from kleene.transforms.splitting.program import control_flow

Pointer = str | int | Value  # one pointer: a name, the number of a value, or its view
Pointers = list[Any] | tuple[Pointer, ...] | Ints  # several; a text is no sequence here
Functions = list[Any] | tuple[str | int | Function, ...] | Ints


@dataclass(frozen=True, slots=True)
class ModRef:
    """What a function may read and write, with all it calls."""

    reads: ObjectSet
    writes: ObjectSet


@dataclass(frozen=True, eq=False, repr=False)
class PointsToResult(Solved):
    """Which objects each pointer of a program may hold."""

    phases: tuple[Phase, ...] = ()

    def __repr__(self) -> str:
        problem = self.system.problem
        return (
            f"<PointsToResult of {self.program.name!r}: {problem.n_objects} objects,"
            f" {problem.n_constraints} constraints>"
        )

    # Sets

    def of(self, pointer: Pointer) -> ObjectSet:
        """Return what a pointer may hold; a variable's name means all it holds at any time.

        Raises:
            SourceError: `points-to/no-such-name` with the nearest names, or
                `points-to/not-a-pointer`.
        """
        return self._of_nodes(self.node_ids(pointer))

    def sets(self, pointers: Pointers) -> Sets:
        """Return what each of several pointers may hold, as numbers of objects."""
        return sets.sets_of(self, self._groups(pointers))

    def pointed_by(self, object: str | int) -> list[str]:
        """Return the pointers that may hold an address in storage: registers, storage, results.

        A name with an offset asks for that offset alone. Pointers that are merely unknown are left
        out; they count if the object `escapes`.
        """
        rows = np.flatnonzero(self.solution.rows.with_any(self.object_ids(object)))
        nodes = np.flatnonzero(np.isin(self.solution.row_of, rows))
        nodes = nodes[self._is_named(nodes)]
        names = (self.naming.node(node) for node in nodes.tolist())
        return list(dict.fromkeys(name for name in names if name))

    def escapes(self, object: str | int) -> bool:
        """Return whether code outside the program may hold an address in this storage."""
        return bool(self.solution.escaped[self.object_ids(object)].any())

    def graph(self, function: str | int | Function) -> PointsToGraph:
        """Return what the pointers of one function lead to, directly and through memory."""
        row = self.function_id(function)
        functions, bases = self.program.function_table, self.program.bases
        blocks = functions.block_offsets[row : row + 2]
        body = bases[ValueKind.INSTRUCTION] + self.program.blocks.instruction_offsets[blocks]
        formals = bases[ValueKind.ARGUMENT] + functions.argument_offsets[row : row + 2]
        pointers = self.pointers
        within = [(pointers >= first) & (pointers < end) for first, end in (formals, body)]
        values = pointers[np.logical_or(*within)].astype(np.int32)
        return sets.points_to_graph(self, values)

    # Aliases

    @overload
    def may_alias(self, left: Pointer, right: Pointer) -> bool: ...
    @overload
    def may_alias(self, left: Pointers, right: Pointers) -> Bools: ...
    def may_alias(self, left: Pointer | Pointers, right: Pointer | Pointers) -> bool | Bools:
        """Return whether accesses through two pointers may touch the same byte.

        Two sequences, or columns of numbers, are compared element by element.
        """
        aliases = self._aliases
        return self._compared(aliases.may_alias, aliases.may_alias_columns, left, right)

    @overload
    def must_alias(self, left: Pointer, right: Pointer) -> bool: ...
    @overload
    def must_alias(self, left: Pointers, right: Pointers) -> Bools: ...
    def must_alias(self, left: Pointer | Pointers, right: Pointer | Pointers) -> bool | Bools:
        """Return whether two pointers hold one and the same address, whenever they hold one.

        Two sequences, or columns of numbers, are compared element by element.
        """
        aliases = self._aliases
        return self._compared(aliases.must_alias, aliases.must_alias_columns, left, right)

    def checks(self) -> list[Check]:
        """Return the alias assertions of the program (`MAYALIAS(p, q)` and the like), checked.

        Raises:
            SourceError: an assertion has wrong arguments (`points-to/bad-check`).
        """

        def classify(left: int, right: int) -> str:
            if self.must_alias(left, right):
                return "must"
            return "may" if self.may_alias(left, right) else "no"

        return checks_of(self, classify)

    # Calls and effects

    def call_graph(self) -> CallGraph:
        """Return who may call whom, calls through pointers and callbacks resolved."""
        return self._call_graph

    @overload
    def mod_ref(self, what: str | int | Function | Instruction) -> ModRef: ...
    @overload
    def mod_ref(self, what: Functions) -> Effects: ...
    def mod_ref(self, what: str | int | Function | Instruction | Functions) -> ModRef | Effects:
        """Return which objects a function, with all it calls, may read and write.

        An instruction (a view) is asked about likewise. Several functions are answered as numbers.
        """
        if isinstance(what, Instruction):
            return self._mod_ref(self._effects.of_instructions([what.row]))
        if isinstance(what, str | int | np.integer | Function):
            return self._mod_ref(self._effects.of_functions([self.function_id(what)]))
        return self._effects.of_functions([self.function_id(function) for function in what])

    def mod_ref_of_instructions(self, rows: Iterable[int] | Ints) -> Effects:
        """Return which objects each instruction, given by its row, may read and write.

        A call counts with all that it may reach.
        """
        return self._effects.of_instructions(int(row) for row in rows)

    def memory_ssa(self, *, calls_read: bool = False, only_overwritten: bool = False) -> MemorySSA:
        """Return names for what is in memory: of which definitions each load reads.

        Locations are the numbers of `regions`.

        Args:
            calls_read: whether calls read what their callees read; else they only write.
            only_overwritten: whether only what a function overwrites has names in it.
        """
        accesses = self.memory_accesses
        if calls_read:
            accesses = memory_accesses_of(self, self._effects, self._aliases, calls_read=True)
        flow = control_flow(self.program)
        return memory_ssa(flow, accesses, only_overwritten=only_overwritten)

    @cached_property
    def memory_accesses(self) -> MemoryAccesses:
        """What instructions do to `regions`; calls only write."""
        return memory_accesses_of(self, self._effects, self._aliases)

    @cached_property
    def allocators(self) -> dict[int, frozenset[bytes]]:
        """The modelled allocators that storage comes from, by `Allocations.callee`.

        That of a wrapper comes from those that it calls; what nothing is known of is left out.
        """
        value, names = self.program.function_table.value, self.program.globals.name
        found: dict[int, set[bytes]] = {}
        for allocator, source in self.system.made_by.tolist():
            name = self.program.strings.raw(int(names[value[source]]))
            found.setdefault(int(value[allocator]), set()).add(name)
        return {callee: frozenset(sources) for callee, sources in found.items()}

    @property
    def effects(self) -> EffectFinder:
        """What instructions and functions touch, as columns and bits: for whole programs."""
        return self._effects

    @property
    def aliases(self) -> Aliases:
        """Which pointers may, or must, alias; which objects are one address."""
        return self._aliases

    @property
    def regions(self) -> Regions:
        """The regions of memory: objects that no access tells apart."""
        return self._effects.regions

    # Reasons

    def explain(self, pointer: Pointer, object: str | int) -> Explanation:
        """Return the shortest derivation by which an object reaches a pointer.

        Raises:
            SourceError: the pointer does not hold the object (`points-to/no-such-fact`).
        """
        nodes, objects = self.node_ids(pointer).tolist(), self.object_ids(object).tolist()
        held = pointer if isinstance(pointer, str) else self.naming.readable(nodes[0])
        what = object if isinstance(object, str) else self.naming.object(object)
        found = self._derivations.shortest(nodes, objects)
        if found is None:
            message = f"'{held}' cannot hold '{what}'"
            note = f"it may hold {self.of(pointer)}"
            raise SourceError(None, "points-to/no-such-fact", message, note)
        return Explanation(held, what, Steps(self).of(found))

    # Numbers of names

    def node_ids(self, pointer: Pointer) -> I32:
        """Return the nodes that a pointer is: one for a value, often several for a variable.

        Raises:
            SourceError: as `of` does.
            IndexError: there is no value or node of that number.
        """
        if isinstance(pointer, str):
            return np.array(self._lookup.pointer(pointer), np.int32)
        node = pointer.id if isinstance(pointer, Value) else int(pointer)
        return _checked(np.array([node], np.int32), self.system.problem.n_nodes, "node")

    def object_ids(self, object: str | int) -> I32:
        """Return the objects that a name of storage means.

        Raises:
            SourceError: it names no storage (`points-to/no-such-name`).
            IndexError: there is no object of that number.
        """
        if isinstance(object, str):
            return np.array(self._lookup.objects(object), np.int32)
        return _checked(np.array([object], np.int32), self.system.problem.n_objects, "object")

    def function_id(self, function: str | int | Function) -> int:
        """Return the row of a function.

        Raises:
            SourceError: no function is called so, or several are (`points-to/no-such-name`).
            IndexError: there is no function of that number.
        """
        if isinstance(function, str):
            return self._lookup.symbols.function(function)
        row = function.row if isinstance(function, Function) else int(function)
        return int(_checked(np.array([row]), len(self.program.function_table), "function")[0])

    # All of it

    @cached_property
    def statistics(self) -> Statistics:
        """Sizes, the largest sets, unresolved calls, unknown externals, time and memory."""
        return statistics_of(self, self._call_graph, self.phases)

    def findings(self) -> list[Finding]:
        """Return what is wrong with calls, by place; `points_to.rules` says what is looked for.

        Comments in the sources suppress findings (`kleene.results.suppressions`).
        """
        return findings_of(self, self._call_graph)

    def tables(self) -> dict[str, Table]:
        """Return every fact as the table `points_to`: pointer, object, its kind and location.

        A pointer that may hold anything that escaped has a row with the object `unknown`.
        """
        return {"points_to": sets.facts_of(self)}

    def to_dot(self) -> str:
        """Return the call graph in Graphviz's DOT language."""
        return self._call_graph.to_dot()

    def to_json(self) -> str:
        """Return statistics, call graph and every set as JSON text."""
        return json.dumps(self.as_json())

    def as_json(self) -> dict[str, object]:
        """Return statistics, call graph, findings and every set as plain data."""
        return {
            "statistics": self.statistics.as_json(),
            "call_graph": self._call_graph.as_json(),
            "symbols": self.naming.written.symbols(),
            "pointers": sets.by_name(self),
            "findings": findings_json(self.findings()),
        }

    # Parts, made when they are first asked for

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self)

    @cached_property
    def _call_graph(self) -> CallGraph:
        return call_graph_of(self, self._why_called, self._lookup.symbols.function)

    @cached_property
    def _aliases(self) -> Aliases:
        return Aliases(self, self.call_graph)

    @cached_property
    def _effects(self) -> EffectFinder:
        return EffectFinder(self, self._call_graph, self._aliases.geometry)

    @cached_property
    def _derivations(self) -> Derivations:
        return Derivations(self.system.problem, self.solution)

    def _groups(self, pointers: Pointers) -> Rows:
        """Return the nodes of each pointer."""
        if isinstance(pointers, np.ndarray):
            nodes = _checked(pointers.ravel(), self.system.problem.n_nodes, "node")
            return sets.singles(nodes)
        return Rows.from_lists([self.node_ids(pointer) for pointer in pointers])

    def _compared(
        self,
        compare: Callable[[I32, I32], bool],
        compare_columns: Callable[[Rows, Rows], Bools],
        left: Pointer | Pointers,
        right: Pointer | Pointers,
    ) -> bool | Bools:
        if isinstance(left, str | int | np.integer | Value):
            assert isinstance(right, str | int | np.integer | Value), "two pointers, or two columns"
            return compare(self.node_ids(left), self.node_ids(right))
        assert not isinstance(right, str | int | np.integer | Value), "two pointers, or two columns"
        mine, theirs = self._groups(left), self._groups(right)
        assert len(mine) == len(theirs), "columns are equally long"
        return compare_columns(mine, theirs)

    def _of_nodes(self, nodes: I32) -> ObjectSet:
        known = sets.explicit(self.solution, nodes)
        return ObjectSet(self, known, unknown=bool(self.solution.unknown[nodes].any()))

    def _mod_ref(self, found: Effects) -> ModRef:
        unknown = bool(found.unknown[0])
        touched = found.reads[0], found.writes[0]
        return ModRef(*(ObjectSet(self, objects, unknown=unknown) for objects in touched))

    def _why_called(self, node: int, target: str) -> Explanation:
        """Return why the function that a node is, or holds, is called."""
        if node >= 0:
            return self.explain(node, target)
        step = Step(None, f"{target} is called by its name", "", "", None)
        return Explanation(target, target, (step,))

    def _is_named(self, nodes: Ints) -> Bools:
        """Return which nodes are registers, storage or results: what has a name of its own."""
        first, end = self.program.bases[ValueKind.ARGUMENT], self.program.n_values
        may_hold_pointer = np.append(self.system.may_hold_pointer[:end], True)  # all behind: yes
        found: Bools = (nodes >= first) & may_hold_pointer[np.minimum(nodes, end)]
        return found


def _checked(numbers: Ints, n: int, what: str) -> I32:
    """Return numbers of things of which there are n.

    Raises:
        IndexError: one is not from 0 to n - 1.
    """
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < n):
        raise IndexError(f"a {what} is a number from 0 to {n - 1}")
    return numbers.astype(np.int32)
