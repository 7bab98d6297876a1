"""Functions of a program picked by name."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from kleene.base.errors import SourceError

if TYPE_CHECKING:
    from kleene.analyses.points_to.answers.written import Written
    from kleene.ir import Function, Program


def check_names(names: list[str], present: list[str]) -> None:
    """Raise if one of `names` is not among the functions that are present."""
    for name in names:
        if name not in present:
            raise _no_function(name, present)


def picked(program: Program, names: list[str] | None) -> list[Function]:
    """Return the functions called `names`, or without names all that have a body.

    A name is a symbol, or what people write: `Dog::speak`, `list.c:helper`.

    Raises:
        SourceError: none is called so (`cli/unknown-function`), or several (`cli/which-function`).
    """
    present = [function for function in program.functions if not function.is_declaration]
    if not names:
        return present
    by_name = {function.name: function for function in present}
    if all(name in by_name for name in names):
        return [by_name[name] for name in names]
    from kleene.analyses.points_to.answers.written import written_of

    written, by_row = written_of(program), {f.value.row: f for f in present}
    return [by_name.get(name) or _found(name, written, by_row) for name in names]


def _found(name: str, written: Written, present: dict[int, Function]) -> Function:
    rows = [row for row in written.rows(name) if row in present]
    if len(rows) == 1:
        return present[rows[0]]
    if rows:
        message = f"'{name}' may be any of {len(rows)} functions"
        note = f"write {' or '.join(written.names[row] for row in rows[:8])}"
        raise SourceError(None, "cli/which-function", message, note)
    raise _no_function(name, [written.names[row] for row in present])


def _no_function(name: str, present: list[str]) -> SourceError:
    """Return the error that `name` is not among `present`, with what may have been meant."""
    near = get_close_matches(name, present, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"it defines {len(present)} functions"
    message = f"the program defines no function '{name}'"
    return SourceError(None, "cli/unknown-function", message, hint)
