"""Programs made by hand: for tests, and for front ends that do not come from LLVM's text.

    builder = Builder("example")
    i32 = builder.types.integer(32)
    square = builder.function("square", [("x", i32)], i32)
    entry = square.block("entry")
    product = entry.add(Opcode.MUL, square.arguments[0], square.arguments[0])
    entry.add(Opcode.RET, product)
    program = builder.finish()

Parts may be made in any order; `finish` numbers them. Nothing is checked here: that is the
verifier's work.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from kleene.ir.builder.assemble import assemble
from kleene.ir.builder.parts import (
    NO_SPAN,
    Argument,
    Block,
    Bundle,
    Constant,
    Function,
    Global,
    Instruction,
    Member,
    SourceType,
    Value,
    Variable,
)
from kleene.ir.builder.types import NO_TYPE, Symbols, Text, TypeMaker
from kleene.ir.codes import ConstantKind, Flag, GlobalFlag, GlobalKind, Linkage, Opcode
from kleene.ir.program import Program

__all__ = [
    "NO_SPAN",
    "NO_TYPE",
    "Argument",
    "Block",
    "Builder",
    "Bundle",
    "Constant",
    "Function",
    "Global",
    "Instruction",
    "Member",
    "SourceType",
    "Value",
    "Variable",
]

X86_64 = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
Parameter = tuple[Text, int] | Argument


class Builder:
    """Collects the parts of one program."""

    def __init__(
        self,
        name: str = "",
        *,
        triple: str = "x86_64-unknown-linux-gnu",
        data_layout: str = X86_64,
    ) -> None:
        self.name, self.triple, self.data_layout = name, triple, data_layout
        self.symbols = Symbols()
        self.types = TypeMaker(self.symbols)
        self.globals: list[Global] = []
        self.constants: dict[object, Constant] = {}
        self.spans: dict[tuple[int, int, int, int, int], int] = {}
        self.notices: list[tuple[Text, int]] = []
        self.source_types: list[SourceType] = []

    def finish(self, *, derive: bool = True) -> Program:
        """Return the program; `derive` sets the flags that follow from the rest."""
        return assemble(self, derive=derive)

    # -- globals

    def variable(
        self,
        name: Text,
        type: int,
        initializer: Value | None = None,
        *,
        constant: bool = False,
        linkage: Linkage = Linkage.EXTERNAL,
        flags: int = 0,
        space: int = 0,
        align: int = 0,
    ) -> Global:
        """Return a new global variable; without an initialiser it is a declaration."""
        flags |= GlobalFlag.CONSTANT if constant else 0
        kind, pointer = GlobalKind.VARIABLE, self.types.pointer(space)
        new = Global(pointer, name, kind, type, initializer, linkage, flags, space, align)
        self.globals.append(new)
        return new

    def alias(
        self, name: Text, type: int, target: Value, kind: GlobalKind = GlobalKind.ALIAS
    ) -> Global:
        """Return a new alias (or ifunc) of `target`."""
        self.globals.append(Global(self.types.pointer(), name, kind, type, target))
        return self.globals[-1]

    def function(
        self,
        name: Text,
        parameters: Sequence[Parameter],
        result: int,
        *,
        vararg: bool = False,
        linkage: Linkage = Linkage.EXTERNAL,
        flags: int = 0,
    ) -> Function:
        """Return a new function; a parameter is a pair of name and type, or an `Argument`."""
        arguments = [p if isinstance(p, Argument) else Argument(p[1], p[0]) for p in parameters]
        content = self.types.function(result, [a.type for a in arguments], vararg=vararg)
        new = Function(
            self.types.pointer(),
            name,
            GlobalKind.FUNCTION,
            content,
            linkage=linkage,
            flags=flags,
            types=self.types,
            arguments=arguments,
        )
        self.globals.append(new)
        return new

    # -- constants

    def integer(self, type: int, value: int) -> Constant:
        """Return an integer constant."""
        if -(1 << 63) <= value < 1 << 63:
            return self.constant(ConstantKind.INT, type, payload=value)
        payload = self.symbols[str(value)]
        return self.constant(ConstantKind.INT, type, payload=payload, flags=Flag.WIDE)

    def real(self, type: int, value: float) -> Constant:
        """Return a floating-point constant."""
        payload = struct.unpack("<q", struct.pack("<d", value))[0]
        return self.constant(ConstantKind.FLOAT, type, payload=payload)

    def null(self, type: int | None = None) -> Constant:
        """Return the null pointer."""
        return self.constant(ConstantKind.NULL, self.types.pointer() if type is None else type)

    def string(self, text: bytes) -> Constant:
        """Return an array of bytes."""
        array = self.types.array(len(text), self.types.integer(8))
        return self.constant(ConstantKind.STRING, array, payload=self.symbols[text])

    def aggregate(self, type: int, *elements: Value) -> Constant:
        """Return a struct, array or vector of constants."""
        return self.constant(ConstantKind.AGGREGATE, type, *elements)

    def expression(
        self, opcode: Opcode, type: int, *operands: Value, about: int = NO_TYPE, flags: int = 0
    ) -> Constant:
        """Return a constant computed by an instruction's rule."""
        return self.constant(
            ConstantKind.EXPRESSION, type, *operands, opcode=opcode, about=about, flags=flags
        )

    def assembly(self, text: Text, constraints: Text, *, flags: int = 0) -> Constant:
        """Return inline assembly, to be called."""
        return self.constant(
            ConstantKind.ASSEMBLY,
            self.types.pointer(),
            payload=self.symbols[text],
            about=self.symbols[constraints],
            flags=flags,
        )

    def constant(
        self,
        kind: ConstantKind,
        type: int,
        *operands: Value,
        payload: int = 0,
        about: int = -1,
        opcode: int = 0,
        flags: int = 0,
    ) -> Constant:
        """Return the constant of this content; equal content is one constant."""
        new = Constant(type, kind, operands, payload, about, int(opcode), int(flags))
        key = (kind, type, operands, payload, about, new.opcode, new.flags)
        return self.constants.setdefault(key, new)

    # -- source

    def span(
        self, file: Text, line: int, column: int = 0, *, scope: Text = "", inlined_at: int = -1
    ) -> int:
        """Return the place in the source, to be given to whatever stands there."""
        row = (self.symbols[file], line, column, self.symbols[scope], inlined_at)
        return self.spans.setdefault(row, len(self.spans))
