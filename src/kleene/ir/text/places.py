"""Source places out of a line: see `spans` for how they are written."""

from __future__ import annotations

from kleene.ir.builder import NO_SPAN, Builder, Function
from kleene.ir.builder.types import Text
from kleene.ir.names import unquoted
from kleene.ir.text.lexer import Line


class Places:
    """Reads what follows `!`."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._files: dict[int, Text] = {}  # by span

    def read_in(self, line: Line, function: Function) -> int:
        """Return the place that stands here, inside a function."""
        if function.span == NO_SPAN:
            return self.read(line, "", "")
        return self.read(line, self._files[function.span], function.source_name)

    def read(self, line: Line, file: Text, scope: Text) -> int:
        """Return the place that stands here; file and scope are those it need not name."""
        parts = [self._one(line, file, scope)]
        while line.accept("from"):
            parts.append(self._one(line, file, scope))
        span = NO_SPAN
        for file, row, column, scope in reversed(parts):
            span = self._builder.span(file, row, column, scope=scope, inlined_at=span)
            self._files[span] = file
        return span

    def _one(self, line: Line, file: Text, scope: Text) -> tuple[Text, int, int, Text]:
        if line.kind != "number":
            file = self._word(line, "a file")
            line.expect(":")
        row = line.integer("a line number")
        column = line.integer("a column number") if line.accept(":") else 0
        if line.accept("in"):
            scope = self._word(line, "a scope")
        return file, row, column, scope

    def _word(self, line: Line, what: str) -> Text:
        if line.kind == "string":
            return unquoted(line.advance())
        return line.take("word", what)
