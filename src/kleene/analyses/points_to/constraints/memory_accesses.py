"""Loads, stores and copies of memory, a pointer's size at a time.

A value wider than a pointer is read and written pointer by pointer, at the bytes where one can
begin. A pointer access that the code does not promise to be aligned reads and writes at an unknown
offset: so a misaligned pointer is found at every location, whoever copies it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kleene.analyses.points_to.constraints.builder import MOST_WORDS, PointerBuilder
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.base.arrays import I32, I64, Bools
from kleene.ir.codes import AtomicOperation, Opcode, TypeKind

_MOST_BYTES = 4096  # of a value that is looked into


def generate_accesses(builder: PointerBuilder) -> None:
    """Add what every load, store and atomic instruction does."""
    columns = builder.columns
    types = columns.program.value_types
    rows = columns.rows(Opcode.LOAD)
    rows = rows[columns.flows[columns.results(rows)]]
    value, pointer = columns.results(rows), columns.operand(rows, 0)
    for part, address in _addresses(builder, types[value], pointer, rows):
        builder.load(value[part], address, rows[part])
    rows = columns.rows(Opcode.STORE)
    rows = rows[columns.flows[columns.operand(rows, 0)]]
    stored, pointer = columns.operand(rows, 0), columns.operand(rows, 1)
    for part, address in _addresses(builder, types[stored], pointer, rows):
        builder.store(address, stored[part], rows[part])
    swaps = _of_pointer_type(columns, Opcode.CMPXCHG)
    pointer = columns.operand(swaps, 0)
    builder.load(columns.results(swaps), pointer, swaps)
    builder.store(pointer, columns.operand(swaps, 2), swaps)
    _updates(builder)
    _variadic(builder)


def _of_pointer_type(columns: Columns, opcode: Opcode) -> I64:
    rows = columns.rows(opcode)
    return rows[columns.pointer_type[columns.program.instructions.type[rows]]]


def _variadic(builder: PointerBuilder) -> None:
    """Add what va_arg takes: whatever lies where the list points to."""
    columns = builder.columns
    rows = _of_pointer_type(columns, Opcode.VA_ARG)
    area = builder.loaded(builder.at_unknown_offset(columns.operand(rows, 0), rows), rows)
    builder.load(columns.results(rows), area, rows)


def _updates(builder: PointerBuilder) -> None:
    """Add what atomicrmw does: an exchange stores its operand, others may do arithmetic."""
    columns = builder.columns
    rows = _of_pointer_type(columns, Opcode.ATOMICRMW)
    pointer, value = columns.operand(rows, 0), columns.operand(rows, 1)
    old = columns.results(rows)
    builder.load(old, pointer, rows)
    exchanges = columns.program.instructions.sub[rows] == AtomicOperation.XCHG
    builder.store(pointer[exchanges], value[exchanges], rows[exchanges])
    pointer, value, old, rows = (c[~exchanges] for c in (pointer, value, old, rows))
    new = builder.at_unknown_offset(old, rows)
    builder.unknown_offset(new, value, rows)
    builder.store(pointer, new, rows)


def _addresses(
    builder: PointerBuilder, types: I32, pointer: I32, rows: I64
) -> Iterator[tuple[I64, I64]]:
    """Yield (accesses, nodes of where they go) for each byte where a pointer can begin."""
    misaligned = _is_misaligned(builder.columns, types, rows)
    if misaligned.any():
        part = np.flatnonzero(misaligned)
        yield part, builder.at_unknown_offset(pointer[part], rows[part])
    for type_id in sorted(set(types[~misaligned].tolist())):
        part = np.flatnonzero(~misaligned & (types == type_id))
        words = _pointer_bytes(builder.columns, type_id)
        if words is None:
            yield part, builder.at_unknown_offset(pointer[part], rows[part])
        for byte in words or ():
            yield part, builder.at_offset(pointer[part], byte, 0, rows[part])


def _is_misaligned(columns: Columns, types: I32, rows: I64) -> Bools:
    """Return which accesses are to pointers, and not said to be aligned."""
    program = columns.program
    align = program.instructions.align[rows].astype(np.int64)  # log2 + 1
    stated = np.where(align > 0, 1 << np.maximum(align - 1, 0), program.types.align[types])
    misaligned: Bools = stated < program.types.align[types]
    misaligned &= program.types.kind[types] == TypeKind.POINTER
    return misaligned


def _pointer_bytes(columns: Columns, type_id: int) -> list[int] | None:
    """Return the bytes of a type where an address can begin; None if there are too many."""
    types, word = columns.program.types, columns.word_bytes
    size, kind = int(types.size[type_id]), int(types.kind[type_id])
    if not 0 <= size <= _MOST_BYTES:
        return None
    if kind not in (TypeKind.STRUCT, TypeKind.ARRAY) or not columns.pointer_type[type_id]:
        return list(range(0, max(size, 1), word)) if size <= MOST_WORDS * word else None
    parts, starts = types.elements_of(type_id).tolist(), types.field_offsets_of(type_id).tolist()
    if kind == TypeKind.ARRAY:
        parts *= int(types.bits[type_id])
        starts = [i * int(types.size[part]) for i, part in enumerate(parts)]
    inside = {p: _pointer_bytes(columns, p) for p in set(parts) if columns.pointer_type[p]}
    found: list[int] = []
    for start, part in zip(starts, parts, strict=True):
        bytes_ = inside.get(part, [])
        if bytes_ is None:
            return None
        found += [start + byte for byte in bytes_]
    return found if len(found) <= MOST_WORDS else None
