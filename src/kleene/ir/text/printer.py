"""A program as text, one function at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from kleene.base.arrays import I32
from kleene.ir.codes import GlobalFlag, GlobalKind, Linkage, Passing, TypeFlag, TypeKind
from kleene.ir.names import default_source_name, joined, quoted
from kleene.ir.text.body import Body
from kleene.ir.text.spans import SpanText
from kleene.ir.text.values import ConstantText, TypeText
from kleene.ir.text.words import (
    KEYWORDS,
    LINKAGE_WORDS,
    PASSING_WORDS,
    argument_words,
    global_words,
)

if TYPE_CHECKING:
    from kleene.ir.program import Program

_REMEMBERED_BODIES = 4


class Printer:
    """Writes the parts of a program; what it has written of types and constants it remembers."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.types = TypeText(program)
        self.constants = ConstantText(program, self.types)
        self.body = lru_cache(_REMEMBERED_BODIES)(self._body)

    @cached_property
    def _spans(self) -> SpanText:
        return SpanText(self._program)

    def program(self) -> Iterator[str]:
        """Yield the whole program: head, types, then globals and functions in their order."""
        yield self.head()
        yield from self._type_definitions()
        yield from self._source_types()
        was_variable = False
        for row in range(len(self._program.globals)):
            is_function = self._program.globals.kind[row] == GlobalKind.FUNCTION
            if is_function or not was_variable:
                yield "\n"
            was_variable = not is_function
            function = int(self._program.globals.function[row])
            yield self.function(function) if is_function else self._variable(row) + "\n"

    def head(self) -> str:
        """Return the name, the target and the notices."""
        program = self._program
        lines = [
            f"program {quoted(program.name.encode())}",
            f"triple {quoted(program.triple.encode())}",
            f"layout {quoted(program.data_layout.encode())}",
        ]
        table = program.notice_table
        for text, count in zip(table.text.tolist(), table.count.tolist(), strict=True):
            lines.append(f"notice {count} {quoted(program.strings.raw(text))}")
        return "\n".join(lines) + "\n"

    def _type_definitions(self) -> Iterator[str]:
        """Yield the named structs, with size and field offsets as a comment."""
        table = self._program.types
        rows = np.flatnonzero((table.kind == TypeKind.STRUCT) & (table.name != 0)).tolist()
        if rows:
            yield "\n"
        for row in rows:
            if table.flags[row] & TypeFlag.OPAQUE:
                yield f"type {self.types[row]} = opaque\n"
                continue
            offsets = " ".join(map(str, table.field_offsets_of(row).tolist()))
            layout = f"{table.size[row]} bytes, fields at {offsets}" if offsets else "empty"
            source = self._described(int(table.source_type[row]))
            line = joined([f"type {self.types[row]} = {self.types.body(row)}", source])
            yield f"{line:<56}  ; {layout}\n"

    def _source_types(self) -> Iterator[str]:
        """Yield the types of the source: name and bytes, then each member's name, byte and bytes.

        An array's `each` are the bytes of an element.
        """
        table, strings = self._program.source_types, self._program.strings
        if len(table):
            yield "\n"
        columns = (table.member_name, table.member_byte, table.member_bytes, table.member_type)
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        for row in range(len(table)):
            first, end = table.offsets[row : row + 2].tolist()
            members = ", ".join(
                joined([quoted(strings.raw(name)), str(byte), str(size), self._described(inside)])
                for name, byte, size, inside in rows[first:end]
            )
            each = int(table.element_bytes[row])
            words = [
                f"described {row} =",
                quoted(strings.raw(int(table.name[row]))),
                str(table.size[row]),
                f"each {each}" if each else "",
                f"{{ {members} }}" if members else "{ }",
            ]
            yield joined(words) + "\n"

    @staticmethod
    def _described(source_type: int) -> str:
        return f"described {source_type}" if source_type >= 0 else ""

    def _variable(self, row: int) -> str:
        """Return a global variable, alias or ifunc."""
        table = self._program.globals
        kind, flags = GlobalKind(table.kind[row]), int(table.flags[row])
        is_constant = kind == GlobalKind.VARIABLE and flags & GlobalFlag.CONSTANT
        implied = GlobalFlag.DECLARATION | (GlobalFlag.CONSTANT if is_constant else 0)
        initializer = int(table.initializer[row])
        words = [
            f"@{self._program.names.globals[row]} =",
            self._linkage(row),
            global_words(flags & ~implied),
            KEYWORDS.get(kind, "constant" if is_constant else "global"),
            self.types[int(table.type[row])],
            self.constants.untyped(initializer) if initializer >= 0 else "",
            *self._clauses(row),
            self._spans.of_global(row),
        ]
        return joined(words)

    def function(self, function: int) -> str:
        """Return a function: one line where it is declared, its body where it is defined."""
        first, end = self._program.function_table.block_offsets[function : function + 2].tolist()
        is_defined = first < end
        line = self._signature(function, "define" if is_defined else "declare")
        if not is_defined:
            return line + "\n"
        return "\n".join([line + " {", *self.body(function).lines(), "}\n"])

    def _body(
        self, function: int, operands: I32 | None = None, names: Mapping[int, str] | None = None
    ) -> Body:
        """Return the writer of a function's blocks and instructions, by default as they are."""
        given = (self.types, self.constants, self._spans, operands, names)
        return Body(self._program, function, *given)

    def renamed(self, function: int, operands: I32, names: Mapping[int, str]) -> Body:
        """Return the writer of a function whose operands are others, with names for new ones."""
        return self._body(function, operands, names)

    def signature(self, function: int) -> str:
        """Return the line that a function with a body begins with."""
        return self._signature(function, "define") + " {"

    def _signature(self, function: int, keyword: str) -> str:
        program = self._program
        row = int(program.function_table.value[function])
        type_id = int(program.globals.type[row])
        first = int(program.function_table.argument_offsets[function])
        names = program.names.of_function(function).arguments
        arguments = [self._argument(first + i, name) for i, name in enumerate(names)]
        if program.types.flags[type_id] & TypeFlag.VARARG:
            arguments.append("...")
        result = self.types[int(program.types.elements_of(type_id)[0])]
        personality = int(program.function_table.personality[function])
        words = [
            f"{keyword} @{program.names.globals[row]}({', '.join(arguments)}) -> {result}",
            self._linkage(row),
            global_words(int(program.globals.flags[row]) & ~GlobalFlag.DECLARATION),
            *self._clauses(row),
            f"personality {self.constants.value(personality)}" if personality >= 0 else "",
            self._spans.of_global(row),
        ]
        return joined(words)

    def _argument(self, row: int, name: str) -> str:
        table = self._program.arguments
        passed = ""
        if table.passing[row] != Passing.DIRECT:
            inside = self.types[int(table.passed_type[row])]
            passed = f" {PASSING_WORDS[int(table.passing[row])]}({inside})"
        words = argument_words(int(table.flags[row]))
        return f"%{name}: {self.types[int(table.type[row])]}{words}{passed}"

    def _linkage(self, row: int) -> str:
        linkage = int(self._program.globals.linkage[row])
        return LINKAGE_WORDS[linkage] if linkage != Linkage.EXTERNAL else ""

    def _clauses(self, row: int) -> Iterable[str]:
        table = self._program.globals
        if table.align[row]:
            yield f"align {1 << int(table.align[row]) - 1}"
        if table.space[row]:
            yield f"space {table.space[row]}"
        if table.section[row]:
            yield f"section {quoted(self._program.strings.raw(int(table.section[row])))}"
        points = self._program.address_points
        low, high = np.searchsorted(points.table, [row, row + 1]).tolist()
        for point in range(low, high):
            type_ = self._program.strings.raw(int(points.type[point]))
            yield f"type {points.byte[point]} {quoted(type_)}"
        source = self._program.strings.raw(int(table.source_name[row]))
        name = self._program.strings.raw(int(table.name[row]))
        if source != default_source_name(name, bool(table.span[row] >= 0)):
            yield f"source {quoted(source)}"
        yield self._described(int(table.source_type[row]))
