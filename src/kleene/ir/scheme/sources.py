"""Sources: every byte of every file has one number, so that a place is two integers.

The first file's bytes count from 0, the next file's from where the first ends, and so on. Data and
core rows keep a start and an end; `Sources` turns them into a `Span` when somebody asks.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path

from kleene.base.errors import SourceError, Span
from kleene.base.files import read_file


@dataclass(frozen=True, slots=True)
class Source:
    """One text: its name, its bytes, and the number of its first byte.

    The libraries that come with Kleene are `bundled`: they are no files of the program.
    """

    file: str
    text: bytes
    base: int
    is_bundled: bool = False


@dataclass(slots=True)
class Sources:
    """The texts of a program, in the order they were read."""

    all: list[Source] = field(default_factory=list)
    n_bytes: int = 0

    def add(self, file: str, text: bytes, *, is_bundled: bool = False) -> Source:
        """Return the new source; refuse bytes that are not UTF-8, with their place."""
        source = Source(file, text, self.n_bytes, is_bundled)
        self.all.append(source)
        self.n_bytes += len(text) + 1  # one past the end is a place too
        try:
            text.decode()
        except UnicodeDecodeError as error:
            place = self.span(source.base + error.start, source.base + error.start + 1)
            raise SourceError(
                place, "scheme/bad-encoding", f"byte 0x{text[error.start]:02x} is not UTF-8"
            ) from None
        return source

    def load(self, path: Path) -> Source:
        """Return the source in a file."""
        try:
            text = read_file(path)
        except OSError as error:
            problem = error.strerror or "cannot be read"
            raise SourceError(Span(str(path)), "scheme/unreadable", problem) from None
        return self.add(str(path), text)

    def source_of(self, at: int) -> Source:
        """Return the source that byte number `at` is in."""
        return self.all[bisect_right(self.all, at, key=lambda source: source.base) - 1]

    def span(self, at: int, end: int) -> Span:
        """Return the place from byte number `at` to before `end`, cut at the end of its line."""
        source = self.source_of(at)
        text, offset, stop = source.text, at - source.base, end - source.base
        first = text.rfind(b"\n", 0, offset) + 1
        column = 1 + len(text[first:offset].decode(errors="replace"))
        newline = text.find(b"\n", offset, stop)
        shown = text[offset : stop if newline < 0 else newline].decode(errors="replace")
        return Span(source.file, 1 + text.count(b"\n", 0, offset), column, max(1, len(shown)))
