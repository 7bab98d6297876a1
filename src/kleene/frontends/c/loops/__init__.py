"""The functions of C and C++ files as trees of statements, for what is asked of loops."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kleene.base import progress, tidy
from kleene.frontends.c.compiler import Options, find
from kleene.frontends.c.source import Source

if TYPE_CHECKING:
    from kleene.ir.loops.tree import Unit

__all__ = ["Reader", "read"]


@dataclass(frozen=True, slots=True)
class Reader:
    """The sources of a program and how they are compiled: what reads its loops, when asked."""

    sources: tuple[Source, ...]
    options: Options
    cc: str | None
    jobs: int | None

    def __call__(self) -> list[Unit]:
        """Return the functions of every source, in order."""
        return read(self.sources, self.options, cc=self.cc, jobs=self.jobs)


def read(
    sources: Iterable[Source],
    options: Options | None = None,
    *,
    cc: str | None = None,
    jobs: int | None = None,
) -> list[Unit]:
    """Return the functions of every source, in order.

    Raises:
        SourceError: a file does not compile.
    """
    from concurrent.futures import ThreadPoolExecutor

    from kleene.frontends.c.loops.ast import declarations
    from kleene.frontends.c.loops.headers import Headers
    from kleene.frontends.c.loops.lower import lower

    listed = list(sources)
    chosen = options or Options()
    compiler = find(cc) if listed else None

    units = []
    with (
        tidy.scratch() as folder,
        progress.task("parsing", len(listed)) as advance,
        ThreadPoolExecutor(jobs or os.cpu_count()) as pool,
    ):
        headers = None if compiler is None else Headers(compiler, chosen, folder)

        def one(source: Source) -> Unit:
            assert compiler is not None
            return lower(source.path, declarations(source, compiler, chosen, headers))

        for unit in pool.map(one, listed):
            units.append(unit)
            advance(1)
    return units
