"""`--timeout` and `--memory`: the command runs in a child process, and this one watches.

The watcher can end the child whatever it is doing: compiled loops and LLVM look at no clock. What
the child prints is held in a file and passed on when it has ended by itself; a command that was
ended has printed nothing but notes, and has left no half of a file (`output.write_whole`) and no
scratch folder.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

from kleene.base import tidy
from kleene.base.errors import SourceError
from kleene.cli import signals
from kleene.cli.shared import Shared

_LOOKS_PER_S = 20
_TIME_TO_TIDY_S = 1.0
_MEGA = 1 << 20
_STDOUT = 1


def keep(limits: Shared, report: Callable[[SourceError], None]) -> None:
    """Return in a child process; this one stays here, and ends as the child does.

    A signal that ends this process ends the child too; `report` is told when memory is used up.

    Raises:
        SystemExit: the child has ended by itself; the exit code is its own.
        SourceError: a limit was passed (`cli/timeout`, `cli/out-of-memory`), or this system cannot
            hold to it (`cli/no-limit`).
    """
    if limits.timeout is None and limits.memory is None:
        return
    _refuse_what_cannot_be_kept(limits)
    stack = ExitStack()
    scratch, printed = stack.enter_context(tidy.scratch()), tempfile.TemporaryFile()  # noqa: SIM115
    child = os.fork()
    if child == 0:
        _become_child(scratch, printed)
        return
    with stack, printed, tidy.started(child):
        with suppress(OSError):  # both sides ask for the group: neither has to wait for the other
            os.setpgid(child, child)
        signals.watch(report)
        try:
            code = _watch(child, limits)
        except BaseException:  # a limit, or Ctrl-C: in a group of its own the child has not seen it
            _end(child)
            raise
        _pass_on(printed)
    raise SystemExit(code)


def _refuse_what_cannot_be_kept(limits: Shared) -> None:
    if not hasattr(os, "fork"):
        raise SourceError(None, "cli/no-limit", "this system cannot hold a command to a limit")
    if limits.memory is not None and not Path("/proc/self/statm").exists():
        message = "this system does not say how much memory a process holds"
        raise SourceError(None, "cli/no-limit", message, "--timeout works")


def _become_child(scratch: Path, printed: IO[bytes]) -> None:
    """Lead a process group, write to `printed`, and leave to the parent what is the parent's."""
    os.setpgid(0, 0)
    tidy.forget()
    os.dup2(printed.fileno(), _STDOUT)
    os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)


def _watch(child: int, limits: Shared) -> int:
    """Return the exit code of the child, or raise where it passes a limit."""
    deadline = time.monotonic() + limits.timeout if limits.timeout else None
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        if deadline and time.monotonic() > deadline:
            message = f"not done after {limits.timeout:g} s"
            raise SourceError(None, "cli/timeout", message, "--timeout sets this limit")
        if limits.memory and (n_bytes := _held(child)) > limits.memory:
            message = f"{n_bytes / _MEGA:.0f} MB are held, and {limits.memory / _MEGA:.0f} allowed"
            raise SourceError(None, "cli/out-of-memory", message, "--memory sets this limit")
        time.sleep(1 / _LOOKS_PER_S)


def _held(process: int) -> int:
    """Return the resident bytes of a process and of all below it; 0 for those that have ended."""
    pages = 0
    for one in [process, *tidy.below(process)]:
        with suppress(OSError):
            pages += int(Path(f"/proc/{one}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _end(child: int) -> None:
    """End the child and all it started: it may tidy up for a moment first."""
    os.kill(child, signal.SIGTERM)  # it is not waited for yet, so the number is still its own
    deadline = time.monotonic() + _TIME_TO_TIDY_S
    ended = 0
    while not ended and time.monotonic() < deadline:
        time.sleep(1 / _LOOKS_PER_S)
        ended, _ = os.waitpid(child, os.WNOHANG)
    tidy.end(child)
    if not ended:
        os.waitpid(child, 0)


def _pass_on(printed: IO[bytes]) -> None:
    """Print what the child has printed."""
    printed.seek(0)
    if sys.stdout is None:
        if printed.read(1):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return
    sys.stdout.flush()
    shutil.copyfileobj(printed, sys.stdout.buffer)
    sys.stdout.flush()
