"""Loads, stores and copies of memory, a piece of a pointer's size at a time.

A value wider than a pointer is read and written piece by piece, at the bytes where an address can
begin. A pointer access that the code does not promise to be aligned reads and writes anywhere in
what it points to: so an address that lies askew is found at every place, whoever copies it.
"""

from __future__ import annotations

import numpy as np

from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.base.arrays import I32, I64, Bools, Ints, ragged
from kleene.ir.codes import AtomicOperation, Opcode, TypeKind

MOST_PIECES = 64  # of a copy; larger ones go from anywhere to anywhere


class Memory:
    """Writes accesses to memory."""

    def __init__(self, columns: Columns, builder: PointerBuilder) -> None:
        self.columns, self.builder = columns, builder
        self._pieces: dict[int, list[int] | None] = {}

    def generate_accesses(self) -> None:
        """Write what every load, store and atomic instruction does."""
        columns, builder = self.columns, self.builder
        loads = columns.rows(Opcode.LOAD)
        loads = loads[columns.flows[columns.results(loads)]]
        self.load(columns.results(loads), columns.operand(loads, 0), loads)
        stores = columns.rows(Opcode.STORE)
        stores = stores[columns.flows[columns.operand(stores, 0)]]
        self.store(columns.operand(stores, 1), columns.operand(stores, 0), stores)
        swaps = self._of_tracked_type(columns.rows(Opcode.CMPXCHG))
        pointer = columns.operand(swaps, 0)
        builder.load(columns.results(swaps), pointer, swaps)
        builder.store(pointer, columns.operand(swaps, 2), swaps)
        self._updates()
        self._variadic()

    def _of_tracked_type(self, rows: I64) -> I64:
        return rows[self.columns.tracked_type[self.columns.program.instructions.type[rows]]]

    def _variadic(self) -> None:
        """Write what va_arg takes: whatever lies where the list points to."""
        columns, builder = self.columns, self.builder
        rows = self._of_tracked_type(columns.rows(Opcode.VA_ARG))
        area = builder.loaded(builder.somewhere(columns.operand(rows, 0), rows), rows)
        builder.load(columns.results(rows), area, rows)

    def _updates(self) -> None:
        """Write what atomicrmw does: an exchange stores its operand, others may do arithmetic."""
        columns, builder = self.columns, self.builder
        rows = self._of_tracked_type(columns.rows(Opcode.ATOMICRMW))
        pointer, value, old = (
            columns.operand(rows, 0),
            columns.operand(rows, 1),
            columns.results(rows),
        )
        builder.load(old, pointer, rows)
        exchanges = columns.program.instructions.sub[rows] == AtomicOperation.XCHG
        builder.store(pointer[exchanges], value[exchanges], rows[exchanges])
        pointer, value, old, rows = (c[~exchanges] for c in (pointer, value, old, rows))
        new = builder.somewhere(old, rows)
        builder.anywhere(new, value, rows)
        builder.store(pointer, new, rows)

    def load(self, result: I64, pointer: I32, rows: I64) -> None:
        """Write loads, piece by piece."""
        for part, address in self._accesses(
            self.columns.program.value_types[result], pointer, rows
        ):
            self.builder.load(result[part], address, rows[part])

    def store(self, pointer: I32, value: I32, rows: I64) -> None:
        """Write stores, piece by piece."""
        for part, address in self._accesses(self.columns.program.value_types[value], pointer, rows):
            self.builder.store(address, value[part], rows[part])

    def _accesses(self, types: I32, pointer: I32, rows: I64) -> list[tuple[I64, I64]]:
        """Return (accesses, where they go) for each piece of the types accessed."""
        found = []
        askew = self._is_askew(types, rows)
        if askew.any():
            part = np.flatnonzero(askew)
            found.append((part, self.builder.somewhere(pointer[part], rows[part])))
        for type_id in sorted(set(types[~askew].tolist())):
            part = np.flatnonzero(~askew & (types == type_id))
            pieces = self.pieces_of(type_id)
            if pieces is None:
                found.append((part, self.builder.somewhere(pointer[part], rows[part])))
            for byte in pieces or ():
                found.append((part, self.builder.moved(pointer[part], byte, 0, rows[part])))
        return found

    def _is_askew(self, types: I32, rows: I64) -> Bools:
        """Return which accesses are to pointers, and not said to be aligned."""
        program = self.columns.program
        align = program.instructions.align[rows].astype(np.int64)  # log2 + 1
        stated = np.where(align > 0, 1 << np.maximum(align - 1, 0), program.types.align[types])
        askew: Bools = stated < program.types.align[types]
        askew &= program.types.kind[types] == TypeKind.POINTER
        return askew

    def pieces_of(self, type_id: int) -> list[int] | None:
        """Return the bytes of a type where an address can begin; None if there are too many."""
        if type_id not in self._pieces:
            self._pieces[type_id] = self._find_pieces(type_id)
        return self._pieces[type_id]

    def _find_pieces(self, type_id: int) -> list[int] | None:
        types, word = self.columns.program.types, self.columns.word_bytes
        size, kind = int(types.size[type_id]), int(types.kind[type_id])
        if size < 0 or size > 4096:
            return None
        parts = types.elements_of(type_id)
        if kind not in (TypeKind.STRUCT, TypeKind.ARRAY) or not self.columns.tracked_type[type_id]:
            return list(range(0, max(size, 1), word)) if size <= MOST_PIECES * word else None
        if kind == TypeKind.ARRAY:
            step, count = int(types.size[parts[0]]), int(types.bits[type_id])
            starts = [(step * i, int(parts[0])) for i in range(count)]
        else:
            offsets = types.field_offsets_of(type_id).tolist()
            starts = list(zip(offsets, parts.tolist(), strict=True))
        found: list[int] = []
        for start, part in starts:
            if self.columns.tracked_type[part]:
                inner = self.pieces_of(part)
                if inner is None:
                    return None
                found += [start + byte for byte in inner]
        return found if len(found) <= MOST_PIECES else None

    def copy(self, to: Ints, source: Ints, n_bytes: Ints, stride: Ints, origin: Ints) -> None:
        """Write copies of so many bytes, and of as many more pieces of them as there may be.

        A negative size is any number of bytes. A stride is how far apart two such pieces begin; 0
        stands for one piece.
        """
        builder, word = self.builder, self.columns.word_bytes
        loose = (n_bytes < 0) | (n_bytes > MOST_PIECES * word)
        value = builder.loaded(builder.somewhere(source[loose], origin[loose]), origin[loose])
        builder.store(builder.somewhere(to[loose], origin[loose]), value, origin[loose])
        n_pieces = np.where(loose, 0, -(-n_bytes // word))
        owner, piece = ragged(np.zeros_like(n_pieces), n_pieces)
        byte, stride, origin = piece * word, stride[owner], origin[owner]
        value = builder.loaded(builder.moved(source[owner], byte, stride, origin), origin)
        builder.store(builder.moved(to[owner], byte, stride, origin), value, origin)
