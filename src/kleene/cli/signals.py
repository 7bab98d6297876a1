"""How a command ends when someone or something ends it: at once, and leaving nothing behind.

A thread waits beside the command. Python would run a signal's handler when the main thread is back
from a compiled loop, which may take minutes; the number of a signal is written into a pipe at once,
and there the thread finds it. It ends what the command started, removes what is half made
(`kleene.base.tidy`), and ends the process.

The thread also looks at the memory of the machine. Where hardly any is left and this process holds
much of it, the kernel would soon kill someone without a word: the command ends with an error first.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable

from kleene.base import memory, tidy
from kleene.base.errors import SourceError

_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_UNTIL_INTERRUPTED_S = 3.0  # Ctrl-C is for the main thread, unless it is in a compiled loop
_LOOKS_PER_S = 10
_RESERVE = 0.03  # of the machine's memory: what a command does not take

_watching = 0  # the process that has the thread
_is_ending = threading.Event()


def watch(report: Callable[[SourceError], None]) -> None:
    """Start the thread, once in a process; `report` is told when memory is used up."""
    global _watching
    is_main = threading.current_thread() is threading.main_thread()
    if _watching == os.getpid() or not is_main or not _ENDING:
        return
    _watching = os.getpid()
    seen, written = os.pipe()
    os.set_blocking(written, False)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup: it is to be ignored
            signal.signal(number, _leave_it_to_the_thread)
    threading.Thread(target=_wait, args=(seen, report), daemon=True).start()


def _leave_it_to_the_thread(_signal: int, _frame: object) -> None:
    """Do nothing: that a handler is there has the number written into the pipe."""


def _wait(seen: int, report: Callable[[SourceError], None]) -> None:
    interrupted_at: float | None = None
    while True:
        if select.select([seen], [], [], 1 / _LOOKS_PER_S)[0]:
            for number in os.read(seen, 64):
                if number in _ENDING:
                    _end(128 + number)
                if number == signal.SIGINT:
                    interrupted_at = interrupted_at or time.monotonic()
        if interrupted_at and time.monotonic() - interrupted_at > _UNTIL_INTERRUPTED_S:
            _end(128 + signal.SIGINT)
        if problem := _memory_problem():
            report(SourceError(None, "cli/out-of-memory", problem, "--memory sets a lower limit"))
            _end(1)


def let_end() -> None:
    """Return, unless the thread is ending this process: what fails meanwhile is nobody's news."""
    if _is_ending.is_set():
        time.sleep(60)


def _end(code: int) -> None:
    _is_ending.set()
    tidy.tidy()
    os._exit(code)


def _memory_problem() -> str | None:
    """Return what is wrong where this process has taken nearly all that the machine has."""
    total, free, held = memory.total_bytes(), memory.free_bytes(), memory.held_bytes()
    if not total or free > _RESERVE * total or held < total / 4:
        return None
    return (
        f"{held / 2**30:.1f} GiB are held, and {free / 2**30:.1f} of {total / 2**30:.1f} are free"
    )
