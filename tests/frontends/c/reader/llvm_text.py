"""A program's types and constants as LLVM writes them: written for tests alone, another way."""

from __future__ import annotations

import re
import struct

import numpy as np

from kleene.ir import Program
from kleene.ir.codes import CASTS, ConstantKind, Flag, Opcode, TypeFlag, TypeKind, ValueKind

_REAL = re.compile(r"\b(half|bfloat|float|double) (0x[HR]?[0-9A-F]+|-?[0-9.]+e[-+][0-9]+)")
_WORD = {
    ConstantKind.NULL: "null",
    ConstantKind.UNDEF: "undef",
    ConstantKind.POISON: "poison",
    ConstantKind.ZERO: "zeroinitializer",
    ConstantKind.NONE: "none",
}


def normal(text: str) -> str:
    """Return LLVM's text with reals as the bits of a double, and without `inrange(…)`."""
    text = re.sub(r" inrange\([^)]*\)", "", text)
    return _REAL.sub(lambda found: f"{found[1]} {_bits_of(found[2])}", text)


def _bits_of(text: str) -> str:
    if text.startswith("0xH"):
        value = float(np.array([int(text[3:], 16)], "<u2").view("<f2")[0])
    elif text.startswith("0xR"):
        value = float(np.array([int(text[3:], 16) << 16], "<u4").view("<f4")[0])
    elif text.startswith("0x"):
        return f"~{int(text, 16):016x}"
    else:
        value = float(text)
    return f"~{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}"


def name_text(raw: bytes, sigil: str) -> str:
    """Return a name with its sigil, quoted where LLVM quotes it."""
    plain = raw.decode("latin-1")
    if re.fullmatch(r"[-a-zA-Z._][-a-zA-Z._0-9]*", plain):
        return sigil + plain
    return f'{sigil}"{escaped(raw)}"'


def escaped(raw: bytes) -> str:
    """Return bytes as LLVM writes them between quotes."""
    return "".join(_escape(byte) for byte in raw)


def _escape(byte: int) -> str:
    if byte == ord("\\"):
        return "\\\\"
    return chr(byte) if 32 <= byte < 127 and byte != ord('"') else f"\\{byte:02X}"


class LlvmText:
    """What writes the parts of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def type(self, row: int) -> str:
        """Return a type; a struct that has a name is only its name."""
        types = self.program.types
        kind, bits, flags = types.kind[row], int(types.bits[row]), types.flags[row]
        name = self.program.strings.raw(int(types.name[row]))
        inner = [self.type(int(element)) for element in types.elements_of(row)] if not name else []
        match kind:
            case TypeKind.INT:
                return f"i{bits}"
            case TypeKind.FLOAT | TypeKind.OTHER:
                return name.decode()
            case TypeKind.POINTER:
                return f"ptr addrspace({bits})" if bits else "ptr"
            case TypeKind.ARRAY:
                return f"[{bits} x {inner[0]}]"
            case TypeKind.VECTOR:
                scalable = "vscale x " if flags & TypeFlag.SCALABLE else ""
                return f"<{scalable}{bits} x {inner[0]}>"
            case TypeKind.FUNCTION:
                dots = ["..."] if flags & TypeFlag.VARARG else []
                return f"{inner[0]} ({', '.join([*inner[1:], *dots])})"
            case TypeKind.STRUCT if name:
                number = re.fullmatch(rb"[0-9]+", name)
                return "%" + name.decode() if number else name_text(name, "%")
            case TypeKind.STRUCT:
                body = f"{{ {', '.join(inner)} }}" if inner else "{}"
                return f"<{body}>" if flags & TypeFlag.PACKED else body
            case _:
                return TypeKind(kind).name.lower()

    def value(self, value: int) -> str:
        """Return a constant or global with its type."""
        return f"{self.type(int(self.program.value_types[value]))} {self.bare(value)}"

    def bare(self, value: int) -> str:
        """Return a constant or global without its type."""
        kind, row = self.program.locate(value)
        if kind == ValueKind.GLOBAL:
            return name_text(self.program.strings.raw(int(self.program.globals.name[row])), "@")
        assert kind == ValueKind.CONSTANT
        return self._constant(row)

    def _constant(self, row: int) -> str:
        constants, strings = self.program.constants, self.program.strings
        kind, payload = constants.kind[row], int(constants.payload[row])
        operands = constants.operands_of(row).tolist()
        wide = bool(constants.flags[row] & Flag.WIDE)
        if kind in _WORD:
            return _WORD[ConstantKind(kind)]
        match kind:
            case ConstantKind.INT if self.type(int(constants.type[row])) == "i1":
                return "true" if payload else "false"
            case ConstantKind.INT:
                return strings[payload] if wide else str(payload)
            case ConstantKind.FLOAT:
                return strings[payload] if wide else f"~{payload % (1 << 64):016x}"
            case ConstantKind.STRING:
                return f'c"{escaped(strings.raw(payload))}"'
            case ConstantKind.SPLAT:
                return f"splat ({self.value(operands[0])})"
            case ConstantKind.AGGREGATE:
                return self._aggregate(int(constants.type[row]), operands)
            case ConstantKind.EXPRESSION:
                return self._expression(row, operands)
            case ConstantKind.BLOCK_ADDRESS:
                return f"blockaddress({self.bare(operands[0])}, {self._block(operands[1])})"
            case ConstantKind.WRAPPED if strings[payload] == "ptrauth":
                return f"ptrauth ({', '.join(self.value(operand) for operand in operands)})"
            case ConstantKind.WRAPPED:
                return f"{strings[payload]} {self.bare(operands[0])}"
            case _:
                raise AssertionError(f"not to be written: {ConstantKind(kind).name}")

    def _aggregate(self, type_id: int, operands: list[int]) -> str:
        types = self.program.types
        inner = ", ".join(self.value(operand) for operand in operands)
        if types.kind[type_id] == TypeKind.ARRAY:
            return f"[{inner}]"
        if types.kind[type_id] == TypeKind.VECTOR:
            return f"<{inner}>"
        return f"<{{ {inner} }}>" if types.flags[type_id] & TypeFlag.PACKED else f"{{ {inner} }}"

    def _expression(self, row: int, operands: list[int]) -> str:
        constants = self.program.constants
        opcode, flags = Opcode(constants.opcode[row]), constants.flags[row]
        words = [opcode.name.lower(), *(f.name.lower() for f in _PRINTED if flags & f)]
        parts = [self.value(operand) for operand in operands]
        if opcode == Opcode.GETELEMENTPTR:
            parts.insert(0, self.type(int(constants.about[row])))
        inner = ", ".join(parts)
        if opcode in CASTS:
            inner += f" to {self.type(int(constants.type[row]))}"
        return f"{' '.join(words)} ({inner})"

    def _block(self, value: int) -> str:
        row = value - self.program.bases[ValueKind.BLOCK]
        name = self.program.strings.raw(int(self.program.blocks.name[row]))
        return name_text(name, "%") if name else "%?"


_PRINTED = (Flag.INBOUNDS, Flag.NUSW, Flag.NUW, Flag.NSW)
