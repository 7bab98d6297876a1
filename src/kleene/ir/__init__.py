"""Columnar program tables: builder, verifier, text form, store.

What a program is comes at once; what builds, checks, prints and shows one when it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kleene.ir.canonical import canonical, same
from kleene.ir.program import Program

if TYPE_CHECKING:
    from kleene.ir.builder import Builder
    from kleene.ir.text import dump, parse
    from kleene.ir.verifier import problems, verify
    from kleene.ir.views import (
        Argument,
        Block,
        Call,
        Constant,
        Function,
        Global,
        Instruction,
        Type,
        Value,
    )

__all__ = [
    "Argument",
    "Block",
    "Builder",
    "Call",
    "Constant",
    "Function",
    "Global",
    "Instruction",
    "Program",
    "Type",
    "Value",
    "canonical",
    "dump",
    "parse",
    "problems",
    "same",
    "verify",
]
_PLACES = {
    "Builder": "builder",
    **dict.fromkeys(("dump", "parse"), "text"),
    **dict.fromkeys(("problems", "verify"), "verifier"),
}


def __getattr__(name: str) -> Any:
    """Import the other names on first use: analyses of a program that is read need none."""
    if name not in __all__:
        raise AttributeError(f"module 'kleene.ir' has no attribute {name!r}")
    return getattr(import_module(f"kleene.ir.{_PLACES.get(name, 'views')}"), name)
