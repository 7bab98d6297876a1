"""`kleene ir`: the program as Kleene sees it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kleene.base import json
from kleene.cli.functions import picked
from kleene.cli.options import UsageError, option
from kleene.cli.output import emit, note, rows, write_whole
from kleene.cli.shared import AsJson
from kleene.cli.sources import Sources

if TYPE_CHECKING:
    from kleene.ir import Function, Program
    from kleene.ir.scheme import Core


def run(
    sources: Sources,
    *,
    functions: Annotated[
        list[str] | None,
        option("--function", metavar="NAME", help="Only this function; may be repeated."),
    ] = None,
    stats: Annotated[bool, option("--stats", help="Print counts, not the text.")] = False,
    output: Annotated[
        Path | None, option("-o", "--output", help="Write to this file, not to stdout.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the program's intermediate representation.

    Example: kleene ir examples/shapes/*.c --function main

    C and C++ files are compiled, linked and read into one program. What Kleene did not understand
    is kept as an opaque instruction, and counted in a note. Of a Scheme file the core is printed,
    each variable with its number.
    """
    from kleene.ir import Program

    program = sources.load()
    if isinstance(program, Program):
        pieces = _c(program, functions or [], stats=stats, as_json=as_json)
    elif functions:
        raise UsageError("--function is for C and C++")
    else:
        pieces = _scheme(program, stats=stats, as_json=as_json)
    if output is None:
        emit(pieces)
    else:
        write_whole(output, "".join(pieces))
    if isinstance(program, Program) and not as_json:
        for count, what in program.notices:
            note(f"{what} ({count} times)")


def _c(program: Program, functions: list[str], *, stats: bool, as_json: bool) -> Iterator[str]:
    chosen = picked(program, functions)
    if as_json:
        return iter([_json(program, chosen, stats)])
    if stats:
        return iter([rows(program.stats().items())])
    return _text(program, chosen if functions else None)


def _scheme(core: Core, *, stats: bool, as_json: bool) -> Iterator[str]:
    """Yield the core of a Scheme program, a line for each top-level form, or its sizes."""
    from kleene.frontends.scheme.text import core_text

    sizes = core.stats()
    if as_json:
        forms = {} if stats else {"forms": core_text(core).splitlines()}
        yield json.dumps({"stats": sizes, **forms}) + "\n"
    else:
        yield rows(sizes.items()) if stats else core_text(core) + "\n"


def _text(program: Program, functions: list[Function] | None) -> Iterator[str]:
    """Yield the text form piece by piece: `head` need not wait for a whole program."""
    from kleene.ir.text import chunks

    wanted = None if functions is None else [function.row for function in functions]
    return chunks(program, wanted)


def _json(program: Program, functions: list[Function], stats: bool) -> str:
    value: dict[str, object] = {
        "stats": program.stats(),
        "notices": [{"count": count, "text": what} for count, what in program.notices],
    }
    if not stats:
        value["functions"] = [_plain(function) for function in functions]
    return json.dumps(value) + "\n"


def _plain(function: Function) -> dict[str, object]:
    """Return a function as data: its blocks, each with its instructions and successors."""
    blocks = [
        {
            "name": block.name,
            "instructions": [str(instruction) for instruction in block.instructions],
            "successors": [successor.name for successor in block.successors],
        }
        for block in function.blocks
    ]
    span = function.span
    return {
        "name": function.name,
        "source_name": function.source_name,
        "file": span.file if span else None,
        "line": span.line if span else None,
        "blocks": blocks,
    }
