"""What instructions of a whole program are made of: accesses, sums of addresses, constants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.base.arrays import I64, Bools, Ints
from kleene.ir import Program
from kleene.ir.codes import ADDRESS_OPERAND, ConstantKind, Flag, Opcode, TypeKind, ValueKind

_STORED = {Opcode.STORE: 0, Opcode.CMPXCHG: 1, Opcode.ATOMICRMW: 1}  # the operand written


def accesses(program: Program) -> tuple[I64, I64, I64]:
    """Return all accesses: instructions, places of addresses among operands, bytes.

    The number of bytes is -1 where it is not known.
    """
    table = program.instructions
    found: list[tuple[I64, I64, I64]] = []
    for opcode, place in ADDRESS_OPERAND.items():
        rows = np.flatnonzero(table.opcode == opcode)
        values: Ints = rows + program.bases[ValueKind.INSTRUCTION]
        if opcode in _STORED:
            values = table.operands[table.offsets[rows] + _STORED[opcode]]
        size = program.store_size[program.value_types[values]]
        found.append((rows, table.offsets[rows].astype(np.int64) + place, size))
    rows, places, size = (np.concatenate(part) for part in zip(*found, strict=True))
    return rows.astype(np.int64), places, size


@dataclass(frozen=True, eq=False)
class AddressSums:
    """What each of some address computations adds to its base.

        p->field[i]     constant: the offset of `field`; one term: i times the size of an element

    Attributes:
        constant: the bytes that are added in any case.
        is_known: whether all sizes are known.
        row: of each term, the computation it belongs to.
        place: of each term, the place of the index in the table of operands.
        stride: of each term, the bytes that the index is multiplied by.
    """

    constant: I64
    is_known: Bools
    row: I64
    place: I64
    stride: I64


def address_sums(
    program: Program, operands: Ints, starts: Ints, ends: Ints, about: Ints
) -> AddressSums:
    """Return the sums of address computations.

    Args:
        program: whose types and constants they use.
        operands: a table of operands.
        starts: where the operands of each computation begin: its base.
        ends: where they end.
        about: the type that the first index counts elements of.
    """
    types = program.types
    n = len(starts)
    constant, is_known = np.zeros(n, np.int64), np.ones(n, bool)
    type_id = about.astype(np.int64).copy()
    terms: list[tuple[I64, I64, I64]] = []
    longest = int((ends - starts).max()) if n else 0
    for nth in range(1, longest):
        rows = np.flatnonzero(starts + nth < ends)
        place = (starts[rows] + nth).astype(np.int64)
        is_number, number = constant_numbers(program, operands[place].astype(np.int64))
        here = type_id[rows]
        if nth > 1:
            is_struct = types.kind[here] == TypeKind.STRUCT
            inside = types.offsets[here].astype(np.int64)
            field = inside + np.where(is_struct, number, 0)
            fits = (field < types.offsets[here + 1]) & (number >= 0) & is_number | ~is_struct
            fits &= types.offsets[here + 1] > inside
            field = np.where(fits, field, 0)
            is_known[rows[~fits]] = False
            chosen = is_struct & fits
            constant[rows[chosen]] += types.field_offset[field[chosen]]
            type_id[rows] = types.elements[field]
            rows, place, is_number, number = (
                column[~is_struct] for column in (rows, place, is_number, number)
            )
        stride = types.size[type_id[rows]].astype(np.int64)
        is_known[rows[stride < 0]] = False
        is_large = is_number & (np.abs(number) >= 1 << 40)
        is_known[rows[is_large]] = False
        plain = is_number & ~is_large
        constant[rows[plain]] += stride[plain] * number[plain]
        terms.append((rows[~is_number], place[~is_number], stride[~is_number]))
    columns = [np.concatenate([np.empty(0, np.int64), *one]) for one in zip(*terms, strict=True)]
    return AddressSums(constant, is_known, *(columns or [np.empty(0, np.int64)] * 3))


def constant_numbers(program: Program, values: I64) -> tuple[Bools, I64]:
    """Return which values are numbers of up to 64 bits, and these, read as signed."""
    table = program.constants
    row = values - program.bases[ValueKind.CONSTANT]
    inside = (row >= 0) & (row < len(table))
    row = np.where(inside, row, 0)
    if not len(table):
        return inside, np.zeros(len(values), np.int64)
    is_zero = (table.kind[row] == ConstantKind.NULL) | (table.kind[row] == ConstantKind.ZERO)
    is_number = (table.kind[row] == ConstantKind.INT) & (table.flags[row] & Flag.WIDE == 0)
    number = np.where(is_number & inside, table.payload[row], 0).astype(np.int64)
    type_id = program.value_types[values]
    is_integer = program.types.kind[type_id] == TypeKind.INT
    shift = 64 - np.clip(np.where(is_integer, program.types.bits[type_id], 64), 1, 64)
    return inside & (is_number | is_zero), number << shift >> shift
