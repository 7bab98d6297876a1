"""Types and constants as text: each is written once and remembered."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kleene.ir.codes import ConstantKind, Flag, Opcode, TypeFlag, TypeKind, ValueKind
from kleene.ir.names import quoted
from kleene.ir.text.words import LITERAL_WORDS, OPCODE_WORDS, SUB_WORDS, flag_words

if TYPE_CHECKING:
    from kleene.ir.program import Program

_PLAIN_TYPES = {
    TypeKind.VOID: "void",
    TypeKind.LABEL: "label",
    TypeKind.METADATA: "metadata",
    TypeKind.TOKEN: "token",
}


class TypeText:
    """Types as text."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._table = program.types
        self._known: dict[int, str] = {}

    def __getitem__(self, type_id: int) -> str:
        if type_id not in self._known:
            in_order(type_id, self._needs, self._known, self._write)
        return self._known[type_id]

    def body(self, type_id: int) -> str:
        """Return the fields of a struct, also of one that has a name."""
        fields = ", ".join(self[element] for element in self._elements(type_id))
        is_packed = self._table.flags[type_id] & TypeFlag.PACKED
        return f"<{{{fields}}}>" if is_packed else f"{{{fields}}}"

    def _elements(self, type_id: int) -> list[int]:
        elements: list[int] = self._table.elements_of(type_id).tolist()
        return elements

    def _needs(self, type_id: int) -> list[int]:
        is_struct = self._table.kind[type_id] == TypeKind.STRUCT
        return [] if is_struct and self._table.name[type_id] else self._elements(type_id)

    def _write(self, type_id: int) -> str:
        kind, bits = TypeKind(self._table.kind[type_id]), int(self._table.bits[type_id])
        if kind in _PLAIN_TYPES:
            return _PLAIN_TYPES[kind]
        if kind == TypeKind.INT:
            return f"i{bits}"
        if kind == TypeKind.POINTER:
            return f"ptr addrspace({bits})" if bits else "ptr"
        name = int(self._table.name[type_id])
        if kind == TypeKind.FLOAT:
            return self._program.strings[name]
        if kind == TypeKind.OTHER:
            return f"other {quoted(self._program.strings.raw(name))}"
        if kind == TypeKind.STRUCT:
            return f"${self._program.names.symbol(name)}" if name else self.body(type_id)
        return self._write_composed(type_id, kind, bits)

    def _write_composed(self, type_id: int, kind: TypeKind, bits: int) -> str:
        first, *others = (self[element] for element in self._elements(type_id))
        flags = self._table.flags[type_id]
        if kind == TypeKind.ARRAY:
            return f"[{bits} x {first}]"
        if kind == TypeKind.VECTOR:
            scalable = "vscale x " if flags & TypeFlag.SCALABLE else ""
            return f"<{scalable}{bits} x {first}>"
        if flags & TypeFlag.VARARG:
            others.append("...")
        return f"{first} ({', '.join(others)})"


