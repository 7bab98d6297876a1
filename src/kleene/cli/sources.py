"""The input files of a command, and every option that says how to read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kleene.ir import Program

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, errors included.")]


@dataclass(frozen=True, kw_only=True)
class Sources:
    """What to load, and how; each field is an argument or option of the command line."""

    files: Annotated[
        list[str],
        typer.Argument(
            help="C or C++ files, folders, globs, .bc, .ll, or compile_commands.json.",
            metavar="FILES",
            show_default=False,
        ),
    ]
    defines: Annotated[
        list[str] | None, typer.Option("-D", metavar="NAME[=VALUE]", help="Define a macro.")
    ] = None
    includes: Annotated[
        list[str] | None, typer.Option("-I", metavar="FOLDER", help="Look for headers there too.")
    ] = None
    std: Annotated[
        list[str] | None,
        typer.Option("--std", metavar="NAME", help="Language standard, for its language: c11, ..."),
    ] = None
    flags: Annotated[
        list[str] | None, typer.Option("--flag", metavar="FLAG", help="Pass FLAG to the compiler.")
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="PATTERN", help="Of folders and databases, take files that match."
        ),
    ] = None
    cc: Annotated[
        str | None,
        typer.Option(
            "--cc", metavar="CLANG", help="Compile with this clang, not $KLEENE_CC or zig."
        ),
    ] = None
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Compile so many files at once.")
    ] = None
    normalise: Annotated[
        bool, typer.Option("--normalise", help="Run SROA over given bitcode too.")
    ] = False
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Neither read nor write the cache.")
    ] = False

    def load(self) -> Program:
        """Return the program these files make."""
        from kleene import load

        return load(
            self.files,
            defines=self.defines or (),
            includes=self.includes or (),
            std=self.std or None,
            flags=self.flags or (),
            only=self.only or (),
            cc=self.cc,
            cache=not self.no_cache,
            jobs=self.jobs,
            normalise=self.normalise,
        )
