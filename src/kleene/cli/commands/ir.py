"""`kleene ir`: the program as Kleene sees it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kleene.cli.functions import checked, defined
from kleene.cli.output import emit, note, rows, write_whole
from kleene.cli.sources import AsJson, Sources
from kleene.reports import json

if TYPE_CHECKING:
    from kleene.ir import Function, Program


def run(
    sources: Sources,
    *,
    functions: Annotated[
        list[str] | None,
        typer.Option("--function", metavar="NAME", help="Only this function; may be repeated."),
    ] = None,
    stats: Annotated[bool, typer.Option("--stats", help="Print counts, not the text.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to this file, not to stdout.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the program's intermediate representation.

    Example: kleene ir examples/shapes/*.c --function main

    All files are compiled, linked and read into one program. What Kleene did not understand is kept
    as an opaque instruction, and counted in a note.
    """
    program = sources.load()
    names = checked(program, functions)
    text = _json(program, names, stats) if as_json else _text(program, names, stats)
    if output is None:
        emit(text)
    else:
        write_whole(output, text if text.endswith("\n") else text + "\n")
    if not as_json:
        for count, what in program.notices:
            note(f"{what} ({count} times)")


def _text(program: Program, names: list[str] | None, stats: bool) -> str:
    from kleene.ir.text import dump

    return rows(program.stats().items()) if stats else dump(program, names)


def _json(program: Program, names: list[str] | None, stats: bool) -> str:
    value: dict[str, object] = {
        "stats": program.stats(),
        "notices": [{"count": count, "text": what} for count, what in program.notices],
    }
    if not stats:
        value["functions"] = [_plain(function) for function in defined(program, names)]
    return json.dumps(value)


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
    return {"name": function.name, "blocks": blocks}
