"""How far getelementptr leads: a constant, and the stride of what varies."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.analyses.points_to.compiled import device_function, entry_point
from kleene.base.arrays import I32, I64, Ints
from kleene.ir.codes import ConstantKind, Flag, TypeKind
from kleene.ir.program import Program

_STRUCT = int(TypeKind.STRUCT)
_INT, _ZERO = int(ConstantKind.INT), int(ConstantKind.ZERO)
_WIDE = int(Flag.WIDE)


MOST_STRIDES = 4


def reach_of(
    program: Program, first: Ints, end: Ints, operands: I32, about: I32
) -> tuple[I64, I64, I64]:
    """Return for each getelementptr (constant, strides, type): how far it leads, and to what.

    That is the constant, plus any multiples of the strides of its varying indices: a row of
    `MOST_STRIDES`, 0 where there are fewer; -1 in the first: anywhere. Operands are those from
    `first` to before `end`.
    """
    types, constants = program.types, program.constants
    found: tuple[I64, I64, I64] = _reach(
        *(first.astype(np.int64), end.astype(np.int64), operands, about),
        *(types.kind, types.offsets, types.elements, types.field_offset, types.size),
        *(program.bases[1], constants.kind, constants.flags, constants.payload),
    )
    return found


def either_stride(left: I64, right: I64) -> I64:
    """Return the strides of both, row by row; -1 in the first where there are too many."""
    both = np.sort(np.concatenate([left, right], axis=1), axis=1)[:, ::-1]
    is_new = np.ones(both.shape, bool)
    is_new[:, 1:] = both[:, 1:] != both[:, :-1]
    both = np.sort(np.where(is_new, both, 0), axis=1)[:, ::-1]
    is_anywhere = (left[:, 0] < 0) | (right[:, 0] < 0) | (both[:, MOST_STRIDES] > 0)
    found: I64 = np.maximum(both[:, :MOST_STRIDES], 0)
    found[is_anywhere] = 0
    found[is_anywhere, 0] = -1
    return found


@entry_point
def _reach(
    first: Any,
    end: Any,
    operands: Any,
    about: Any,
    kind: Any,
    offsets: Any,
    elements: Any,
    field_offset: Any,
    size: Any,
    base: Any,
    constant_kind: Any,
    flags: Any,
    payload: Any,
) -> Any:
    constant = np.zeros(len(first), np.int64)
    strides = np.zeros((len(first), MOST_STRIDES), np.int64)
    led_to = np.zeros(len(first), np.int64)
    for i in range(len(first)):
        inside, n_strides = np.int64(about[i]), 0
        for place in range(first[i] + 1, end[i]):
            row = operands[place] - base
            known, index = False, np.int64(0)
            if 0 <= row < len(payload):
                if constant_kind[row] == _INT and not flags[row] & _WIDE:
                    known, index = True, payload[row]
                elif constant_kind[row] == _ZERO:
                    known = True
            if place > first[i] + 1:
                if kind[inside] == _STRUCT and known:
                    constant[i] += field_offset[offsets[inside] + index]
                    inside = elements[offsets[inside] + index]
                    continue
                if kind[inside] == _STRUCT:  # one index of a vector each: a splat, or unlike ones
                    strides[i, 0] = -1
                    break
                inside = elements[offsets[inside]]
            n_bytes = size[inside]
            if known and n_bytes >= 0:
                constant[i] += index * n_bytes
            elif n_bytes and not _is_among(strides[i], n_strides, n_bytes):
                if n_bytes < 0 or n_strides == MOST_STRIDES:
                    strides[i, 0] = -1
                    break
                strides[i, n_strides] = n_bytes
                n_strides += 1
        led_to[i] = inside
    return constant, strides, led_to


@device_function
def _is_among(strides: Any, count: Any, wanted: Any) -> Any:
    """Return whether one of the first `count` strides is the wanted one."""
    for k in range(count):  # noqa: SIM110 -- Numba compiles loops, not generators
        if strides[k] == wanted:
            return True
    return False
