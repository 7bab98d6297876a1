"""Source files by the shortest name that tells them apart: `list.c`, or `net/list.c` of two."""

from __future__ import annotations

from functools import cached_property
from pathlib import PurePath

import numpy as np

from kleene.base.errors import Span
from kleene.ir import Program


class Files:
    """The source files of a program, by symbol."""

    def __init__(self, program: Program) -> None:
        self._program = program

    @cached_property
    def names(self) -> dict[int, str]:
        """The name of each file that spans and symbols of the program mention."""
        symbols = np.unique(self._program.spans.file).tolist()
        return dict(zip(symbols, _short([self._program.strings[s] for s in symbols]), strict=True))

    def matching(self, name: str) -> list[int]:
        """Return the files (symbols) whose path ends in the parts of `name`."""
        wanted = PurePath(name).parts
        return [s for s in self.names if _parts(self._program.strings[s])[-len(wanted) :] == wanted]

    def place(self, span: int) -> str | None:
        """Return a row of the spans as `file:line:column`, what is unknown left out."""
        if span < 0:
            return None
        table = self._program.spans
        name = self.names[int(table.file[span])]
        return str(Span(name, int(table.line[span]), int(table.column[span])))


def _short(paths: list[str]) -> list[str]:
    """Return for each path its shortest tail that no other path has."""
    names = [""] * len(paths)
    left, n_parts = list(range(len(paths))), 1
    while left:
        tails: dict[tuple[str, ...], list[int]] = {}
        for i in left:
            tails.setdefault(_parts(paths[i])[-n_parts:], []).append(i)
        left = []
        for tail, owners in tails.items():
            if len(owners) == 1 or len(tail) < n_parts:
                for i in owners:
                    names[i] = str(PurePath(*tail))
            else:
                left += owners
        n_parts += 1
    return names


def _parts(path: str) -> tuple[str, ...]:
    return PurePath(path).parts
