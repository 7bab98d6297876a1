"""From text to a program: each front end is a folder here, found by the suffixes of its files.

A front end's package has three names, and is quick to import; its file is its registration:

| name | meaning |
|---|---|
| `LANGUAGE` | what it reads, as messages call it: "Scheme" |
| `SUFFIXES` | how the names of its files end |
| `load(paths, **options)` | the program, imported on first use |

One front end, that of C and C++, has `TAKES_FOLDERS = True` besides: folders, and files whose
suffix nobody claims, go there.
"""

from __future__ import annotations

import inspect
import os
import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from kleene.base.errors import SourceError, Span
from kleene.base.files import PathLike
from kleene.base.paths import paths_of

if TYPE_CHECKING:
    from kleene.ir import Program


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """One front end; `name` is that of its module."""

    name: str
    language: str
    suffixes: tuple[str, ...]
    takes_folders: bool

    def load(self, paths: Iterable[str], **options: Any) -> Any:
        """Return the program that `paths` make."""
        return _module(self.name).load(paths, **options)

    @property
    def options(self) -> set[str]:
        """The names of the options that `load` takes."""
        return {*inspect.signature(_module(self.name).load).parameters} - {"paths"}


def available() -> list[FrontEnd]:
    """Return every front end, by name."""
    found = []
    for name in sorted(one.name for one in pkgutil.iter_modules(__path__)):
        module = _module(name)
        takes_folders = getattr(module, "TAKES_FOLDERS", False)
        found.append(FrontEnd(name, module.LANGUAGE, tuple(module.SUFFIXES), takes_folders))
    return found


def front_end_of(paths: Iterable[PathLike]) -> FrontEnd:
    """Return the front end for `paths`, by their suffixes; none of them need exist.

    Raises:
        SourceError: two paths are in different languages (`load/mixed-languages`).
    """
    known = available()
    for_others = next(one for one in known if one.takes_folders)
    by_suffix = {suffix: one for one in known for suffix in one.suffixes}
    chosen: FrontEnd | None = None
    for path in [os.fspath(one) for one in paths]:
        claimed = None if os.path.isdir(path) else by_suffix.get(PurePath(path).suffix)
        front_end = claimed or for_others
        if chosen is not None and front_end != chosen:
            message = f"this is {front_end.language}, and what stands before it {chosen.language}"
            note = "a program is in one language: load them one by one"
            raise SourceError(Span(path), "load/mixed-languages", message, note)
        chosen = front_end
    return chosen or for_others


def load(paths: PathLike | Iterable[PathLike], **options: Any) -> Program | Any:
    """Return the program that `paths` make, in the language that their suffixes say.

    C and C++ (files, folders, globs, bitcode, LLVM assembly, `compile_commands.json`) become one
    linked `kleene.ir.Program`, and a Scheme file becomes a `kleene.ir.scheme.Core`.

    Args:
        paths: a path, or several.
        options: those of the front end: see `kleene.frontends.c.load` and
            `kleene.frontends.scheme.load`, which also say what they return exactly.

    Raises:
        SourceError: an input is missing or wrong, the paths are in different languages, or are no
            paths (`load/not-a-path`).
    """
    several = paths_of(paths)
    return front_end_of(several).load(several, **options)


def _module(name: str) -> Any:
    return import_module(f"{__name__}.{name}")
