"""Views of values that are data: globals, constants, arguments."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from kleene.base.errors import Span
from kleene.ir.codes import (
    ArgumentFlag,
    ConstantKind,
    Flag,
    GlobalFlag,
    GlobalKind,
    Linkage,
    Opcode,
    ValueKind,
)
from kleene.ir.views.base import Type, Value, span_of

if TYPE_CHECKING:
    from kleene.ir.views.code import Function


class Global(Value):
    """A global variable, function, alias or ifunc."""

    __slots__ = ()
    kind = ValueKind.GLOBAL

    @property
    def name(self) -> str:
        """Its symbol."""
        return self.program.strings[int(self.program.globals.name[self.row])]

    @property
    def source_name(self) -> str:
        """Its name in the source, or the empty text."""
        return self.program.strings[int(self.program.globals.source_name[self.row])]

    @property
    def global_kind(self) -> GlobalKind:
        """Variable, function, alias or ifunc."""
        return GlobalKind(self.program.globals.kind[self.row])

    @property
    def linkage(self) -> Linkage:
        """Who may see and replace it."""
        return Linkage(self.program.globals.linkage[self.row])

    @property
    def flags(self) -> GlobalFlag:
        """Its properties."""
        return GlobalFlag(int(self.program.globals.flags[self.row]))

    @property
    def is_declaration(self) -> bool:
        """Whether it is defined elsewhere."""
        return GlobalFlag.DECLARATION in self.flags

    @property
    def address_taken(self) -> bool:
        """Whether it is used other than as a callee or the address of an access."""
        return GlobalFlag.ADDRESS_TAKEN in self.flags

    @property
    def content(self) -> Type:
        """The type of what it holds, not of its address."""
        return Type(self.program, int(self.program.globals.type[self.row]))

    @property
    def initializer(self) -> Value | None:
        """Its first content, or the target of an alias."""
        value = int(self.program.globals.initializer[self.row])
        return self.program.value_view(value) if value >= 0 else None

    @property
    def span(self) -> Span | None:
        """Where the source defines it."""
        return span_of(self.program, int(self.program.globals.span[self.row]))

    @property
    def function(self) -> Function | None:
        """The function it is, if it is one."""
        row = int(self.program.globals.function[self.row])
        return self.program.functions[row] if row >= 0 else None

    def __str__(self) -> str:
        return f"@{self.program.names.globals[self.row]}"


class Constant(Value):
    """A constant."""

    __slots__ = ()
    kind = ValueKind.CONSTANT

    @property
    def constant_kind(self) -> ConstantKind:
        """What it is."""
        return ConstantKind(self.program.constants.kind[self.row])

    @property
    def operands(self) -> list[Value]:
        """Elements of an aggregate, operands of an expression."""
        values = self.program.constants.operands_of(self.row).tolist()
        return [self.program.value_view(value) for value in values]

    @property
    def opcode(self) -> Opcode | None:
        """What an expression computes."""
        is_expression = self.constant_kind == ConstantKind.EXPRESSION
        return Opcode(self.program.constants.opcode[self.row]) if is_expression else None

    @property
    def integer(self) -> int | None:
        """Its value, if it is an integer, as a signed number, of one bit 0 or 1."""
        if self.constant_kind != ConstantKind.INT:
            return None
        payload = int(self.program.constants.payload[self.row])
        return int(self.program.strings[payload]) if self._is_wide else payload

    @property
    def real(self) -> float | None:
        """Its value, if it is a floating-point number that a float64 can hold."""
        if self.constant_kind != ConstantKind.FLOAT or self._is_wide:
            return None
        raw = int(self.program.constants.payload[self.row])
        return float(struct.unpack("<d", struct.pack("<q", raw))[0])

    @property
    def string(self) -> bytes | None:
        """Its bytes, if it is a string."""
        if self.constant_kind != ConstantKind.STRING:
            return None
        return self.program.strings.raw(int(self.program.constants.payload[self.row]))

    @property
    def _is_wide(self) -> bool:
        return bool(self.program.constants.flags[self.row] & Flag.WIDE)

    def __str__(self) -> str:
        return self.program.printer.constants.typed(self.row)


class Argument(Value):
    """A formal argument of a function."""

    __slots__ = ()
    kind = ValueKind.ARGUMENT

    @property
    def function(self) -> Function:
        """The function it belongs to."""
        offsets = self.program.function_table.argument_offsets
        return self.program.functions[int(np.searchsorted(offsets, self.row, side="right")) - 1]

    @property
    def index(self) -> int:
        """Its place among the arguments."""
        first = self.program.function_table.argument_offsets[self.function.row]
        return self.row - int(first)

    @property
    def flags(self) -> ArgumentFlag:
        """What is promised about it."""
        return ArgumentFlag(int(self.program.arguments.flags[self.row]))

    @property
    def name(self) -> str:
        """Its name in text, without the sign."""
        return self.program.names.of_function(self.function.row).arguments[self.index]

    def __str__(self) -> str:
        return f"%{self.name}"
