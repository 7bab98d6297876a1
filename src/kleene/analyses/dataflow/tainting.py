"""Data from outside: where it comes in, what passes it on, and where it ends, by roles of models.

A bit on a pointer says that the text it points to comes from outside; on a number, that it does
itself; on a name of memory, that its bytes do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.data_graph import DataGraph, EdgeKind
from kleene.analyses.dataflow.evidence import Evidence, calls_with_roles
from kleene.analyses.points_to.library.language import RESULT, Cleans, Passes, Taints
from kleene.base.arrays import I64
from kleene.ir.codes import ValueKind


@dataclass(frozen=True, eq=False)
class Tainting:
    """What comes from outside, and how.

    Attributes:
        evidence: where it gets to.
        sources: the instruction by which data comes in, by the name that it comes to; -1: `main`.
        called: what each of these calls, in words.
    """

    evidence: Evidence
    sources: dict[int, int]
    called: dict[int, str]

    def start(self, name: int) -> list[int]:
        """Return the instruction that a way starts with, if there is one."""
        row = self.sources.get(name, -1)
        return [row] if row >= 0 else []


def tainted(context: Context) -> Tainting:
    """Return what comes from outside."""
    if "tainting" not in context.__dict__:
        context.__dict__["tainting"] = _Finder(context).found()
    found: Tainting = context.__dict__["tainting"]
    return found


def contents(context: Context, value: int) -> I64:
    """Return the names of memory that a pointer leads to."""
    points_to = context.points_to
    if not points_to.system.may_hold_pointer[value]:
        return np.empty(0, np.int64)
    known: dict[int, I64] = context.__dict__.setdefault("contents", {})
    row = int(points_to.solution.row_of[value])
    if row not in known:
        known[row] = _contents_of_set(context, row)
    return known[row]


def _contents_of_set(context: Context, row: int) -> I64:
    points_to, graph = context.points_to, context.data
    objects = points_to.solution.rows.objects(row)
    allocation = points_to.system.locations.allocation
    offsets = points_to.system.problem.allocation_offsets
    every = [np.arange(offsets[a], offsets[a + 1]) for a in np.unique(allocation[objects]).tolist()]
    held = np.concatenate([np.empty(0, np.int64), *every]).astype(np.int64)
    region = points_to.regions.of_object[held]
    return graph.first_memory + np.unique(region[region >= 0]).astype(np.int64)


class _Finder:
    def __init__(self, context: Context) -> None:
        self.context, self.graph = context, context.data
        self.program, self.table = context.program, context.program.instructions
        self.n_names = self.graph.n_names
        self.gen = np.zeros(self.graph.n_names, bool)
        self.kill = np.zeros(self.graph.n_names, bool)
        self.sources: dict[int, int] = {}
        self.called: dict[int, str] = {}
        self.edges: list[tuple[int, int, int]] = []
        self.first = self.program.bases[ValueKind.INSTRUCTION]

    def found(self) -> Tainting:
        for row, name, roles in calls_with_roles(self.context):
            for role in roles:
                if isinstance(role, Taints):
                    self._taint(row, role.position, name)
                elif isinstance(role, Passes):
                    self._pass(row, role)
                elif isinstance(role, Cleans):
                    self._clean(row, role.position)
        self._command_line()
        graph = self.graph
        columns = np.array(self.edges, np.int64).reshape(-1, 3)
        whole = DataGraph(
            self.n_names,
            np.concatenate([graph.source, columns[:, 0]]),
            np.concatenate([graph.target, columns[:, 1]]),
            np.concatenate([graph.kind, np.full(len(columns), int(EdgeKind.SAME))]),
            np.concatenate([graph.row, columns[:, 2]]),
            graph.first_memory, graph.first_result, graph.memory,
        )  # fmt: skip
        more = np.zeros(self.n_names - graph.n_names, bool)
        # What a call outside reads gets to what it writes only if its model says so.
        kinds = ~(EdgeKind.INDEX | EdgeKind.PASSED)
        evidence = Evidence(
            self.context, whole, np.append(self.gen, more), np.append(self.kill, more), kinds
        )
        return Tainting(evidence, self.sources, self.called)

    def _operand(self, row: int, position: int) -> tuple[int, int]:
        """Return the value and name of an argument; -1 where there is none."""
        at = int(self.table.offsets[row]) + 1 + position
        if at >= self.table.offsets[row + 1]:
            return -1, -1
        value = int(self.table.operands[at])
        low, high = self.program.bases[ValueKind.BLOCK], self.program.bases[ValueKind.INSTRUCTION]
        if low <= value < high:
            return -1, -1
        return value, int(self.context.split.operand[at])

    def _begin(self, name: int, row: int, called: str) -> None:
        self.gen[name] = True
        self.sources.setdefault(name, row)
        self.called.setdefault(name, called)

    def _taint(self, row: int, position: int, called: str) -> None:
        if position == RESULT:
            self._begin(self.first + row, row, called)
            return
        value, _ = self._operand(row, position)
        if value >= 0:
            for name in contents(self.context, value).tolist():
                self._begin(name, row, called)

    def _pass(self, row: int, role: Passes) -> None:
        value, name = self._operand(row, role.source)
        if value < 0:
            return
        sources = [name, *contents(self.context, value).tolist()]
        targets = [self.first + row]
        if role.to != RESULT:
            to, _ = self._operand(row, role.to)
            targets = contents(self.context, to).tolist() if to >= 0 else []
        hub = self.n_names  # one name between them: there may be thousands of each
        self.n_names += 1
        self.edges += [(source, hub, row) for source in sources]
        self.edges += [(hub, target, row) for target in targets]

    def _clean(self, row: int, position: int) -> None:
        if position == RESULT:
            self.kill[self.first + row] = True

    def _command_line(self) -> None:
        """The arguments of main, and all texts they lead to."""
        for function in self.program.functions:
            if function.name == "main" and not function.is_declaration:
                for argument in function.arguments[1:2]:
                    self._begin(argument.id, -1, "the command line")
