"""The columns of a program: every table is a frozen bundle of NumPy arrays, ids are dense.

**Values.** Globals, constants, arguments, blocks and instructions share one numbering, in that
order (`codes.ValueKind`): value `v` is a global if `v < n_globals`, then come the constants, and so
on. An operand is a value id. An instruction has a value id even where its type is void.

**Order.** Blocks of a function are consecutive, and so are the instructions of a block and the
arguments of a function; offsets (CSR) give each one's first.

**Symbols.** All text (names, string literals, inline assembly) lives in `Strings`; symbol 0 is
empty.

**Meaning.** A column's annotation says what its numbers are: ids (`To`), CSR offsets (`Into`), or
the codes of an enumeration. Whoever renumbers or checks whole programs goes by these.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, NamedTuple, Self, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.base.arrays import I32, I64, U8, U16, U32, Bools, Ints, offsets_of
from kleene.ir.codes import (
    Binding,
    ConstantKind,
    GlobalKind,
    Linkage,
    Opcode,
    Passing,
    TypeKind,
    ValueKind,
)


class To(NamedTuple):
    """Ids: of what, and whether -1 may stand for none."""

    what: str
    or_none: bool = False
    before: ValueKind | None = None  # of values: only those of a kind before this one


class Into(NamedTuple):
    """CSR offsets: into these columns of the same table, or this table of the program."""

    items: tuple[str, ...]


Symbols = Annotated[I32, To("symbol")]
TypeIds = Annotated[I32, To("type")]
TypesOrNone = Annotated[I32, To("type", or_none=True)]
Values = Annotated[I32, To("value")]
ValuesOrNone = Annotated[I32, To("value", or_none=True)]
ConstantsOrNone = Annotated[I32, To("value", or_none=True, before=ValueKind.ARGUMENT)]
SpansOrNone = Annotated[I32, To("span", or_none=True)]
SourceTypesOrNone = Annotated[I32, To("source_type", or_none=True)]
IntoOperands = Annotated[I32, Into(("operands",))]


def _meanings(table: type[Table]) -> dict[str, Any]:
    """Return the `To`, `Into` or enumeration of each column that has one."""
    hints = get_type_hints(table, include_extras=True).items()
    return {name: hint.__metadata__[0] for name, hint in hints if get_origin(hint) is Annotated}


def _dtypes(table: type[Table]) -> list[Any]:
    """Return the element type of each column.

    Its annotation is `ndarray[shape, dtype[it]]`; `NDArray[it]` where that is an alias that Python
    keeps, as in NumPy 2.5 with Python 3.12.
    """
    last = [get_args(hint)[-1] for hint in get_type_hints(table).values()]
    return [get_args(one)[0] if get_args(one) else one for one in last]


meanings: Callable[[Any], dict[str, Any]] = cache(_meanings)
dtypes: Callable[[Any], list[Any]] = cache(_dtypes)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A bundle of columns; one without `offsets` has equally long ones."""

    def columns(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield each column's name and array."""
        for field in dataclasses.fields(self):
            yield field.name, getattr(self, field.name)

    @classmethod
    def of_columns(cls, *columns: ArrayLike) -> Self:
        """Return the table of these columns, brought to the element types of its fields."""
        pairs = zip(columns, dtypes(cls), strict=True)
        return cls(*(np.ascontiguousarray(column, dtype) for column, dtype in pairs))

    def __len__(self) -> int:
        names: tuple[str, ...] = self.__match_args__
        return len(getattr(self, names[0]))


@dataclass(frozen=True, slots=True, eq=False)
class Strings(Table):
    """Text by symbol: symbol `s` is `data[offsets[s]:offsets[s + 1]]`."""

    offsets: Annotated[I64, Into(("data",))]
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

    def begin_with(self, symbols: Ints, prefix: bytes) -> Bools:
        """Return which of the symbols begin with some bytes; a column at a time."""
        first, end = self.offsets[symbols], self.offsets[symbols.astype(np.int64) + 1]
        found: Bools = end - first >= len(prefix)
        for place, byte in enumerate(prefix):
            rows = np.flatnonzero(found)
            found[rows] = self.data[first[rows] + place] == byte
        return found

    def __getitem__(self, symbol: int) -> str:
        return self.raw(symbol).decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, eq=False)
