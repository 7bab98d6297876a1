"""What constants of a program hold: the bounds of all that a load at some index may read."""

from __future__ import annotations

import struct
from math import gcd

from kleene.analyses.invariants.flat import Access, FlatFunction
from kleene.ir import Program
from kleene.ir.codes import ConstantKind, Flag, TypeKind

_MOST_BYTES = 1 << 16  # of a constant that is looked at
_FLOATS = {4: "<f", 8: "<d"}  # by size in bytes


class ConstantTables:
    """The bytes of the constant globals that a function reads."""

    def __init__(self, program: Program, flat: FlatFunction) -> None:
        self._program, self._flat = program, flat
        self._tables: dict[int, list[int | None] | None] = {}

    def range(self, access: Access) -> tuple[int, int] | None:
        """Return the least and the greatest value in the part of a constant that is read."""
        assert access.object is not None
        assert access.kind is not None
        content = self._content(access.object)
        if content is None or access.offset is None or not access.offset.terms:
            return None
        step = gcd(*(factor for _, factor in access.offset.terms))
        first, found = access.offset.constant % step, []
        for place in range(first, len(content) - access.size + 1, step):
            part = content[place : place + access.size]
            if None in part:
                return None
            bits = int.from_bytes(bytes(one for one in part if one is not None), "little")
            format = access.kind.format
            number = access.kind.wrap(bits) if format is None else format.rank_of_bits(bits)
            if number is None:
                return None
            found.append(number)
        return (min(found), max(found)) if found else None

    def _content(self, object: int) -> list[int | None] | None:
        """Return the bytes of a constant global, None where one is no number."""
        if object not in self._tables:
            self._tables[object] = None
            storage, table = self._flat.objects[object], self._program.globals
            if storage.value >= 0 and storage.size is not None:
                initializer = int(table.initializer[storage.value])
                size = storage.size.constant
                if storage.is_constant and initializer >= 0 and size <= _MOST_BYTES:
                    content: list[int | None] = [0] * size
                    self._write(content, 0, initializer)
                    self._tables[object] = content
        return self._tables[object]

    def _write(self, content: list[int | None], offset: int, value: int) -> None:
        row = value - self._program.bases[1]
        table, types = self._program.constants, self._program.types
        type_id = int(self._program.value_types[value])
        size = int(self._program.store_size[type_id])
        kind = int(table.kind[row]) if 0 <= row < len(table) else -1
        if kind in (ConstantKind.ZERO, ConstantKind.NULL):
            return
        if kind == ConstantKind.INT:
            payload = int(table.payload[row])
            number = (
                int(self._program.strings[payload]) if table.flags[row] & Flag.WIDE else payload
            )
            content[offset : offset + size] = list(
                (number % (1 << 8 * size)).to_bytes(size, "little")
            )
        elif kind == ConstantKind.FLOAT and size in _FLOATS and not table.flags[row] & Flag.WIDE:
            double = struct.pack("<q", int(table.payload[row]))
            made = struct.pack(_FLOATS[size], *struct.unpack("<d", double))
            content[offset : offset + size] = list(made)
        elif kind == ConstantKind.STRING:
            view = self._program.value_view(value)
            text = getattr(view, "string", None)
            content[offset : offset + size] = [None] * size if text is None else list(text[:size])
        elif kind == ConstantKind.AGGREGATE:
            is_struct = types.kind[type_id] == TypeKind.STRUCT
            for place, one in enumerate(table.operands_of(row).tolist()):
                if is_struct:
                    at = int(types.field_offsets_of(type_id)[place])
                else:
                    at = place * int(types.size[types.elements_of(type_id)[0]])
                self._write(content, offset + at, one)
        else:
            content[offset : offset + size] = [None] * size
