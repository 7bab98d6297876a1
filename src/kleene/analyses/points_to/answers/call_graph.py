"""Whom can each call reach? Functions and calls, pointers and callbacks resolved."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from kleene.analyses.points_to.model import Statement
from kleene.base.errors import Span
from kleene.ir import Program
from kleene.ir.tables import I32
from kleene.ir.views import span_of
from kleene.solvers.inclusion import Solution

if TYPE_CHECKING:
    from kleene.analyses.points_to.answers.explain import Explanation
    from kleene.analyses.points_to.answers.naming import Naming


class CallKind(StrEnum):
    """How a function is called."""

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
    targets: tuple[str, ...]
    may_leave: bool  # it may also reach code that the program does not show
    span: Span | None  # the same place, with the whole path of the file
    why: Callable[[str], Explanation] = field(repr=False, compare=False)  # a target's reason chain

    @property
    def is_unresolved(self) -> bool:
        """Whether no function was found that it calls, known or not; a callback may be null."""
        is_call = self.kind == CallKind.INDIRECT
        return is_call and not self.targets and not self.may_leave


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """The call graph as columns: caller and callee are rows of the program's functions."""

    instruction: I32
    caller: I32
    callee: I32
    kind: I32  # place in CallKind
    rule: I32  # the call rule of the problem, -1 for direct calls


def calls_of(program: Program, statement: Statement, solution: Solution) -> Calls:
    """Return every call edge, direct ones first."""
    direct = statement.direct_calls.reshape(-1, 2)
    rules, functions = solution.call_edges.reshape(-1, 2).T
    instruction = np.concatenate([direct[:, 0], statement.origins.call[rules]]).astype(np.int32)
    callee = np.concatenate([direct[:, 1], functions_of(program, statement)[functions]])
    kind = np.concatenate([np.zeros(len(direct)), 1 + is_callback(statement)[rules]])
    rule = np.concatenate([np.full(len(direct), -1), rules])
    caller = np.where(instruction >= 0, program.instruction_function[instruction], -1)
    columns = (instruction, caller, callee, kind, rule)
    return Calls(*(column.astype(np.int32) for column in columns))


def functions_of(program: Program, statement: Statement) -> I32:
    """Return for each function of the problem its row among the program's functions."""
    allocation = statement.places.allocation[statement.problem.function_object]
    return program.globals.function[statement.allocations.site[allocation]]


def is_callback(statement: Statement) -> I32:
    """Return for each call rule 1 if an external makes the call, else 0."""
    found = np.zeros(statement.problem.n_calls, np.int32)
    found[statement.callbacks.reshape(-1, 2)[:, 1]] = 1
    return found


@dataclass(frozen=True, eq=False)
class CallGraph:
    """Who calls whom. `sites` are the calls through pointers, `edges` all there are."""

    functions: tuple[str, ...]
    edges: tuple[CallEdge, ...]
    sites: tuple[CallSite, ...]

    def __repr__(self) -> str:
        return f"<CallGraph: {len(self.functions)} functions, {len(self.edges)} edges>"

    def callees(self, function: str) -> list[str]:
        """Return whom a function may call, each once."""
        return self._after.get(function, [])

    def callers(self, function: str) -> list[str]:
        """Return who may call a function, each once."""
        return self._before.get(function, [])

    def reachable(self, function: str) -> list[str]:
        """Return the function and all it may call, directly or not."""
        found = dict.fromkeys([function])
        waiting = [function]
        while waiting:
            for callee in self.callees(waiting.pop()):
                if callee not in found:
                    found[callee] = None
                    waiting.append(callee)
        return list(found)

    def at(self, place: str) -> list[CallSite]:
        """Return the calls through pointers at a place: `queue.c:27`, with or without column."""
        return [
            site
            for site in self.sites
            if site.place is not None and f"{site.place}:".startswith(f"{place}:")
        ]

    @cached_property
    def _after(self) -> dict[str, list[str]]:
        return _grouped((edge.caller, edge.callee) for edge in self.edges)

    @cached_property
    def _before(self) -> dict[str, list[str]]:
        return _grouped((edge.callee, edge.caller) for edge in self.edges)

    def as_json(self) -> dict[str, object]:
        """Return the graph as plain data."""
        return {
            "functions": list(self.functions),
            "edges": [
                {"caller": e.caller, "callee": e.callee, "kind": e.kind.value, "place": e.place}
                for e in self.edges
            ],
            "sites": [site_json(site) for site in self.sites],
        }


def site_json(site: CallSite) -> dict[str, object]:
    """Return a call through a pointer as plain data."""
    return {
        "caller": site.caller,
        "kind": site.kind.value,
        "place": site.place,
        "through": site.through,
        "targets": list(site.targets),
        "may_leave": site.may_leave,
    }


def call_graph(
    program: Program,
    statement: Statement,
    solution: Solution,
    naming: Naming,
    why: Callable[[int, str], Explanation],
) -> CallGraph:
    """Return the call graph by names; `why(node, target)` explains a target."""
    writer = _Writer(program, naming)
    calls = calls_of(program, statement, solution)
    columns = (calls.instruction, calls.callee, calls.kind)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    edges = dict.fromkeys(writer.edge(*row) for row in rows)
    targets: dict[int, dict[str, None]] = {}
    for rule, callee in zip(calls.rule.tolist(), calls.callee.tolist(), strict=True):
        targets.setdefault(rule, {})[naming.function(callee)] = None
    kinds = 1 + is_callback(statement)
    sites = [
        CallSite(
            *writer.caller_and_place(int(statement.origins.call[rule])),
            _KINDS[kinds[rule]],
            naming.readable(node),
            tuple(targets.get(rule, ())),
            bool(solution.calls_outside[rule]),
            writer.span(int(statement.origins.call[rule])),
            partial(why, node),
        )
        for rule, node in enumerate(statement.problem.call_callee.tolist())
    ]
    functions = (naming.function(f) for f in range(len(program.function_table)))
    return CallGraph(tuple(functions), tuple(edges), tuple(sites))


class _Writer:
    """Puts calls into names."""

    def __init__(self, program: Program, naming: Naming) -> None:
        self._program = program
        self._naming = naming

    def edge(self, instruction: int, callee: int, kind: int) -> CallEdge:
        caller, place = self.caller_and_place(instruction)
        return CallEdge(caller, place, _KINDS[kind], self._naming.function(callee))

    def span(self, instruction: int) -> Span | None:
        if instruction < 0:
            return None
        return span_of(self._program, int(self._program.instructions.span[instruction]))

    def caller_and_place(self, instruction: int) -> tuple[str, str | None]:
        """Return who calls, and where; a call without instruction is made by nobody here."""
        if instruction < 0:
            return "", None
        caller = self._naming.function(int(self._program.instruction_function[instruction]))
        span = int(self._program.instructions.span[instruction])
        return caller, self._naming.files.place(span)


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, dict[str, None]] = {}
    for key, item in pairs:
        groups.setdefault(key, {})[item] = None
    return {key: list(items) for key, items in groups.items()}
