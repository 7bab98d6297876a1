"""The command line: it wires the rooms together, and is the one place that sees them all.

One file in `commands` is one command; there is no list to edit. A command's module is light to
import, and only the asked-for one is.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import kleene
from kleene.cli import discover

_EPILOG = (
    "Start with 'kleene doctor', then 'kleene ir examples/shapes/*.c'. Tutorial, how-to guides and "
    "reference are in the folder docs of the source tree."
)


class _Commands(TyperGroup):
    """The commands by name, each imported when it is asked for."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = dict.fromkeys(discover.available())  # type: ignore[assignment]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command, or None if there is none of that name."""
        return discover.load(cmd_name) if cmd_name in self.commands else None


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"kleene {kleene.__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    epilog=_EPILOG,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,  # a fault of ours is reported with Python's own traceback
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _kleene(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Say which version."
        ),
    ] = False,
) -> None:
    """Program analysis as fixed points, on CPUs and GPUs.

    Kleene reads C, C++ (sources, folders, bitcode or compile_commands.json) and Scheme into tables
    of integers that analyses solve as fixed points. Exit codes: 0 clean, 1 the input is at fault,
    2 wrong usage, 3 something was found.
    """


def main() -> None:
    """Run the command line; `exit_codes.ExitCode` says how it may end."""
    app(prog_name="kleene")
