"""The command line as Typer shows it: help, shell completion, and what is wrong with the usage."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import kleene
from kleene.cli import discover
from kleene.cli.options import Option, UsageError

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
        return load(cmd_name) if cmd_name in self.commands else None


def load(name: str) -> Any:
    """Return the command called `name`, ready for Typer's group."""
    single = typer.Typer(
        add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False
    )
    single.command(name)(_for_typer(discover.load(name)))
    return typer.main.get_command(single)


def _for_typer(command: discover.Command) -> Callable[..., None]:
    """Return the command's function with a signature that Typer understands."""
    run = _with_bad_parameters(command.run)
    spelt = [
        one.replace(annotation=Annotated[one.annotation.__origin__, _typer_option(one)])
        for one in command.parameters.values()
    ]
    del run.__wrapped__  # type: ignore[attr-defined] # its signature is not the command's
    run.__signature__ = inspect.Signature(spelt)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in spelt}
    return run


def _typer_option(parameter: inspect.Parameter) -> Any:
    told: Option = parameter.annotation.__metadata__[0]
    settings = dict(told.settings)
    if "parser" in settings:
        settings["parser"] = _with_bad_parameters(settings["parser"])
    return typer.Option(*told.names, **settings) if told.names else typer.Argument(**settings)


def _with_bad_parameters(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its `UsageError` in Typer's words."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except UsageError as error:
            raise typer.BadParameter(str(error)) from None

    return call


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
