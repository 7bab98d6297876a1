"""Which commands are there? The files of `kleene.cli.commands`, each with a function `run`.

The docstring of `run` is the help, and its annotated arguments are the options (`options`). An
argument annotated with a data class stands for a group of options, its fields: `Sources` are the
input files and all options about them. The options of `Shared` are added to every command.
"""

from __future__ import annotations

import functools
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import is_dataclass
from importlib import import_module
from typing import Any, NamedTuple, get_type_hints

from kleene.base.errors import SourceError, Span
from kleene.cli import commands
from kleene.cli.guard import guarded
from kleene.cli.several import run_each
from kleene.cli.shared import Shared
from kleene.cli.sources import Sources


def available() -> list[str]:
    """Return the names of all commands, sorted, importing none."""
    files = (module.name for module in pkgutil.iter_modules(commands.__path__))
    return sorted(name.replace("_", "-") for name in files)


class Command(NamedTuple):
    """What runs, and its parameters by name: each annotation is `Annotated[type, Option]`."""

    run: Callable[..., None]
    parameters: dict[str, inspect.Parameter]


def load(name: str) -> Command:
    """Return the command called `name`, with groups of options and the shared ones spelt out."""
    run = _run_of(name)
    groups = _groups_of(run)

    @functools.wraps(run)
    def call(**given: Any) -> None:
        several = None
        for argument, kind in groups.items():
            group = kind(**{field: given.pop(field) for field in _fields(kind)})
            if isinstance(group, Sources):
                _check_language(group, name)
                several = argument if group.keep_going else None
            given[argument] = group
        if several is None:
            run(**given)
        else:
            run_each(run, several, given)

    spelt: dict[str, inspect.Parameter] = {}
    for argument, parameter in _parameters(run).items():
        kind = groups.get(argument)
        spelt |= {argument: parameter} if kind is None else _fields(kind)
    return Command(guarded(call), spelt | _parameters(Shared))


def _run_of(name: str) -> Callable[..., None]:
    run: Callable[..., None] = import_module(f"{commands.__name__}.{name.replace('-', '_')}").run
    return run


def _check_language(sources: Sources, name: str) -> None:
    """Raise if the files are in a language that the command does not read."""
    front_end = sources.front_end
    if front_end.name in sources.reads:
        return
    others = [f"kleene {other}" for other in _analyses_first() if front_end.name in _reads(other)]
    message = f"kleene {name} does not read {front_end.language}"
    place = Span(sources.files[0])
    raise SourceError(place, "cli/wrong-language", message, f"use {' or '.join(others)}")


def _analyses_first() -> list[str]:
    """Return the names of all commands: analyses in the order of their rooms, then the others."""
    from kleene.ir import analysis_methods

    names = available()
    analyses = [name.replace("_", "-") for name in analysis_methods.available()]
    return [*(one for one in analyses if one in names), *(n for n in names if n not in analyses)]


def _reads(name: str) -> set[str]:
    """Return the names of the front ends for the files of a command."""
    groups = _groups_of(_run_of(name)).values()
    return {one for kind in groups if issubclass(kind, Sources) for one in kind.reads}


def _groups_of(run: Callable[..., None]) -> dict[str, type[Any]]:
    """Return the arguments of `run` that stand for several options."""
    hints = get_type_hints(run, include_extras=True)
    kinds = {argument: hint for argument, hint in hints.items() if isinstance(hint, type)}
    return {argument: kind for argument, kind in kinds.items() if is_dataclass(kind)}


def _fields(kind: type[Any]) -> dict[str, inspect.Parameter]:
    """Return the options of a group, and the files if there are, as parameters."""
    spelt = _parameters(kind)
    left_out = kind.left_out if issubclass(kind, Sources) else ()
    return {name: one for name, one in spelt.items() if name not in left_out}


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of `function` with their annotations evaluated, keyword-only."""
    hints = get_type_hints(function, include_extras=True)
    return {
        name: parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
        for name, parameter in inspect.signature(function).parameters.items()
    }
