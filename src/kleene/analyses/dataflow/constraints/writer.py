"""What all parts of generation share: the table that grows, and the names of the program."""

from __future__ import annotations

import numpy as np

from kleene.analyses.dataflow.calls import Calls
from kleene.analyses.dataflow.memory import Cells
from kleene.analyses.dataflow.versions import Versions
from kleene.base.arrays import I64, Ints
from kleene.ir import Program
from kleene.ir.codes import (
    Opcode,
    TypeKind,
    ValueKind,
)
from kleene.solvers.dataflow import (
    ConstraintBuilder,
    Operator,
    ValueFact,
    packed,
)
from kleene.transforms.splitting import SplitProgram


class Writer:
    """Collects the constraints of one program."""

    def __init__(
        self,
        split: SplitProgram,
        calls: Calls,
        cells: Cells | None,
        versions: Versions | None = None,
        *,
        trusts_flags: bool,
    ) -> None:
        self.split, self.calls, self.trusts_flags = split, calls, trusts_flags
        self.cells, self.versions = cells, versions
        self.shared: dict[tuple[int, int, int], int] = {}
        self.program: Program = split.program
        self.table = self.program.instructions
        self.build = ConstraintBuilder()
        self.build.names(split.n_names)
        self.width = widths_of(self.program)
        self.bases = self.program.bases
        self.is_tracked = self.width > 0
        self.true, self.false = (int(name) for name in self.build.names(2))
        self.build.define([self.true], Operator.CONSTANT, attribute=-1)
        self.build.define([self.false], Operator.CONSTANT, attribute=0)
        # Set by `control` and `interprocedural`.
        none = np.empty(0, np.int64)
        self.end_name: I64 = none  # per block, of whether control comes to its end
        self.edge_name: I64 = none
        self.returns_name: I64 = none  # per function, of whether it returns
        self.result_name: I64 = none  # per function
        # Set by `stored`.
        self.cell_name: I64 = none  # per cell
        self.written: list[tuple[I64, I64]] = []  # names of what is written, and instructions

    def rows(self, *opcodes: Opcode) -> I64:
        """Return the instructions with one of some opcodes whose result is tracked."""
        chosen = np.isin(self.table.opcode, opcodes)
        return np.flatnonzero(chosen & self.is_tracked[self.bases[ValueKind.INSTRUCTION] :])

    def name(self, rows: I64) -> I64:
        """Return the names of results."""
        return rows + self.bases[ValueKind.INSTRUCTION]

    def operand(self, rows: I64, place: int) -> I64:
        """Return the names of operands."""
        return self.split.operand[self.table.offsets[rows] + place].astype(np.int64)

    def operand_value(self, rows: I64, place: int) -> I64:
        """Return the values that operands are."""
        return self.table.operands[self.table.offsets[rows] + place].astype(np.int64)

    def define(self, rows: I64, operator: Ints | int, operands: I64, attribute: Ints | int) -> None:
        """Give the results of instructions their constraints."""
        width = self.width[self.name(rows)]
        self.build.define(self.name(rows), operator, operands, width=width, attribute=attribute)

    def block_name(self, blocks: Ints) -> I64:
        """Return the names that say whether control reaches blocks."""
        return blocks.astype(np.int64) + self.bases[ValueKind.BLOCK]

    def start_with_any(self) -> None:
        """Let every value be any, until something is said about it."""
        values = np.arange(self.program.n_values)
        self.build.define(values, Operator.ANY, width=np.where(self.is_tracked, self.width, 64))

    def give(self, names: Ints, fact: ValueFact) -> None:
        """Give names a fact."""
        if len(names):
            number = int(self.build.given(packed([fact]))[0])
            self.build.define(names, Operator.GIVEN, width=fact.width, attribute=number)


def widths_of(program: Program) -> I64:
    """Return how many bits each value has: integers of up to 64 and addresses; 0 for others."""
    types = program.types
    width = np.zeros(len(types) + 1, np.int64)  # the last is for -1
    is_number = (types.kind == TypeKind.INT) & (types.bits >= 1) & (types.bits <= 64)
    width[:-1] = np.where(is_number, types.bits, 0)
    is_pointer = (types.kind == TypeKind.POINTER) & (types.size == 8)
    width[:-1][is_pointer] = 64
    return width[program.value_types]


def not_zero(width: int, n_zeros: int) -> ValueFact:
    """Return that a value is not 0 and a multiple of 2^n_zeros."""
    anything = ValueFact.any(width)
    zeros = (1 << n_zeros) - 1
    return ValueFact(width, anything.low, anything.high, 1, anything.most, zeros, 0)
