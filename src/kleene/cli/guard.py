"""How a command ends: errors of the input are printed and exit 1; a closed pipe is no error."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import typer

from kleene.base import progress
from kleene.base.errors import SourceError
from kleene.cli.bars import Bars
from kleene.reports import json


def guarded(run: Callable[..., None]) -> Callable[..., None]:
    """Return `run` with progress shown, and its ends turned into exit codes."""

    @functools.wraps(run)
    def call(**given: Any) -> None:
        try:
            with progress.showing(Bars().task):
                run(**given)
            sys.stdout.flush()  # a closed pipe shows here, not at interpreter exit
        except SourceError as error:
            _report(error, as_json=given.get("as_json", False))
            raise typer.Exit(1) from None
        except BrokenPipeError:
            _forget_stdout()
            raise typer.Exit(1) from None

    return call


def _report(error: SourceError, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"errors": [single.as_json() for single in error]}))
    else:
        typer.echo(error.render(), err=True)


def _forget_stdout() -> None:
    """Send what is left in the buffer nowhere: Python would complain about it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
