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


def test_a_slow_task_gets_a_bar_that_counts_from_the_start() -> None:
    screen = Screen(awaited="75%")
    console = Console(file=screen, force_terminal=True, width=80)
    with Bars(console, patience_s=0) as bars, bars.task("compiling", 4) as advance:
        advance(1)
        advance(2)
        assert screen.seen.wait(timeout=30), screen.getvalue()
    assert "compiling" in screen.getvalue()


def test_a_quick_task_draws_nothing() -> None:
    screen = Screen(awaited="")
    console = Console(file=screen, force_terminal=True)
    with Bars(console, patience_s=3600) as bars, bars.task("compiling", 4) as advance:
        advance(4)
    assert screen.getvalue() == ""


def test_no_terminal_no_bar(capfd: pytest.CaptureFixture[str]) -> None:
    assert not sys.stderr.isatty()
    with Bars(patience_s=0) as bars, bars.task("compiling", None) as advance:
        advance(1)
    assert capfd.readouterr() == ("", "")


def test_nested_tasks_end_in_order() -> None:
    screen = Screen(awaited="linking")
    with Bars(Console(file=screen, force_terminal=True, width=80), patience_s=0) as bars:
        with bars.task("compiling", 2), bars.task("linking", None):
            assert screen.seen.wait(timeout=30)
        with bars.task("reading", 1) as advance:
            advance(1)
