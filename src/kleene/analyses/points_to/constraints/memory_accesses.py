"""Loads, stores and copies of memory, a pointer's size at a time.

A value wider than a pointer is read and written pointer by pointer, at the bytes where one can
begin. What is stored stays with its bytes, whole pointers and parts of them alike:

    *Every word of memory that has bytes of a pointer has the pointer in its contents.*

Words begin at multiples of the size of a pointer, and `ObjectLayout.contents_of` gives the fields
in one word one contents. A part of at most a word, at bytes [a, a + n), lies in the words of its
first and of its last byte: reading or writing at both keeps the invariant, because a word that gets
bytes of a pointer is one of the two, the bytes came from a word that had the pointer, and that was
one of the two that were read. Where the code promises alignment the two are one word. A load of a
pointer needs the word of its first byte alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kleene.analyses.points_to.constraints.builder import MOST_WORDS, PointerBuilder
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.base.arrays import I32, I64, Bools
from kleene.ir.codes import AtomicOperation, Opcode, TypeKind

_MOST_BYTES = 4096  # of a value that is looked into


def generate_accesses(builder: PointerBuilder, replaced: I64) -> None:
    """Add what every load, store and atomic instruction does, but for `replaced` stores."""
    columns = builder.columns
    rows = columns.rows(Opcode.LOAD)
    rows = rows[columns.flows[columns.results(rows)]]
    value, pointer = columns.results(rows), columns.operand(rows, 0)
    types = columns.program.value_types[value]
    _load(builder, builder.untested[value], types, pointer, rows)
    rows = columns.rows(Opcode.STORE)
    rows = rows[~np.isin(rows, replaced)] if len(replaced) else rows
    stored = columns.operand(rows, 0)
    rows = rows[columns.flows[stored] & ~columns.is_split[stored]]  # structs: see `aggregates`
    _store(builder, columns.operand(rows, 1), columns.operand(rows, 0), rows)
    swaps = _of_pointer_type(columns, Opcode.CMPXCHG)
    pointer, new = columns.operand(swaps, 0), columns.operand(swaps, 2)
    types = columns.program.value_types[new]
    _load(builder, columns.results(swaps), types, pointer, swaps)
    _store(builder, pointer, new, swaps)
    _updates(builder)
    _variadic(builder)


def _load(builder: PointerBuilder, value: I64, types: I32, pointer: I32, rows: I64) -> None:
    """Add loads of values of some types."""
    for part, address in _addresses(builder, types, pointer, rows, is_store=False):
        builder.load(value[part], address, rows[part])


def _store(builder: PointerBuilder, pointer: I32, value: I32, rows: I64) -> None:
    """Add stores of values."""
    types = builder.columns.program.value_types[value]
    for part, address in _addresses(builder, types, pointer, rows, is_store=True):
        builder.store(address, value[part], rows[part])


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
    _load(builder, old, columns.program.value_types[old], pointer, rows)
    exchanges = columns.program.instructions.sub[rows] == AtomicOperation.XCHG
    _store(builder, pointer[exchanges], value[exchanges], rows[exchanges])
    changes = ~exchanges & ~columns.counts[rows]
    pointer, value, old, rows = (c[changes] for c in (pointer, value, old, rows))
    new = builder.at_unknown_offset(old, rows)
    builder.unknown_offset(new, value, rows)
    builder.store(pointer, new, rows)


def _addresses(
    builder: PointerBuilder, types: I32, pointer: I32, rows: I64, *, is_store: bool
) -> Iterator[tuple[I64, I64]]:
    """Yield (accesses, nodes of where they go) for each byte where a pointer can begin."""
    columns = builder.columns
    word, straddles = columns.word_bytes, _straddles(columns, types, rows)
    if not is_store:
        straddles &= columns.program.types.kind[types] != TypeKind.POINTER
    for type_id in sorted(set(types.tolist())):
        part = np.flatnonzero(types == type_id)
        words, n_bytes = _pointer_bytes(columns, type_id), int(columns.program.types.size[type_id])
        if words is None:
            yield part, builder.at_unknown_offset(pointer[part], rows[part])
        for byte in words or ():
            both = straddles[part] | (byte % word != 0)
            exact, twice = part[~both], part[both]
            if len(exact):
                yield exact, builder.at_offset(pointer[exact], byte, 0, rows[exact])
            if len(twice):
                start, stride = np.full(len(twice), byte), np.zeros(len(twice), np.int64)
                size = np.full(len(twice), min(n_bytes, word))
                yield twice, builder.spanning(pointer[twice], start, stride, size, rows[twice])


def _straddles(columns: Columns, types: I32, rows: I64) -> Bools:
    """Return which accesses may have parts of at most a word with bytes in two words."""
    program, word = columns.program, columns.word_bytes
    align = program.instructions.align[rows].astype(np.int64)  # log2 + 1
    wanted = np.minimum(program.types.align[types], word)
    wanted[np.isin(program.types.kind[types], (TypeKind.STRUCT, TypeKind.ARRAY))] = word
    stated = np.where(align > 0, 1 << np.maximum(align - 1, 0), program.types.align[types])
    straddles: Bools = stated < wanted
    return straddles


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
