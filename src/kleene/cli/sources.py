"""The input files of a command, and every option that says how to read them.

A command says by the type of its argument what it reads: `CSources`, `SchemeSources`, or `Sources`
for both. Files in another language are refused before the command starts, with the names of the
commands that read them (`discover`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast, get_type_hints

from kleene.cli.options import UsageError, option
from kleene.frontends import FrontEnd, front_end_of

if TYPE_CHECKING:
    from kleene.ir import Program
    from kleene.ir.loops.tree import Unit
    from kleene.ir.scheme import Core

_C_FILES = "C or C++ files, folders, globs, .bc, .ll, or compile_commands.json."
_C_PANEL = "How C and C++ are read"
_SCHEME_PANEL = "How Scheme is read"
_FOR_SCHEME = ("libraries", "keep_going")
_OF_BITCODE = ("cache", "normalise")  # options that matter for bitcode alone


def _files(help_text: str) -> Any:
    return option(help=help_text, metavar="FILES", show_default=False)


def _option(*names: str, **settings: Any) -> Any:
    return option(*names, rich_help_panel=_C_PANEL, **settings)


@dataclass(frozen=True, kw_only=True)
class Sources:
    """A program in any language; each field is an argument or option of the command line."""

    reads: ClassVar[tuple[str, ...]] = ("c", "scheme")  # names of front ends
    left_out: ClassVar[tuple[str, ...]] = ()  # fields that are no options of the command

    files: Annotated[list[str], _files(f"{_C_FILES[:-1]}; or a Scheme file.")]
    defines: Annotated[
        list[str] | None, _option("-D", metavar="NAME[=VALUE]", help="Define a macro.")
    ] = None
    includes: Annotated[
        list[str] | None, _option("-I", metavar="FOLDER", help="Look for headers there too.")
    ] = None
    std: Annotated[
        list[str] | None,
        _option("--std", metavar="NAME", help="Language standard, for its language: c11, ..."),
    ] = None
    flags: Annotated[
        list[str] | None, _option("--flag", metavar="FLAG", help="Pass FLAG to the compiler.")
    ] = None
    only: Annotated[
        list[str] | None,
        _option(
            "--only", metavar="PATTERN", help="Of folders and databases, take files that match."
        ),
    ] = None
    cc: Annotated[
        str | None,
        _option("--cc", metavar="CLANG", help="Compile with this clang, not $KLEENE_CC or zig."),
    ] = None
    jobs: Annotated[
        int | None, _option("--jobs", "-j", min=1, help="Compile so many files at once.")
    ] = None
    normalise: Annotated[bool, _option("--normalise", help="Run SROA over given bitcode too.")] = (
        False
    )
    no_cache: Annotated[bool, _option("--no-cache", help="Neither read nor write the cache.")] = (
        False
    )
    libraries: Annotated[
        list[str] | None,
        option(
            "-L",
            metavar="FOLDER",
            help="Look for libraries there too.",
            rich_help_panel=_SCHEME_PANEL,
        ),
    ] = None
    keep_going: Annotated[
        bool,
        option(
            "--keep-going",
            help="Take several files as several programs, past errors.",
            rich_help_panel=_SCHEME_PANEL,
        ),
    ] = False

    @property
    def front_end(self) -> FrontEnd:
        """The front end for these files."""
        return front_end_of(self.files)

    @property
    def title(self) -> str:
        """What people call the program: its folder or file; of several, the first and a count.

        A compilation database, or a pattern of names, stands for its folder.
        """
        first = Path(os.path.abspath(self.files[0]))
        is_named = first.name != "compile_commands.json" and first.exists()
        name = first.name if is_named else first.parent.name
        n_more = len(self.files) - 1
        return f"{name} and {n_more} more" if n_more else name

    def load(self) -> Program | Core:
        """Return the program these files make, read with the options that were given."""
        program: Program | Core = self.front_end.load(self.files, **self.given())
        return program

    def given(self) -> dict[str, Any]:
        """Return the options of the front end that were given."""
        front_end = self.front_end
        hints = get_type_hints(type(self), include_extras=True)
        options: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name in ("files", "keep_going") or value == one.default:
                continue
            name, value = ("cache", False) if one.name == "no_cache" else (one.name, value)
            if name not in front_end.options:
                word = hints[one.name].__metadata__[0].names[0]
                raise UsageError(f"{word} is not for files in {front_end.language}")
            options[name] = value
        return options


@dataclass(frozen=True, kw_only=True)
class CSources(Sources):
    """A C or C++ program, and how to compile it."""

    reads: ClassVar[tuple[str, ...]] = ("c",)
    left_out: ClassVar[tuple[str, ...]] = _FOR_SCHEME

    files: Annotated[list[str], _files(_C_FILES)]

    def loops(self) -> list[Unit]:
        """Return the functions of the sources among these files, for what is asked of loops."""
        from kleene.frontends.c.driver import loop_reader

        given = self.given()
        options = {name: one for name, one in given.items() if name not in _OF_BITCODE}
        return loop_reader(self.files, **options)()

    def load(self) -> Program:
        """Return the program these files make."""
        return cast("Program", super().load())


@dataclass(frozen=True, kw_only=True)
class SchemeSources(Sources):
    """A Scheme program."""

    reads: ClassVar[tuple[str, ...]] = ("scheme",)
    left_out: ClassVar[tuple[str, ...]] = tuple(
        one.name for one in fields(Sources) if one.name not in ("files", *_FOR_SCHEME)
    )

    files: Annotated[list[str], _files("A Scheme program.")]

    def load(self) -> Core:
        """Return the program in these files."""
        return cast("Core", super().load())
