"""How commands speak: aligned rows or JSON on stdout, notes on stderr, whole files or none."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kleene.base import json
from kleene.base.errors import SourceError, Span

_notes_are_shown = True


def rows(pairs: Iterable[tuple[str, object]]) -> str:
    """Return `pairs` as lines of two aligned columns, the last one ended too."""
    listed = [(name, str(value)) for name, value in pairs]
    width = max((len(name) for name, _ in listed), default=0)
    return "".join(f"{name:{width}}  {value}".rstrip() + "\n" for name, value in listed)


def emit(pieces: Iterable[str]) -> None:
    """Print text on stdout as its pieces come."""
    for piece in pieces:
        sys.stdout.write(piece)
    sys.stdout.flush()


def emit_json(value: object) -> None:
    """Print `value` on stdout as JSON."""
    emit([json.dumps(value), "\n"])


@contextmanager
def notes(shown: bool) -> Iterator[None]:
    """Show or drop the notes of the block."""
    global _notes_are_shown
    before, _notes_are_shown = _notes_are_shown, shown
    try:
        yield
    finally:
        _notes_are_shown = before


def note(text: str) -> None:
    """Tell the user something that is not the answer, on stderr; with `--quiet` nothing."""
    if _notes_are_shown:
        print(f"note: {text}", file=sys.stderr)


def check_suffix(path: Path | None, known: tuple[str, ...]) -> None:
    """Raise if `path` is of no kind that can be written."""
    if path is not None and path.suffix not in known:
        message = f"cannot write '{path.suffix}' files"
        raise SourceError(Span(str(path)), "cli/unknown-format", message, f"use {', '.join(known)}")


def write_whole(path: Path, text: str) -> None:
    """Write `text` to `path`: the whole of it or, with an error, nothing."""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_text(text, encoding="utf-8")  # a device or pipe is written to, not replaced
        else:
            _replace(path.resolve(), text)
    except OSError as error:
        cause = error.strerror or str(error)
        raise SourceError(Span(str(path)), "cli/cannot-write", cause) from None


def _replace(path: Path, text: str) -> None:
    """Write `text` under a name of this process, then move it into place."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("x", encoding="utf-8") as file:
            file.write(text)
        temporary.replace(path)
    except BaseException:  # the end of the time allowed comes as SystemExit
        temporary.unlink(missing_ok=True)
        raise


def megabytes(n_bytes: int) -> str:
    """Return a size as people read it."""
    return f"{n_bytes / 1e6:.1f} MB"
