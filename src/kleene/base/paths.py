"""Paths as callers give them: one, or several."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from kleene.base.errors import SourceError
from kleene.base.files import PathLike


def paths_of(value: PathLike | Iterable[PathLike]) -> tuple[str, ...]:
    """Return one path or several as several; names of other things count as paths, too.

    Raises:
        SourceError: `load/not-a-path`, for what is neither.
    """
    if isinstance(value, str | os.PathLike):
        return (os.fspath(value),)
    try:
        return tuple(_text(one) for one in value)
    except TypeError:
        message = f"{_short(value)} is neither a path nor several"
        raise SourceError(None, "load/not-a-path", message) from None


def _text(path: Any) -> str:
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError
    return text


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 80 else text[:80] + "…"
