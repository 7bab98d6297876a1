"""Lines of source files, to show beside what is said about them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from kleene.base.errors import Span


def source_line(span: Span | None) -> str:
    """Return the source line at a place, or nothing where it cannot be read."""
    lines = _lines(span.file) if span else []
    return lines[span.line - 1].strip() if span and 0 < span.line <= len(lines) else ""


@lru_cache(maxsize=64)
def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError):
        return []
