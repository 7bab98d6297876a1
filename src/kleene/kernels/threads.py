"""Several pieces of work at once: compiled loops and NumPy's leave Python's lock to others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from types import TracebackType
from typing import Any


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
        others = []
        if self._pool:
            others = [self._pool.submit(copy_context().run, take) for _ in range(n_others)]
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


def side_by_side(n: int, *pieces: Callable[[], Any]) -> list[Any]:
    """Return what each piece returns, run by at most `n` threads, the caller's among them."""
    with Threads(n) as threads:
        return threads.run(pieces)
