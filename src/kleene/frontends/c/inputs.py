"""Which files did the user mean?

A path is a source file, a folder, a glob, a compilation database (`.json`), LLVM assembly (`.ll`)
or bitcode (`.bc`, or `.o` from an `-flto` build). A folder means the C and C++ sources under it, in
sorted order, without hidden folders and build folders; a glob means its matches with a known
suffix.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kleene.base.errors import SourceError, Span, raise_all
from kleene.base.files import file_problem, read_file
from kleene.frontends.c import database
from kleene.frontends.c.exchange import FORMS, Form
from kleene.frontends.c.source import LANGUAGES, Source, is_chosen

_BUILD_FOLDERS = {"CMakeFiles", "_build", "build", "node_modules"}


@dataclass(frozen=True, slots=True)
class Given:
    """One file that is LLVM code already."""

    file: str
    form: Form

    @property
    def path(self) -> str:
        """The file as seen from here."""
        return self.file


def discover(paths: Iterable[str], only: tuple[str, ...] = ()) -> list[Source | Given]:
    """Return every input that `paths` name, in their order and each once.

    `only` chooses among what folders, globs and databases hold; a file named itself is taken.
    """
    unique: dict[object, Source | Given] = {}
    errors: list[SourceError] = []
    for path in paths:
        try:
            os.fsencode(path)
        except UnicodeEncodeError:
            errors.append(SourceError(Span(path), "c/no-such-file", "no such file or folder"))
            continue
        try:
            for found in _expand(path, only):
                own = (found.flags, found.directory) if isinstance(found, Source) else ()
                unique.setdefault((os.path.realpath(found.path), own), found)
        except SourceError as error:
            errors.append(error)
    raise_all(errors)
    if not unique:
        raise SourceError(None, "c/no-sources", "no input files were named")
    return list(unique.values())


def _expand(path: str, only: tuple[str, ...]) -> list[Source | Given]:
    if os.path.isdir(path):
        return _inside(path, only)
    if os.path.exists(path):
        return _one(path, only)
    if glob.has_magic(path) and "\0" not in path:
        return _matching(path, only)
    raise SourceError(Span(path), "c/no-such-file", "no such file or folder")


def _one(path: str, only: tuple[str, ...]) -> list[Source | Given]:
    if problem := file_problem(path):
        raise SourceError(Span(path), "c/unreadable", problem)
    suffix = Path(path).suffix
    if suffix in LANGUAGES:
        return [Source(path, LANGUAGES[suffix])]
    if suffix == ".json":
        return list(database.entries(path, only))
    if suffix in FORMS:
        return [Given(path, FORMS[suffix])]
    if _begins_as_bitcode(path):
        return [Given(path, "bitcode")]
    raise SourceError(
        Span(path),
        "c/unknown-input",
        "neither C or C++ source, LLVM bitcode or assembly, nor a compilation database",
        f"known suffixes: {' '.join([*LANGUAGES, *FORMS, '.json'])}",
    )


def _inside(folder: str, only: tuple[str, ...]) -> list[Source | Given]:
    files = [path for path in _walk(folder) if is_chosen(only, path)]
    if not files:
        raise SourceError(
            Span(folder),
            "c/no-sources",
            f"no C or C++ source{_that_matches(only)} in this folder or below it",
            "hidden folders and build folders are not searched; name such a folder itself",
        )
    return [found for path in files for found in _one(path, ())]


def _that_matches(only: tuple[str, ...]) -> str:
    return f" that '{' '.join(only)}' chooses" if only else ""


def _walk(folder: str) -> Iterator[str]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_build(here, name))
        for name in sorted(files):
            if Path(name).suffix in LANGUAGES and not name.startswith("."):
                yield os.path.join(here, name)


def _is_build(parent: str, name: str) -> bool:
    if name.startswith((".", "cmake-build-")) or name in _BUILD_FOLDERS:
        return True
    return os.path.exists(os.path.join(parent, name, "CMakeCache.txt"))


def _matching(pattern: str, only: tuple[str, ...]) -> list[Source | Given]:
    known = {*LANGUAGES, *FORMS}
    files = [file for file in glob.glob(pattern, recursive=True) if Path(file).suffix in known]
    chosen = [file for file in sorted(files) if is_chosen(only, file)]
    if not chosen:
        raise SourceError(Span(pattern), "c/no-sources", "nothing to load matches this pattern")
    return [found for file in chosen for found in _one(file, ())]


def _begins_as_bitcode(path: str) -> bool:
    from kleene.frontends.c import bitcode

    try:
        return bitcode.is_bitcode(read_file(path)[:4])
    except OSError:
        return False