class Types(Table):
    """Types, each once; named structs are distinct by name."""

    kind: Annotated[U8, TypeKind]
    flags: U8  # TypeFlag
    name: Symbols
    bits: I64  # width, count or address space: see TypeKind
    size: I64  # bytes from one to the next in an array; -1 where unsized
    align: I32  # bytes; 0 where unsized
    offsets: Annotated[I32, Into(("elements", "field_offset"))]
    elements: TypeIds
    field_offset: I64  # parallel to elements: bytes from the start (structs, arrays, vectors)
    source_type: SourceTypesOrNone  # what the source calls this struct, where it is one thing

    @property
    def word_bytes(self) -> int:
        """The size of a pointer."""
        pointers = np.flatnonzero(self.kind == TypeKind.POINTER)
        return int(self.size[pointers[0]]) if len(pointers) else 8

    def elements_of(self, type_id: int) -> I32:
        """Return the fields, element, or result and parameters of a type."""
        return self.elements[self.offsets[type_id] : self.offsets[type_id + 1]]

    def field_offsets_of(self, type_id: int) -> I64:
        """Return the byte offset of each element."""
        return self.field_offset[self.offsets[type_id] : self.offsets[type_id + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class SourceTypes(Table):
    """Structs, unions, classes and arrays of the source, as debug information has them.

    A struct and a union have their members, in the order of their bytes; of members of a union that
    begin at one byte, pointers come first. An unnamed member is an anonymous struct or union, or a
    base class. An array has one member, its first element.

        struct event { int kind; union { void *data; int fd; }; int at[2]; }

        event       24 bytes  kind at 0 (4 bytes), an unnamed one at 8 (the union), at at 16
        the union    8 bytes  data at 0 (8), fd at 0 (4)
        int[2]       8 bytes  of 4 each: one at 0 (4)
    """

    name: Symbols
    size: I64  # bytes
    element_bytes: I64  # of an array; 0 for all others
    offsets: Annotated[I32, Into(("member_name", "member_byte", "member_bytes", "member_type"))]
    member_name: Symbols
    member_byte: I64  # where it begins
    member_bytes: I64  # its size; of a bit-field, that of the bytes it lies in
    member_type: SourceTypesOrNone  # none for numbers and pointers


@dataclass(frozen=True, slots=True, eq=False)
class Globals(Table):
    """Global variables, functions, aliases, in the order of the text: the first value ids."""

    name: Symbols
    kind: Annotated[U8, GlobalKind]
    linkage: Annotated[U8, Linkage]
    flags: U32  # GlobalFlag
    type: TypeIds  # of what it holds: the variable's, function's or alias' type
    space: I32  # address space
    align: U8  # log2 of the bytes + 1; 0 where not stated
    initializer: ConstantsOrNone  # for an alias or ifunc its target
    function: Annotated[I32, To("function", or_none=True)]
    source_name: Symbols  # the name in the source, as debug information has it
    span: SpansOrNone
    section: Symbols  # that the source asks for; none where it does not
    source_type: SourceTypesOrNone  # of a variable


@dataclass(frozen=True, slots=True, eq=False)
class Functions(Table):
    """Functions, defined and declared; a declaration has no block."""

    value: Annotated[I32, To("global")]
    personality: ConstantsOrNone
    block_offsets: Annotated[I32, Into(("blocks",))]
    argument_offsets: Annotated[I32, Into(("arguments",))]


@dataclass(frozen=True, slots=True, eq=False)
class Arguments(Table):
    """Formal arguments; declarations have them too."""

    type: TypeIds
    name: Symbols
    flags: U16  # ArgumentFlag
    passing: Annotated[U8, Passing]
    passed_type: TypesOrNone  # type behind the pointer


@dataclass(frozen=True, slots=True, eq=False)
class Blocks(Table):
    """Basic blocks; the first of a function is its entry."""

    name: Symbols
    function: Annotated[I32, To("function")]
    instruction_offsets: Annotated[I32, Into(("instructions",))]


@dataclass(frozen=True, slots=True, eq=False)
class Instructions(Table):
    """Instructions in program order."""

    opcode: Annotated[U8, Opcode]
    sub: U8  # predicate, atomic operation or failure ordering
    align: U8  # log2 of the bytes + 1; 0 where not stated
    flags: U32  # Flag, and an Ordering in bits 24 to 26
    type: TypeIds  # of the result
    about: TypesOrNone  # source element, allocated or function type
    block: Annotated[I32, To("block")]
    name: Symbols
    span: SpansOrNone
    offsets: IntoOperands
    operands: Values

    def operands_of(self, instruction: int) -> I32:
        """Return the operands of an instruction."""
        return self.operands[self.offsets[instruction] : self.offsets[instruction + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Constants(Table):
    """Constants, each once: equal constants have equal ids."""

    kind: Annotated[U8, ConstantKind]
    opcode: Annotated[U8, Opcode]  # of an expression
    flags: U32  # Flag
    type: TypeIds
    about: I32
    payload: I64
    offsets: IntoOperands
    operands: Annotated[I32, To("value", before=ValueKind.INSTRUCTION)]

    def operands_of(self, constant: int) -> I32:
        """Return the operands of a constant."""
        return self.operands[self.offsets[constant] : self.offsets[constant + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Spans(Table):
    """Source places."""

    file: Symbols  # the path
    line: I32
    column: I32
    scope: Symbols  # the function, as the source names it
    inlined_at: SpansOrNone


@dataclass(frozen=True, slots=True, eq=False)
class Variables(Table):
    """Local variables and parameters of the source."""

    name: Symbols
    function: Annotated[I32, To("function")]  # they are bound in; after inlining, the caller
    argument: I32  # 1 for the first parameter of the source, 0 for a local variable
    span: SpansOrNone
    source_type: SourceTypesOrNone
    is_pointer: U8  # 1: `source_type` is that of what it points to


@dataclass(frozen=True, slots=True, eq=False)
class Bindings(Table):
    """Which value is which variable, and from where on."""

    variable: Annotated[I32, To("variable")]
    kind: Annotated[U8, Binding]
    exact: U8  # 0 where the variable is computed from the value (part of it, behind it)
    value: ValuesOrNone
    before: Annotated[I32, To("instruction")]  # in front of which it takes effect


@dataclass(frozen=True, slots=True, eq=False)
class Bundles(Table):
    """Operand bundles of calls (assumptions and the like)."""

    instruction: Annotated[I32, To("instruction")]
    tag: Symbols
    offsets: IntoOperands
    operands: Values


@dataclass(frozen=True, slots=True, eq=False)
class Passed(Table):
    """Actual arguments that a call passes as a struct behind a pointer."""

    operand: Annotated[I32, To("operand")]
    passing: Annotated[U8, Passing]
    type: TypeIds


@dataclass(frozen=True, slots=True, eq=False)
class AddressPoints(Table):
    """Where in a virtual table of C++ objects may point, by class: LLVM's type metadata.

    The type is a text of metadata, as in the `llvm.type.test` of a virtual call: `!"_ZTS4Base"`.
    """

    table: Annotated[I32, To("global")]
    byte: I64
    type: Symbols


@dataclass(frozen=True, slots=True, eq=False)
class Notices(Table):
    """What the reader did not understand, counted."""

    text: Symbols
    count: I64
