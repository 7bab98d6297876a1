"""Text under construction: each once, numbered from the empty one."""

from __future__ import annotations

from kleene.ir.tables import Strings

Text = str | bytes


class Symbols:
    """Gives every text a number; symbol 0 is the empty text."""

    def __init__(self) -> None:
        self._known: dict[bytes, int] = {b"": 0}

    def __getitem__(self, text: Text) -> int:
        return self._known.setdefault(symbol_bytes(text), len(self._known))

    def table(self) -> Strings:
        """Return all texts as columns."""
        return Strings.of(list(self._known))


def symbol_bytes(text: Text) -> bytes:
    """Return the bytes of a text."""
    return text.encode() if isinstance(text, str) else text
