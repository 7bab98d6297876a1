"""Functions, globals and variables of the source by name."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cached_property

import numpy as np

from kleene.analyses.points_to.answers.naming import Naming
from kleene.base.errors import SourceError
from kleene.ir import Program

_N_SUGGESTED = 3


class Symbols:
    """Finds what the program and its source call things."""

    def __init__(self, program: Program, naming: Naming) -> None:
        self._program = program
        self._naming = naming

    def function(self, text: str) -> int:
        """Return the function (row) of a name.

        Raises:
            SourceError: there is none (`points-to/no-such-name`), or there are several.
        """
        found = self.functions(text)
        if not found:
            names = [self._naming.function(f) for f in range(len(self._program.function_table))]
            raise unknown(f"no function is called '{text}'", nearest(text, names))
        if len(found) > 1:
            raise ambiguous(text, [self._naming.function(f) for f in found])
        return found[0]

    def functions(self, text: str) -> list[int]:
        """Return the functions (rows) of a symbol, or of a name of the source."""
        rows = self._program.globals.function
        symbol = self._by_symbol.get(text)
        found = self._by_source_name.get(text, []) if symbol is None else [symbol]
        return [int(rows[g]) for g in found if rows[g] >= 0]

    def one_global(self, text: str) -> int | None:
        """Return the global (row) of a symbol, or of a name that one symbol has in the source."""
        if text in self._by_symbol:
            return self._by_symbol[text]
        rows = self._by_source_name.get(text, [])
        if len(rows) > 1:
            raise ambiguous(text, [self._program.names.globals[row] for row in rows])
        return rows[0] if rows else None

    def split(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield every way to read `text` as a function and something in it, longest first."""
        for i in range(len(text) - 1, 0, -1):
            if text[i] == ".":
                for function in self.functions(text[:i]):
                    yield function, text[i + 1 :]

    def variables(self, function: int, name: str) -> list[int]:
        """Return the variables (rows) of a function that are called so."""
        names = self._program.names
        rows = names.variable_rows(function).tolist()
        unique = names.of_function(function).variables
        called = zip(rows, unique, (self._variable_name(row) for row in rows), strict=True)
        return [row for row, first, second in called if name in (first, second)]

    def variables_at(self, file: str, line: int, name: str) -> tuple[list[int], bool]:
        """Return the variables (rows) declared nearest above a line, or near it if there are none.

        The second is whether the line is in their function.
        """
        spans = self._program.variables.span
        files = self._naming.files.matching(file)
        here = np.flatnonzero((spans >= 0) & np.isin(self._program.spans.file[spans], files))
        rows = [row for row in here.tolist() if self._variable_name(row) == name]
        inside = [row for row in rows if self._reaches(row, line)]
        lines = self._program.spans.line[spans[inside or rows]].tolist()
        above = max((n for n in lines if n <= line), default=min(lines, default=0))
        near = [row for row, n in zip(inside or rows, lines, strict=True) if n == above]
        return near, bool(inside) and above <= line

    def globals_in(self, file: str, name: str) -> list[int]:
        """Return the globals (rows) of a name that a file defines."""
        table, spans = self._program.globals, self._program.spans
        files = self._naming.files.matching(file)
        candidates = {self._by_symbol.get(name, -1), *self._by_source_name.get(name, [])} - {-1}
        placed = [row for row in sorted(candidates) if table.span[row] >= 0]
        return [row for row in placed if int(spans.file[table.span[row]]) in files]

    def near(self, text: str) -> list[str]:
        """Return the names of the program that may have been meant."""
        for function, rest in self.split(text):
            found = self._program.names.of_function(function)
            registers = [f"%{n}" for n in (*found.arguments, *found.instructions) if n]
            names = registers if rest.startswith("%") else found.variables
            return nearest(text, [f"{self._naming.function(function)}.{n}" for n in names])
        table = self._program.variables
        variables = (
            f"{self._naming.function(function)}.{self._variable_name(row)}"
            for row, function in enumerate(table.function.tolist())
        )
        return nearest(text, [*self._by_symbol, *self._by_source_name, *variables])

    def _variable_name(self, row: int) -> str:
        return self._program.strings[int(self._program.variables.name[row])]

    def _reaches(self, variable: int, line: int) -> bool:
        """Return whether the code of a variable's function goes on to a line of its file."""
        program = self._program
        function = int(program.variables.function[variable])
        blocks = program.function_table.block_offsets[function : function + 2]
        first, end = program.blocks.instruction_offsets[blocks].tolist()
        spans = program.instructions.span[first:end]
        spans = spans[spans >= 0]
        file = program.spans.file[program.variables.span[variable]]
        lines = program.spans.line[spans][program.spans.file[spans] == file]
        return bool(lines.max(initial=0) >= line)

    @cached_property
    def _by_symbol(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self._program.names.globals)}

    @cached_property
    def _by_source_name(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row, symbol in enumerate(self._program.globals.source_name.tolist()):
            if symbol:
                found.setdefault(self._program.strings[symbol], []).append(row)
        return found


def nearest(text: str, names: list[str]) -> list[str]:
    """Return the names most like a text."""
    return get_close_matches(text, list(dict.fromkeys(names)), n=_N_SUGGESTED)


def unknown(message: str, near: list[str]) -> SourceError:
    """Return the error for a name of nothing, with what may have been meant."""
    hint = f"did you mean {' or '.join(near)}?" if near else "'kleene ir' shows what there is"
    return SourceError(None, "points-to/no-such-name", message, hint)


def ambiguous(text: str, symbols: list[str]) -> SourceError:
    """Return the error for a name of several things."""
    message = f"'{text}' may be any of {len(symbols)} symbols"
    note = f"write the symbol: {' or '.join(symbols[:8])}"
    return SourceError(None, "points-to/ambiguous-name", message, note)
