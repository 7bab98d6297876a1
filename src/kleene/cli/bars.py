"""Progress bars for work that takes longer than a moment, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import TYPE_CHECKING

from kleene.base.progress import Advance

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

PATIENCE_S = 2.0
_AFTER_THE_FIRST_S = 0.3  # of who has waited already: many short tasks are a long one


class Bars:
    """A progress sink: a task still running after `patience_s` gets a bar on stderr.

    Those that follow get theirs sooner.

    Rich is imported when the first bar is drawn, so a quick command never pays for it; where stderr
    is no terminal there is never one. The display is taken down with the last bar, because it would
    wipe over what the command prints next. Timers and callers meet under one lock.
    """

    def __init__(self, console: Console | None = None, patience_s: float = PATIENCE_S) -> None:
        self._console = console
        self.patience_s = patience_s
        self._display: Progress | None = None
        self.lock = Lock()

    @contextmanager
    def task(self, title: str, total: int | None) -> Iterator[Advance]:
        """Open a task; the block gets the function that advances it."""
        if self._console is None and not sys.stderr.isatty():
            yield lambda _steps: None
            return
        bar = _Bar(self, title, total)
        timer = Timer(self.patience_s, bar.show)
        timer.daemon = True
        timer.start()
        try:
            yield bar.advance
        finally:
            timer.cancel()
            bar.end()

    def display(self) -> Progress:
        """Return the display, started if there is none; the caller holds the lock."""
        if self._display is None:
            from rich.console import Console
            from rich.progress import Progress

            self._display = Progress(console=self._console or Console(stderr=True), transient=True)
            self._display.start()
        return self._display

    def drop(self, row: TaskID) -> None:
        """Take a bar away, and with the last one the display; the caller holds the lock."""
        display = self.display()
        display.remove_task(row)
        if not display.tasks:
            display.stop()
            self._display = None


class _Bar:
    """One task: it counts from the start, and is drawn from `show` to `end`."""

    def __init__(self, bars: Bars, title: str, total: int | None) -> None:
        self._bars = bars
        self._title = title
        self._total = total
        self._n_done = 0
        self._row: TaskID | None = None
        self._ended = False

    def advance(self, steps: int) -> None:
        with self._bars.lock:
            self._n_done += steps
            if self._row is not None:
                self._bars.display().advance(self._row, steps)

    def show(self) -> None:
        with self._bars.lock:
            if not self._ended:
                add = self._bars.display().add_task
                self._row = add(self._title, total=self._total, completed=self._n_done)
                self._bars.patience_s = min(self._bars.patience_s, _AFTER_THE_FIRST_S)

    def end(self) -> None:
        with self._bars.lock:
            self._ended = True
            if self._row is not None:
                self._bars.drop(self._row)
