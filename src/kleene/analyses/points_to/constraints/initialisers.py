"""What globals contain before anything runs: the pointers among their initial values."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.analyses.points_to.compiled import entry_point
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.base.arrays import I32, I64
from kleene.ir.codes import ConstantKind, TypeKind

_AGGREGATE, _SPLAT = int(ConstantKind.AGGREGATE), int(ConstantKind.SPLAT)
_STRUCT = int(TypeKind.STRUCT)


def leaves_of(columns: Columns, values: I32) -> tuple[I64, I64, I64]:
    """Return (which value, byte in it, value there) of every leaf that may be an address."""
    program = columns.program
    types, constants = program.types, program.constants
    found: tuple[I64, I64, I64] = _leaves(
        *(values.astype(np.int64), program.bases[1], columns.flows, program.value_types),
        *(constants.kind, constants.offsets, constants.operands),
        *(types.kind, types.bits, types.size, types.offsets, types.elements, types.field_offset),
    )
    return found


@entry_point
def _leaves(
    roots: Any,
    base: Any,
    flows: Any,
    value_types: Any,
    constant_kind: Any,
    operand_offsets: Any,
    operands: Any,
    kind: Any,
    bits: Any,
    size: Any,
    offsets: Any,
    elements: Any,
    field_offset: Any,
) -> Any:
    found = [(np.int64(0), np.int64(0), np.int64(0)) for _ in range(0)]
    stack = [(np.int64(0), np.int64(0)) for _ in range(0)]
    for root in range(len(roots)):
        stack.append((roots[root], np.int64(0)))
        while len(stack):
            value, byte = stack.pop()
            if not flows[value]:
                continue
            row = value - base
            inner = 0 <= row < len(constant_kind) and (
                constant_kind[row] == _AGGREGATE or constant_kind[row] == _SPLAT
            )
            if not inner:
                found.append((np.int64(root), byte, value))
                continue
            whole, first = value_types[value], operand_offsets[row]
            count, step = operand_offsets[row + 1] - first, np.int64(0)
            if kind[whole] != _STRUCT:
                step = size[elements[offsets[whole]]]
            if constant_kind[row] == _SPLAT:
                count = bits[whole]
            for i in range(count):
                part = operands[first if constant_kind[row] == _SPLAT else first + i]
                place = i * step
                if kind[whole] == _STRUCT:
                    place = field_offset[offsets[whole] + i]
                stack.append((np.int64(part), byte + place))
    columns = np.empty((3, len(found)), np.int64)
    for i in range(len(found)):
        columns[0, i], columns[1, i], columns[2, i] = found[i]
    return columns[0], columns[1], columns[2]
