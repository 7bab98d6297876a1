"""The loop of value numbering: instructions of one operation with equal operands are equal."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kleene.base.arrays import I32, I64, U8, Bools
from kleene.kernels import bits
from kleene.kernels.bits import mix
from kleene.kernels.compiled import CompilationUnit

UNIT = CompilationUnit(Path(__file__), bits.__file__)
entry_point, device_function = UNIT.entry_point, UNIT.device_function
OTHER, PURE, LOAD, STORE = range(4)  # what an instruction is to value numbering


@device_function
def _hash(row: int, kind: U8, about: I64, flags: I64, offsets: I32, operands: I32, leader: I32,
          name: I64) -> int:  # fmt: skip
    """Return a number that equal instructions share."""
    code = mix(mix(17, about[row]), flags[row])
    for place in range(offsets[row], offsets[row + 1]):
        code = mix(code, leader[operands[place]])
    return mix(code, name[row]) if kind[row] == LOAD else code


@device_function
def _are_equal(row: int, other: int, kind: U8, about: I64, flags: I64, offsets: I32,
               operands: I32, leader: I32, name: I64) -> bool:  # fmt: skip
    n_operands = offsets[row + 1] - offsets[row]
    if about[row] != about[other] or flags[row] != flags[other]:
        return False
    if n_operands != offsets[other + 1] - offsets[other]:
        return False
    for nth in range(n_operands):
        if leader[operands[offsets[row] + nth]] != leader[operands[offsets[other] + nth]]:
            return False
    return bool(kind[row] != LOAD) or bool(name[row] == name[other])


@device_function
def _stored(row: int, kind: U8, offsets: I32, operands: I32, value_type: I32, type_of: I32,
            leader: I32, name: I64, writer: I64) -> int:  # fmt: skip
    """Return the value that the store behind the name of a load has stored there; -1."""
    store = writer[name[row]]
    if store < 0 or kind[store] != STORE:
        return -1
    value, pointer = operands[offsets[store]], operands[offsets[store] + 1]
    if leader[pointer] != leader[operands[offsets[row]]] or value_type[value] != type_of[row]:
        return -1
    return int(leader[value])


@entry_point
def leaders(
    order: I64, kind: U8, about: I64, flags: I64, offsets: I32, operands: I32, type_of: I32,
    value_type: I32, block: I32, pre: I32, last: I32, first: int, name: I64, writer: I64,
    n_values: int,
) -> I32:  # fmt: skip
    """Return for each value one that it is equal to and that dominates it, or the value itself.

    Instructions come in the preorder of the dominator tree. One of kind PURE or LOAD is equal to
    another with the same `about` and `flags` and equal operands; a LOAD, if it also reads the same
    name of memory. If `writer` tells that a store defined that, at an equal address, it is what was
    stored. Stores and instructions of kind OTHER are equal to none.

    Of equal instructions only the last that was no copy need be remembered: where it does not
    dominate the next one, the preorder has left its subtree for good.
    """
    leader = np.arange(n_values).astype(np.int32)
    n_slots = 16
    while n_slots < 2 * len(order):
        n_slots *= 2
    slots = np.full(n_slots, -1, np.int64)
    for row in order:
        if kind[row] == OTHER or kind[row] == STORE:
            continue
        if kind[row] == LOAD and len(writer) > 0:
            found = _stored(
                row, kind, offsets, operands, value_type, type_of, leader, name, writer,
            )  # fmt: skip
            if found >= 0:
                leader[first + row] = found
                continue
        slot = _hash(
            row, kind, about, flags, offsets, operands, leader, name
        ) & (n_slots - 1)  # fmt: skip
        while slots[slot] >= 0 and not _are_equal(
            row, slots[slot], kind, about, flags, offsets, operands, leader, name
        ):
            slot = (slot + 1) & (n_slots - 1)
        other = slots[slot]
        if other >= 0 and pre[block[other]] <= pre[block[row]] <= last[block[other]]:
            leader[first + row] = first + other
        else:
            slots[slot] = row
    return leader


@entry_point
def counted(function: I32, address: I64, n_slots: int) -> Bools:
    """Return which accesses are to an address that another one of the same function is to."""
    slots = np.full(n_slots, -1, np.int64)  # n_slots: a power of two above the number of accesses
    is_one_of_several = np.zeros(len(address), np.bool_)
    for row in range(len(address)):
        slot = mix(mix(17, address[row]), function[row]) & (n_slots - 1)
        while slots[slot] >= 0 and (
            address[slots[slot]] != address[row] or function[slots[slot]] != function[row]
        ):
            slot = (slot + 1) & (n_slots - 1)
        if slots[slot] < 0:
            slots[slot] = row
        else:
            is_one_of_several[row] = is_one_of_several[slots[slot]] = True
    return is_one_of_several
