"""What the reader says of a text that it cannot read."""

from __future__ import annotations

from kleene.base.errors import SourceError


def unread(message: str) -> SourceError:
    """Return the error: the text is LLVM's own, so the fault is ours."""
    note = "this is a fault of Kleene's reader: please report it with the input"
    return SourceError(None, "c/unread", message, note)
