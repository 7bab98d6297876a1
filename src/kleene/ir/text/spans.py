"""Source places as text: `! file:line:column in scope from caller's place`.

A column of 0 is left out. So is the scope where it is the function itself, by its name in the
source, and inside a function the file where it is the function's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kleene.ir.names import quoted

if TYPE_CHECKING:
    from kleene.ir.program import Program

_BARE_WORD = re.compile(rb"[A-Za-z_./$][A-Za-z0-9_./$+-]*")
_NOT_WORDS = frozenset((b"in", b"from", b"..."))
NOWHERE = (0, 0)  # the symbols of no file and no scope


class SpanText:
    """Spans as text; those of one function share its defaults."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._words: dict[int, str] = {}

    def defaults(self, function: int) -> tuple[int, int]:
        """Return the symbols of file and scope that a function's spans need not name."""
        row = int(self._program.function_table.value[function])
        span = int(self._program.globals.span[row])
        if span < 0:
            return NOWHERE
        return int(self._program.spans.file[span]), int(self._program.globals.source_name[row])

    def of_global(self, row: int) -> str:
        """Return the place of a global, or nothing."""
        table = self._program.globals
        span, is_function = int(table.span[row]), table.function[row] >= 0
        defaults = (0, int(table.source_name[row])) if is_function else NOWHERE
        return f"! {self.write(span, defaults)}" if span >= 0 else ""

    def write(self, span: int, defaults: tuple[int, int]) -> str:
        """Return a place; one inlined names each call it came through."""
        parts = []
        while span >= 0:
            parts.append(self._one(span, defaults))
            span = int(self._program.spans.inlined_at[span])
        return " from ".join(parts)

    def _one(self, span: int, defaults: tuple[int, int]) -> str:
        table = self._program.spans
        file, scope = int(table.file[span]), int(table.scope[span])
        column = int(table.column[span])
        place = f"{table.line[span]}:{column}" if column else str(table.line[span])
        if file != defaults[0]:
            place = f"{self._word(file)}:{place}"
        return f"{place} in {self._word(scope)}" if scope != defaults[1] else place

    def _word(self, symbol: int) -> str:
        if symbol not in self._words:
            raw = self._program.strings.raw(symbol)
            is_word = _BARE_WORD.fullmatch(raw) and raw not in _NOT_WORDS
            self._words[symbol] = raw.decode() if is_word else quoted(raw)
        return self._words[symbol]
