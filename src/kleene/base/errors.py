"""Errors the user can mend: a place, a stable id, a cause, and a way forward.

Two families, never mixed: the user's input is at fault (`SourceError`, reported, exit code 1), or
Kleene is (an `assert`, which crashes loudly).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from kleene.base.source_text import source_line, source_lines, visible

_LINE = 160  # characters of a source line that are shown
_TEXT, _LINES = 600, 40  # characters of a line of a message, and how many lines


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
        head = f"{visible(str(self.span))}: " if self.span else ""
        lines = [f"{head}error[{self.id}]: {_cut(self.message)}"]
        if self.span:
            lines += excerpt(self.span)
        lines += [f"note: {_cut(note)}" for note in self.notes]
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


class KleeneWarning(UserWarning):
    """Something that costs time, not an answer; the command line prints it as a note."""


def raise_all(errors: Iterable[SourceError]) -> None:
    """Raise the errors given, if any: one as itself, several as one `SourceErrors`."""
    collected = list(errors)
    if len(collected) == 1:
        raise collected[0]
    if collected:
        raise SourceErrors(collected)


def did_you_mean(name: str, known: Sequence[str], *, most: int = 12) -> str:
    """Return what may have been meant by a name that is not known, or what names there are.

    >>> did_you_mean("bound", ["assert", "bounds", "null"])
    'did you mean bounds? There are assert, bounds, null'
    """
    near = get_close_matches(name, known, n=3)
    listed = ", ".join([*known[:most], *(["…"] if len(known) > most else [])])
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return f"{hint}There are {listed}" if hint else f"there are {listed}"


def excerpt(span: Span) -> list[str]:
    """Return the source line of `span` with a caret under it, or nothing if it cannot be read.

    Of a long line the part around the place is shown.
    """
    if not 0 < span.line <= len(source_lines(span.file)):
        return []
    text = source_line(span.file, span.line)
    first = max(0, span.column - 1 - _LINE // 2) if len(text) > _LINE else 0
    part = text[first : first + _LINE]
    left, right = "…" * (first > 0), "…" * (first + _LINE < len(text))
    shown = [f"{span.line:4} | {left}{visible(part)}{right}"]
    if span.column:
        at = span.column - 1 - first
        before, marked = left + part[:at], part[at:][: span.length]
        pad = "".join("\t" if c == "\t" else " " for c in visible(before))
        shown.append(f"     | {pad}{'^' * max(1, len(visible(marked)))}")
    return shown


def _cut(text: str) -> str:
    """Return text whose lines are cut where nobody reads on."""
    lines = text.split("\n")
    kept = [line if len(line) <= _TEXT else f"{line[:_TEXT]}…" for line in lines[:_LINES]]
    return "\n".join(map(visible, kept if len(lines) <= _LINES else [*kept, "…"]))
