"""Tasks reach the sink a program installed, and nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kleene.base import progress


class Recorder:
    """A sink that remembers what it was told."""

    def __init__(self) -> None:
        self.events: list[object] = []

    @contextmanager
    def __call__(self, title: str, total: int | None) -> Iterator[progress.Advance]:
        self.events.append((title, total))
        yield self.events.append
        self.events.append("end")


def test_a_task_is_silent_by_default(capfd: pytest.CaptureFixture[str]) -> None:
    with progress.task("reading", 3) as advance:
        advance(3)
    assert capfd.readouterr() == ("", "")


def test_a_task_reports_to_the_sink() -> None:
    sink = Recorder()
    with progress.showing(sink), progress.task("reading", 3) as advance:
        advance(1)
        advance(2)
    assert sink.events == [("reading", 3), 1, 2, "end"]


def test_the_sink_is_put_back_even_after_an_error() -> None:
    outer, inner = Recorder(), Recorder()
    with progress.showing(outer):
        with pytest.raises(RuntimeError), progress.showing(inner):
            raise RuntimeError
        with progress.task("again"):
            pass
    with progress.task("unseen"):
        pass
    assert outer.events == [("again", None), "end"]
    assert inner.events == []
