"""Functions of a program picked by name."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from kleene.base.errors import SourceError

if TYPE_CHECKING:
    from kleene.ir import Function, Program


def check_names(names: list[str], present: list[str]) -> None:
    """Raise if one of `names` is not among the functions that are present."""
    for name in names:
        if name not in present:
            raise _no_function(name, get_close_matches(name, present, n=3), len(present))


def picked(program: Program, names: list[str] | None) -> list[Function]:
    """Return the functions called `names`, or without names all that have a body."""
    present = [function for function in program.functions if not function.is_declaration]
    if not names:
        return present
    by_name = {function.name: function for function in present}
    for name in names:
        if name not in by_name:
            raise _unknown(name, present)
    return [by_name[name] for name in names]


def _unknown(name: str, present: list[Function]) -> SourceError:
    """Return the error that `name` is not among `present`, with what may have been meant."""
    meant = [function.name for function in present if function.source_name == name]
    near = meant or get_close_matches(name, [function.name for function in present], n=3)
    return _no_function(name, near, len(present))


def _no_function(name: str, near: list[str], n_present: int) -> SourceError:
    hint = f"did you mean {' or '.join(near)}?" if near else f"it defines {n_present} functions"
    message = f"the program defines no function '{name}'"
    return SourceError(None, "cli/unknown-function", message, hint)
