"""Text of source files: their lines, the names they go by, and nothing that hides in them."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import PurePath

from kleene.base.files import read_file

# Characters that change how the text around them is shown: C0 and C1 controls but for the tab, the
# marks and overrides of the bidirectional algorithm, separators that some programs take for ends of
# lines, characters of no width, and surrogates, which no encoding has: in names of files they stand
# for bytes that are no UTF-8.
_HIDDEN = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064"
    "\u2066-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def source_lines(path: str) -> tuple[str, ...]:
    r"""Return the lines of a file without their ends; nothing where it cannot be read.

    Lines end as compilers count them, at `\n`, `\r\n` or `\r` alone. Bytes that are no UTF-8 become
    replacement characters. A file is read again only when it has changed.
    """
    try:
        found = os.stat(path)
        return _lines(path, found.st_mtime_ns, found.st_size)
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return ()


def source_line(path: str, line: int) -> str:
    """Return one line of a file, counted from 1, or nothing where there is none."""
    lines = source_lines(path)
    return lines[line - 1] if 0 < line <= len(lines) else ""


def relative_path(path: str, root: str | os.PathLike[str]) -> str:
    """Return `path` from the folder `root` on, with `/`; as an absolute path if it lies outside."""
    whole = PurePath(os.path.abspath(path))
    folder = os.path.abspath(root)
    inside = whole.is_relative_to(folder)
    return (whole.relative_to(folder) if inside else whole).as_posix()


def visible(text: str) -> str:
    """Return `text` with characters that hide or reorder others written out, as `<U+202E>`.

    >>> visible("left\u202eright")
    'left<U+202E>right'
    """
    return text if text.isprintable() else _HIDDEN.sub(_written_out, text)


def printable(text: str) -> str:
    r"""Return lines of text for a terminal: as `visible`, but for the newlines between them.

    >>> printable("\x1b[31mred\n")
    '<U+001B>[31mred\n'
    """
    if text.replace("\n", "").isprintable():
        return text
    return "\n".join(map(visible, text.split("\n")))


def _written_out(found: re.Match[str]) -> str:
    return f"<U+{ord(found[0]):04X}>"


@lru_cache(maxsize=64)
def _lines(path: str, _changed_ns: int, _size: int) -> tuple[str, ...]:
    text = read_file(path).decode(errors="replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return tuple(lines if lines[-1] else lines[:-1])
