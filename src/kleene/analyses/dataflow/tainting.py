"""Data from outside: where it comes in, what passes it on, and where it ends, by roles of models.

A bit on a pointer says that the text it points to comes from outside; on a number, that it does
itself; on a name of memory, that its bytes do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.data_graph import DataGraph, EdgeKind
from kleene.analyses.dataflow.evidence import Evidence, calls_with_roles, operands_of
from kleene.analyses.points_to.library.language import RESULT, Cleans, Passes, Place, Taints
from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET, AllocationKind
from kleene.base.arrays import I64, Bools, Ints, ragged
from kleene.ir.codes import GlobalFlag, Opcode, Passing, ValueKind


@dataclass(frozen=True, eq=False)
class Tainting:
    """What comes from outside, and how.

    Attributes:
        evidence: where it gets to.
        numbers: where it gets to as a number, as far as is known.
        sources: the instruction by which data comes in, by the name that it comes to; -1: `main`.
        called: what each of these calls, in words.
        cleaned: the calls behind which what a value points to is harmless, by the value.
    """

    evidence: Evidence
    numbers: Evidence
    sources: dict[int, int]
    called: dict[int, str]
    cleaned: dict[int, list[int]]

    def is_clean(self, context: Context, value: int, row: int) -> bool:
        """Return whether a call before an instruction, on all ways to it, has cleaned a value."""
        table, tree = context.program.instructions, context.split.flow.tree
        here = int(table.block[row])
        return any(
            one < row if table.block[one] == here else tree.dominates(int(table.block[one]), here)
            for one in self.cleaned.get(value, ())
        )

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


def contents(context: Context, value: int, n_loads: int = 0) -> I64:
    """Return the names of memory that a pointer leads to, or so many further pointers there."""
    points_to = context.points_to
    if not points_to.system.may_hold_pointer[value]:
        return np.empty(0, np.int64)
    known: dict[tuple[int, int], I64] = context.__dict__.setdefault("contents", {})
    key = int(points_to.solution.row_of[value]), n_loads
    if key not in known:
        held = _held(context, np.array(key[:1]))
        for _ in range(n_loads):
            node = points_to.system.problem.contents[held]
            held = _held(context, np.unique(points_to.solution.row_of[node[node >= 0]]))
        region = points_to.regions.of_object[held]
        known[key] = context.data.first_memory + np.unique(region[region >= 0]).astype(np.int64)
    return known[key]


def carriers(context: Context, at: int, n_loads: int) -> I64:
    """Return the names by which data may come as an operand: of pointers, and of the text there.

    Args:
        context: the program.
        at: the operand's place among those of all instructions.
        n_loads: how many pointers are followed first: the texts of `char *words[]` are 1 away.
    """
    value = int(context.program.instructions.operands[at])
    near = contents(context, value, n_loads - 1) if n_loads else context.split.operand[at : at + 1]
    return np.concatenate([near.astype(np.int64), contents(context, value, n_loads)])


def _held(context: Context, rows: Ints) -> I64:
    """Return what points-to sets lead to: these objects, and those behind them in storage.

    Data that comes in at a byte of an allocation is there and behind; what is before stays.
    """
    points_to = context.points_to
    locations, offsets = points_to.system.locations, points_to.system.problem.allocation_offsets
    sets = [points_to.solution.rows.objects(row) for row in rows.tolist()]
    objects = np.unique(np.concatenate([np.empty(0, np.int64), *sets])).astype(np.int64)
    allocation = locations.allocation[objects].astype(np.int64)
    chosen, which = np.unique(allocation, return_inverse=True)
    first = np.full(len(chosen), np.iinfo(np.int64).max)
    byte = np.where(locations.byte[objects] == UNKNOWN_OFFSET, 0, locations.byte[objects])
    np.minimum.at(first, which, byte)
    owner, held = ragged(offsets[chosen], offsets[chosen + 1])
    at = locations.byte[held]
    is_behind = (at + np.maximum(locations.n_bytes[held], 1) > first[owner]) | (at < 0)
    return held[is_behind | (locations.stride[held] > 0)]


def _is_vague(context: Context) -> Bools:
    """Return the names of memory that are anywhere in storage from the heap, or anywhere at all.

    Allocators of a program's own keep everything in such: what comes in by one call, and the
    numbers of all other parts. So may an unknown pointer lead to both.
    """
    points_to, graph = context.points_to, context.data
    locations, allocations = points_to.system.locations, points_to.system.allocations
    anywhere = locations.byte == UNKNOWN_OFFSET
    anywhere &= allocations.kind[locations.allocation] == AllocationKind.HEAP
    region = points_to.regions.of_object[anywhere]
    found = np.zeros(graph.n_names, bool)
    found[graph.first_memory + region[region >= 0]] = True
    found[graph.first_memory + graph.memory.outside] = True
    return found


class _Finder:
    def __init__(self, context: Context) -> None:
        self.context, self.graph = context, context.data
        self.program, self.table = context.program, context.program.instructions
        self.n_names = self.graph.n_names
        self.gen = np.zeros(self.graph.n_names, bool)
        self.kill = np.zeros(self.graph.n_names, bool)
        self.sources: dict[int, int] = {}
        self.called: dict[int, str] = {}
        self.cleaned: dict[int, list[int]] = {}
        self.edges: list[tuple[int, int, int]] = []
        self.first = self.program.bases[ValueKind.INSTRUCTION]

    def found(self) -> Tainting:
        for row, name, roles in calls_with_roles(self.context):
            for role in roles:
                if isinstance(role, Taints):
                    self._taint(row, role.place, name)
                elif isinstance(role, Passes):
                    self._pass(row, role)
                elif isinstance(role, Cleans):
                    self._clean(row, role.place)
        self._command_line()
        self._variables()
        self._copied()
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
        gen, kill = np.append(self.gen, more), np.append(self.kill, more)
        evidence = Evidence(self.context, whole, gen, kill, kinds)
        # Where a text is says nothing of where it ends: p - q is no number from there.
        kill |= np.append(self._differences() | _is_vague(self.context), more)
        numbers = Evidence(self.context, whole, gen & ~kill, kill, kinds)
        return Tainting(evidence, numbers, self.sources, self.called, self.cleaned)

    def _differences(self) -> Bools:
        """Return the differences of addresses."""
        found = np.zeros(self.graph.n_names, bool)
        rows = np.flatnonzero(self.table.opcode == Opcode.SUB)
        both = np.ones(len(rows), bool)
        for k in (0, 1):
            made = self.table.operands[self.table.offsets[rows] + k].astype(np.int64) - self.first
            is_address = made >= 0
            is_address[is_address] = self.table.opcode[made[is_address]] == Opcode.PTRTOINT
            both &= is_address
        found[self.first + rows[both]] = True
        return found

    def _contents(self, row: int, place: Place) -> list[int]:
        """Return the names of memory that a role is about."""
        found: list[int] = []
        for value in self.table.operands[operands_of(self.context, row, place)].tolist():
            found += contents(self.context, value, place.n_loads).tolist()
        return found

    def _begin(self, name: int, row: int, called: str) -> None:
        self.gen[name] = True
        self.sources.setdefault(name, row)
        self.called.setdefault(name, called)

    def _taint(self, row: int, place: Place, called: str) -> None:
        if place.position == RESULT:
            self._begin(self.first + row, row, called)
            return
        for name in self._contents(row, place):
            self._begin(name, row, called)

    def _pass(self, row: int, role: Passes) -> None:
        sources = [
            name
            for at in operands_of(self.context, row, role.source)
            for name in carriers(self.context, at, role.source.n_loads).tolist()
        ]
        is_result = role.to.position == RESULT
        targets = [self.first + row] if is_result else self._contents(row, role.to)
        self._connect(sources, targets, row)

    def _copied(self) -> None:
        """What calls pass by value gets to the callee's copy."""
        program, calls = self.program, self.context.calls
        passed, starts = program.passed, program.function_table.argument_offsets
        for at in passed.operand[passed.passing == Passing.BYVAL].tolist():
            row = int(np.searchsorted(self.table.offsets, at, side="right")) - 1
            nth = at - int(self.table.offsets[row]) - 1
            sources = contents(self.context, int(self.table.operands[at])).tolist()
            for function in calls.function[calls.call == row].tolist():
                formal = int(starts[function]) + nth
                if formal >= starts[function + 1]:
                    continue
                copy = contents(self.context, program.bases[ValueKind.ARGUMENT] + formal)
                self._connect(sources, copy.tolist(), row)

    def _connect(self, sources: list[int], targets: list[int], row: int) -> None:
        hub = self.n_names  # one name between them: there may be thousands of each
        self.n_names += 1
        self.edges += [(source, hub, row) for source in sources]
        self.edges += [(hub, target, row) for target in targets]

    def _clean(self, row: int, place: Place) -> None:
        if place.position == RESULT:
            self.kill[self.first + row] = True
            return
        for value in self.table.operands[operands_of(self.context, row, place)].tolist():
            self.cleaned.setdefault(value, []).append(row)

    def _command_line(self) -> None:
        """The arguments and the environment of main, and all texts they lead to."""
        for function in self.program.functions:
            if function.name == "main" and not function.is_declaration:
                for argument in function.arguments[1:3]:
                    self._begin(argument.id, -1, "the command line")

    def _variables(self) -> None:
        """Variables of the library, such as `environ`: a role of argument 0 is of their address."""
        program, library = self.program, self.context.roles
        for value in np.flatnonzero(program.globals.flags & GlobalFlag.DECLARATION).tolist():
            name = program.strings[int(program.globals.name[value])]
            if any(isinstance(role, Taints) for role in library.roles_of(name)):
                for memory in contents(self.context, value).tolist():
                    self._begin(memory, -1, name)
