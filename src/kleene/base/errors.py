"""Errors the user can mend: a place, a stable id, a cause, and a way forward.

Two families, never mixed: the user's input is at fault (`SourceError`, reported, exit code 1), or
Kleene is (an `assert`, which crashes loudly).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kleene.base.source_text import source_line, source_lines, visible


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a source file; lines and columns count from 1, and 0 means unknown."""

    file: str
    line: int = 0
    column: int = 0
    length: int = 1

    def __str__(self) -> str:
        parts = [self.file, *(str(n) for n in (self.line, self.column) if n)]
        return ":".join(parts)


class SourceError(Exception):
    """The input is at fault. `id` is stable and may be matched; the prose may change."""

    def __init__(self, span: Span | None, id: str, message: str, *notes: str) -> None:
        super().__init__(message)
        self.span = span
        self.id = id
        self.message = message
        self.notes = notes

    def __iter__(self) -> Iterator[SourceError]:
        """Yield every single error in this one."""
        yield self

    def __str__(self) -> str:
        return self.render()

    def __reduce__(self) -> tuple[object, ...]:
        """Travel whole between processes (the default would drop all but the message)."""
        return (type(self), (self.span, self.id, self.message, *self.notes))

    def render(self) -> str:
        """Return the error as a compiler prints it: head, source line, caret, notes."""
        head = f"{self.span}: " if self.span else ""
        lines = [f"{head}error[{self.id}]: {self.message}"]
        if self.span:
            lines += excerpt(self.span)
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def as_json(self) -> dict[str, object]:
        """Return the error as plain data, for `--json`; what is unknown is None."""
        span = self.span
        return {
            "id": self.id,
            "message": self.message,
            "file": span.file if span else None,
            "line": (span.line or None) if span else None,
            "column": (span.column or None) if span else None,
            "notes": list(self.notes),
        }


class SourceErrors(SourceError):  # noqa: N818 - a plural, not a new kind
    """Several errors found in one go; catching `SourceError` catches these too."""

    def __init__(self, errors: Iterable[SourceError]) -> None:
        self.errors = tuple(single for error in errors for single in error)
        assert self.errors, "an empty collection of errors is a success"
        first = self.errors[0]
        super().__init__(first.span, first.id, first.message, *first.notes)

    def __iter__(self) -> Iterator[SourceError]:
        return iter(self.errors)

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.errors,))

    def render(self) -> str:
        """Return all errors, one after the other."""
        return "\n".join(error.render() for error in self.errors)


def raise_all(errors: Iterable[SourceError]) -> None:
    """Raise the errors given, if any: one as itself, several as one `SourceErrors`."""
    collected = list(errors)
    if len(collected) == 1:
        raise collected[0]
    if collected:
        raise SourceErrors(collected)


def excerpt(span: Span) -> list[str]:
    """Return the source line of `span` with a caret under it, or nothing if it cannot be read."""
    if not 0 < span.line <= len(source_lines(span.file)):
        return []
    text = source_line(span.file, span.line)
    shown = [f"{span.line:4} | {visible(text)}"]
    if span.column:
        before, marked = text[: span.column - 1], text[span.column - 1 :][: span.length]
        pad = "".join("\t" if c == "\t" else " " for c in visible(before))
        shown.append(f"     | {pad}{'^' * max(1, len(visible(marked)))}")
    return shown
