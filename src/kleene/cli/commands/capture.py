"""`kleene capture`: run a project's own build, and write down what its programs are made of."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from kleene.base.errors import SourceError, Span
from kleene.cli.options import option
from kleene.cli.output import emit, emit_json, note, write_whole
from kleene.cli.shared import AsJson


def run(
    *,
    command: Annotated[
        list[str], option(help="The build, after --.", metavar="-- COMMAND", show_default=False)
    ],
    folder: Annotated[
        Path, option("--output", "-o", metavar="FOLDER", help="Where to write the databases.")
    ] = Path("captured"),
    as_json: AsJson = False,
) -> None:
    """Run a project's own build, and write a compilation database for each of its programs.

    Example: kleene capture -- make -j4

    Every other command reads these: kleene points-to captured/PROGRAM.json. Nothing is changed in
    the build. Compilers are seen if they are called by name (cc, gcc, g++, clang, ...); where none
    is installed, the one that came with Kleene is called.
    """
    from kleene.frontends.c.capture import captured

    build = captured(command)
    made = [("compile_commands.json", "all that was compiled", build.units)]
    for name, (file, units) in zip(_names(build.linked), build.linked.items(), strict=True):
        made.append((name, os.path.relpath(file), units))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(Span(str(folder)), "cli/cannot-write", f"{error.strerror}") from None
    for name, _, units in made:
        entries = [unit.as_json() for unit in units]
        write_whole(folder / name, json.dumps(entries, indent=1) + "\n")
    gone = sorted(set(build.gone))
    if gone:
        note(f"left out, for the build has removed them: {', '.join(gone)}")
    if as_json:
        listed = [
            {"database": str(folder / name), "of": what, "files": len(units)}
            for name, what, units in made
        ]
        emit_json({"databases": listed, "removed": gone})
    else:
        width = max(len(str(folder / name)) for name, _, _ in made)
        emit(f"{folder / name!s:{width}}  {len(u):4} files  {what}\n" for name, what, u in made)


def _names(files: Iterable[str]) -> list[str]:
    """Return names for the databases of programs, with folders where names are the same."""
    names: list[str] = []
    for file in files:
        *folders, name = Path(file).parts
        while f"{name}.json" in names and folders:
            name = f"{folders.pop()}-{name}"
        names.append(f"{name}.json")
    return names
