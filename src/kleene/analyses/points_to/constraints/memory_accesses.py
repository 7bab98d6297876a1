"""Loads, stores and copies of memory, a pointer's size at a time.

A value wider than a pointer is read and written pointer by pointer, at the bytes where one can
begin. A pointer access that the code does not promise to be aligned reads and writes at an unknown
offset: so a misaligned pointer is found at every location, whoever copies it.
"""

from __future__ import annotations

import numpy as np

from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.base.arrays import I32, I64, Bools, Ints, ragged
from kleene.ir.codes import AtomicOperation, Opcode, TypeKind

MOST_WORDS = 64  # pointers of a copy; larger ones go from anywhere to anywhere


class MemoryAccesses:
    """Adds accesses to memory."""

    def __init__(self, columns: Columns, builder: PointerBuilder) -> None:
        self.columns, self.builder = columns, builder
        self._pointer_bytes: dict[int, list[int] | None] = {}

    def generate_accesses(self) -> None:
        """Add what every load, store and atomic instruction does."""
        columns, builder = self.columns, self.builder
        loads = columns.rows(Opcode.LOAD)
        loads = loads[columns.flows[columns.results(loads)]]
        self.load(columns.results(loads), columns.operand(loads, 0), loads)
        stores = columns.rows(Opcode.STORE)
        stores = stores[columns.flows[columns.operand(stores, 0)]]
        self.store(columns.operand(stores, 1), columns.operand(stores, 0), stores)
        swaps = self._of_pointer_type(columns.rows(Opcode.CMPXCHG))
        pointer = columns.operand(swaps, 0)
        builder.load(columns.results(swaps), pointer, swaps)
        builder.store(pointer, columns.operand(swaps, 2), swaps)
        self._updates()
        self._variadic()

    def _of_pointer_type(self, rows: I64) -> I64:
        return rows[self.columns.pointer_type[self.columns.program.instructions.type[rows]]]

    def _variadic(self) -> None:
        """Add what va_arg takes: whatever lies where the list points to."""
        columns, builder = self.columns, self.builder
        rows = self._of_pointer_type(columns.rows(Opcode.VA_ARG))
        area = builder.loaded(builder.at_unknown_offset(columns.operand(rows, 0), rows), rows)
        builder.load(columns.results(rows), area, rows)

    def _updates(self) -> None:
        """Add what atomicrmw does: an exchange stores its operand, others may do arithmetic."""
        columns, builder = self.columns, self.builder
        rows = self._of_pointer_type(columns.rows(Opcode.ATOMICRMW))
        pointer, value, old = (
            columns.operand(rows, 0),
            columns.operand(rows, 1),
            columns.results(rows),
        )
        builder.load(old, pointer, rows)
        exchanges = columns.program.instructions.sub[rows] == AtomicOperation.XCHG
        builder.store(pointer[exchanges], value[exchanges], rows[exchanges])
        pointer, value, old, rows = (c[~exchanges] for c in (pointer, value, old, rows))
        new = builder.at_unknown_offset(old, rows)
        builder.unknown_offset(new, value, rows)
        builder.store(pointer, new, rows)

    def load(self, result: I64, pointer: I32, rows: I64) -> None:
        """Add loads, pointer by pointer."""
        for part, address in self._accesses(
            self.columns.program.value_types[result], pointer, rows
        ):
            self.builder.load(result[part], address, rows[part])

    def store(self, pointer: I32, value: I32, rows: I64) -> None:
        """Add stores, pointer by pointer."""
        for part, address in self._accesses(self.columns.program.value_types[value], pointer, rows):
            self.builder.store(address, value[part], rows[part])

    def _accesses(self, types: I32, pointer: I32, rows: I64) -> list[tuple[I64, I64]]:
        """Return (accesses, nodes of where they go) for each byte where a pointer can begin."""
        found = []
        misaligned = self._is_misaligned(types, rows)
        if misaligned.any():
            part = np.flatnonzero(misaligned)
            found.append((part, self.builder.at_unknown_offset(pointer[part], rows[part])))
        for type_id in sorted(set(types[~misaligned].tolist())):
            part = np.flatnonzero(~misaligned & (types == type_id))
            words = self.pointer_bytes_of(type_id)
            if words is None:
                found.append((part, self.builder.at_unknown_offset(pointer[part], rows[part])))
            for byte in words or ():
                found.append((part, self.builder.at_offset(pointer[part], byte, 0, rows[part])))
        return found

    def _is_misaligned(self, types: I32, rows: I64) -> Bools:
        """Return which accesses are to pointers, and not said to be aligned."""
        program = self.columns.program
        align = program.instructions.align[rows].astype(np.int64)  # log2 + 1
        stated = np.where(align > 0, 1 << np.maximum(align - 1, 0), program.types.align[types])
        misaligned: Bools = stated < program.types.align[types]
        misaligned &= program.types.kind[types] == TypeKind.POINTER
        return misaligned

    def pointer_bytes_of(self, type_id: int) -> list[int] | None:
        """Return the bytes of a type where an address can begin; None if there are too many."""
        if type_id not in self._pointer_bytes:
            self._pointer_bytes[type_id] = self._find_pointer_bytes(type_id)
        return self._pointer_bytes[type_id]

    def _find_pointer_bytes(self, type_id: int) -> list[int] | None:
        types, word = self.columns.program.types, self.columns.word_bytes
        size, kind = int(types.size[type_id]), int(types.kind[type_id])
        if size < 0 or size > 4096:
            return None
        parts = types.elements_of(type_id)
        if kind not in (TypeKind.STRUCT, TypeKind.ARRAY) or not self.columns.pointer_type[type_id]:
            return list(range(0, max(size, 1), word)) if size <= MOST_WORDS * word else None
        if kind == TypeKind.ARRAY:
            step, count = int(types.size[parts[0]]), int(types.bits[type_id])
            starts = [(step * i, int(parts[0])) for i in range(count)]
        else:
            offsets = types.field_offsets_of(type_id).tolist()
            starts = list(zip(offsets, parts.tolist(), strict=True))
        found: list[int] = []
        for start, part in starts:
            if self.columns.pointer_type[part]:
                inner = self.pointer_bytes_of(part)
                if inner is None:
                    return None
                found += [start + byte for byte in inner]
        return found if len(found) <= MOST_WORDS else None

    def copy(self, to: Ints, source: Ints, n_bytes: Ints, stride: Ints, origin: Ints) -> None:
        """Add copies of `n_bytes` bytes, once (stride 0) or any number of times, `stride` apart.

        A negative size is any number of bytes.
        """
        builder, word = self.builder, self.columns.word_bytes
        is_large = (n_bytes < 0) | (n_bytes > MOST_WORDS * word)
        value = builder.loaded(
            builder.at_unknown_offset(source[is_large], origin[is_large]), origin[is_large]
        )
        builder.store(
            builder.at_unknown_offset(to[is_large], origin[is_large]), value, origin[is_large]
        )
        n_words = np.where(is_large, 0, -(-n_bytes // word))
        owner, number = ragged(np.zeros_like(n_words), n_words)
        byte, stride, origin = number * word, stride[owner], origin[owner]
        value = builder.loaded(builder.at_offset(source[owner], byte, stride, origin), origin)
        builder.store(builder.at_offset(to[owner], byte, stride, origin), value, origin)
