"""Functions of a program picked by name."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from kleene.base.errors import SourceError

if TYPE_CHECKING:
    from kleene.ir import Function, Program


def defined(program: Program, names: list[str] | None) -> list[Function]:
    """Return the functions called `names`, or without names all that have a body."""
    if names is not None:
        return [program.functions[name] for name in names]
    return [function for function in program.functions if function.blocks]


def checked(program: Program, names: list[str] | None) -> list[str] | None:
    """Return `names` (None for all), or say which of them the program does not define."""
    if not names:
        return None
    present = [function.name for function in defined(program, None)]
    for name in names:
        if name not in present:
            raise _unknown(name, present)
    return names


def _unknown(name: str, present: list[str]) -> SourceError:
    near = get_close_matches(name, present, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"it defines {len(present)} functions"
    return SourceError(
        None, "cli/unknown-function", f"the program defines no function '{name}'", hint
    )
