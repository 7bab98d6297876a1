"""Findings of the verifier, each with its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kleene.base.errors import SourceError
from kleene.ir.codes import Opcode
from kleene.ir.program import Program
from kleene.ir.views import Instruction, span_of

_SHOWN = 10  # of one kind; a broken front end breaks thousands alike
Message = str | Callable[[int], str]


class Report:
    """Collects errors; of one check only the first few are kept."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.errors: list[SourceError] = []
        self.exempt: NDArray[np.int64] = np.empty(0, np.int64)  # instructions not to be checked

    def add(self, id: str, message: str, *notes: str) -> None:
        """Note something that has no place in the source."""
        self.errors.append(SourceError(None, f"ir/{id}", message, *notes))

    def rows(self, id: str, table: str, bad: NDArray[np.bool_], message: Message) -> None:
        """Note each row of a table for which `bad` holds."""
        for row, more in _first(np.flatnonzero(bad)):
            self.add(id, f"{table} {row}: {_say(message, row)}", *more)

    def instructions(self, id: str, rows: ArrayLike, message: Message) -> None:
        """Note each of these instructions, but those exempt."""
        for row, more in _first(np.setdiff1d(np.asarray(rows, np.int64), self.exempt)):
            span = span_of(self.program, int(self.program.instructions.span[row]))
            text = f"{self.place(row)}: {_say(message, row)}"
            self.errors.append(SourceError(span, f"ir/{id}", text, *more))

    def blocks(self, id: str, bad: NDArray[np.bool_], message: Message) -> None:
        """Note each block for which `bad` holds."""
        for row, more in _first(np.flatnonzero(bad)):
            self.add(id, f"{self.block(row)}: {_say(message, row)}", *more)

    def block(self, row: int) -> str:
        """Return the place of a block in words."""
        function = int(self.program.blocks.function[row])
        first = int(self.program.function_table.block_offsets[function])
        names = self.program.names
        owner = names.globals[int(self.program.function_table.value[function])]
        return f"@{owner}, ^{names.of_function(function).blocks[row - first]}"

    def place(self, row: int) -> str:
        """Return the place of an instruction in words: function, block, number, what it is."""
        block = int(self.program.instructions.block[row])
        number = row - int(self.program.blocks.instruction_offsets[block]) + 1
        view = Instruction(self.program, row)
        result = f"%{view.name} = " if view.name else ""
        word = Opcode(self.program.instructions.opcode[row]).name.lower()
        return f"{self.block(block)}, instruction {number} ({result}{word})"

    def type(self, type_id: int) -> str:
        """Return a type in words."""
        return self.program.printer.types[type_id] if type_id >= 0 else "no type"


def _say(message: Message, row: int) -> str:
    return message if isinstance(message, str) else message(row)


def _first(rows: NDArray[Any]) -> list[tuple[int, list[str]]]:
    """Return the first rows, the last of them with a note on how many follow."""
    shown: list[tuple[int, list[str]]] = [(row, []) for row in rows[:_SHOWN].tolist()]
    if len(rows) > _SHOWN:
        shown[-1][1].append(f"and {len(rows) - _SHOWN} more of this kind")
    return shown
