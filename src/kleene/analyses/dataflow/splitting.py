"""Where something is learnt about a value: at its definition, behind branches and behind accesses.

Behind a load or store, the address was not null; behind a division, the divisor was not 0; behind
`llvm.assume`, what it is told. The
address may be a field's, `p->x`: then `p` was not null, since `p + offset` lies inside an object.
"""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I64, Bools
from kleene.ir import Program
from kleene.ir.codes import Flag, Opcode, TypeKind, ValueKind
from kleene.transforms.splitting import (
    STRATEGIES,
    Accesses,
    ControlFlow,
    Points,
    SplitProgram,
    split_program,
)
from kleene.transforms.splitting.program import values_assumed

_ADDRESS = {Opcode.LOAD: 0, Opcode.STORE: 1, Opcode.CMPXCHG: 0, Opcode.ATOMICRMW: 0}
_DIVISIONS = (Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM)
_DEEPEST = 4  # how many fields of fields


def split_for_values(
    program: Program, flow: ControlFlow | None = None, *, trusts_flags: bool, threads: int = 1
) -> SplitProgram:
    """Return the program's values with names for bounds, bits and nullness."""

    def points(flow: ControlFlow, accesses: Accesses) -> Points:
        branches = STRATEGIES["bits"].points(flow, accesses)
        none = np.empty(0, np.int64)
        value, row = refining_uses(program) if trusts_flags else (none, none)
        assumed, at = values_assumed(program) if trusts_flags else (none, none)
        return Points(
            np.concatenate([branches.down_variable, value, assumed]).astype(np.int32),
            np.concatenate([branches.down_point, row, at]),
            branches.up_variable,
            branches.up_point,
        )

    return split_program(program, points, flow=flow, threads=threads)


def refining_uses(program: Program) -> tuple[I64, I64]:
    """Return values and the instructions behind which they are not 0."""
    table, first = program.instructions, program.bases[ValueKind.INSTRUCTION]
    values, rows = [], []
    for opcode, place in _ADDRESS.items():
        row = np.flatnonzero(table.opcode == opcode)
        value = table.operands[table.offsets[row] + place].astype(np.int64)
        for _ in range(_DEEPEST):
            values.append(value)
            rows.append(row)
            inner = value - first
            is_field: Bools = inner >= 0
            is_field[is_field] = (table.opcode[inner[is_field]] == Opcode.GETELEMENTPTR) & (
                table.flags[inner[is_field]] & Flag.INBOUNDS != 0
            )
            row, inner = row[is_field], inner[is_field]
            value = table.operands[table.offsets[inner]].astype(np.int64)
    row = np.flatnonzero(np.isin(table.opcode, _DIVISIONS))
    values.append(table.operands[table.offsets[row] + 1].astype(np.int64))
    rows.append(row)
    value, row = np.concatenate(values), np.concatenate(rows)
    is_local = np.zeros(program.n_values, bool)
    is_local[first:] = (table.opcode == Opcode.ALLOCA) | (table.opcode == Opcode.INTTOPTR)
    types = program.value_types[value]
    # A vector of divisors has no name of its own; locals are never null; in other address spaces
    # than 0, null may be the address of something.
    keep = (value >= program.bases[ValueKind.ARGUMENT]) & ~is_local[value]
    kind, bits = program.types.kind[types], program.types.bits[types]
    keep &= (kind == TypeKind.INT) | ((kind == TypeKind.POINTER) & (bits == 0))
    return value[keep], row[keep].astype(np.int64)
