"""Every operand of every instruction as a row, and its type: what the checks of code ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.ir.codes import ConstantKind, Opcode, TypeFlag, TypeKind, ValueKind
from kleene.ir.program import Program

Rows = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Uses:
    """Columns over all operands, in their order."""

    user: NDArray[Any]  # instruction
    place: NDArray[Any]  # among its operands
    count: NDArray[Any]  # of its operands
    value: NDArray[Any]
    opcode: NDArray[Any]
    is_block: NDArray[np.bool_]

    @classmethod
    def of(cls, program: Program) -> Uses:
        """Return the uses of a program."""
        table = program.instructions
        counts = np.diff(table.offsets)
        user = np.repeat(np.arange(len(table)), counts)
        low, high = program.bases[ValueKind.BLOCK], program.bases[ValueKind.INSTRUCTION]
        return cls(
            user=user,
            place=np.arange(len(user)) - table.offsets[user],
            count=counts[user],
            value=table.operands,
            opcode=table.opcode[user],
            is_block=(table.operands >= low) & (table.operands < high),
        )


class OperandTypes:
    """Columns over types and instructions."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.uses = Uses.of(program)
        self.counts = np.diff(program.instructions.offsets)
        types = program.types
        is_vector = types.kind == TypeKind.VECTOR
        self.scalar = np.arange(len(types))  # a vector's element, any other type itself
        self.scalar[is_vector] = types.elements[types.offsets[:-1][is_vector]]
        # A vector's length, negative where it is only a multiple; 0 for all else.
        self.lanes = np.where(is_vector, types.bits, 0)
        self.lanes[(types.flags & TypeFlag.SCALABLE) != 0] *= -1

    def rows(self, opcodes: Iterable[int]) -> Rows:
        """Return the instructions with one of these opcodes."""
        wanted = np.zeros(len(Opcode), bool)
        wanted[list(opcodes)] = True
        return np.flatnonzero(wanted[self.program.instructions.opcode])

    def type(self, rows: Rows, place: int) -> Rows:
        """Return the type of the operand at `place` of each instruction."""
        table = self.program.instructions
        return np.asarray(self.program.value_types[table.operands[table.offsets[rows] + place]])

    def is_scalar(self, types: Rows, kinds: tuple[TypeKind, ...]) -> NDArray[np.bool_]:
        """Return which types are of these kinds, or vectors of such."""
        return np.isin(self.program.types.kind[self.scalar[types]], kinds)

    def is_bit(self, types: Rows) -> NDArray[np.bool_]:
        """Return which types are i1, or vectors of it."""
        scalar, table = self.scalar[types], self.program.types
        return np.asarray((table.kind[scalar] == TypeKind.INT) & (table.bits[scalar] == 1), bool)

    def inner(self, type_id: int, indices: list[int]) -> int:
        """Return the type that constant indices lead to, -1 if they lead nowhere."""
        types, constants = self.program.types, self.program.constants
        for value in indices:
            row = value - self.program.bases[ValueKind.CONSTANT]
            if not 0 <= row < len(constants) or constants.kind[row] != ConstantKind.INT:
                return -1
            index, kind = int(constants.payload[row]), types.kind[type_id]
            elements = types.elements_of(type_id)
            if kind == TypeKind.STRUCT and 0 <= index < len(elements):
                type_id = int(elements[index])
            elif kind == TypeKind.ARRAY and 0 <= index < types.bits[type_id]:
                type_id = int(elements[0])
            else:
                return -1
        return type_id
