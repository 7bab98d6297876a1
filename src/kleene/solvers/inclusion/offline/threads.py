"""Several pieces of work at once: compiled loops and NumPy's leave Python's lock to others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
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
        _error: BaseException | None,
        _place: TracebackType | None,
    ) -> None:
        """Wait for what is still running."""
        self.is_ending = True
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def run(self, pieces: Iterable[Callable[[], Any]]) -> list[Any]:
        """Return what each piece returns; if any raises, that is raised when all have ended."""
        own, *others = pieces
        if not self._pool:
            return [own(), *(piece() for piece in others)]
        running = [self._pool.submit(piece) for piece in others]
        try:
            first = own()
        except BaseException:
            self.is_ending = True
            raise
        finally:
            wait(running)
        return [first, *(future.result() for future in running)]


ALONE = Threads(1)
