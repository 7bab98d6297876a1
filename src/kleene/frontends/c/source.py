"""A source file: its language by its suffix, the flags of its own build, and patterns for names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

Language = Literal["c", "c++"]

LANGUAGES: dict[str, Language] = {
    ".c": "c",
    ".C": "c++",
    ".c++": "c++",
    ".cc": "c++",
    ".cpp": "c++",
    ".cxx": "c++",
}


@dataclass(frozen=True, slots=True)
class Source:
    """One file to compile, with the flags and the folder its own build gives it."""

    file: str
    language: Language
    flags: tuple[str, ...] = ()
    directory: str | None = None

    @property
    def path(self) -> str:
        """The file as seen from here."""
        return os.path.join(self.directory, self.file) if self.directory else self.file


def is_chosen(only: tuple[str, ...], *names: str) -> bool:
    """Return whether the patterns take a file that goes by these names.

    A pattern with "!" in front leaves out what it matches; of the others, if any, one must match.
    """
    wanted = [pattern for pattern in only if not pattern.startswith("!")]
    unwanted = [pattern[1:] for pattern in only if pattern.startswith("!")]
    return (not wanted or _matches(wanted, names)) and not _matches(unwanted, names)


def _matches(patterns: Iterable[str], names: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)
