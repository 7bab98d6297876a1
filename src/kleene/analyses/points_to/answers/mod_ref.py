"""Which objects may a function read and write, itself or through what it calls?

Loads, stores and atomics count with the bytes they touch. A call of code that is not here counts
by what it is given: all storage that its pointer arguments lead to, directly or through pointers in
it, is read, and written too unless the declaration promises not to; LLVM's own intrinsics touch
only what they are given directly. An external without a model may also touch all that escaped, and
call every function that did.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.points_to.answers.aliases import access_bytes, explicit
from kleene.analyses.points_to.answers.calls import Calls, reach_graph, reached_from
from kleene.analyses.points_to.answers.geometry import Geometry
from kleene.analyses.points_to.memory_model import AllocationKind, ConstraintSystem
from kleene.base.arrays import Bools
from kleene.ir import Program
from kleene.ir.codes import CALLS, ArgumentFlag, GlobalFlag, Opcode, ValueKind
from kleene.solvers.inclusion import Solution

_READS = (Opcode.LOAD, Opcode.ATOMICRMW, Opcode.CMPXCHG)
_WRITES = (Opcode.STORE, Opcode.ATOMICRMW, Opcode.CMPXCHG)


@dataclass(frozen=True, slots=True, eq=False)
class Touched:
    """Objects read and written; `unknown` where code outside may touch all that escaped."""

    reads: Bools  # per object
    writes: Bools
    unknown: bool


class Accesses:
    """Finds what instructions of a solved program touch."""

    def __init__(
        self, program: Program, system: ConstraintSystem, solution: Solution, calls: Calls
    ) -> None:
        self._program = program
        self._system = system
        self._solution = solution
        self._calls = calls
        self._geometry = Geometry(system)

    def of(self, function: int) -> Touched:
        """Return what a function and all it may call touches."""
        reached = reached_from(reach_graph(self._program, self._calls), function)
        n_objects = self._system.problem.n_objects
        found = Touched(
            np.zeros(n_objects, bool), np.zeros(n_objects, bool), unknown=bool(reached[-1])
        )
        self._accesses(reached[:-1], found)
        self._externals(reached[:-1], found)
        if found.unknown:
            found.reads[self._solution.escaped] = True
            found.writes[self._solution.escaped] = True
        is_data, is_variable = self._data
        return Touched(found.reads & is_data, found.writes & is_variable, found.unknown)

    def _accesses(self, functions: Bools, found: Touched) -> None:
        """Add what loads, stores and atomics touch; equal sets and sizes are looked at once."""
        program = self._program
        table = program.instructions
        here = functions[program.instruction_function]
        groups: dict[tuple[int, bool], set[int]] = {}  # pointers by bytes and whether they write
        for row in np.flatnonzero(here & np.isin(table.opcode, [*_READS, Opcode.STORE])).tolist():
            opcode = int(table.opcode[row])
            pointer = int(table.operands_of(row)[1 if opcode == Opcode.STORE else 0])
            n_bytes = access_bytes(program, row, pointer)
            for is_write in (False, True):
                if opcode in (_WRITES if is_write else _READS):
                    groups.setdefault((n_bytes, is_write), set()).add(pointer)
        for (n_bytes, is_write), pointers in groups.items():
            chosen = found.writes if is_write else found.reads
            for object in self._held(list(pointers)).tolist():
                chosen[self._geometry.touched(object, n_bytes)] = True

    def _held(self, nodes: list[int]) -> NDArray[np.int64]:
        """Return all that some of the nodes may hold."""
        found = np.zeros(self._system.problem.n_objects, bool)
        found[explicit(self._solution, nodes)] = True
        if self._solution.unknown[nodes].any():
            found |= self._solution.escaped
        return np.flatnonzero(found)

    def _externals(self, functions: Bools, found: Touched) -> None:
        """Add what calls of code outside touch."""
        program = self._program
        flags = program.globals.flags[program.function_table.value]
        given: dict[tuple[bool, bool], list[int]] = {}  # by whether it is far, and is a write
        for row, callee in self._calls_out:
            is_inside = functions[program.instruction_function[row]]
            if not is_inside or flags[callee] & GlobalFlag.READ_NONE:
                continue
            is_far = not self._symbol(callee).startswith("llvm.")
            for argument, may_write in self._arguments(row, callee):
                given.setdefault((is_far, False), []).append(argument)
                if may_write and not flags[callee] & GlobalFlag.READ_ONLY:
                    given.setdefault((is_far, True), []).append(argument)
            self._own_storage(callee, found)
        for (is_far, is_write), nodes in given.items():
            chosen = found.writes if is_write else found.reads
            chosen[self.led_to(nodes, is_far=is_far)] = True

    @cached_property
    def _data(self) -> tuple[Bools, Bools]:
        """Per object: whether it has bytes to read, and whether these may be written."""
        places, table = self._system.locations, self._system.allocations
        is_function = (table.kind == AllocationKind.FUNCTION)[places.allocation]
        is_data = (places.n_bytes > 0) & ~is_function
        flags = np.zeros(self._program.n_values + 1, np.uint32)  # the last: of no value
        flags[: len(self._program.globals)] = self._program.globals.flags
        is_global = table.kind == AllocationKind.GLOBAL
        is_constant = is_global & (flags[table.site] & GlobalFlag.CONSTANT != 0)
        return is_data, is_data & ~is_constant[places.allocation]

    @cached_property
    def _calls_out(self) -> list[tuple[int, int]]:
        """The calls (instruction, function) of functions without a body, intrinsics included."""
        program, calls = self._program, self._calls
        table = program.instructions
        is_body = np.diff(program.function_table.block_offsets) > 0
        rows = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
        called = table.operands[table.offsets[rows]]
        rows = rows[is_named := called < len(program.globals)]
        by_name = program.globals.function[called[is_named]]
        through = (calls.rule >= 0) & (calls.instruction >= 0)
        instruction = np.concatenate([rows, calls.instruction[through]])
        function = np.concatenate([by_name, calls.callee[through]])
        chosen = (function >= 0) & ~is_body[function]
        return list(zip(instruction[chosen].tolist(), function[chosen].tolist(), strict=True))

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

    def _own_storage(self, callee: int, found: Touched) -> None:
        """Add the storage that an external keeps for itself."""
        table, value = self._system.allocations, self._program.function_table.value[callee]
        own = (table.kind == AllocationKind.STATIC) & (table.site == value)
        objects = own[self._system.locations.allocation]
        found.reads[objects] = True
        found.writes[objects] = True

    def _symbol(self, function: int) -> str:
        value = self._program.function_table.value[function]
        return self._program.strings[int(self._program.globals.name[value])]

    def led_to(self, nodes: list[int], *, is_far: bool) -> NDArray[np.int64]:
        """Return all storage that nodes lead to; far: through pointers in it too."""
        problem = self._system.problem
        found = np.zeros(problem.n_objects, bool)
        is_seen = np.zeros(problem.n_nodes, bool)
        waiting = np.unique(np.array(nodes, np.int64))
        while waiting.size:
            is_seen[waiting] = True
            chosen = np.zeros(len(self._system.allocations), bool)
            chosen[self._system.locations.allocation[self._held(waiting.tolist())]] = True
            new = chosen[self._system.locations.allocation] & ~found
            found |= new
            contents = np.unique(problem.contents[new]).astype(np.int64)
            contents = contents[contents >= 0]
            waiting = contents[~is_seen[contents]] if is_far else contents[:0]
        return np.flatnonzero(found)
