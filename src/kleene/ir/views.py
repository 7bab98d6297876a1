"""Thin views: `program.functions["main"].blocks[0].instructions`.

A view is a program and a number; it is made when asked for, holds nothing else, and equals every
other view of the same thing. For work on whole programs use the columns.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kleene.base.errors import Span
from kleene.ir.codes import (
    CALLS,
    TERMINATORS,
    ArgumentFlag,
    ConstantKind,
    Flag,
    GlobalFlag,
    GlobalKind,
    Linkage,
    Opcode,
    TypeKind,
    ValueKind,
)
from kleene.ir.rows import Rows

if TYPE_CHECKING:
    from kleene.ir.program import Program


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class View:
    """A row of a table; its meaning is the subclass."""

    program: Program
    row: int

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, View) or type(other) is not type(self):
            return NotImplemented
        return other.program is self.program and other.row == self.row

    def __hash__(self) -> int:
        return hash((type(self), id(self.program), self.row))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


class Type(View):
    """A type; `str` writes it as the text form does."""

    __slots__ = ()

    @property
    def kind(self) -> TypeKind:
        """Its shape."""
        return TypeKind(self.program.types.kind[self.row])

    @property
    def name(self) -> str:
        """The name of a struct, or the empty text."""
        return self.program.strings[int(self.program.types.name[self.row])]

    @property
    def bits(self) -> int:
        """Width, number of elements or address space, as `TypeKind` says."""
        return int(self.program.types.bits[self.row])

    @property
    def size_bytes(self) -> int:
        """Bytes from one to the next in an array; -1 where unsized."""
        return int(self.program.types.size[self.row])

    @property
    def elements(self) -> list[Type]:
        """Fields, element, or result and parameters."""
        return [Type(self.program, t) for t in self.program.types.elements_of(self.row).tolist()]

    @property
    def offsets_bytes(self) -> list[int]:
        """Where each field of a struct starts."""
        offsets: list[int] = self.program.types.field_offsets_of(self.row).tolist()
        return offsets

    def __str__(self) -> str:
        return self.program.printer.types[self.row]


class Value(View):
    """Something an operand can name."""

    __slots__ = ()
    kind: ValueKind

    @property
    def id(self) -> int:
        """Its number among all values."""
        return self.program.value(self.kind, self.row)

    @property
    def type(self) -> Type:
        """Its type; of a global, the type of its address."""
        return Type(self.program, int(self.program.value_types[self.id]))

    @property
    def users(self) -> list[Instruction]:
        """The instructions that name it, once per operand."""
        offsets, users = self.program.users
        rows = users[offsets[self.id] : offsets[self.id + 1]].tolist()
        return [instruction_view(self.program, row) for row in rows]

    @property
    def variables(self) -> list[str]:
        """The variables of the source that this value is, or is the address of, at some point."""
        return self.program.variables_of(self.id)

    @property
    def variable(self) -> str | None:
        """The first of `variables`, or None."""
        found = self.variables
        return found[0] if found else None


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
        return value_view(self.program, value) if value >= 0 else None

    @property
    def span(self) -> Span | None:
        """Where the source defines it."""
        return span_of(self.program, int(self.program.globals.span[self.row]))

    @property
    def function(self) -> Function | None:
        """The function it is, if it is one."""
        row = int(self.program.globals.function[self.row])
        return Function(self.program, row) if row >= 0 else None

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
        return [value_view(self.program, value) for value in values]

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
        return Function(self.program, int(np.searchsorted(offsets, self.row, side="right")) - 1)

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


class Block(Value):
    """A basic block."""

    __slots__ = ()
    kind = ValueKind.BLOCK

    @property
    def function(self) -> Function:
        """The function it belongs to."""
        return Function(self.program, int(self.program.blocks.function[self.row]))

    @property
    def index(self) -> int:
        """Its place in the function; 0 is the entry."""
        return self.row - int(self.program.function_table.block_offsets[self.function.row])

    @property
    def name(self) -> str:
        """Its name in text, without the sign; no two blocks of a function share it."""
        return self.program.names.of_function(self.function.row).blocks[self.index]

    @property
    def instructions(self) -> Rows[Instruction]:
        """Its instructions."""
        first, end = self.program.blocks.instruction_offsets[self.row : self.row + 2].tolist()
        return Rows(self.program, range(first, end), instruction_view)

    @property
    def terminator(self) -> Instruction | None:
        """Its last instruction, if that ends a block."""
        instructions = self.instructions
        last = instructions[-1] if len(instructions) else None
        return last if last is not None and last.opcode in TERMINATORS else None

    @property
    def successors(self) -> list[Block]:
        """Where control may go from here, once per jump."""
        offsets, targets = self.program.successors
        rows = targets[offsets[self.row] : offsets[self.row + 1]].tolist()
        return [Block(self.program, row) for row in rows]

    @property
    def predecessors(self) -> list[Block]:
        """Where control may come from, once per jump."""
        offsets, sources = self.program.predecessors
        rows = sources[offsets[self.row] : offsets[self.row + 1]].tolist()
        return [Block(self.program, row) for row in rows]

    def __str__(self) -> str:
        return f"^{self.name}"


class Instruction(Value):
    """An instruction; `str` writes it as the text form does, without its place."""

    __slots__ = ()
    kind = ValueKind.INSTRUCTION

    @property
    def opcode(self) -> Opcode:
        """What it does."""
        return Opcode(self.program.instructions.opcode[self.row])

    @property
    def operands(self) -> list[Value]:
        """What it does it to, in the order that `Opcode` states."""
        values = self.program.instructions.operands_of(self.row).tolist()
        return [value_view(self.program, value) for value in values]

    @property
    def about(self) -> Type | None:
        """Source element, allocated or function type."""
        row = int(self.program.instructions.about[self.row])
        return Type(self.program, row) if row >= 0 else None

    @property
    def flags(self) -> Flag:
        """Its modifiers; the bits of an ordering are among them."""
        return Flag(int(self.program.instructions.flags[self.row]))

    @property
    def block(self) -> Block:
        """The block it stands in."""
        return Block(self.program, int(self.program.instructions.block[self.row]))

    @property
    def function(self) -> Function:
        """The function it stands in."""
        return self.block.function

    @property
    def span(self) -> Span | None:
        """Where it stands in the source."""
        return span_of(self.program, int(self.program.instructions.span[self.row]))

    @property
    def name(self) -> str:
        """The name of its result in text, without the sign; empty where there is none."""
        function = self.function
        first = self.program.blocks.instruction_offsets[function.blocks[0].row]
        return self.program.names.of_function(function.row).instructions[self.row - int(first)]

    def __str__(self) -> str:
        return self.program.printer.body(self.function.row).instruction(self.row)


class Call(Instruction):
    """A call, invoke or callbr."""

    __slots__ = ()

    @property
    def callee(self) -> Value:
        """The function called, or the pointer to one."""
        return self.operands[0]

    @property
    def arguments(self) -> list[Value]:
        """What is passed."""
        return [value for value in self.operands[1:] if not isinstance(value, Block)]


class Function(View):
    """A function, defined or declared."""

    __slots__ = ()

    @property
    def value(self) -> Global:
        """The global that stands for it in operands."""
        return Global(self.program, int(self.program.function_table.value[self.row]))

    @property
    def name(self) -> str:
        """Its symbol."""
        return self.value.name

    @property
    def source_name(self) -> str:
        """Its name in the source, or the empty text."""
        return self.value.source_name

    @property
    def linkage(self) -> Linkage:
        """Who may see and replace it."""
        return self.value.linkage

    @property
    def is_declaration(self) -> bool:
        """Whether it has no body here."""
        return not self.blocks

    @property
    def address_taken(self) -> bool:
        """Whether it is used other than as a callee."""
        return self.value.address_taken

    @property
    def span(self) -> Span | None:
        """Where the source defines it."""
        return self.value.span

    @property
    def type(self) -> Type:
        """Its function type."""
        return self.value.content

    @property
    def arguments(self) -> Rows[Argument]:
        """Its formal arguments."""
        first, end = self.program.function_table.argument_offsets[self.row : self.row + 2].tolist()
        return Rows(self.program, range(first, end), Argument)

    @property
    def blocks(self) -> Rows[Block]:
        """Its basic blocks; the first is the entry, a declaration has none."""
        first, end = self.program.function_table.block_offsets[self.row : self.row + 2].tolist()
        return Rows(self.program, range(first, end), Block)

    @property
    def instructions(self) -> Iterator[Instruction]:
        """All its instructions, block by block."""
        return (instruction for block in self.blocks for instruction in block.instructions)

    def __str__(self) -> str:
        return str(self.value)


_VIEWS: dict[ValueKind, type[Value]] = {
    ValueKind.GLOBAL: Global,
    ValueKind.CONSTANT: Constant,
    ValueKind.ARGUMENT: Argument,
    ValueKind.BLOCK: Block,
}


def value_view(program: Program, value: int) -> Value:
    """Return the view of a value."""
    kind, row = program.locate(value)
    if kind == ValueKind.INSTRUCTION:
        return instruction_view(program, row)
    return _VIEWS[kind](program, row)


def instruction_view(program: Program, row: int) -> Instruction:
    """Return the view of an instruction, a `Call` where it is one."""
    is_call = program.instructions.opcode[row] in CALLS
    return Call(program, row) if is_call else Instruction(program, row)


def span_of(program: Program, row: int) -> Span | None:
    """Return a row of the spans as a span, or None for -1."""
    if row < 0:
        return None
    table = program.spans
    file = program.strings[int(table.file[row])]
    return Span(file, int(table.line[row]), int(table.column[row]))
