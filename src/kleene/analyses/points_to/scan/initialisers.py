"""What globals contain before anything runs: the pointers among their initial values."""

from __future__ import annotations

import numpy as np
from numba import njit

from kleene.analyses.points_to.scan.columns import Columns
from kleene.ir.codes import ConstantKind, TypeKind
from kleene.ir.tables import I32, I64

_AGGREGATE, _SPLAT = int(ConstantKind.AGGREGATE), int(ConstantKind.SPLAT)
_STRUCT, _ARRAY, _VECTOR = int(TypeKind.STRUCT), int(TypeKind.ARRAY), int(TypeKind.VECTOR)


def leaves_of(columns: Columns, values: I32) -> tuple[I64, I64, I64]:
    """Return (which of the values, byte in it, value there) for every leaf that may be an address.

    Leaves of equal bytes are possible only for parts of a splat, which is written for each element.
    """
    program = columns.program
    types, constants = program.types, program.constants
    found: tuple[I64, I64, I64] = _leaves(
        *(values.astype(np.int64), program.bases[1], columns.flows, program.value_types),
        *(constants.kind, constants.offsets, constants.operands),
        *(types.kind, types.bits, types.size, types.offsets, types.elements, types.field_offset),
    )
    return found


@njit(cache=True)
def _leaves(roots, base, flows, value_types, constant_kind, operand_offsets, operands, kind, bits, size, offsets, elements, field_offset):  # type: ignore[no-untyped-def]  # fmt: skip
    owners, places, leaves = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]  # fmt: skip
    stack = [(np.int64(0), np.int64(0)) for _ in range(0)]
    for root in range(len(roots)):
        stack.append((roots[root], np.int64(0)))
        while len(stack):
            value, byte = stack.pop()
            if not flows[value]:
                continue
            row = value - base
            inner = 0 <= row < len(constant_kind)
            if inner:
                inner = constant_kind[row] == _AGGREGATE or constant_kind[row] == _SPLAT
            if not inner:
                owners.append(np.int64(root))
                places.append(byte)
                leaves.append(value)
                continue
            type_id = value_types[value]
            first, end = operand_offsets[row], operand_offsets[row + 1]
            if kind[type_id] == _STRUCT:
                for i in range(end - first):
                    stack.append((np.int64(operands[first + i]), byte + field_offset[offsets[type_id] + i]))  # fmt: skip
                continue
            step = size[elements[offsets[type_id]]]
            if constant_kind[row] == _SPLAT:
                for i in range(bits[type_id]):
                    stack.append((np.int64(operands[first]), byte + i * step))
            else:
                for i in range(end - first):
                    stack.append((np.int64(operands[first + i]), byte + i * step))
    return np.array(owners), np.array(places), np.array(leaves)
