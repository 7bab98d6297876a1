"""A function's body as text: blocks, bindings of variables, one instruction a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from kleene.base.arrays import I32
from kleene.ir.codes import CALLS, Opcode, TypeKind, ValueKind
from kleene.ir.names import quoted
from kleene.ir.text.spans import SpanText
from kleene.ir.text.values import ConstantText, TypeText
from kleene.ir.text.words import (
    BINDINGS,
    OPCODE_WORDS,
    PASSING_WORDS,
    SUB_WORDS,
    flag_words,
)

if TYPE_CHECKING:
    from kleene.ir.program import Program

_WIDTH = 56  # where the source place of a line starts, if the line is no longer


class Body:
    """Writes one function's body from slices of the columns: views would be too slow here.

    Args:
        program: the program.
        function: which function.
        types: writes types.
        constants: writes constants.
        spans: writes source places.
        operands: what the instructions read instead of their own operands, row by row.
        more_names: what values are called that are behind the program's.
    """

    def __init__(
        self,
        program: Program,
        function: int,
        types: TypeText,
        constants: ConstantText,
        spans: SpanText,
        operands: I32 | None = None,
        more_names: Mapping[int, str] | None = None,
    ) -> None:
        self._all_operands = program.instructions.operands if operands is None else operands
        self._more_names = more_names or {}
        self._program, self._types, self._constants = program, types, constants
        self._spans, self._function = spans, function
        self._defaults = spans.defaults(function)
        functions, bases = program.function_table, program.bases
        self._first_block, self._end_block = functions.block_offsets[
            function : function + 2
        ].tolist()
        bounds = program.blocks.instruction_offsets[[self._first_block, self._end_block]].tolist()
        self._first, self._end = bounds
        names = program.names.of_function(function)
        self._variables = [f"#{name}" for name in names.variables]
        self._labels = [f"^{name}" for name in names.blocks]
        self._results = [f"%{name}" for name in names.instructions]
        # Operands by value: three runs of consecutive ids.
        argument = int(functions.argument_offsets[function])
        self._runs = (
            (bases[ValueKind.INSTRUCTION] + self._first, self._results),
            (bases[ValueKind.BLOCK] + self._first_block, self._labels),
            (bases[ValueKind.ARGUMENT] + argument, [f"%{name}" for name in names.arguments]),
        )
        self._load_columns()

    def _load_columns(self) -> None:
        """Take this function's part of the columns as plain lists, which Python reads faster."""
        table, low, high = self._program.instructions, self._first, self._end
        columns = (table.opcode, table.sub, table.align, table.flags, table.type, table.about)
        self._rows = list(zip(*(column[low:high].tolist() for column in columns), strict=True))
        self._span = table.span[low:high].tolist()
        offsets = table.offsets[low : high + 1]
        self._place = (offsets - offsets[0]).tolist()
        self._operands = self._all_operands[offsets[0] : offsets[-1]].tolist()
        void = self._program.types.kind[table.type[low:high]] == TypeKind.VOID
        self._is_void = void.tolist()
        self._bundles = _slice(self._program.bundles.instruction, low, high)
        self._passed = _slice(self._program.passed.operand, int(offsets[0]), int(offsets[-1]))

    def lines(self) -> Iterator[str]:
        """Yield the variables, then block after block."""
        yield from self._variable_lines()
        bindings = self._binding_lines()
        starts = self._program.blocks.instruction_offsets
        for row in range(self._first_block, self._end_block):
            if row > self._first_block:
                yield ""
            yield self._label(row)
            for i in range(int(starts[row]), int(starts[row + 1])):
                yield from bindings.get(i, ())
                yield self._line(i - self._first)

    def operand(self, value: int) -> str:
        """Return how a value is written where it is used."""
        return self._operand(value, -1)

    def label(self, row: int) -> str:
        """Return the line that a block, given by its row, begins with."""
        return self._label(row)

    def instruction(self, row: int) -> str:
        """Return an instruction, given by its row in the whole table, without its place."""
        return self._text(row - self._first)

    def _label(self, row: int) -> str:
        offsets, sources = self._program.predecessors
        label = f"{self._labels[row - self._first_block]}:"
        before = sources[offsets[row] : offsets[row + 1]].tolist()
        if not before:
            return label
        names = ", ".join(self._labels[source - self._first_block] for source in before)
        return f"{label:<{_WIDTH}}  ; from {names}"

    def _variable_lines(self) -> Iterator[str]:
        table = self._program.variables
        rows = self._program.names.variable_rows(self._function).tolist()
        for name, row in zip(self._variables, rows, strict=True):
            argument = int(table.argument[row])
            line = f"  var {name}" + (f" parameter {argument}" if argument else "")
            if (source_type := int(table.source_type[row])) >= 0:
                line += f" described {'to ' if table.is_pointer[row] else ''}{source_type}"
            yield self._with_place(line, int(table.span[row]))

    def _binding_lines(self) -> dict[int, list[str]]:
        """Return what stands in front of each instruction that has something bound there."""
        table = self._program.bindings
        variables = self._program.names.variable_rows(self._function).tolist()
        names = dict(zip(variables, self._variables, strict=True))
        lines: dict[int, list[str]] = {}
        for row in self._program.names.binding_rows(self._first, self._end).tolist():
            value = int(table.value[row])
            shown = self._operand(value, -1) if value >= 0 else "?"
            sign = BINDINGS[table.kind[row]] + ("" if table.exact[row] else " via")
            name = names.get(int(table.variable[row]), "#?")
            lines.setdefault(int(table.before[row]), []).append(f"  {name} {sign} {shown}")
        return lines

    def _line(self, i: int) -> str:
        return self._with_place(f"  {self._text(i)}", self._span[i])

    def _with_place(self, line: str, span: int) -> str:
        if span < 0:
            return line
        return f"{line:<{_WIDTH}}  ! {self._spans.write(span, self._defaults)}"

    def _text(self, i: int) -> str:
        opcode, sub, log_align, flags, type_id, about = self._rows[i]
        words = OPCODE_WORDS[opcode] + flag_words(flags)
        if opcode in SUB_WORDS:
            words += f" {SUB_WORDS[opcode][sub]}"
        operands = self._operands[self._place[i] : self._place[i + 1]]
        if opcode in CALLS:
            text = self._call(i, operands)
        elif opcode == Opcode.PHI or opcode == Opcode.SWITCH:
            text = self._pairs(opcode, [self._operand(value, type_id) for value in operands])
        else:
            parts = [self._operand(value, type_id) for value in operands]
            if opcode == Opcode.ALLOCA or opcode == Opcode.GETELEMENTPTR:
                parts = [self._types[about] if about >= 0 else "?", *parts]
                if opcode == Opcode.ALLOCA and parts[1:] == ["i32 1"]:
                    parts.pop()
            text = ", ".join(parts)
            if about >= 0 and opcode != Opcode.ALLOCA and opcode != Opcode.GETELEMENTPTR:
                text += f" as {self._types[about]}"
        align = f", align {1 << log_align - 1}" if log_align else ""
        body = f"{words} {text}{align}" if text or align else words
        if self._is_void[i]:
            return body
        return f"{self._results[i]}: {self._types[type_id]} = {body}"

    def _operand(self, value: int, expected: int) -> str:
        """Return an operand; a constant of the expected type is written without it."""
        if value in self._more_names:
            return self._more_names[value]
        for first, names in self._runs:
            if value >= first:
                place = value - first
                return names[place] if place < len(names) else f"?{value}"
        constants = self._constants
        row = value - self._program.bases[ValueKind.CONSTANT]
        is_constant = 0 <= row < len(self._program.constants)
        if is_constant and self._program.constants.type[row] == expected:
            return constants.typed(row) if constants.needs_type(row) else constants[row]
        return constants.value(value)

    def _pairs(self, opcode: int, parts: list[str]) -> str:
        if opcode == Opcode.PHI:
            return ", ".join(f"[{v}, {b}]" for v, b in zip(parts[::2], parts[1::2], strict=False))
        cases = [f"{v}: {b}" for v, b in zip(parts[2::2], parts[3::2], strict=False)]
        return f"{parts[0]}, {parts[1]} [{', '.join(cases)}]"

    def _call(self, i: int, operands: list[int]) -> str:
        """Return `callee(arguments) as type with bundles to normal unwind pad`."""
        low, high = self._program.bases[ValueKind.BLOCK], self._program.bases[ValueKind.INSTRUCTION]
        n_values = sum(1 for value in operands if not low <= value < high)
        values, targets = operands[:n_values], operands[n_values:]
        opcode, *_, type_id, about = self._rows[i]
        callee, *arguments = (self._operand(value, type_id) for value in values)
        if self._passed:
            arguments = self._with_passing(i, arguments)
        text = f"{callee}({', '.join(arguments)})"
        if not self._is_known(values[0], about):
            text += f" as {self._types[about]}" if about >= 0 else " as ?"
        for row in self._bundles.get(self._first + i, ()):
            text += f" with {self._bundle(row)}"
        if targets:
            between = " unwind " if opcode == Opcode.INVOKE else ", "
            text += " to " + between.join(self._operand(value, -1) for value in targets)
        return text

    def _is_known(self, callee: int, about: int) -> bool:
        """Return whether the callee is a function whose type is the call's."""
        table = self._program.globals
        if callee >= len(table) or table.function[callee] < 0:
            return False
        return bool(table.type[callee] == about)

    def _with_passing(self, i: int, arguments: list[str]) -> list[str]:
        table = self._program.passed
        start = int(self._program.instructions.offsets[self._first + i]) + 1
        return [
            "".join(
                f"{PASSING_WORDS[int(table.passing[row])]}({self._types[int(table.type[row])]}) "
                for row in self._passed.get(start + position, ())
            )
            + argument
            for position, argument in enumerate(arguments)
        ]

    def _bundle(self, row: int) -> str:
        table = self._program.bundles
        values = table.operands[table.offsets[row] : table.offsets[row + 1]].tolist()
        inside = ", ".join(self._operand(value, -1) for value in values)
        return f"{quoted(self._program.strings.raw(int(table.tag[row])))}({inside})"


def _slice(owners: I32, low: int, high: int) -> dict[int, list[int]]:
    """Return the rows whose owner is from `low` to before `high`, by owner."""
    found: dict[int, list[int]] = {}
    for row in np.flatnonzero((owners >= low) & (owners < high)).tolist():
        found.setdefault(int(owners[row]), []).append(row)
    return found
