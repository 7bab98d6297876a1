"""Progress of long work, without tying library code to a terminal.

Library code opens a `task` and advances it; nothing is shown unless a program has installed a sink
(the command line does, and draws a bar once two seconds have passed and only on a terminal).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

Advance = Callable[[int], None]
Sink = Callable[[str, int | None], AbstractContextManager[Advance]]


def _ignore(_steps: int) -> None:
    return None


def silent(_title: str, _total: int | None) -> AbstractContextManager[Advance]:
    """Show nothing: the sink of programs that install none."""
    return nullcontext(_ignore)


_sink: Sink = silent


@contextmanager
def showing(sink: Sink) -> Iterator[None]:
    """Send every task opened inside the block to `sink`."""
    global _sink
    before, _sink = _sink, sink
    try:
        yield
    finally:
        _sink = before


def task(title: str, total: int | None = None) -> AbstractContextManager[Advance]:
    """Open a task of `total` steps (None: unknown); the block gets `advance(steps)`."""
    return _sink(title, total)
