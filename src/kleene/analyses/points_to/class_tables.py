"""Virtual tables and run-time types of C++, as the Itanium ABI lays them out.

A table is an array of pointers; objects point to its *address point*:

    … offsets of virtual bases, -24, -32, … │ -16: offset to the top │ -8: type │ 0, 8, …: functions

A `std::type_info` of the program is {table, name} for a class without bases, {…, base} for one with
a single public base at offset 0, and {…, flags, n, (base, offset << 8 | flags)…} otherwise; the low
bit of the flags of a base says that it is virtual: then the offset is where in the table its offset
is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from kleene.ir.codes import ConstantKind, GlobalFlag, GlobalKind, Opcode, TypeKind, ValueKind
from kleene.ir.program import Program

_SINGLE, _SEVERAL = "__si_class_type_info", "__vmi_class_type_info"


class ClassTables:
    """The words of constant globals, by byte: integers, and values that are addresses."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.words = cache(self._words)

    def _words(self, variable: int) -> dict[int, int | tuple[int, int]]:
        """Return at each byte of a constant: an integer, or (global, byte) of an address."""
        table = self._program.globals
        is_defined = not table.flags[variable] & GlobalFlag.DECLARATION
        if table.kind[variable] != GlobalKind.VARIABLE or not is_defined:
            return {}
        if not table.flags[variable] & GlobalFlag.CONSTANT or table.initializer[variable] < 0:
            return {}
        return dict(self._leaves(int(table.initializer[variable]), 0))

    def _leaves(self, value: int, byte: int) -> Iterator[tuple[int, int | tuple[int, int]]]:
        program = self._program
        located, row = program.locate(value)
        if located == ValueKind.GLOBAL:
            yield byte, (row, 0)
            return
        constants, types = program.constants, program.types
        kind = constants.kind[row]
        if kind == ConstantKind.AGGREGATE:
            type_id = int(constants.type[row])
            parts = constants.operands_of(row).tolist()
            starts = types.field_offsets_of(type_id).tolist()
            if types.kind[type_id] != TypeKind.STRUCT:
                size = int(types.size[types.elements_of(type_id)[0]])
                starts = [size * i for i in range(len(parts))]
            for part, start in zip(parts, starts, strict=True):
                yield from self._leaves(part, byte + start)
        elif kind == ConstantKind.INT:
            yield byte, int(constants.payload[row])
        elif kind in (ConstantKind.NULL, ConstantKind.ZERO):
            yield byte, 0
        elif kind == ConstantKind.EXPRESSION:
            yield from self._expression(row, byte)

    def _expression(self, row: int, byte: int) -> Iterator[tuple[int, int | tuple[int, int]]]:
        constants = self._program.constants
        operand = int(constants.operands_of(row)[0])
        if constants.opcode[row] == Opcode.INTTOPTR:
            yield from self._leaves(operand, byte)
        elif constants.opcode[row] == Opcode.GETELEMENTPTR:
            located, variable = self._program.locate(operand)
            if located == ValueKind.GLOBAL:
                yield byte, (variable, -1)  # somewhere in it

    def integer(self, variable: int, byte: int) -> int | None:
        """Return the integer at a byte of a table, None if there is none."""
        word = self.words(variable).get(byte)
        return word if isinstance(word, int) else None

    def type_at(self, variable: int, address_point: int) -> int | None:
        """Return the global that is the run-time type of a table, if it has one."""
        word = self.words(variable).get(address_point - 8)
        return word[0] if isinstance(word, tuple) else None

    def offsets_of(self, base: int, derived: int, table: int, top: int) -> set[int] | None:
        """Return where in an object of type `derived` its bases of type `base` lie.

        None if that cannot be told. `top` is the address point in `table` of the whole object, in
        front of which the offsets of virtual bases are.
        """
        if base == derived:
            return {0}
        found: set[int] = set()
        bases = self.bases(derived)
        if bases is None:
            return None
        for other, offset, is_virtual in bases:
            inside = self.offsets_of(base, other, -1, 0)
            if inside is None:
                return None
            at: int | None = offset
            if is_virtual:  # virtual bases of bases have it in tables of these: not looked for
                at = self.integer(table, top + offset) if table >= 0 else None
            if inside and at is None:
                return None
            found |= {(at or 0) + each for each in inside}
        return found

    def bases(self, derived: int) -> list[tuple[int, int, bool]] | None:
        """Return (type, offset, whether virtual) of the bases of a class, None if unknown."""
        words, kind = self.words(derived), self._kind(derived)
        if kind is None:
            return None
        if _SINGLE in kind:
            base = words.get(16)
            return [(base[0], 0, False)] if isinstance(base, tuple) else None
        if _SEVERAL not in kind:
            return []
        count, found = words.get(20), []
        for i in range(count if isinstance(count, int) else 0):
            base, flags = words.get(24 + 16 * i), words.get(32 + 16 * i)
            if not isinstance(base, tuple) or not isinstance(flags, int):
                return None
            found.append((base[0], flags >> 8, bool(flags & 1)))
        return found

    def has_single_base(self, derived: int) -> bool:
        """Return whether a class has one base alone, public and where its objects begin."""
        return _SINGLE in (self._kind(derived) or "")

    def _kind(self, type_info: int) -> str | None:
        """Return the name of the table of a `std::type_info`, which says what it is."""
        kind = self.words(type_info).get(0)
        if not isinstance(kind, tuple):
            return None
        return self._program.strings[int(self._program.globals.name[kind[0]])]
