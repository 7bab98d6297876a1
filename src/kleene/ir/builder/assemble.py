"""From the parts a builder collected to the tables of a program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import offsets_of
from kleene.ir.builder.parts import Function, Value
from kleene.ir.canonical import canonical
from kleene.ir.codes import GlobalFlag, GlobalKind
from kleene.ir.program import Program
from kleene.ir.tables import (
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
    Spans,
    Variables,
)

if TYPE_CHECKING:
    from kleene.ir.builder import Builder


def assemble(builder: Builder, *, derive: bool) -> Program:
    """Return the program of a builder, in canonical form."""
    parts = _Parts(builder)
    program = Program(
        name=builder.name,
        triple=builder.triple,
        data_layout=builder.data_layout,
        types=builder.types.table(builder.data_layout),
        globals=parts.globals(),
        function_table=parts.functions(),
        arguments=parts.arguments(),
        blocks=parts.blocks(),
        instructions=parts.instructions(),
        constants=parts.constants(),
        variables=parts.variables(),
        bindings=parts.bindings(),
        bundles=parts.bundles(),
        passed=parts.passed(),
        spans=Spans(*_columns(builder.spans, "iiiii")),
        notice_table=Notices(
            *_columns([(builder.symbols[text], count) for text, count in builder.notices], "iq")
        ),
        strings=builder.symbols.table(),  # last: the others still meet new names
    )
    if derive:
        flags = program.globals.flags & ~np.uint32(GlobalFlag.ADDRESS_TAKEN)
        flags |= program.address_taken() * np.uint32(GlobalFlag.ADDRESS_TAKEN)
        program = replace(program, globals=replace(program.globals, flags=flags))
    return canonical(program)


class _Parts:
    """All parts of a builder in the order of their tables, numbered."""

    def __init__(self, builder: Builder) -> None:
        self.symbols = builder.symbols
        self.all_globals = builder.globals
        self.all_functions = [g for g in builder.globals if isinstance(g, Function)]
        self.all_constants = list(builder.constants.values())
        self.all_arguments = [a for f in self.all_functions for a in f.arguments]
        self.all_blocks = [b for f in self.all_functions for b in f.blocks]
        self.all_instructions = [i for b in self.all_blocks for i in b.instructions]
        self.all_variables = [v for f in self.all_functions for v in f.variables]
        every: Iterable[Value] = chain(
            self.all_globals,
            self.all_constants,
            self.all_arguments,
            self.all_blocks,
            self.all_instructions,
        )
        for id, value in enumerate(every):
            value.id = id
        for row, variable in enumerate(self.all_variables):
            variable.row = row

    def globals(self) -> Globals:
        rows = {id(f): row for row, f in enumerate(self.all_functions)}
        return Globals(
            *_columns(
                [
                    (
                        self.symbols[g.name],
                        g.kind,
                        g.linkage,
                        _declared(g.flags, _is_declaration(g)),
                        g.content,
                        g.space,
                        _log(g.align),
                        _id(g.initializer),
                        rows.get(id(g), -1),
                        self.symbols[g.source_name],
                        g.span,
                    )
                    for g in self.all_globals
                ],
                "iBBIiiBiiii",
            )
        )

    def functions(self) -> Functions:
        value, personality = _columns(
            [(f.id, _id(f.personality)) for f in self.all_functions], "ii"
        )
        blocks = _offsets(len(f.blocks) for f in self.all_functions)
        return Functions(
            value, personality, blocks, _offsets(len(f.arguments) for f in self.all_functions)
        )

    def arguments(self) -> Arguments:
        rows = [
            (a.type, self.symbols[a.name], a.flags, a.passing, a.passed_type)
            for a in self.all_arguments
        ]
        return Arguments(*_columns(rows, "iiHBi"))

    def blocks(self) -> Blocks:
        rows = [
            (self.symbols[b.name], row)
            for row, f in enumerate(self.all_functions)
            for b in f.blocks
        ]
        name, function = _columns(rows, "ii")
        return Blocks(name, function, _offsets(len(b.instructions) for b in self.all_blocks))

    def instructions(self) -> Instructions:
        rows = [
            (
                i.opcode,
                i.sub,
                _log(i.align),
                i.flags,
                i.type,
                i.about,
                row,
                self.symbols[i.name],
                i.span,
            )
            for row, b in enumerate(self.all_blocks)
            for i in b.instructions
        ]
        offsets = _offsets(len(i.operands) for i in self.all_instructions)
        operands = _ids(o for i in self.all_instructions for o in i.operands)
        return Instructions(*_columns(rows, "BBBIiiiii"), *[offsets, operands])

    def constants(self) -> Constants:
        rows = [(c.kind, c.opcode, c.flags, c.type, c.about, c.payload) for c in self.all_constants]
        offsets = _offsets(len(c.operands) for c in self.all_constants)
        operands = _ids(o for c in self.all_constants for o in c.operands)
        return Constants(*_columns(rows, "BBIiiq"), *[offsets, operands])

    def variables(self) -> Variables:
        rows = [
            (self.symbols[v.name], row, v.argument, v.span)
            for row, f in enumerate(self.all_functions)
            for v in f.variables
        ]
        return Variables(*_columns(rows, "iiii"))

    def bindings(self) -> Bindings:
        first = _offsets(len(b.instructions) for b in self.all_blocks)[:-1].tolist()
        rows = [
            (bound.variable.row, bound.kind, bound.exact, _id(bound.value), start + bound.before)
            for start, block in zip(first, self.all_blocks, strict=True)
            for bound in block.bindings
        ]
        return Bindings(*_columns(rows, "iBBii"))

    def bundles(self) -> Bundles:
        owned = [(row, b) for row, i in enumerate(self.all_instructions) for b in i.bundles]
        instruction, tag = _columns([(row, self.symbols[b.tag]) for row, b in owned], "ii")
        operands = _ids(o for _, b in owned for o in b.operands)
        return Bundles(instruction, tag, _offsets(len(b.operands) for _, b in owned), operands)

    def passed(self) -> Passed:
        starts = _offsets(len(i.operands) for i in self.all_instructions).tolist()
        rows = [
            (start + position, passing, type)
            for start, i in zip(starts, self.all_instructions, strict=False)
            for position, (passing, type) in i.passed.items()
        ]
        return Passed(*_columns(rows, "iBi"))


def _is_declaration(part: Any) -> bool:
    if part.kind == GlobalKind.FUNCTION:
        return not part.blocks
    return part.initializer is None


def _declared(flags: int, declaration: bool) -> int:
    return flags | GlobalFlag.DECLARATION if declaration else flags & ~GlobalFlag.DECLARATION


def _log(align_bytes: int) -> int:
    """Return the alignment column: log2 of the bytes + 1, 0 where not stated."""
    return align_bytes.bit_length()


def _id(value: Value | None) -> int:
    return -1 if value is None else value.id


def _ids(values: Iterable[Value]) -> NDArray[np.int32]:
    return np.array([value.id for value in values], np.int32)


def _offsets(lengths: Iterable[int]) -> NDArray[np.int32]:
    return offsets_of([*lengths]).astype(np.int32)


def _columns(rows: Iterable[tuple[int, ...]], codes: str) -> list[NDArray[Any]]:
    """Return rows as columns, each of the NumPy type its letter in `codes` names."""
    columns = list(zip(*rows, strict=True)) or [()] * len(codes)
    return [np.array(column, code) for column, code in zip(columns, codes, strict=True)]
