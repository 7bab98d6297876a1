"""Bars appear on terminals only, and only for work that takes its time."""

from __future__ import annotations

import sys
from io import StringIO
from threading import Event

import pytest
from rich.console import Console

from kleene.cli.bars import Bars


class Screen(StringIO):
    """A terminal that says when something was drawn on it."""

    def __init__(self, awaited: str) -> None:
        super().__init__()
        self.awaited = awaited
        self.seen = Event()

    def write(self, text: str) -> int:
        written = super().write(text)
        if self.awaited in self.getvalue():
            self.seen.set()
        return written


def is_down(screen: Screen) -> bool:
    """Whether the display gave the cursor back after all it drew."""
    before, _, after = screen.getvalue().rpartition("\x1b[?25h")
    return "\x1b[?25l" in before and after.strip() == ""


def bars_on(screen: Screen, patience_s: float) -> Bars:
    return Bars(Console(file=screen, force_terminal=True, width=80), patience_s)


def test_a_slow_task_gets_a_bar_that_counts_from_the_start() -> None:
    screen = Screen(awaited="75%")
    with bars_on(screen, patience_s=0).task("compiling", 4) as advance:
        advance(1)
        advance(2)
        assert screen.seen.wait(timeout=30), screen.getvalue()
    assert "compiling" in screen.getvalue()


def test_a_quick_task_draws_nothing() -> None:
    screen = Screen(awaited="")
    with bars_on(screen, patience_s=3600).task("compiling", 4) as advance:
        advance(4)
    assert screen.getvalue() == ""


def test_no_terminal_no_bar(capfd: pytest.CaptureFixture[str]) -> None:
    assert not sys.stderr.isatty()
    with Bars(patience_s=0).task("compiling", None) as advance:
        advance(1)
    assert capfd.readouterr() == ("", "")


def test_the_display_is_down_when_the_last_bar_ends() -> None:
    screen = Screen(awaited="linking")
    bars = bars_on(screen, patience_s=0)
    with bars.task("compiling", 2), bars.task("linking", None):
        assert screen.seen.wait(timeout=30)
    assert is_down(screen)
    again = Screen(awaited="reading")
    bars._console = Console(file=again, force_terminal=True, width=80)
    with bars.task("reading", 1):
        assert again.seen.wait(timeout=30)
    assert is_down(again)


def test_who_has_waited_once_waits_less() -> None:
    screen = Screen(awaited="compiling")
    bars = bars_on(screen, patience_s=0.5)
    with bars.task("compiling", None):
        assert screen.seen.wait(timeout=30)
    assert bars.patience_s < 0.5
