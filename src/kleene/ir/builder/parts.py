"""The parts a builder hands out: values that know their type, filled in any order.

They get their numbers only when the builder finishes, so a phi may name a value made later.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kleene.ir.builder.types import NO_TYPE, Text, TypeMaker
from kleene.ir.codes import (
    BINARY,
    CALLS,
    WITHOUT_RESULT,
    ArgumentFlag,
    Binding,
    ConstantKind,
    GlobalFlag,
    GlobalKind,
    Linkage,
    Opcode,
    Passing,
)

NO_SPAN = -1

_LIKE_FIRST = BINARY | {
    Opcode.FNEG,
    Opcode.FREEZE,
    Opcode.INSERTVALUE,
    Opcode.INSERTELEMENT,
    Opcode.GETELEMENTPTR,
}
_LIKE_SECOND = {Opcode.SELECT, Opcode.ATOMICRMW}


@dataclass(slots=True, eq=False)
class Value:
    """Something an operand can name; `type` is that of the value, a pointer for globals."""

    type: int
    id: int = field(default=-1, init=False)  # set when the builder finishes


@dataclass(slots=True, eq=False)
class Constant(Value):
    """A constant; the fields are those of `tables.Constants`."""

    kind: ConstantKind
    operands: tuple[Value, ...] = ()
    payload: int = 0
    about: int = -1
    opcode: int = 0
    flags: int = 0


@dataclass(slots=True, eq=False)
class Argument(Value):
    """A formal argument."""

    name: Text = ""
    flags: int = ArgumentFlag(0)
    passing: Passing = Passing.DIRECT
    passed_type: int = NO_TYPE


@dataclass(slots=True, eq=False)
class Global(Value):
    """A global variable, function, alias or ifunc; `content` is the type of what it holds."""

    name: Text
    kind: GlobalKind
    content: int
    initializer: Value | None = None
    linkage: Linkage = Linkage.EXTERNAL
    flags: int = GlobalFlag(0)
    space: int = 0
    align: int = 0  # bytes; 0 where not stated
    source_name: Text = ""
    span: int = NO_SPAN
    section: Text = ""
    source_type: int = NO_TYPE
    address_points: list[tuple[int, Text]] = field(default_factory=list)  # byte, type


@dataclass(slots=True, eq=False)
class Variable:
    """A variable of the source; `argument` is 1 for its function's first parameter."""

    name: Text
    argument: int = 0
    span: int = NO_SPAN
    source_type: int = NO_TYPE
    is_pointer: bool = False
    row: int = field(default=-1, init=False)


@dataclass(slots=True, eq=False)
class Member:
    """A member of a struct, or an element of an array, of the source."""

    name: Text
    byte: int
    n_bytes: int
    source_type: int = NO_TYPE


@dataclass(slots=True, eq=False)
class SourceType:
    """A struct, union or (with `element_bytes`) array of the source: see `tables.SourceTypes`."""

    name: Text
    size: int
    members: list[Member]
    element_bytes: int = 0


@dataclass(slots=True, eq=False)
class Bundle:
    """An operand bundle of a call."""

    tag: Text
    operands: tuple[Value, ...] = ()


@dataclass(slots=True, eq=False)
class Instruction(Value):
    """An instruction; its operands may be filled later."""

    opcode: Opcode
    operands: list[Value] = field(default_factory=list)
    about: int = NO_TYPE
    flags: int = 0  # Flag, and an Ordering in its bits
    sub: int = 0
    align: int = 0  # bytes; 0 where not stated
    name: Text = ""
    span: int = NO_SPAN
    bundles: list[Bundle] = field(default_factory=list)
    passed: dict[int, tuple[Passing, int]] = field(default_factory=dict)  # by operand

    def incoming(self, value: Value, block: Block) -> Instruction:
        """Add a value and the block it comes from to this phi; return the phi."""
        self.operands += (value, block)
        return self


@dataclass(slots=True, eq=False)
class Bound:
    """A variable tied to a value in front of an instruction of a block."""

    variable: Variable
    value: Value | None
    kind: Binding
    exact: bool
    before: int


@dataclass(slots=True, eq=False)
class Block(Value):
    """A basic block under construction."""

    types: TypeMaker
    name: Text = ""
    instructions: list[Instruction] = field(default_factory=list)
    bindings: list[Bound] = field(default_factory=list)

    def add(
        self,
        opcode: Opcode,
        *operands: Value,
        type: int | None = None,
        about: int = NO_TYPE,
        flags: int = 0,
        sub: int = 0,
        align: int = 0,
        name: Text = "",
        span: int = NO_SPAN,
    ) -> Instruction:
        """Return a new instruction at the end of the block.

        The result type need not be stated where the operands or `about` settle it; a call of a
        function of this program needs no `about`.
        """
        if opcode in CALLS and about == NO_TYPE and isinstance(operands[0], Global):
            about = operands[0].content
        if type is None:
            type = self._result(opcode, operands, about)
        new = Instruction(
            type, opcode, list(operands), about, int(flags), int(sub), align, name, span
        )
        self.instructions.append(new)
        return new

    def bind(
        self,
        variable: Variable,
        value: Value | None,
        kind: Binding = Binding.VALUE,
        *,
        exact: bool = True,
    ) -> None:
        """Tie a variable to a value in front of the next instruction; None: its value is lost."""
        self.bindings.append(Bound(variable, value, kind, exact, len(self.instructions)))

    def _result(self, opcode: Opcode, operands: tuple[Value, ...], about: int) -> int:
        if opcode in _LIKE_FIRST:
            return operands[0].type
        if opcode in _LIKE_SECOND:
            return operands[1].type
        if opcode in (Opcode.ICMP, Opcode.FCMP):
            return self.types.like(operands[0].type, self.types.bit)
        if opcode in CALLS:
            return self.types.elements(about)[0]
        if opcode == Opcode.ALLOCA:
            return self.types.pointer()
        assert opcode in WITHOUT_RESULT, f"the result type of {opcode.name} must be stated"
        return self.types.void


@dataclass(slots=True, eq=False)
class Function(Global):
    """A function; without a block it is a declaration."""

    types: TypeMaker = field(kw_only=True)
    personality: Value | None = None
    arguments: list[Argument] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)

    def block(self, name: Text = "") -> Block:
        """Return a new block at the end of the function."""
        self.blocks.append(Block(self.types.label, self.types, name))
        return self.blocks[-1]

    def variable(
        self,
        name: Text,
        *,
        argument: int = 0,
        span: int = NO_SPAN,
        source_type: int = NO_TYPE,
        is_pointer: bool = False,
    ) -> Variable:
        """Return a new variable of the source, the `argument`-th parameter or (0) a local one."""
        self.variables.append(Variable(name, argument, span, source_type, is_pointer))
        return self.variables[-1]
