"""Scheme: R7RS-small text to an alpha-renamed core, and an interpreter of the core."""

from __future__ import annotations

from pathlib import Path

from kleene.frontends.scheme.expander import Expansion
from kleene.ir.scheme.core import Core

__all__ = ["Core", "load", "parse"]


def load(path: str | Path) -> Core:
    """Return the core of the program in a file; libraries and includes are found beside it.

    Raises:
        SourceError: the file cannot be read, or its text is no Scheme program.
    """
    expansion = Expansion(Path(path).parent)
    expansion.add(expansion.sources.load(Path(path)))
    return expansion.core()


def parse(text: str | bytes, file: str = "<text>", folder: Path | None = None) -> Core:
    """Return the core of a program given as text; `file` is its name in messages."""
    expansion = Expansion(folder)
    raw = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    expansion.add(expansion.sources.add(file, raw))
    return expansion.core()
