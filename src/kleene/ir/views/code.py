"""Views of code: functions, blocks, instructions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kleene.base.errors import Span
from kleene.ir.codes import CALLS, TERMINATORS, Flag, Linkage, Opcode, ValueKind
from kleene.ir.views.base import Rows, Type, Value, View, span_of
from kleene.ir.views.data import Argument, Constant, Global

if TYPE_CHECKING:
    from kleene.ir.program import Program


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
