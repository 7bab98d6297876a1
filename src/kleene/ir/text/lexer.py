"""One line of text as tokens, and a cursor over them that knows its place."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn, TypeVar

from kleene.base.errors import SourceError, Span
from kleene.ir.names import unquoted

_STRING = r'"(?:[^"\\]|\\[0-9A-Fa-f]{2})*"'
_TOKEN = re.compile(
    rf"""(?P<space>[ \t\r]+|;.*)
    |(?P<name>[%@^$#](?:{_STRING}|[A-Za-z0-9_.$-]+)(?:~[A-Za-z0-9_.$-]+)?)
    |(?P<string>{_STRING})
    |(?P<number>-?(?:0x[KLMHR]?[0-9A-Fa-f]+|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?))
    |(?P<mark>\.\.\.(?![A-Za-z0-9_./$+-])|->|:=|=|[(){{}}\[\]<>,:!?])
    |(?P<word>[A-Za-z_./$][A-Za-z0-9_./$+-]*)
    |(?P<other>.)""",
    re.VERBOSE,
)
Item = TypeVar("Item")
MAX_DEPTH = 100  # nesting of types and constants; Python's stack bears it


class Line:
    """The tokens of a line; `text` and `kind` are those of the present one."""

    def __init__(self, file: str, number: int, raw: str) -> None:
        self._file, self.number, self._raw = file, number, raw
        self._tokens = [
            (found.lastgroup or "", found[0], found.start() + 1)
            for found in _TOKEN.finditer(raw)
            if found.lastgroup != "space"
        ]
        self._tokens.append(("end", "", len(raw) + 1))
        self._at = -1
        self.depth = 0
        self.advance()

    def advance(self) -> str:
        """Return the present token and go to the next."""
        text = self._tokens[self._at][1]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        self.kind, self.text, self.column = self._tokens[self._at]
        if self.kind == "other":
            self.fail(f"'{self.text}' begins nothing that could stand here")
        return text

    def accept(self, text: str) -> bool:
        """Return whether the present token is `text`, and if so pass it."""
        if self.text != text or self.kind in ("string", "name"):
            return False
        self.advance()
        return True

    def expect(self, text: str) -> None:
        """Pass the token `text`."""
        if not self.accept(text):
            self.fail(f"'{text}' is missing, here stands {self.seen()}")

    def items(self, close: str, read: Callable[[Line], Item]) -> list[Item]:
        """Return what stands between commas up to `close`, which is passed."""
        found: list[Item] = []
        while not self.accept(close):
            found.append(read(self))
            if self.text != close:
                self.expect(",")
        return found

    def parameters(self, read: Callable[[Line], Item]) -> tuple[list[Item], bool]:
        """Return what stands between commas up to `)`, and whether `...` is the last of it."""
        found = self.items(")", lambda line: None if line.accept("...") else read(line))
        return [item for item in found if item is not None], None in found

    def take(self, kind: str, what: str) -> str:
        """Return the present token and pass it; it must be of that kind."""
        if self.kind != kind:
            self.fail(f"{what} is missing, here stands {self.seen()}")
        return self.advance()

    def name(self, sigil: str, what: str) -> str:
        """Return a name that starts with `sigil`, and pass it."""
        if self.kind != "name" or self.text[0] != sigil:
            self.fail(f"{what} ('{sigil}…') is missing, here stands {self.seen()}")
        return self.advance()

    def string(self, what: str) -> bytes:
        """Return the bytes of a string in quotes, and pass it."""
        return unquoted(self.take("string", f"{what} in quotes"))

    def integer(self, what: str) -> int:
        """Return an integer, and pass it."""
        text = self.take("number", what)
        try:
            return int(text)
        except ValueError:
            self.fail(f"{what} is missing, '{text}' is no integer")

    def end(self) -> None:
        """Check that nothing is left."""
        if self.kind != "end":
            self.fail(f"the line should end here, where {self.seen()} stands")

    def seen(self) -> str:
        """Return the present token as a message shows it."""
        return f"'{self.text}'" if self.kind != "end" else "the end of the line"

    def enter(self) -> None:
        """Go one level deeper; the caller leaves it by lowering `depth`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"more than {MAX_DEPTH} levels of nesting")

    def span(self) -> Span:
        """Return where the present token stands."""
        return Span(self._file, self.number, self.column, max(1, len(self.text)))

    def fail(self, message: str, *notes: str) -> NoReturn:
        """Raise the error that belongs to the present token."""
        raise SourceError(self.span(), "ir/syntax", message, *notes)


def symbol_of(name: str) -> bytes:
    """Return the symbol of a written name, without sign and `~…`; a number stands for none."""
    inside = name[1:]
    if inside.startswith('"'):
        return unquoted(inside[: inside.rindex('"') + 1])
    return b"" if inside[0].isdigit() else inside.partition("~")[0].encode()
