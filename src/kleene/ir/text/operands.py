"""Types, constants and operands out of a line."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from itertools import count
from typing import NoReturn

from kleene.ir.builder import NO_TYPE, Block, Builder, Constant, Function, Global, Value
from kleene.ir.builder.types import FLOAT_BITS
from kleene.ir.codes import ConstantKind, Flag, Opcode, TypeKind
from kleene.ir.text.lexer import Line, symbol_of
from kleene.ir.text.words import FLAGS, LITERALS, OPCODES, SUBS

_INT_TYPE = re.compile(r"i([0-9]{1,8})")
_INTEGER = re.compile(r"-?[0-9]+")
_WORDED = {
    "meta": ConstantKind.METADATA,
    "wrapped": ConstantKind.WRAPPED,
    "unknown": ConstantKind.UNKNOWN,
}
_CONSTANT_WORDS = {"true", "false", "splat", "blockaddress", "asm", *LITERALS, *_WORDED, *OPCODES}


class Operands:
    """Reads types and values; locals are looked up in the function being read."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.types = builder.types
        self.globals: dict[str, Global] = {}
        self.local: Callable[[Line], Value] = _no_local
        self.block_of: Callable[[Line, Function], Block] = _no_block

    # -- types

    def starts_type(self, line: Line) -> bool:
        """Return whether a type stands here."""
        if line.kind == "word":
            word = line.text
            return word in FLOAT_BITS or word in self._plain() or bool(_INT_TYPE.fullmatch(word))
        return line.text in ("[", "<", "{") or (line.kind == "name" and line.text[0] == "$")

    def type(self, line: Line) -> int:
        """Return the type that stands here."""
        line.enter()
        result = self._simple_type(line)
        while line.accept("("):
            parameters, vararg = line.parameters(self.type)
            result = self.types.function(result, parameters, vararg=vararg)
        line.depth -= 1
        return result

    def _plain(self) -> dict[str, Callable[[Line], int]]:
        types = self.types
        return {
            "void": lambda _: types.void,
            "label": lambda _: types.label,
            "metadata": lambda _: types.metadata,
            "token": lambda _: types.token,
            "ptr": self._pointer,
            "other": lambda line: types.other(line.string("a type")),
        }

    def _pointer(self, line: Line) -> int:
        if not line.accept("addrspace"):
            return self.types.pointer()
        line.expect("(")
        space = line.integer("an address space")
        line.expect(")")
        return self.types.pointer(space)

    def _simple_type(self, line: Line) -> int:
        if line.kind == "name" and line.text[0] == "$":
            return self.types.named(symbol_of(line.advance()))
        if line.accept("["):
            return self._counted(line, "]", self.types.array)
        if line.text == "<" or line.text == "{":
            return self._bracketed(line)
        if line.kind != "word" or not self.starts_type(line):
            line.fail(f"a type is missing, here stands {line.seen()}")
        word = line.advance()
        if found := _INT_TYPE.fullmatch(word):
            return self.types.integer(int(found[1]))
        return self.types.real(word) if word in FLOAT_BITS else self._plain()[word](line)

    def _counted(self, line: Line, close: str, make: Callable[[int, int], int]) -> int:
        n_elements = line.integer("a number of elements")
        line.expect("x")
        result = make(n_elements, self.type(line))
        line.expect(close)
        return result

    def _bracketed(self, line: Line) -> int:
        """Return a struct, packed struct or vector."""
        is_angled = line.accept("<")
        if line.text != "{":
            scalable = line.accept("vscale")
            if scalable:
                line.expect("x")
            return self._counted(
                line, ">", lambda n, element: self.types.vector(n, element, scalable=scalable)
            )
        fields, packed = self.fields(line, already_angled=is_angled)
        return self.types.struct(fields, packed=packed)

    def fields(self, line: Line, *, already_angled: bool = False) -> tuple[list[int], bool]:
        """Return the fields of a struct that stands here, and whether it is packed."""
        packed = already_angled or line.accept("<")
        line.expect("{")
        fields = line.items("}", self.type)
        if packed:
            line.expect(">")
        return fields, packed

    # -- values

    def operand(self, line: Line, expected: int = NO_TYPE) -> Value:
        """Return the value that stands here; a literal without a type has the expected one."""
        if line.kind == "name" and line.text[0] in "%^":
            return self.local(line)
        if line.kind == "name" and line.text[0] == "@":
            return self.global_(line)
        if self.starts_type(line):
            return self.constant(line, self.type(line))
        if expected in (NO_TYPE, self.types.void):
            line.fail(f"a value is missing, here stands {line.seen()}")
        return self.constant(line, expected)

    def global_(self, line: Line) -> Global:
        """Return the global named here."""
        found = self.globals.get(line.text)
        if found is None:
            line.fail(f"the program has no global {line.seen()}")
        line.advance()
        return found

    def constant(self, line: Line, type: int) -> Value:
        """Return the literal of that type that stands here, or a global."""
        if line.kind == "name":
            return self.global_(line)
        if line.kind == "number":
            return self._number(line, type)
        line.enter()
        value = self._structured(line, type)
        line.depth -= 1
        return value

    def _structured(self, line: Line, type: int) -> Constant:
        builder = self.builder
        if line.kind == "string":
            payload = builder.symbols[line.string("a text")]
            return builder.constant(ConstantKind.STRING, type, payload=payload)
        if line.accept("{"):
            return builder.aggregate(type, *self._elements(line, type))
        if line.text not in _CONSTANT_WORDS:
            line.fail(f"{line.seen()} is no constant")
        word = line.advance()
        if word in ("true", "false"):
            return builder.integer(type, int(word == "true"))
        if word in LITERALS:
            return builder.constant(LITERALS[word], type)
        if word == "splat":
            line.expect("(")
            element = self.constant(line, self._element(line, type, 0))
            line.expect(")")
            return builder.constant(ConstantKind.SPLAT, type, element)
        if word == "blockaddress":
            return self._block_address(line, type)
        if word == "asm":
            return self._assembly(line, type)
        if word in _WORDED:
            return self._worded(line, type, _WORDED[word])
        return self._expression(line, type, Opcode(OPCODES[word]))

    def _number(self, line: Line, type: int) -> Constant:
        builder, is_float = self.builder, self.types.kind(type) == TypeKind.FLOAT
        if not is_float and not _INTEGER.fullmatch(line.text):
            line.fail(f"{line.seen()} is no integer")
        text = line.advance()
        if not is_float:
            return builder.integer(type, int(text))
        if text.startswith("0x") and text[2].isalpha() and text[2] in "KLMHR":
            payload = builder.symbols[text]
            return builder.constant(ConstantKind.FLOAT, type, payload=payload, flags=Flag.WIDE)
        if text.startswith("0x"):
            payload = struct.unpack("<q", struct.pack("<Q", int(text, 16) & (1 << 64) - 1))[0]
            return builder.constant(ConstantKind.FLOAT, type, payload=payload)
        return builder.real(type, float(text))

    def _elements(self, line: Line, type: int) -> list[Value]:
        places = count()
        return line.items(
            "}", lambda line: self.constant(line, self._element(line, type, next(places)))
        )

    def _element(self, line: Line, type: int, index: int) -> int:
        is_function = self.types.kind(type) == TypeKind.FUNCTION
        element = NO_TYPE if is_function else self.types.element(type, index)
        if element == NO_TYPE:
            line.fail(f"the type of this constant has no element {index}")
        return element

    def _block_address(self, line: Line, type: int) -> Constant:
        line.expect("(")
        function = self.global_(line)
        line.expect(",")
        if not isinstance(function, Function):
            line.fail("only a function has blocks")
        block = self.block_of(line, function)
        line.expect(")")
        return self.builder.constant(ConstantKind.BLOCK_ADDRESS, type, function, block)

    def _assembly(self, line: Line, type: int) -> Constant:
        flags = self.flags(line)
        text = self.builder.symbols[line.string("assembly")]
        line.expect(",")
        about = self.builder.symbols[line.string("constraints")]
        kind = ConstantKind.ASSEMBLY
        return self.builder.constant(kind, type, payload=text, about=about, flags=flags)

    def _worded(self, line: Line, type: int, kind: ConstantKind) -> Constant:
        payload = self.builder.symbols[line.string("a text")]
        operands: list[Value] = []
        if kind != ConstantKind.METADATA:
            line.expect("(")
            operands = line.items(")", self.operand)
        return self.builder.constant(kind, type, *operands, payload=payload)

    def _expression(self, line: Line, type: int, opcode: Opcode) -> Constant:
        flags, about = self.flags(line), NO_TYPE
        if opcode in SUBS:
            about = self.sub(line, opcode)
        line.expect("(")
        if opcode == Opcode.GETELEMENTPTR:
            about = self.type(line)
            line.expect(",")
        operands = line.items(")", self.operand)
        return self.builder.expression(opcode, type, *operands, about=about, flags=flags)

    def flags(self, line: Line) -> int:
        """Return the modifiers that stand here."""
        flags = 0
        while line.kind == "word" and line.text in FLAGS:
            flags |= FLAGS[line.advance()]
        return flags

    def sub(self, line: Line, opcode: Opcode) -> int:
        """Return the predicate, operation or ordering on failure that stands here."""
        if opcode == Opcode.CMPXCHG:
            line.expect("failing")
        if line.text not in SUBS[opcode]:
            line.fail(f"{line.seen()} is nothing {opcode.name.lower()} can do")
        return SUBS[opcode][line.advance()]


def _no_local(line: Line) -> NoReturn:
    line.fail(f"{line.seen()} belongs to a function, and this is outside all of them")


def _no_block(line: Line, _: Function) -> NoReturn:
    raise AssertionError("the parser sets this")
