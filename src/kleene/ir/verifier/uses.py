"""Every operand of every instruction as a row: who, where, what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.ir.codes import ValueKind
from kleene.ir.program import Program


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
