"""Which commands are there? The files of `kleene.cli.commands`, each with a function `run`.

`run` is an ordinary Typer function: its docstring is the help and its annotated arguments are the
options. An argument annotated `Sources` stands for the input files and all options about them.
"""

from __future__ import annotations

import functools
import inspect
import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any, get_type_hints

import typer

from kleene.cli import commands
from kleene.cli.guard import guarded
from kleene.cli.sources import Sources


def available() -> list[str]:
    """Return the names of all commands, sorted, importing none."""
    files = (module.name for module in pkgutil.iter_modules(commands.__path__))
    return sorted(name.replace("_", "-") for name in files)


def load(name: str) -> Any:
    """Return the command called `name`, ready for Typer's group."""
    module = import_module(f"{commands.__name__}.{name.replace('-', '_')}")
    single = typer.Typer(
        add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False
    )
    single.command(name)(guarded(_expanded(module.run)))
    return typer.main.get_command(single)


def _expanded(run: Callable[..., None]) -> Callable[..., None]:
    """Return `run` with its argument of type `Sources`, if any, spelt out as single options."""
    hints = get_type_hints(run, include_extras=True)
    shared = [name for name, hint in hints.items() if hint is Sources]

    @functools.wraps(run)
    def call(**given: Any) -> None:
        for name in shared:
            given[name] = Sources(**{field: given.pop(field) for field in _parameters(Sources)})
        run(**given)

    spelt: dict[str, inspect.Parameter] = {}
    for name, parameter in _parameters(run).items():
        spelt |= _parameters(Sources) if name in shared else {name: parameter}
    del call.__wrapped__  # its signature is not the command's
    call.__signature__ = inspect.Signature(list(spelt.values()))  # type: ignore[attr-defined]
    call.__annotations__ = {name: parameter.annotation for name, parameter in spelt.items()}
    return call


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of `function` with their annotations evaluated, keyword-only."""
    hints = get_type_hints(function, include_extras=True)
    return {
        name: parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
        for name, parameter in inspect.signature(function).parameters.items()
    }
