"""Models of functions that a program calls and does not contain, and of its allocators."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from kleene.analyses.points_to.library.language import (
    Effect,
    Line,
    Model,
    Role,
    heap_of,
    parse_models,
)
from kleene.base.errors import SourceError, Span
from kleene.base.files import read_file

__all__ = ["Library", "Model", "Role", "builtin", "heap_of", "read_models"]


@dataclass(frozen=True, eq=False)
class Library:
    """Models by name; those of the user come first, and win over a program's own definition."""

    by_name: dict[str, Model] = field(default_factory=dict)
    patterns: tuple[tuple[str, str, Model], ...] = ()  # how a name begins, and the pattern
    user: Library | None = None
    roles: dict[str, tuple[Role, ...]] = field(default_factory=dict)

    def find(self, name: str) -> Model | None:
        """Return the model of a function or variable, if there is one."""
        name = name.removeprefix("\x01")  # what LLVM puts before a name that is not to be mangled
        if (found := self.override(name)) is not None:
            return found
        if (found := self.by_name.get(name)) is not None:
            return found
        likely = (entry for entry in self.patterns if name.startswith(entry[0]))
        return next((model for _, pattern, model in likely if fnmatchcase(name, pattern)), None)

    def override(self, name: str) -> Model | None:
        """Return the user's model of a name, which holds even where the program defines it."""
        return self.user.find(name) if self.user else None

    def with_user(self, user: Library) -> Library:
        """Return this library behind models of the user's own."""
        return Library(self.by_name, self.patterns, user, self.roles)

    def roles_of(self, name: str) -> tuple[Role, ...]:
        """Return what a function does to data; what the user says of it replaces the rest."""
        name = name.removeprefix("\x01")
        if self.user is not None and name in self.user.roles:
            return self.user.roles[name]
        return self.roles.get(name, ())


def of_lines(lines: Iterable[tuple[list[str], Line]]) -> Library:
    """Return the library of parsed lines; a later line wins over an earlier one.

    A line with nothing but roles is no model, and roles of several lines add up.
    """
    by_name: dict[str, Model] = {}
    patterns: list[tuple[str, str, Model]] = []
    roles: dict[str, tuple[Role, ...]] = {}
    for names, line in lines:
        model = tuple(effect for effect in line if isinstance(effect, Effect))
        own = tuple(effect for effect in line if isinstance(effect, Role))
        for name in names:
            roles[name] = (*roles.get(name, ()), *own)
        for name in names if model or not own else ():
            if set("*?[") & set(name):
                patterns.insert(0, (re.split(r"[*?\[]", name)[0], name, model))
            else:
                by_name[name] = model
    return Library(
        by_name, tuple(patterns), roles={name: own for name, own in roles.items() if own}
    )


@lru_cache(maxsize=1)
def builtin() -> Library:
    """Return the models that come with Kleene: the C and C++ libraries, POSIX, LLVM's own."""
    folder = Path(__file__).parent / "models"
    lines = [
        line
        for file in sorted(folder.iterdir(), key=lambda entry: entry.name)
        for line in parse_models(file.read_text("utf-8"), file.name)
    ]
    return of_lines(lines)


def read_models(paths: Iterable[Path], roles: Iterable[str] = ()) -> Library:
    """Return the built-in models behind those of the files, and of further lines.

    Raises:
        SourceError: a file cannot be read (`points-to/no-models`), or is not understood.
    """
    lines: list[tuple[list[str], Line]] = []
    for path in paths:
        try:
            text = read_file(path).decode()
        except (OSError, UnicodeDecodeError) as error:
            problem = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            message = f"the models cannot be read: {problem}"
            raise SourceError(Span(str(path)), "points-to/no-models", message) from None
        lines += parse_models(text, str(path))
    lines += parse_models("\n".join(roles), "roles")
    return builtin().with_user(of_lines(lines))
