"""A function's body out of its lines."""

from __future__ import annotations

from kleene.base.errors import Span
from kleene.ir.builder import (
    NO_SPAN,
    NO_TYPE,
    Block,
    Bundle,
    Function,
    Global,
    Instruction,
    Value,
    Variable,
)
from kleene.ir.codes import CALLS, Binding, Opcode, Passing
from kleene.ir.text.lexer import Line, symbol_of
from kleene.ir.text.operands import Operands
from kleene.ir.text.places import Places
from kleene.ir.text.words import BINDINGS, OPCODES, PASSINGS, SUBS

_WITH_LEADING_TYPE = (Opcode.ALLOCA, Opcode.GETELEMENTPTR)


class BodyParser:
    """Reads the lines between a function's braces, one by one."""

    def __init__(self, operands: Operands, places: Places, function: Function) -> None:
        self._operands, self._places, self._function = operands, places, function
        self._block: Block | None = None
        self._values: dict[str, Value] = {}
        self._blocks: dict[str, Block] = {}
        self._variables: dict[str, Variable] = {}
        self._unseen: dict[str, Span] = {}  # named but not defined yet, and where
        self.calls_of_globals: list[tuple[Instruction, Global, Span]] = []

    def add_argument(self, name: str, argument: Value) -> None:
        """Make an argument known by its written name."""
        self._values[name] = argument

    def line(self, line: Line) -> None:
        """Read one line."""
        if line.kind == "name" and line.text[0] == "^":
            self._label(line)
        elif line.kind == "name" and line.text[0] == "#":
            self._binding(line)
        elif line.accept("var"):
            self._variable(line)
        else:
            self._instruction(line)
        line.end()

    def undefined(self) -> dict[str, Span]:
        """Return the names that were used and never defined, and where."""
        return self._unseen

    def local(self, line: Line) -> Value:
        """Return the local named here, which may be defined later."""
        if line.text[0] == "^":
            return self.block(line)
        if line.text not in self._values:
            self._unseen[line.text] = line.span()
            self._values[line.text] = Instruction(NO_TYPE, Opcode.OPAQUE)
        return self._values[line.advance()]

    def block(self, line: Line) -> Block:
        """Return the block named here, which may be defined later."""
        span, name = line.span(), line.name("^", "a block")
        if name not in self._blocks:
            types = self._operands.types
            self._unseen[name] = span
            self._blocks[name] = Block(types.label, types, symbol_of(name))
        return self._blocks[name]

    def _define(self, line: Line, known: dict[str, Value] | dict[str, Block]) -> None:
        """Check that the name here is not defined twice."""
        if line.text in known and line.text not in self._unseen:
            line.fail(f"{line.seen()} is defined twice in this function")

    def _label(self, line: Line) -> None:
        name = line.text
        self._define(line, self._blocks)
        self._block = self.block(line)
        self._unseen.pop(name, None)
        self._function.blocks.append(self._block)
        line.expect(":")

    def _variable(self, line: Line) -> None:
        if line.text in self._variables:
            line.fail(f"{line.seen()} is defined twice in this function")
        name = line.name("#", "a variable")
        variable = self._function.variable(symbol_of(name))
        variable.argument = line.integer("a number") if line.accept("parameter") else 0
        if line.accept("described"):
            variable.is_pointer = line.accept("to")
            variable.source_type = line.integer("the number of a described type")
        variable.span = self._place(line)
        self._variables[name] = variable

    def _binding(self, line: Line) -> None:
        if line.text not in self._variables:
            line.fail(f"{line.seen()} is not declared by a 'var' line of this function")
        variable = self._variables[line.advance()]
        if line.text not in BINDINGS:
            line.fail(f"one of {', '.join(BINDINGS)} is missing, here stands {line.seen()}")
        sign = line.advance()
        exact, lost = not line.accept("via"), line.accept("?")
        value = None if lost else self._operands.operand(line)
        kind = Binding(BINDINGS.index(sign))
        self._in_block(line).bind(variable, value, kind, exact=exact)

    def _in_block(self, line: Line) -> Block:
        if self._block is None:
            line.fail("a block ('^name:') must come first")
        return self._block

    def _instruction(self, line: Line) -> None:
        block = self._in_block(line)
        instruction = Instruction(self._operands.types.void, Opcode.OPAQUE)
        if line.kind == "name":
            instruction = self._result(line)
        if line.kind != "word" or line.text not in OPCODES:
            line.fail(f"{line.seen()} is no instruction")
        opcode = instruction.opcode = Opcode(OPCODES[line.advance()])
        instruction.flags = self._operands.flags(line)
        if opcode in SUBS:
            instruction.sub = self._operands.sub(line, opcode)
        if opcode in CALLS:
            self._call(line, instruction)
        elif opcode == Opcode.PHI:
            self._phi(line, instruction)
        elif opcode == Opcode.SWITCH:
            self._switch(line, instruction)
        else:
            self._plain(line, instruction)
        instruction.span = self._place(line)
        block.instructions.append(instruction)

    def _result(self, line: Line) -> Instruction:
        name = line.text
        self._define(line, self._values)
        instruction = self.local(line)
        self._unseen.pop(name, None)
        assert isinstance(instruction, Instruction), "arguments are defined by the signature"
        instruction.name = symbol_of(name)
        line.expect(":")
        instruction.type = self._operands.type(line)
        line.expect("=")
        return instruction

    def _plain(self, line: Line, instruction: Instruction) -> None:
        """Read operands between commas, then `as type` and `align n`."""
        more = line.kind != "end" and line.text not in ("!", "as", "align")
        if instruction.opcode in _WITH_LEADING_TYPE:
            instruction.about = NO_TYPE if line.accept("?") else self._operands.type(line)
            more = line.accept(",")
        while more and line.text != "align":
            instruction.operands.append(self._operands.operand(line, instruction.type))
            more = line.accept(",")
        if instruction.opcode == Opcode.ALLOCA and not instruction.operands:
            one = self._operands.builder.integer(self._operands.types.integer(32), 1)
            instruction.operands.append(one)
        if line.accept("as"):
            instruction.about = self._operands.type(line)
            line.accept(",")
        self._align(line, instruction)

    def _align(self, line: Line, instruction: Instruction) -> None:
        if line.accept("align"):
            instruction.align = line.integer("an alignment in bytes")

    def _phi(self, line: Line, instruction: Instruction) -> None:
        while line.accept("["):
            instruction.operands.append(self._operands.operand(line, instruction.type))
            line.expect(",")
            instruction.operands.append(self._operands.operand(line))
            line.expect("]")
            if not line.accept(","):
                break

    def _switch(self, line: Line, instruction: Instruction) -> None:
        instruction.operands.append(self._operands.operand(line))
        line.expect(",")
        instruction.operands.append(self._operands.operand(line))
        line.expect("[")
        for case in line.items("]", self._case):
            instruction.operands += case

    def _case(self, line: Line) -> tuple[Value, Value]:
        value = self._operands.operand(line)
        line.expect(":")
        return value, self._operands.operand(line)

    def _call(self, line: Line, instruction: Instruction) -> None:
        callee = self._operands.operand(line, instruction.type)
        instruction.operands.append(callee)
        line.expect("(")
        line.items(")", lambda line: self._argument(line, instruction))
        if line.accept("as"):
            instruction.about = NO_TYPE if line.accept("?") else self._operands.type(line)
        elif isinstance(callee, Global):
            self.calls_of_globals.append((instruction, callee, line.span()))
        else:
            line.fail("'as' and the function's type are missing: the callee does not tell it")
        while line.accept("with"):
            tag = line.string("a bundle's tag")
            line.expect("(")
            values = tuple(line.items(")", self._operands.operand))
            instruction.bundles.append(Bundle(tag, values))
        if line.accept("to"):
            instruction.operands.append(self._operands.operand(line))
            while line.accept("unwind" if instruction.opcode == Opcode.INVOKE else ","):
                instruction.operands.append(self._operands.operand(line))

    def _argument(self, line: Line, instruction: Instruction) -> None:
        if line.kind == "word" and line.text in PASSINGS:
            passing = Passing(PASSINGS[line.advance()])
            line.expect("(")
            instruction.passed[len(instruction.operands)] = passing, self._operands.type(line)
            line.expect(")")
        instruction.operands.append(self._operands.operand(line, instruction.type))

    def _place(self, line: Line) -> int:
        return self._places.read_in(line, self._function) if line.accept("!") else NO_SPAN
