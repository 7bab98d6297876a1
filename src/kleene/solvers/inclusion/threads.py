"""Several solvers at once: `race` has them do the same, and takes the first answer.

`Threads` divides work, and is of `kleene.kernels.threads`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from threading import Event
from typing import Any, TypeVar

from kleene.kernels.threads import ALONE, Threads

__all__ = ["ALONE", "NEVER", "AbandonedError", "Stop", "Threads", "race", "settle"]

Found = TypeVar("Found")


class AbandonedError(Exception):
    """A solver was asked to stop: another one has the answer."""


class Stop:
    """A flag that a solver looks at between iterations."""

    def __init__(self) -> None:
        self._event = Event()

    def set(self) -> None:
        """Ask the solver to stop."""
        self._event.set()

    def look(self) -> None:
        """Raise `AbandonedError` if the solver should stop."""
        if self._event.is_set():
            raise AbandonedError

    def wait(self, seconds: float) -> None:
        """Let some time pass; raise `AbandonedError` if the solver should stop meanwhile."""
        if self._event.wait(seconds):
            raise AbandonedError


NEVER = Stop()
_losers: list[Future[Any]] = []


def settle() -> None:
    """Wait until whoever lost a race before has ended, and holds no memory any more."""
    wait(_losers)
    _losers.clear()


def race(*sides: Callable[[Stop], Found]) -> tuple[int, Found]:
    """Return which side was first to answer, and its answer; of two at once, the first given.

    The others are asked to stop and not waited for: each ends at its next look at `stop`, and frees
    what it holds. A side that fails leaves the race to the others; its error is raised if all fail.
    """
    settle()
    stop = Stop()
    pool = ThreadPoolExecutor(len(sides))
    running = [pool.submit(copy_context().run, side, stop) for side in sides]
    waiting = set(running)
    try:
        while waiting:
            _, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for number, side in enumerate(running):
                if side.done() and side.exception() is None:
                    return number, side.result()
        return 0, running[0].result()  # raises what it raised
    finally:
        stop.set()
        pool.shutdown(wait=False)
        _losers.extend(side for side in running if not side.done())
