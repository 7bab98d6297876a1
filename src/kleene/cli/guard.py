"""How a command ends: errors of the input are printed and exit 1; a closed pipe is no error."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from kleene.base import progress
from kleene.base.errors import SourceError
from kleene.cli import limits, output
from kleene.cli.bars import Bars
from kleene.cli.exit_codes import ExitCode
from kleene.cli.shared import Shared


def guarded(run: Callable[..., None]) -> Callable[..., None]:
    """Return `run` with the shared options obeyed, and its ends turned into exit codes."""

    @functools.wraps(run)
    def call(**given: Any) -> None:
        shared = Shared(**{one.name: given.pop(one.name, one.default) for one in fields(Shared)})
        try:
            limits.keep(shared)
            with output.notes(not shared.quiet), progress.showing(_sink(shared)):
                run(**given)
            sys.stdout.flush()  # a closed pipe shows here, not at interpreter exit
        except SourceError as error:
            _report(error, as_json=given.get("as_json", False))
            raise SystemExit(ExitCode.INPUT_AT_FAULT) from None
        except BrokenPipeError:
            _forget_stdout()
            raise SystemExit(ExitCode.INPUT_AT_FAULT) from None

    return call


def _sink(shared: Shared) -> progress.Sink:
    return progress.silent if shared.quiet else Bars().task


def _report(error: SourceError, *, as_json: bool) -> None:
    if as_json:
        output.emit_json({"errors": [single.as_json() for single in error]})
    else:
        print(error.render(), file=sys.stderr)


def _forget_stdout() -> None:
    """Send what is left in the buffer nowhere: Python would complain about it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
