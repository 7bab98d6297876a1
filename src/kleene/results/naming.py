"""What functions, constraint variables, objects and source locations are called.

Each language has one subclass of `Naming`. Everything is known by a number: functions, nodes
(constraint variables) and objects of the inclusion problem by theirs, calls by their row in the
program, and locations by whatever number the program's tables keep for them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import PurePath

from kleene.base.errors import Span


class Files:
    """Source files by the shortest name that tells them apart: `list.c`, or `net/list.c` of two."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._short = short_names(list(dict.fromkeys(paths)))

    def name(self, path: str) -> str:
        """Return the shortest end of a path that no other file of the program has."""
        return self._short[path]

    def matching(self, name: str) -> list[str]:
        """Return the paths that end in the parts of `name`."""
        wanted = PurePath(name).parts
        return [path for path in self._short if PurePath(path).parts[-len(wanted) :] == wanted]


class Naming(ABC):
    """The names of one analysed program. No two functions share a name, and no two objects."""

    @property
    @abstractmethod
    def files(self) -> Files:
        """The source files of the program."""

    @abstractmethod
    def function(self, function: int) -> str:
        """Return the name of a function: the same text for no other one."""

    def plain_function(self, function: int) -> str:
        """Return the name of a function without its location; two functions may share it."""
        return self.function(function)

    @abstractmethod
    def node(self, node: int) -> str | None:
        """Return the name of a constraint variable, or None where the program has none for it."""

    @abstractmethod
    def readable(self, node: int) -> str:
        """Return what people would call a constraint variable."""

    @abstractmethod
    def object(self, object: int) -> str:
        """Return the name of an object."""

    @abstractmethod
    def call_location(self, call: int) -> int:
        """Return the location (number) of a call, or -1."""

    @abstractmethod
    def span(self, location: int) -> Span | None:
        """Return a location with the whole path of its file; None for -1."""

    def location(self, location: int) -> str | None:
        """Return a location as `file:line:column`, what is unknown left out; None for -1."""
        span = self.span(location)
        if span is None:
            return None
        return str(Span(self.files.name(span.file), span.line, span.column))


def short_names(paths: list[str]) -> dict[str, str]:
    """Return for each path its shortest tail that no other path has."""
    names: dict[str, str] = {}
    left, n_parts = paths, 1
    while left:
        tails: dict[tuple[str, ...], list[str]] = {}
        for path in left:
            tails.setdefault(PurePath(path).parts[-n_parts:], []).append(path)
        left = []
        for tail, owners in tails.items():
            if len(owners) == 1 or len(tail) < n_parts:
                names.update((path, str(PurePath(*tail))) for path in owners)
            else:
                left += owners
        n_parts += 1
    return names
