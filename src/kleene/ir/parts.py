"""Where the parts of structs, arrays and vectors are that instructions extract and insert."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kleene.base.arrays import I64
from kleene.ir.codes import ConstantKind, Opcode, TypeKind, ValueKind
from kleene.ir.program import Program

EXTRACTS = (Opcode.EXTRACTVALUE, Opcode.EXTRACTELEMENT)
INSERTS = (Opcode.INSERTVALUE, Opcode.INSERTELEMENT)


@lru_cache(maxsize=1)
def part_offsets(program: Program) -> I64:
    """Return, of each instruction, the byte offset of the part that it extracts or inserts.

    That is -1 where the index of an element varies, and of all other instructions.
    """
    table, found = program.instructions, np.full(len(program.instructions), -1, np.int64)
    for row in np.flatnonzero(np.isin(table.opcode, (*EXTRACTS, *INSERTS))).tolist():
        whole, *rest = table.operands_of(row).tolist()
        indices = rest[1:] if table.opcode[row] in INSERTS else rest
        found[row] = _offset(program, int(program.value_types[whole]), indices)
    return found


def _offset(program: Program, type_id: int, indices: list[int]) -> int:
    first, constants = program.bases[ValueKind.CONSTANT], program.constants
    offset = 0
    for one in indices:
        row = one - first
        if not 0 <= row < len(constants) or constants.kind[row] != ConstantKind.INT:
            return -1
        starts = element_offsets(program, type_id)
        index = int(constants.payload[row])
        if not 0 <= index < len(starts):
            return -1
        offset += starts[index]
        elements = program.types.elements_of(type_id)
        type_id = int(elements[index if len(elements) > 1 else 0])
    return offset


def element_offsets(program: Program, type_id: int) -> range | list[int]:
    """Return where the members of a struct, or the elements of an array or vector, begin.

    Nowhere those of a vector that are not whole bytes.
    """
    types = program.types
    if types.kind[type_id] == TypeKind.STRUCT:
        offsets: list[int] = types.field_offsets_of(type_id).tolist()
        return offsets
    each = int(types.elements_of(type_id)[0])
    size, count = int(types.size[each]), int(types.bits[type_id])
    if types.kind[type_id] != TypeKind.ARRAY:
        size = int(program.store_size[each])
        if types.kind[each] == TypeKind.INT and types.bits[each] % 8:
            count = 0
    return range(0, size * count, size) if size > 0 else range(0)


__all__ = ["EXTRACTS", "INSERTS", "element_offsets", "part_offsets"]
