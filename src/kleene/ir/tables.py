"""The columns of a program: every table is a frozen bundle of NumPy arrays, ids are dense.

**Values.** Globals, constants, arguments, blocks and instructions share one numbering, in that
order (`codes.ValueKind`): value `v` is a global if `v < n_globals`, then come the constants, and so
on. An operand is a value id. An instruction has a value id even where its type is void.

**Order.** Blocks of a function are consecutive, and so are the instructions of a block and the
arguments of a function; offsets (CSR) give each one's first.

**Symbols.** All text (names, string literals, inline assembly) lives in `Strings`; symbol 0 is
empty.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32, I64, U8, U16, U32, offsets_of


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A bundle of columns; one without `offsets` has equally long ones."""

    def columns(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield each column's name and array."""
        for field in dataclasses.fields(self):
            yield field.name, getattr(self, field.name)

    def __len__(self) -> int:
        _, first = next(self.columns())
        return len(first)


@dataclass(frozen=True, slots=True, eq=False)
class Strings(Table):
    """Text by symbol: symbol `s` is `data[offsets[s]:offsets[s + 1]]`."""

    offsets: I64
    data: U8

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> Strings:
        """Return the table of the given texts, in their order; the first should be empty."""
        return cls(
            offsets_of([len(text) for text in texts]), np.frombuffer(b"".join(texts), np.uint8)
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def raw(self, symbol: int) -> bytes:
        """Return the bytes of a symbol."""
        return self.data[self.offsets[symbol] : self.offsets[symbol + 1]].tobytes()

    def __getitem__(self, symbol: int) -> str:
        return self.raw(symbol).decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, eq=False)
class Types(Table):
    """Types, each once; named structs are distinct by name."""

    kind: U8  # TypeKind
    flags: U8  # TypeFlag
    name: I32  # symbol
    bits: I64  # width, count or address space: see TypeKind
    size: I64  # bytes from one to the next in an array; -1 where unsized
    align: I32  # bytes; 0 where unsized
    offsets: I32  # into elements; one longer than the other columns
    elements: I32  # types
    field_offset: I64  # parallel to elements: bytes from the start (structs, arrays, vectors)

    def elements_of(self, type_id: int) -> I32:
        """Return the fields, element, or result and parameters of a type."""
        return self.elements[self.offsets[type_id] : self.offsets[type_id + 1]]

    def field_offsets_of(self, type_id: int) -> I64:
        """Return the byte offset of each element."""
        return self.field_offset[self.offsets[type_id] : self.offsets[type_id + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Globals(Table):
    """Global variables, functions, aliases, in the order of the text: the first value ids."""

    name: I32  # symbol
    kind: U8  # GlobalKind
    linkage: U8  # Linkage
    flags: U32  # GlobalFlag
    type: I32  # of what it holds: the variable's, function's or alias' type
    space: I32  # address space
    align: U8  # log2 of the bytes + 1; 0 where not stated
    initializer: I32  # value; for an alias or ifunc its target; -1 where there is none
    function: I32  # row in Functions; -1 if it is none
    source_name: I32  # symbol: the name in the source, as debug information has it
    span: I32  # row in Spans; -1 where unknown


@dataclass(frozen=True, slots=True, eq=False)
class Functions(Table):
    """Functions, defined and declared; a declaration has no block."""

    value: I32  # its global
    personality: I32  # value; -1 where there is none
    block_offsets: I32  # n + 1
    argument_offsets: I32  # n + 1


@dataclass(frozen=True, slots=True, eq=False)
class Arguments(Table):
    """Formal arguments; declarations have them too."""

    type: I32
    name: I32  # symbol
    flags: U16  # ArgumentFlag
    passing: U8  # Passing
    passed_type: I32  # type behind the pointer, or -1


@dataclass(frozen=True, slots=True, eq=False)
class Blocks(Table):
    """Basic blocks; the first of a function is its entry."""

    name: I32  # symbol
    function: I32
    instruction_offsets: I32  # n + 1


@dataclass(frozen=True, slots=True, eq=False)
class Instructions(Table):
    """Instructions in program order."""

    opcode: U8  # Opcode
    sub: U8  # predicate, atomic operation or failure ordering
    align: U8  # log2 of the bytes + 1; 0 where not stated
    flags: U32  # Flag, and an Ordering in bits 24 to 26
    type: I32  # of the result
    about: I32  # source element, allocated or function type; -1 where there is none
    block: I32
    name: I32  # symbol
    span: I32  # row in Spans; -1 where unknown
    offsets: I32  # n + 1, into operands
    operands: I32  # values

    def operands_of(self, instruction: int) -> I32:
        """Return the operands of an instruction."""
        return self.operands[self.offsets[instruction] : self.offsets[instruction + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Constants(Table):
    """Constants, each once: equal constants have equal ids."""

    kind: U8  # ConstantKind
    opcode: U8  # Opcode of an expression
    flags: U32  # Flag
    type: I32
    about: I32
    payload: I64
    offsets: I32  # n + 1, into operands
    operands: I32  # values

    def operands_of(self, constant: int) -> I32:
        """Return the operands of a constant."""
        return self.operands[self.offsets[constant] : self.offsets[constant + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Spans(Table):
    """Source places."""

    file: I32  # symbol of the path
    line: I32
    column: I32
    scope: I32  # symbol: the function, as the source names it
    inlined_at: I32  # row in Spans; -1 where not inlined


@dataclass(frozen=True, slots=True, eq=False)
class Variables(Table):
    """Local variables and parameters of the source."""

    name: I32  # symbol
    function: I32  # the function they are bound in (after inlining, the caller)
    argument: I32  # 1 for the first parameter of the source, 0 for a local variable
    span: I32


@dataclass(frozen=True, slots=True, eq=False)
class Bindings(Table):
    """Which value is which variable, and from where on."""

    variable: I32
    kind: U8  # codes.Binding
    exact: U8  # 0 where the variable is computed from the value (part of it, behind it)
    value: I32
    before: I32  # the instruction in front of which the binding takes effect


@dataclass(frozen=True, slots=True, eq=False)
class Bundles(Table):
    """Operand bundles of calls (assumptions and the like)."""

    instruction: I32
    tag: I32  # symbol
    offsets: I32  # n + 1, into operands
    operands: I32


@dataclass(frozen=True, slots=True, eq=False)
class Passed(Table):
    """Actual arguments that a call passes as a struct behind a pointer."""

    operand: I32  # position in Instructions.operands
    passing: U8  # Passing
    type: I32


@dataclass(frozen=True, slots=True, eq=False)
class Notices(Table):
    """What the reader did not understand, counted."""

    text: I32  # symbol
    count: I64
