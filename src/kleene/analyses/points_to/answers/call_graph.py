"""Whom can each call reach? Functions and calls by name, pointers and callbacks resolved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from kleene.analyses.points_to.answers.calls import (
    CALLBACK,
    Calls,
    kinds_of,
    reach_graph,
    reached_from,
)
from kleene.analyses.points_to.memory_model import ConstraintSystem
from kleene.base.errors import Span
from kleene.ir import Program
from kleene.ir.views import span_of
from kleene.solvers.inclusion import Solution

if TYPE_CHECKING:
    from kleene.analyses.points_to.answers.explain import Explanation
    from kleene.analyses.points_to.answers.naming import Naming


class CallKind(StrEnum):
    """How a function is called; the order is that of `calls.DIRECT` and its kin."""

    DIRECT = "direct"  # by its name
    INDIRECT = "indirect"  # through a pointer
    CALLBACK = "callback"  # by a library function that was given a pointer to it


_KINDS = tuple(CallKind)


@dataclass(frozen=True, slots=True)
class CallEdge:
    """One function may call another at one place."""

    caller: str
    place: str | None  # file:line:column
    kind: CallKind
    callee: str


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call through a pointer, and all it may reach."""

    caller: str
    place: str | None
    kind: CallKind  # INDIRECT or CALLBACK
    through: str  # the pointer
    known: tuple[str, ...]  # the functions that were followed here
    may_leave: bool  # it may also reach what escaped, and code that the program does not show
    escaped: tuple[str, ...] = field(repr=False)  # the functions that escaped, if it may leave
    span: Span | None = field(repr=False)  # the place, with the whole path of the file
    why: Callable[[str], Explanation] = field(repr=False, compare=False)  # a target's reason chain

    @property
    def targets(self) -> tuple[str, ...]:
        """All functions of the program that it may reach."""
        return (*self.known, *self.escaped)

    @property
    def is_unresolved(self) -> bool:
        """Whether no function was found that it calls, known or not; a callback may be null."""
        return self.kind == CallKind.INDIRECT and not self.known and not self.may_leave

    def as_json(self) -> dict[str, object]:
        """Return the call as plain data; `targets` are the known ones."""
        return {
            "caller": self.caller,
            "kind": self.kind.value,
            "place": self.place,
            "through": self.through,
            "targets": list(self.known),
            "may_leave": self.may_leave,
        }


class CallGraph:
    """Who calls whom. `sites` are the calls through pointers, `edges` all there are."""

    def __init__(
        self, program: Program, naming: Naming, calls: Calls, sites: tuple[CallSite, ...]
    ) -> None:
        self._program = program
        self._naming = naming
        self._calls = calls
        self.sites = sites

    def __repr__(self) -> str:
        return f"<CallGraph: {len(self.functions)} functions, {len(self.sites)} indirect calls>"

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """All functions, declared ones too."""
        n_functions = len(self._program.function_table)
        return tuple(self._naming.function(row) for row in range(n_functions))

    @cached_property
    def escaped(self) -> tuple[str, ...]:
        """The functions that code outside the program, and calls of the unknown, may reach."""
        return tuple(self.functions[row] for row in self._calls.escaped.tolist())

    @cached_property
    def edges(self) -> tuple[CallEdge, ...]:
        """Every call, each target once; in a program full of unknown calls there may be many."""
        return tuple(dict.fromkeys([*self._known(), *self._unknown()]))

    def callees(self, function: str) -> list[str]:
        """Return whom a function may call, each once."""
        return self._after.get(function, [])

    def callers(self, function: str) -> list[str]:
        """Return who may call a function, each once."""
        return self._before.get(function, [])

    def reachable(self, function: str) -> list[str]:
        """Return the function and all it may call, directly, indirectly, or from outside."""
        if function not in self.functions:
            return []
        graph = reach_graph(self._program, self._calls)
        found = reached_from(graph, self.functions.index(function))
        return [self.functions[row] for row in np.flatnonzero(found[:-1]).tolist()]

    def at(self, place: str) -> list[CallSite]:
        """Return the calls through pointers at a place: `queue.c:27`, with or without column."""
        return [
            site
            for site in self.sites
            if site.place is not None and f"{site.place}:".startswith(f"{place}:")
        ]

    def as_json(self) -> dict[str, object]:
        """Return the graph as plain data; a site that may leave also reaches `escaped`."""
        edges = (
            {"caller": e.caller, "callee": e.callee, "kind": e.kind.value, "place": e.place}
            for e in self._known()
        )
        return {
            "functions": list(self.functions),
            "escaped": list(self.escaped),
            "edges": list(edges),
            "sites": [site.as_json() for site in self.sites],
        }

    def _known(self) -> Iterator[CallEdge]:
        calls = self._calls
        columns = (calls.instruction, calls.callee, calls.kind)
        for instruction, callee, kind in zip(*(c.tolist() for c in columns), strict=True):
            caller, place = caller_and_place(self._program, self._naming, instruction)
            yield CallEdge(caller, place, _KINDS[kind], self.functions[callee])

    def _unknown(self) -> Iterator[CallEdge]:
        for site in self.sites:
            for callee in site.escaped:
                yield CallEdge(site.caller, site.place, site.kind, callee)

    @cached_property
    def _after(self) -> dict[str, list[str]]:
        return _grouped((edge.caller, edge.callee) for edge in self.edges)

    @cached_property
    def _before(self) -> dict[str, list[str]]:
        return _grouped((edge.callee, edge.caller) for edge in self.edges)


def call_graph(
    program: Program,
    system: ConstraintSystem,
    solution: Solution,
    naming: Naming,
    calls: Calls,
    why: Callable[[int, str], Explanation],
) -> CallGraph:
    """Return the call graph by names; `why(node, target)` explains a target."""
    targets: dict[int, dict[str, None]] = {}
    for rule, callee in zip(calls.rule.tolist(), calls.callee.tolist(), strict=True):
        if rule >= 0:
            targets.setdefault(rule, {})[naming.function(callee)] = None
    escaped = tuple(naming.function(row) for row in calls.escaped.tolist())
    kinds = kinds_of(system)
    sites = []
    for rule in range(system.problem.n_calls):
        instruction, leaves = int(system.origins.call[rule]), bool(solution.calls_outside[rule])
        node = _callee(program, system, rule, int(kinds[rule]))
        row = int(program.instructions.span[instruction]) if instruction >= 0 else -1
        caller, place = caller_and_place(program, naming, instruction)
        known, rest = tuple(targets.get(rule, ())), escaped if leaves else ()
        kind, span, reason = _KINDS[kinds[rule]], span_of(program, row), partial(why, node)
        through = naming.readable(node)
        sites.append(CallSite(caller, place, kind, through, known, leaves, rest, span, reason))
    return CallGraph(program, naming, calls, tuple(sites))


def _callee(program: Program, system: ConstraintSystem, rule: int, kind: int) -> int:
    """Return the node that is called: of a call in the program its operand."""
    instruction = int(system.origins.call[rule])
    if kind == CALLBACK or instruction < 0:
        return int(system.problem.call_callee[rule])
    return int(program.instructions.operands_of(instruction)[0])


def caller_and_place(program: Program, naming: Naming, instruction: int) -> tuple[str, str | None]:
    """Return who calls, and where; a call without instruction is made by nobody here."""
    if instruction < 0:
        return "", None
    caller = naming.function(int(program.instruction_function[instruction]))
    return caller, naming.files.place(int(program.instructions.span[instruction]))


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, dict[str, None]] = {}
    for key, item in pairs:
        groups.setdefault(key, {})[item] = None
    return {key: list(items) for key, items in groups.items()}
