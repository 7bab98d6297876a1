"""How commands speak: aligned rows or JSON on stdout, notes on stderr, whole files or none."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from kleene.base import json
from kleene.base.errors import SourceError, Span
from kleene.base.files import write_file
from kleene.base.source_text import printable

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EBADF, errno.EIO, errno.EFBIG, errno.ENXIO)
_notes_are_shown = True
_collected: list[object] | None = None


def rows(pairs: Iterable[tuple[str, object]]) -> str:
    """Return `pairs` as lines of two aligned columns, the last one ended too."""
    listed = [(name, str(value)) for name, value in pairs]
    width = max((len(name) for name, _ in listed), default=0)
    return "".join(f"{name:{width}}  {value}".rstrip() + "\n" for name, value in listed)


def emit(pieces: Iterable[str], paint: Callable[[str], str] | None = None) -> None:
    """Print text on stdout as its pieces come, with nothing in it that a terminal would obey.

    On a terminal `paint` may add colours to a piece (unless `NO_COLOR` is set).
    """
    is_painted = paint is not None and _shows_colours()
    for piece in pieces:
        text = printable(piece)
        _stdout().write(paint(text) if paint is not None and is_painted else text)
    flush()


def _shows_colours() -> bool:
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def emit_json(value: object) -> None:
    """Print `value` on stdout as JSON, which is plain ASCII."""
    if _collected is not None:
        _collected.append(value)
        return
    _stdout().write(json.dumps(value) + "\n")
    flush()


@contextmanager
def json_to(values: list[object]) -> Iterator[None]:
    """Collect what the block would print as JSON."""
    global _collected
    before, _collected = _collected, values
    try:
        yield
    finally:
        _collected = before


def flush() -> None:
    """Send on what was printed: a pipe that is closed shows here, not when Python ends."""
    if sys.stdout is not None:
        sys.stdout.flush()


def say(text: str) -> None:
    """Print a line on stderr, with nothing in it that a terminal would obey."""
    sys.stderr.write(printable(text) + "\n")
    sys.stderr.flush()


def open_standard_streams() -> None:
    """Make sure that stdin, stdout and stderr are open, take any text, and stderr never fails.

    Python opens none in place of one that was closed (`>&-`): the next file would get its number,
    and what is meant for stdout would end up there.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, this one
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process lives
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if isinstance(sys.stderr, io.TextIOWrapper) and sys.stderr is sys.__stderr__:
        sys.stderr = _unfailing(sys.stderr)


class _Unfailing(io.RawIOBase):
    """A stream that drops what `raw` does not take: it is full or gone, or would have to wait.

    Whoever writes to it, be it a note, a warning of Python's or Typer's words on wrong usage, sees
    no error, and nothing stays in a buffer for Python to fail on at exit, with a code of its own.
    """

    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw = raw

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._raw.fileno()

    def isatty(self) -> bool:
        return self._raw.isatty()

    def write(self, data: ReadableBuffer, /) -> int:
        n_written = None
        with suppress(OSError):
            n_written = self._raw.write(data)
        return memoryview(data).nbytes if n_written is None else n_written


def _unfailing(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """Return a stream of lines to where `stream` writes, which drops what is not taken there."""
    buffer: Any = stream.buffer  # with PYTHONUNBUFFERED it is no buffer, but the raw stream
    return io.TextIOWrapper(
        io.BufferedWriter(_Unfailing(getattr(buffer, "raw", buffer))),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=True,
    )


def is_of_stdout(error: OSError) -> bool:
    """Return whether an error is of writing to stdout: it names no file."""
    return error.filename is None and error.errno in _FULL


def forget_stdout() -> None:
    """Send what is left in the buffer nowhere: Python would complain about it at exit."""
    if sys.stdout is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _stdout() -> TextIO:
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return sys.stdout


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
        say(f"note: {text}")


def check_suffix(path: Path | None, known: tuple[str, ...]) -> None:
    """Raise if `path` is of no kind that can be written."""
    if path is not None and path.suffix not in known:
        message = f"cannot write '{path.suffix}' files"
        raise SourceError(Span(str(path)), "cli/unknown-format", message, f"use {', '.join(known)}")


def write_whole(path: Path, text: str) -> None:
    """Write `text` to `path`: the whole of it or, with an error, nothing."""
    try:
        write_file(path, text.encode(errors="surrogatepass"))
    except OSError as error:
        cause = error.strerror or str(error)
        raise SourceError(Span(str(path)), "cli/cannot-write", cause) from None


def megabytes(n_bytes: int) -> str:
    """Return a size as people read it."""
    return f"{n_bytes / 1e6:.1f} MB"
