"""What does storage made at run time hold? Found from how the code uses the pointer it gets.

The pointer is followed through phi, select, casts, freeze and locals that are stored to once. Its
uses as a base of address arithmetic tell: a struct or element type, or a constant number of bytes.

- Structs: storage of these, one or many by the size that was asked for.
- One scalar type and no bytes: an array of it.
- Otherwise raw storage, with places at those bytes.

A wrong guess costs precision alone where storage is cut: places are found by address, whatever the
type. What it does assume is that arrays within a type that the code names are arrays.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from kleene.analyses.points_to.compiled import entry_point
from kleene.analyses.points_to.shapes import Shapes
from kleene.base.arrays import I32, I64, U8, Bools
from kleene.ir.codes import ConstantKind, Opcode, TypeKind, ValueKind
from kleene.ir.program import Program

_BYTE = 8  # bits
_MOST_COPIES = 1 << 8  # of one pointer: enough is known then
_UNKNOWN = -(1 << 62)  # an index that is no constant
_COPIES = tuple(
    int(code) for code in (Opcode.PHI, Opcode.FREEZE, Opcode.BITCAST, Opcode.ADDRSPACECAST)
)
_SELECT, _GEP = int(Opcode.SELECT), int(Opcode.GETELEMENTPTR)
_LOAD, _STORE = int(Opcode.LOAD), int(Opcode.STORE)


def heap_shapes(program: Program, shapes: Shapes, values: I64, n_bytes: I64) -> I32:
    """Return the shape of the storage behind each value, of so many bytes each (-1: unknown)."""
    site, row = _uses_of(program, values)
    types = program.types
    about = shapes.innermost[program.instructions.about[row]]
    amount = _constant_indices(program, row)
    in_bytes = (types.kind[about] == TypeKind.INT) & (types.bits[about] == _BYTE)
    is_offset = in_bytes & (amount != _UNKNOWN)
    told = np.stack([site, is_offset, np.where(is_offset, amount, about)], axis=1)
    told = _sorted_once(told[~is_offset | (amount > 0)])
    bounds = np.searchsorted(told[:, 0], np.arange(len(values) + 1)).tolist()
    by_site = [told[low:high, 1:] for low, high in pairwise(bounds)]
    sizes = n_bytes.tolist()
    found = [_shape(shapes, *pair) for pair in zip(by_site, sizes, strict=True)]
    return np.array(found, np.int32)


def _shape(shapes: Shapes, told: I64, n_bytes: int) -> int:
    """Return the shape for what uses told: rows of (whether in bytes, the bytes or a type)."""
    offsets = [amount for in_bytes, amount in told.tolist() if in_bytes]
    wanted = [type_id for in_bytes, type_id in told.tolist() if not in_bytes]
    structs = [type_id for type_id in wanted if shapes.types.kind[type_id] == TypeKind.STRUCT]
    if structs:
        return shapes.merged(structs, offsets, n_bytes)
    if len(wanted) == 1 and not offsets:
        return shapes.merged(wanted, [], n_bytes)
    return shapes.raw(n_bytes, offsets)


def _sorted_once(rows: I64) -> I64:
    """Return the rows in order, equal ones once."""
    rows = rows[np.lexsort(rows.T[::-1])]
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return rows[is_new]


def _constant_indices(program: Program, rows: I64) -> I64:
    """Return the index of address arithmetic that has one constant one, else _UNKNOWN."""
    table, constants = program.instructions, program.constants
    index = table.operands[table.offsets[rows] + 1] - program.bases[ValueKind.CONSTANT]
    is_constant = (index >= 0) & (index < len(constants))
    is_constant &= np.diff(table.offsets)[rows] == 2
    index = np.where(is_constant, index, 0)
    if not len(constants):
        return np.full(len(rows), _UNKNOWN)
    is_constant &= constants.kind[index] == ConstantKind.INT
    return np.where(is_constant, constants.payload[index], _UNKNOWN)


def _uses_of(program: Program, values: I64) -> tuple[I64, I64]:
    """Return the site and the instruction of each address computed from a value's copies."""
    table, (offsets, users) = program.instructions, program.users
    return _follow(
        values.astype(np.int64),
        program.bases[ValueKind.INSTRUCTION],
        _slots(program),
        *(offsets, users, table.opcode, table.offsets, table.operands),
    )


def _slots(program: Program) -> Bools:
    """Return which values are locals that are stored to once."""
    table, base = program.instructions, program.bases[ValueKind.INSTRUCTION]
    stores = np.flatnonzero(table.opcode == Opcode.STORE)
    pointers = table.operands[table.offsets[stores] + 1]
    is_slot: Bools = np.bincount(pointers, minlength=program.n_values) == 1
    is_slot[:base] = False
    is_slot[base:] &= table.opcode == Opcode.ALLOCA
    return is_slot


@entry_point
def _follow(
    values: I64,
    base: int,
    is_slot: Bools,
    user_offsets: I32,
    users: I32,
    opcode: U8,
    operand_offsets: I32,
    operands: I32,
) -> tuple[I64, I64]:
    """Do as `_uses_of` says; `base` is the value of the first instruction."""
    seen = np.full(len(is_slot), -1, np.int64)  # the last site whose copies a value was among
    copies = np.empty(len(is_slot), np.int64)
    sites, rows = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    for site in range(len(values)):
        seen[values[site]] = site
        copies[0] = values[site]
        n_copies, done = 1, 0
        while done < min(n_copies, _MOST_COPIES):
            value = copies[done]
            done += 1
            for use in range(user_offsets[value], user_offsets[value + 1]):
                user = users[use]
                code, first = opcode[user], operands[operand_offsets[user]]
                copy = -1
                if is_slot[value]:  # holds a copy
                    copy = base + user if code == _LOAD else -1
                elif code == _GEP and first == value:
                    sites.append(np.int64(site))
                    rows.append(np.int64(user))
                elif code in _COPIES or (code == _SELECT and first != value):
                    copy = base + user
                elif code == _STORE and is_slot[operands[operand_offsets[user] + 1]]:
                    copy = operands[operand_offsets[user] + 1]
                if copy >= 0 and seen[copy] != site:
                    seen[copy] = site
                    copies[n_copies] = copy
                    n_copies += 1
    return np.array(sites, np.int64), np.array(rows, np.int64)
