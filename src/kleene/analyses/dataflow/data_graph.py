"""Which names have their values from which: through registers, memory, arguments and results."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kleene.analyses.dataflow.memory_names import UNDEFINED, ZERO, MemoryNames, memory_names
from kleene.base.arrays import I64, Bools, Ints, ragged
from kleene.ir.codes import BINARY, CALLS, CASTS, ConstantKind, Opcode, Predicate, ValueKind
from kleene.transforms.splitting.program import phi_edges

if TYPE_CHECKING:
    from kleene.analyses.dataflow.context import Context


class EdgeKind(IntFlag):
    """What a name has to do with one that it is computed from."""

    SAME = 1  # the very value: φ, copies, selects, memory, arguments, results
    CAST = 2  # extended or cut
    COMPUTED = 4  # by arithmetic
    FIELD = 8  # an address in what the other one points to
    INDEX = 16  # an address that far
    THROUGH = 32  # read from where the other one points to
    VAGUE = 64  # read from bytes that are written in other ways too
    WEAK = 128  # what a memory variable was before a write that may leave it
    PASSED = 256  # a function of the library passes it on


_SAME = (Opcode.BITCAST, Opcode.ADDRSPACECAST, Opcode.FREEZE, Opcode.INTTOPTR, Opcode.PTRTOINT)
_WIDTHS = (Opcode.TRUNC, Opcode.ZEXT, Opcode.SEXT)
_PARTS = (Opcode.EXTRACTVALUE, Opcode.INSERTVALUE, Opcode.EXTRACTELEMENT, Opcode.INSERTELEMENT,
          Opcode.SHUFFLEVECTOR)  # fmt: skip


@dataclass(frozen=True, eq=False)
class DataGraph:
    """Which names have their values from which: names of values, of memory, and results.

    Attributes:
        n_names: how many there are.
        source: names.
        target: names.
        kind: an `EdgeKind`.
        row: the instruction that makes the step; -1 for none.
        first_memory: names of memory begin here.
        first_result: those of the results of functions do.
        memory: what is in memory.
    """

    n_names: int
    source: I64
    target: I64
    kind: I64
    row: I64
    first_memory: int
    first_result: int
    memory: MemoryNames

    @cached_property
    def zeros(self) -> I64:
        """The names of memory that start as 0, because the program or `calloc` says so."""
        return self._special(ZERO)

    @cached_property
    def undefined(self) -> I64:
        """The names of memory that a local variable has before it is written."""
        memory = self.memory
        found = self._special(UNDEFINED)
        is_version = memory.instruction[found - self.first_memory] >= 0
        return found[is_version]

    def _special(self, code: int) -> I64:
        memory = self.memory
        owner = np.repeat(np.arange(memory.n_names), np.diff(memory.offsets))
        return self.first_memory + np.unique(owner[memory.operands == code])


def graph_of(context: Context) -> DataGraph:
    """Return which names of a program have their values from which."""
    return _Builder(context).graph()


class _Builder:
    def __init__(self, context: Context) -> None:
        self.context, self.program = context, context.program
        self.split, self.table = context.split, context.program.instructions
        self.first = self.program.bases[ValueKind.INSTRUCTION]
        self.is_reached = context.block_is_reached
        self.parts: list[tuple[I64, I64, I64, I64]] = []

    def graph(self) -> DataGraph:
        memory = memory_names(self.split, self.context.points_to)
        self.first_memory = self.split.n_names
        self.first_result = self.first_memory + memory.n_names
        n_names = self.first_result + len(self.program.function_table)
        self._instructions()
        self._versions()
        self._calls()
        self._memory(memory)
        source, target, kind, row = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        keep = row < 0
        keep[~keep] = self.is_reached[self.table.block[row[~keep]]]
        return DataGraph(
            n_names, source[keep], target[keep], kind[keep], row[keep],
            self.first_memory, self.first_result, memory,
        )  # fmt: skip

    def add(self, source: Ints, target: Ints, kind: Ints | int, row: Ints | int) -> None:
        columns = np.broadcast_arrays(source, target, kind, row)
        self.parts.append(tuple(c.astype(np.int64, copy=False) for c in columns))  # type: ignore[arg-type]

    def _instructions(self) -> None:
        table = self.table
        owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
        place = np.arange(len(owner)) - table.offsets[owner]
        opcode = table.opcode[owner]
        kind = np.zeros(len(owner), np.int64)
        kind[np.isin(opcode, _SAME)] = EdgeKind.SAME
        kind[np.isin(opcode, _WIDTHS)] = EdgeKind.CAST
        others = sorted({*BINARY, *CASTS, Opcode.FNEG, *_PARTS} - {*_SAME, *_WIDTHS})
        kind[np.isin(opcode, others)] = EdgeKind.COMPUTED
        is_arm = (opcode == Opcode.SELECT) & (place > 0)
        kind[is_arm] = EdgeKind.SAME
        arms = np.flatnonzero(is_arm)
        kind[arms[self._is_not_zero_there(owner[arms], place[arms])]] = 0
        is_address = opcode == Opcode.GETELEMENTPTR
        kind[is_address] = np.where(place[is_address] == 0, EdgeKind.FIELD, EdgeKind.INDEX)
        kind[(opcode == Opcode.LOAD) & (place == 0)] = EdgeKind.THROUGH
        intrinsic = self._is_intrinsic()[owner] & (place > 0)
        kind[intrinsic] = EdgeKind.COMPUTED
        places, edges = phi_edges(self.program, self.split.flow)
        taken = places[self.context.edge_is_reached[edges]]
        kind[taken] = EdgeKind.SAME
        rows = np.flatnonzero(kind)
        self.add(self.split.operand[rows], self.first + owner[rows], kind[rows], owner[rows])

    def _is_not_zero_there(self, rows: I64, place: I64) -> Bools:
        """Return which arms of selects are not 0, or null, by the condition: p in `p ? p : q`."""
        table, constants = self.table, self.program.constants
        arm = table.operands[table.offsets[rows] + place]
        test = table.operands[table.offsets[rows]].astype(np.int64) - self.first
        found: Bools = test >= 0
        test = np.maximum(test, 0)
        found &= table.opcode[test] == Opcode.ICMP
        wanted = np.where(place == 1, Predicate.NE, Predicate.EQ)
        found &= table.sub[test] == wanted
        at = table.offsets[np.where(found, test, 0)]
        left, right = (table.operands[np.minimum(at + k, len(table.operands) - 1)] for k in (0, 1))
        constant = right.astype(np.int64) - self.program.bases[ValueKind.CONSTANT]
        is_zero = (constant >= 0) & (constant < len(constants))
        chosen = constant[is_zero]
        is_null = constants.kind[chosen] == ConstantKind.NULL
        is_null |= (constants.kind[chosen] == ConstantKind.INT) & (constants.payload[chosen] == 0)
        is_zero[is_zero] = is_null
        found &= (left == arm) & is_zero
        return found

    def _is_intrinsic(self) -> Bools:
        """Return which instructions call LLVM's own functions, whose results are computed."""
        program, table = self.program, self.table
        calls = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
        callee = table.operands[table.offsets[calls]]
        named = callee < len(program.globals)
        found = np.zeros(len(table), bool)
        symbols = program.globals.name[callee[named]]
        found[calls[named]] = program.strings.begin_with(symbols, b"llvm.")
        return found

    def _versions(self) -> None:
        split = self.split
        owner = np.repeat(np.arange(split.n_new), np.diff(split.offsets)) + self.program.n_values
        known = split.operands >= 0
        self.add(split.operands[known], owner[known], EdgeKind.SAME, -1)

    def _calls(self) -> None:
        calls, table = self.context.calls, self.program.function_table
        n_formals = np.diff(table.argument_offsets)[calls.function]
        n_passed = np.diff(self.table.offsets)[calls.call] - 1
        n_passed = n_passed - 2 * (self.table.opcode[calls.call] == Opcode.INVOKE)
        count = np.minimum(n_formals, np.maximum(n_passed, 0)).astype(np.int64)
        which, nth = ragged(np.zeros(len(count), np.int64), count)
        call, function = calls.call[which], calls.function[which]
        actual = self.split.operand[self.table.offsets[call] + 1 + nth]
        formal = self.program.bases[ValueKind.ARGUMENT] + table.argument_offsets[function] + nth
        self.add(actual, formal, EdgeKind.SAME, call)
        returns = np.flatnonzero(
            (self.table.opcode == Opcode.RET) & (np.diff(self.table.offsets) == 1)
        )
        function = self.program.instruction_function[returns].astype(np.int64)
        value = self.split.operand[self.table.offsets[returns]]
        self.add(value, self.first_result + function, EdgeKind.SAME, returns)
        result = self.first_result + calls.function
        self.add(result, self.first + calls.call, EdgeKind.SAME, calls.call)

    def _memory(self, memory: MemoryNames) -> None:
        owner = np.repeat(np.arange(memory.n_names), np.diff(memory.offsets))
        known = memory.operands >= 0
        n_blocks = len(self.program.blocks)
        guard = memory.guard
        is_block, is_edge = (guard >= 0) & (guard < n_blocks), guard >= n_blocks
        known[is_block] &= self.is_reached[guard[is_block]]
        known[is_edge] &= self.context.edge_is_reached[guard[is_edge] - n_blocks]
        operand, owner = memory.operands[known], owner[known]
        row = memory.instruction[owner]
        kind = np.full(len(owner), int(EdgeKind.SAME))
        # What was before a weak write, and what calls outside read.
        writes = memory.memory.writes
        first = memory.n_names - memory.memory.names.n_names
        is_weak = np.zeros(memory.n_names, bool)
        is_weak[first + writes.name[writes.before >= 0]] = True
        is_before = (operand >= self.first_memory + first) & is_weak[owner]
        kind[is_before] = EdgeKind.WEAK
        kind[memory.is_outside[owner]] = EdgeKind.PASSED
        self.add(operand, self.first_memory + owner, kind, row)
        load = np.repeat(np.arange(len(memory.load)), np.diff(memory.load_offsets))
        kind = np.where(memory.is_exact[load], EdgeKind.SAME, EdgeKind.VAGUE)
        rows = memory.load[load]
        self.add(self.first_memory + memory.loaded, self.first + rows, kind, rows)
