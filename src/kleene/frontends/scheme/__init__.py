"""Scheme: R7RS-small text to an alpha-renamed core, and an interpreter of the core."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kleene.base.errors import SourceError, Span
from kleene.base.files import PathLike
from kleene.base.paths import paths_of

if TYPE_CHECKING:
    from kleene.ir.scheme.core import Core

__all__ = ["LANGUAGE", "SUFFIXES", "Core", "load", "parse"]

LANGUAGE = "Scheme"
SUFFIXES = (".scm", ".sld", ".sps", ".ss")


def load(
    paths: PathLike | Iterable[PathLike], *, libraries: PathLike | Iterable[PathLike] = ()
) -> Core:
    """Return the core of the program in a file; libraries and includes are found beside it.

    Args:
        paths: the file.
        libraries: folders in which libraries are looked for, after the one of the file.

    Raises:
        SourceError: the file cannot be read, its text is no Scheme program, or several files are
            named (`scheme/several-files`).
    """
    from kleene.frontends.scheme.expansion import Expansion

    files = list(map(Path, paths_of(paths)))
    if len(files) != 1:
        message = f"a Scheme program is one file, and {len(files)} are named"
        note = "libraries and included files are found beside it"
        place = Span(str(files[1])) if files else None
        raise SourceError(place, "scheme/several-files", message, note)
    expansion = Expansion(files[0].parent, libraries=[*map(Path, paths_of(libraries))])
    expansion.add(expansion.sources.load(files[0]))
    return expansion.core()


def parse(text: str | bytes, file: str = "<text>", folder: Path | None = None) -> Core:
    """Return the core of a program given as text; `file` is its name in messages."""
    from kleene.frontends.scheme.expansion import Expansion

    return Expansion.of_text(text, file, folder).core()


def __getattr__(name: str) -> Any:
    """Import `Core` on first use: who only asks which files are Scheme needs no columns."""
    if name != "Core":
        raise AttributeError(f"module 'kleene.frontends.scheme' has no attribute {name!r}")
    from kleene.ir.scheme.core import Core

    return Core
