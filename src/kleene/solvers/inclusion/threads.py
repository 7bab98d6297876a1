"""Several pieces of work at once: compiled loops and NumPy's leave Python's lock to others.

`Threads` divides work; `race` has several solvers do the same, and takes the first answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from threading import Event
from types import TracebackType
from typing import Any, TypeVar

Found = TypeVar("Found")


class Threads:
    """Some threads, of which none is left when the block ends; one is the caller's own."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.is_ending = False  # a piece that takes long looks now and then, and returns
        self._pool = ThreadPoolExecutor(n - 1) if n > 1 else None

    def __enter__(self) -> Threads:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _place: TracebackType | None,
    ) -> None:
        """Wait for what is still running, be it interrupted once more meanwhile."""
        self.is_ending = True
        if self._pool:
            try:
                self._pool.shutdown(cancel_futures=True)
            except BaseException:
                self._pool.shutdown()
                raise
        # Ctrl-C while Numba turns values into Python's comes out as errors of Python itself
        while isinstance(error, SystemError):
            error = error.__cause__
            if isinstance(error, KeyboardInterrupt):
                raise error

    def run(self, pieces: Iterable[Callable[[], Any]]) -> list[Any]:
        """Return what each piece returns; if any raises, that is raised when all have ended."""
        work = list(pieces)
        results: list[Any] = [None] * len(work)
        places = iter(range(len(work)))  # whoever is free takes the next

        def take() -> None:
            for place in places:
                if self.is_ending:
                    return
                results[place] = work[place]()

        n_others = min(self.n, len(work)) - 1
        others = [self._pool.submit(take) for _ in range(n_others)] if self._pool else []
        try:
            take()
        except BaseException:
            self.is_ending = True
            raise
        finally:
            wait(others)
        for other in others:
            other.result()  # raises what it raised
        return results


ALONE = Threads(1)


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
