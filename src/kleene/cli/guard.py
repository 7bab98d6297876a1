"""How a command ends: errors of the input are printed and exit 1; a closed pipe is no error."""

from __future__ import annotations

import functools
import os
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from typing import Any

from kleene.base import progress, tidy
from kleene.base.errors import KleeneWarning, SourceError, Span
from kleene.cli import limits, output, signals
from kleene.cli.bars import Bars
from kleene.cli.exit_codes import ExitCode
from kleene.cli.shared import Shared


def guarded(run: Callable[..., None]) -> Callable[..., None]:
    """Return `run` with the shared options obeyed, and its ends turned into exit codes."""

    @functools.wraps(run)
    def call(**given: Any) -> None:
        shared = Shared(**{one.name: given.pop(one.name, one.default) for one in fields(Shared)})
        as_json = given.get("as_json", False)
        report = functools.partial(_report, as_json=as_json)
        with ends(report):
            limits.keep(shared, report)
            signals.watch(report)
            with output.notes(not shared.quiet), progress.showing(_sink(shared)), _warnings():
                run(**given)
            output.flush()

    return call


@contextmanager
def ends(report: Callable[[SourceError], None]) -> Iterator[None]:
    """Turn the ways in which the block may end into exit codes; `report` is told of errors."""
    try:
        try:
            yield
        except BaseException:
            signals.let_end()
            raise
    except SourceError as error:
        report(error)
        raise SystemExit(ExitCode.INPUT_AT_FAULT) from None
    except MemoryError as error:
        words = f"no memory is left: {error}" if str(error) else "no memory is left"
        report(SourceError(None, "cli/out-of-memory", words))
        raise SystemExit(ExitCode.INPUT_AT_FAULT) from None
    except BrokenPipeError:
        _end_by_closed_pipe()
    except OSError as error:  # nobody closer has found words for it: a full disk, no more processes
        if output.is_of_stdout(error):
            output.forget_stdout()
            output.say(SourceError(None, "cli/cannot-write", f"stdout: {error.strerror}").render())
        else:
            place = Span(str(error.filename)) if error.filename is not None else None
            report(SourceError(place, "cli/system", error.strerror or str(error)))
        raise SystemExit(ExitCode.INPUT_AT_FAULT) from None
    except KeyboardInterrupt:
        tidy.tidy()
        raise


@contextmanager
def _warnings() -> Iterator[None]:
    """Print our own warnings as notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", KleeneWarning)
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, KleeneWarning):
                output.note(str(message))
            else:
                others(message, category, *rest)

        warnings.showwarning = show  # type: ignore[assignment]
        yield


def _sink(shared: Shared) -> progress.Sink:
    return progress.silent if shared.quiet else Bars().task


def _report(error: SourceError, *, as_json: bool) -> None:
    if as_json:
        with suppress(OSError):
            output.emit_json({"errors": [single.as_json() for single in error]})
            return
    output.say(error.render())


def _end_by_closed_pipe() -> None:
    """End as every program does that writes to a pipe nobody reads any more: `kleene … | head`."""
    output.forget_stdout()
    if hasattr(signal, "SIGPIPE"):
        tidy.tidy()
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    raise SystemExit(ExitCode.CLEAN)
