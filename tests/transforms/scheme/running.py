"""Programs in the paper's language, and runs of them before and after a transform."""

from __future__ import annotations

from pathlib import Path

from kleene.base.errors import SourceError
from kleene.frontends.scheme.interpreter import run
from kleene.frontends.scheme.interpreter.show import text_of

PROGRAMS = sorted(Path(__file__).with_name("programs").glob("*.scm"))


class Program:
    """A core as the interpreter takes it; it cannot grow, so there is no `eval`."""

    def __init__(self, core):
        self.sources = core.sources
        self._core = core

    def core(self):
        return self._core


def outcome(core, max_steps=3_000_000):
    """Return the value of a run and what it printed, or the id of its error."""
    try:
        found = run(Program(core), max_steps=max_steps)
    except SourceError as error:
        return error.id
    return text_of(found.value, is_written=True), found.output
