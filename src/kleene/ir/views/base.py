"""What all views share, sequences of views made when asked for, and views of types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, overload

from kleene.base.errors import Span
from kleene.ir.codes import TypeKind, ValueKind

if TYPE_CHECKING:
    from kleene.ir.program import Program
    from kleene.ir.views.code import Function, Instruction


Item = TypeVar("Item")


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
        return [self.program.instruction_view(row) for row in rows]

    @property
    def variables(self) -> list[str]:
        """The variables of the source that this value is, or is the address of, at some point."""
        return self.program.variables_of(self.id)

    @property
    def variable(self) -> str | None:
        """The first of `variables`, or None."""
        found = self.variables
        return found[0] if found else None


def span_of(program: Program, row: int) -> Span | None:
    """Return a row of the spans as a span, or None for -1."""
    if row < 0:
        return None
    table = program.spans
    file = program.strings[int(table.file[row])]
    return Span(file, int(table.line[row]), int(table.column[row]))


class Rows(Sequence[Item]):
    """Consecutive rows of a table, as views."""

    def __init__(self, program: Program, rows: range, view: Callable[[Program, int], Item]) -> None:
        self._program, self._rows, self._view = program, rows, view

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Rows[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Rows[Item]:
        chosen = self._rows[index]
        if isinstance(chosen, range):
            return Rows(self._program, chosen, self._view)
        return self._view(self._program, chosen)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"[{', '.join(map(str, self))}]"


class FunctionRows(Rows["Function"]):
    """The functions of a program, by place or by name; it goes through functions, not names."""

    @overload
    def __getitem__(self, index: int | str) -> Function: ...
    @overload
    def __getitem__(self, index: slice) -> Rows[Function]: ...
    def __getitem__(self, index: int | str | slice) -> Function | Rows[Function]:
        if not isinstance(index, str):
            return super().__getitem__(index)
        found = self.get(index)
        if found is None:
            raise KeyError(f"the program has no function '{index}'")
        return found

    def get(self, name: str) -> Function | None:
        """Return the function of that name, or None."""
        row = self._by_name.get(name.encode("utf-8", "surrogateescape"))
        return None if row is None else self._view(self._program, row)

    def __contains__(self, item: object) -> bool:
        return self.get(item) is not None if isinstance(item, str) else super().__contains__(item)

    @cached_property
    def _by_name(self) -> dict[bytes, int]:
        symbols = self._program.globals.name[self._program.function_table.value].tolist()
        return {self._program.strings.raw(symbol): row for row, symbol in enumerate(symbols)}