class ConstantText:
    """Constants as text, without their type unless asked for."""

    def __init__(self, program: Program, types: TypeText) -> None:
        self._program = program
        self._types = types
        self._table = program.constants
        self._first = program.bases[ValueKind.CONSTANT]
        self._end = program.bases[ValueKind.ARGUMENT]
        self._known: dict[int, str] = {}

    def __getitem__(self, row: int) -> str:
        if row not in self._known:
            in_order(row, self._needs, self._known, self._write)
        return self._known[row]

    def typed(self, row: int) -> str:
        """Return a constant with its type."""
        return f"{self._types[int(self._table.type[row])]} {self[row]}"

    def value(self, value: int) -> str:
        """Return a global, or a constant with its type."""
        if value < self._first:
            return f"@{self._program.names.globals[value]}"
        return self.typed(value - self._first) if value < self._end else f"?{value}"

    def untyped(self, value: int) -> str:
        """Return a global, or a constant whose type the place tells."""
        is_constant = self._first <= value < self._end
        return self[value - self._first] if is_constant else self.value(value)

    def needs_type(self, row: int) -> bool:
        """Return whether a constant cannot stand without its type: its brace could begin one."""
        return bool(self._table.kind[row] == ConstantKind.AGGREGATE)

    def _needs(self, row: int) -> list[int]:
        operands = self._table.operands_of(row).tolist()
        return [v - self._first for v in operands if self._first <= v < self._end]

    def _write(self, row: int) -> str:
        kind = ConstantKind(self._table.kind[row])
        if kind in LITERAL_WORDS:
            return LITERAL_WORDS[kind]
        if kind in (ConstantKind.INT, ConstantKind.FLOAT):
            return self._number(row, kind)
        operands = self._table.operands_of(row).tolist()
        if kind == ConstantKind.AGGREGATE:
            return "{" + ", ".join(map(self.untyped, operands)) + "}"
        if kind == ConstantKind.SPLAT:
            return f"splat({self.untyped(operands[0])})"
        if kind == ConstantKind.BLOCK_ADDRESS:
            return self._block_address(*operands)
        if kind == ConstantKind.EXPRESSION:
            return self._expression(row, operands)
        return self._wording(row, kind, operands)

    def _number(self, row: int, kind: ConstantKind) -> str:
        payload = int(self._table.payload[row])
        if self._table.flags[row] & Flag.WIDE:
            return self._program.strings[payload]
        if kind == ConstantKind.INT:
            is_bit = self._types[int(self._table.type[row])] == "i1"
            return ("false", "true")[payload] if is_bit and 0 <= payload <= 1 else str(payload)
        value = struct.unpack("<d", struct.pack("<q", payload))[0]
        return repr(value) if math.isfinite(value) else f"0x{payload & (1 << 64) - 1:016X}"

    def _block_address(self, function: int, block: int) -> str:
        row = int(self._program.globals.function[function])
        place = block - self._program.bases[ValueKind.BLOCK]
        place -= int(self._program.function_table.block_offsets[row])
        label = self._program.names.of_function(row).blocks[place]
        return f"blockaddress(@{self._program.names.globals[function]}, ^{label})"

    def _expression(self, row: int, operands: Sequence[int]) -> str:
        opcode, about = Opcode(self._table.opcode[row]), int(self._table.about[row])
        parts = [self.value(operand) for operand in operands]
        words = flag_words(int(self._table.flags[row]))
        if opcode in SUB_WORDS:  # of a comparison, `about` is the predicate
            words += f" {SUB_WORDS[opcode][about]}"
        elif about >= 0:
            parts.insert(0, self._types[about])
        return f"{OPCODE_WORDS[opcode]}{words} ({', '.join(parts)})"

    def _wording(self, row: int, kind: ConstantKind, operands: Sequence[int]) -> str:
        text = quoted(self._program.strings.raw(int(self._table.payload[row])))
        if kind == ConstantKind.STRING:
            return text
        if kind == ConstantKind.METADATA:
            return f"meta {text}"
        if kind == ConstantKind.ASSEMBLY:
            constraints = quoted(self._program.strings.raw(int(self._table.about[row])))
            return f"asm{flag_words(int(self._table.flags[row]))} {text}, {constraints}"
        named = ", ".join(self.value(operand) for operand in operands)
        return f"{'wrapped' if kind == ConstantKind.WRAPPED else 'unknown'} {text} ({named})"


def in_order(
    root: int, needs: Callable[[int], list[int]], done: dict[int, str], write: Callable[[int], str]
) -> None:
    """Write `root` after all it needs, however deep; what needs itself is not followed again."""
    stack, opened = [root], set[int]()
    while stack:
        top = stack[-1]
        new = [item for item in needs(top) if item not in done and item not in opened]
        if top not in opened and new:
            opened.add(top)
            stack += new
        elif stack.pop() not in done:
            done[top] = write(top)
