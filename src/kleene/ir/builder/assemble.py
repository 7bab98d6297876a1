"""From the parts a builder collected to the tables of a program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kleene.base.arrays import I64, offsets_of
from kleene.ir.builder.parts import Function, Global, Value
from kleene.ir.canonical import canonical
from kleene.ir.codes import GlobalFlag
from kleene.ir.program import Program
from kleene.ir.tables import (
    AddressPoints,
    Arguments,
    Bindings,
    Blocks,
    Bundles,
    Constants,
    Functions,
    Globals,
    Instructions,
    Notices,
    Passed,
    SourceTypes,
    Spans,
    Table,
    To,
    Variables,
    meanings,
)

if TYPE_CHECKING:
    from kleene.ir.builder import Builder

Kind = TypeVar("Kind", bound=Table)


def assemble(builder: Builder, *, derive: bool) -> Program:
    """Return the program of a builder, in canonical form."""
    tables = _Parts(builder).tables()
    program = Program(
        name=builder.name,
        triple=builder.triple,
        data_layout=builder.data_layout,
        types=builder.types.table(builder.data_layout),
        strings=builder.symbols.table(),
        **tables,
    )
    if derive:
        flags = program.globals.flags & ~np.uint32(GlobalFlag.ADDRESS_TAKEN)
        flags |= program.address_taken() * np.uint32(GlobalFlag.ADDRESS_TAKEN)
        program = replace(program, globals=replace(program.globals, flags=flags))
    return canonical(program)


class _Parts:
    """All parts of a builder in the order of their tables, numbered."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.functions = [g for g in builder.globals if isinstance(g, Function)]
        self.constants = list(builder.constants.values())
        self.arguments = [a for f in self.functions for a in f.arguments]
        self.blocks = [b for f in self.functions for b in f.blocks]
        self.instructions = [i for b in self.blocks for i in b.instructions]
        self.variables = [v for f in self.functions for v in f.variables]
        every: Iterable[Value] = chain(
            builder.globals, self.constants, self.arguments, self.blocks, self.instructions
        )
        for id, value in enumerate(every):
            value.id = id
        for row, variable in enumerate(self.variables):
            variable.row = row

    def tables(self) -> dict[str, Any]:
        """Return the tables by their names in a program."""
        builder = self.builder
        notices = [(builder.symbols[text], count) for text, count in builder.notices]
        return {
            "globals": self._globals(),
            "function_table": self._table(
                Functions,
                self.functions,
                value=[f.id for f in self.functions],
                block_offsets=_offsets(f.blocks for f in self.functions),
                argument_offsets=_offsets(f.arguments for f in self.functions),
            ),
            "arguments": self._table(Arguments, self.arguments),
            "constants": self._table(Constants, self.constants),
            "variables": self._table(
                Variables, self.variables, function=_owners(f.variables for f in self.functions)
            ),
            **self._code(),
            "source_types": self._source_types(),
            "address_points": self._address_points(),
            "spans": Spans.of_columns(*np.array([*builder.spans], int).reshape(-1, 5).T),
            "notice_table": Notices.of_columns(*np.array(notices, int).reshape(-1, 2).T),
        }

    def _source_types(self) -> SourceTypes:
        types, symbols = self.builder.source_types, self.builder.symbols
        members = [member for one in types for member in one.members]
        return SourceTypes.of_columns(
            [symbols[one.name] for one in types],
            [one.size for one in types],
            [one.element_bytes for one in types],
            _offsets(one.members for one in types),
            [symbols[member.name] for member in members],
            [member.byte for member in members],
            [member.n_bytes for member in members],
            [member.source_type for member in members],
        )

    def _globals(self) -> Globals:
        parts = self.builder.globals
        rows = {id(f): row for row, f in enumerate(self.functions)}
        return self._table(
            Globals,
            parts,
            flags=[_flags(part) for part in parts],
            type=[part.content for part in parts],
            align=_logs(parts),
            function=[rows.get(id(part), -1) for part in parts],
        )

    def _address_points(self) -> AddressPoints:
        symbols = self.builder.symbols
        points = [
            (row, byte, symbols[text])
            for row, part in enumerate(self.builder.globals)
            for byte, text in part.address_points
        ]
        return AddressPoints.of_columns(*np.array(points, int).reshape(-1, 3).T)

    def _code(self) -> dict[str, Any]:
        """Return the tables of blocks, instructions, and what hangs on these."""
        blocks, instructions = self.blocks, self.instructions
        first = _offsets(b.instructions for b in blocks)
        bound = [b for block in blocks for b in block.bindings]
        bundles = [bundle for i in instructions for bundle in i.bundles]
        starts = _offsets(i.operands for i in instructions)[:-1]
        passed = [
            (start + position, passing, type)
            for start, i in zip(starts, instructions, strict=True)
            for position, (passing, type) in i.passed.items()
        ]
        return {
            "blocks": self._table(
                Blocks,
                blocks,
                function=_owners(f.blocks for f in self.functions),
                instruction_offsets=first,
            ),
            "instructions": self._table(
                Instructions,
                instructions,
                align=_logs(instructions),
                block=_owners(b.instructions for b in blocks),
            ),
            "bindings": self._table(
                Bindings,
                bound,
                variable=[b.variable.row for b in bound],
                before=first[_owners(b.bindings for b in blocks)] + [b.before for b in bound],
            ),
            "bundles": self._table(
                Bundles, bundles, instruction=_owners(i.bundles for i in instructions)
            ),
            "passed": Passed.of_columns(*np.array(passed, int).reshape(-1, 3).T),
        }

    def _table(self, kind: type[Kind], parts: Sequence[Any], **given: Any) -> Kind:
        """Return a table: its columns are the parts' attributes of the same names, or given."""
        columns = [
            given[field.name] if field.name in given else self._column(kind, field.name, parts)
            for field in fields(kind)
        ]
        return kind.of_columns(*columns)

    def _column(self, kind: type[Table], name: str, parts: Sequence[Any]) -> Any:
        if name == "offsets":
            return _offsets(part.operands for part in parts)
        if name == "operands":
            return [value.id for part in parts for value in part.operands]
        contents = [getattr(part, name) for part in parts]
        match meanings(kind).get(name):
            case To(what="symbol"):
                return [self.builder.symbols[text] for text in contents]
            case To(what="value"):
                return [-1 if value is None else value.id for value in contents]
        return contents


def _flags(part: Global) -> int:
    """Return the flags of a global, with DECLARATION where it is one."""
    is_defined = part.blocks if isinstance(part, Function) else part.initializer is not None
    flags = part.flags & ~GlobalFlag.DECLARATION
    return flags if is_defined else flags | GlobalFlag.DECLARATION


def _logs(parts: Sequence[Any]) -> list[int]:
    """Return the alignment column: log2 of the bytes + 1, 0 where not stated."""
    return [part.align.bit_length() for part in parts]


def _offsets(owned: Iterable[Sequence[object]]) -> I64:
    return offsets_of([len(items) for items in owned])


def _owners(owned: Iterable[Sequence[object]]) -> I64:
    """Return the row of each item's owner."""
    lengths = [len(items) for items in owned]
    return np.repeat(np.arange(len(lengths)), lengths)
