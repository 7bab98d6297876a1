"""Which objects may a function or an instruction read and write, with all that it calls?

Loads, stores and atomics count with the bytes they touch. A call of code that is not here counts
by what it is given: all storage that its pointer arguments lead to, directly or through pointers in
it, is read, and written too unless the declaration promises not to; LLVM's own intrinsics touch
only what they are given directly. An external without a model may also touch all that escaped, and
call every function that did.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kleene.analyses.points_to.answers.aliases import Accesses, accesses_of
from kleene.analyses.points_to.answers.geometry import Geometry
from kleene.analyses.points_to.answers.sets import Solved, explicit
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.base.arrays import I32, I64, Bools, Ints
from kleene.graphs import Rows
from kleene.ir.codes import CALLS, ArgumentFlag, GlobalFlag, Opcode, ValueKind
from kleene.results.call_graph import CallGraph

_READS = (Opcode.LOAD, Opcode.ATOMICRMW, Opcode.CMPXCHG)
_WRITES = (Opcode.STORE, Opcode.ATOMICRMW, Opcode.CMPXCHG)


@dataclass(frozen=True, slots=True, eq=False)
class Effects:
    """What each of several functions or instructions may read and write, as numbers of objects.

    `reads[i]` and `writes[i]` ascend. Where `unknown[i]` holds, code outside the program may run:
    all that escaped is listed, and it may touch things outside the program besides.
    """

    reads: Rows
    writes: Rows
    unknown: Bools

    def __len__(self) -> int:
        return len(self.unknown)


@dataclass(frozen=True, slots=True, eq=False)
class _Touched:
    """Objects read and written; `unknown` where code outside may touch all that escaped."""

    reads: Bools  # per object
    writes: Bools
    unknown: bool


class EffectFinder:
    """Finds what functions and instructions of a solved program touch."""

    def __init__(self, solved: Solved, graph: CallGraph, geometry: Geometry) -> None:
        self._program, self._system = solved.program, solved.system
        self._solution, self._solved = solved.solution, solved
        self._graph, self._geometry = graph, geometry

    def of_functions(self, functions: Iterable[int]) -> Effects:
        """Return what each function touches, with all it may call."""

        def of(function: int) -> _Touched:
            reached = self._graph.reached(function)
            here = reached[self._program.instruction_function]
            return self._touched(here, unknown=bool(reached[-1]))

        return self._effects(of(function) for function in functions)

    def of_instructions(self, rows: Iterable[int]) -> Effects:
        """Return what each instruction touches; a call, with all that it may reach."""
        return self._effects(self._of_instruction(row) for row in rows)

    def _of_instruction(self, row: int) -> _Touched:
        sites = self._sites_by_call[row]
        reached = np.zeros(self._graph.n_functions + 1, bool)
        reached[-1] = self._graph.may_leave[sites].any()
        starts = [self._graph.targets_of(site) for site in sites.tolist()]
        for function in {f for targets in starts for f in targets.tolist()}:
            reached |= self._graph.reached(function)
        if reached[-1]:
            reached |= self._graph.reached(self._graph.n_functions)
        here = reached[self._program.instruction_function]
        here[row] = True
        return self._touched(here, unknown=bool(reached[-1]))

    def _effects(self, every: Iterable[_Touched]) -> Effects:
        reads, writes, unknown = [], [], []
        is_data, is_variable = self._data
        for found in every:
            reads.append(np.flatnonzero(found.reads & is_data))
            writes.append(np.flatnonzero(found.writes & is_variable))
            unknown.append(found.unknown)
        return Effects(Rows.from_lists(reads), Rows.from_lists(writes), np.array(unknown, bool))

    def _touched(self, here: Bools, *, unknown: bool) -> _Touched:
        """Return what instructions touch, and what is known outside where the unknown may run."""
        n_objects = self._system.problem.n_objects
        found = _Touched(np.zeros(n_objects, bool), np.zeros(n_objects, bool), unknown=unknown)
        self._accesses(here, found)
        self._externals(here, found)
        if unknown:
            found.reads[self._solved.known_outside] = True
            found.writes[self._solved.known_outside] = True
        return found

    def _accesses(self, here: Bools, found: _Touched) -> None:
        """Add what loads, stores and atomics touch; all of one size are looked at together."""
        table = self._all_accesses
        chosen = here[table.row]
        for opcodes, touched in ((_READS, found.reads), (_WRITES, found.writes)):
            rows = np.flatnonzero(chosen & np.isin(table.opcode, opcodes))
            for n_bytes in np.unique(table.n_bytes[rows]).tolist():
                pointers = table.pointer[rows[table.n_bytes[rows] == n_bytes]]
                touched |= self._geometry.touched(self._held(np.unique(pointers)), n_bytes)

    @cached_property
    def _all_accesses(self) -> Accesses:
        return accesses_of(self._program)

    @cached_property
    def _sites_by_call(self) -> Rows:
        """The call sites of each instruction."""
        sites = np.flatnonzero(self._graph.call >= 0).astype(np.int32)
        return Rows.group(self._graph.call[sites], len(self._program.instructions), sites)

    def _held(self, nodes: Ints) -> I64:
        """Return all that some of the nodes may hold."""
        found = np.zeros(self._system.problem.n_objects, bool)
        found[explicit(self._solution, nodes)] = True
        if self._solution.unknown[nodes].any():
            found |= self._solved.known_outside
        return np.flatnonzero(found)

    def _externals(self, here: Bools, found: _Touched) -> None:
        """Add what calls of code outside touch."""
        program = self._program
        flags = program.globals.flags[program.function_table.value]
        given: dict[tuple[bool, bool], list[int]] = {}  # by whether it is far, and is a write
        rows, callees = self._calls_out
        chosen = here[rows] & (flags[callees] & GlobalFlag.READ_NONE == 0)
        for row, callee in zip(rows[chosen].tolist(), callees[chosen].tolist(), strict=True):
            is_far = not self._symbol(callee).startswith("llvm.")
            for argument, may_write in self._arguments(row, callee):
                given.setdefault((is_far, False), []).append(argument)
                if may_write and not flags[callee] & GlobalFlag.READ_ONLY:
                    given.setdefault((is_far, True), []).append(argument)
            self._own_storage(callee, found)
        for (is_far, is_write), nodes in given.items():
            touched = found.writes if is_write else found.reads
            touched |= self._led_to(nodes, is_far=is_far)

    @cached_property
    def _data(self) -> tuple[Bools, Bools]:
        """Per object: whether it has bytes to read, and whether these may be written."""
        locations, table = self._system.locations, self._system.allocations
        is_function = (table.kind == AllocationKind.FUNCTION)[locations.allocation]
        is_data = (locations.n_bytes > 0) & ~is_function
        flags = np.zeros(self._program.n_values + 1, np.uint32)  # the last: of no value
        flags[: len(self._program.globals)] = self._program.globals.flags
        is_global = table.kind == AllocationKind.GLOBAL
        is_constant = is_global & (flags[table.site] & GlobalFlag.CONSTANT != 0)
        return is_data, is_data & ~is_constant[locations.allocation]

    @cached_property
    def _calls_out(self) -> tuple[I32, I32]:
        """The calls (instruction, function) of functions without a body, intrinsics included."""
        program, graph = self._program, self._graph
        table = program.instructions
        is_body = np.diff(program.function_table.block_offsets) > 0
        rows = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
        called = table.operands[table.offsets[rows]]
        rows = rows[is_named := called < len(program.globals)]
        by_name = program.globals.function[called[is_named]]
        is_found = np.repeat((graph.callee >= 0) & (graph.call >= 0), graph.n_targets)
        through = np.repeat(graph.call, graph.n_targets)[is_found]
        instruction = np.concatenate([rows, through])
        function = np.concatenate([by_name, graph.targets[is_found]])
        chosen = (function >= 0) & ~is_body[function]
        return instruction[chosen].astype(np.int32), function[chosen].astype(np.int32)

    def _arguments(self, row: int, callee: int) -> Iterator[tuple[int, bool]]:
        """Yield the pointers that a call passes, and whether they may be written through."""
        program = self._program
        if program.instructions.opcode[row] not in CALLS:
            return
        first = int(program.function_table.argument_offsets[callee])
        n_formals = int(program.function_table.argument_offsets[callee + 1]) - first
        for i, value in enumerate(program.instructions.operands_of(row)[1:].tolist()):
            is_block = program.locate(value)[0] == ValueKind.BLOCK
            if not is_block and self._system.may_hold_pointer[value]:
                flags = int(program.arguments.flags[first + i]) if i < n_formals else 0
                yield value, not flags & ArgumentFlag.READ_ONLY

    def _own_storage(self, callee: int, found: _Touched) -> None:
        """Add the storage that an external keeps for itself."""
        table, value = self._system.allocations, self._program.function_table.value[callee]
        own = (table.kind == AllocationKind.STATIC) & (table.site == value)
        if own.any():
            objects = own[self._system.locations.allocation]
            found.reads[objects] = True
            found.writes[objects] = True

    def _symbol(self, function: int) -> str:
        value = self._program.function_table.value[function]
        return self._program.strings[int(self._program.globals.name[value])]

    def _led_to(self, nodes: list[int], *, is_far: bool) -> Bools:
        """Return all storage that nodes lead to; far: through pointers in it too."""
        problem, allocation = self._system.problem, self._system.locations.allocation
        found = np.zeros(problem.n_objects, bool)
        is_seen = np.zeros(problem.n_nodes, bool)
        waiting = np.unique(np.array(nodes, np.int64))
        while waiting.size:
            is_seen[waiting] = True
            chosen = np.zeros(len(self._system.allocations), bool)
            chosen[allocation[self._held(waiting)]] = True
            new = chosen[allocation] & ~found
            found |= new
            contents = np.unique(problem.contents[new]).astype(np.int64)
            contents = contents[contents >= 0]
            waiting = contents[~is_seen[contents]] if is_far else contents[:0]
        return found
