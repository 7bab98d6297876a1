"""C and C++ in: paths, to one verified LLVM module, to one `Program`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kleene.frontends.c.exchange import FORMS
from kleene.frontends.c.source import LANGUAGES

if TYPE_CHECKING:
    from kleene.frontends.c.driver import load

__all__ = ["LANGUAGE", "SUFFIXES", "TAKES_FOLDERS", "load"]

LANGUAGE = "C or C++"
SUFFIXES = (*LANGUAGES, *FORMS, ".json")
TAKES_FOLDERS = True


def __getattr__(name: str) -> Any:
    """Import `load` on first use: the process that holds LLVM needs little of it."""
    if name != "load":
        raise AttributeError(f"module 'kleene.frontends.c' has no attribute {name!r}")
    from kleene.frontends.c.driver import load

    return load
