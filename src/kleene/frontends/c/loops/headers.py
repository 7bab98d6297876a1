"""Large headers of C++, compiled once, so that clang's dump of a file that includes them is small.

`<vector>` alone makes a dump of 367 MB. clang leaves out of a dump what it reads from a precompiled
header, so the headers that are not the user's are gathered in one:

    // a.cpp                          // gathered                    // dumped
    #include "matrix.h"               #include <vector>              a.cpp, after the precompiled
    #include <vector>                 #include <cmath>               header: <vector> has its guard
    #include <cmath>                                                 defined, and adds nothing

Macros and include paths decide what a header says. So both files are preprocessed, and the text
that comes from headers must be the same, word by word; if it is not, the whole dump is taken.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock

from kleene.base.errors import SourceError
from kleene.base.files import read_file
from kleene.frontends.c.compiler import Compiler, Options, files_of
from kleene.frontends.c.source import Source

SMALLEST = 300_000  # bytes of preprocessed headers for which this is worth it
_MARKER = re.compile(rb'^# \d+ "((?:[^"\\]|\\.)+)"([ \d]*)\n', re.MULTILINE)
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*<([^>\n]+)>", re.MULTILINE)
IsUsers = Callable[[str], bool]


class Headers:
    """The precompiled headers of one reading, in a folder of its own."""

    def __init__(self, compiler: Compiler, options: Options, folder: Path) -> None:
        self._compiler = compiler
        self._options = options
        self._folder = folder
        self._lock = Lock()
        self._made: dict[tuple[object, ...], tuple[Lock, list[Path | None]]] = {}

    def of(self, source: Source, is_users: IsUsers) -> Path | None:
        """Return the precompiled headers of `source`; None if it has to do without."""
        if source.language != "c++":
            return None
        try:
            text = self._compiler.expand(source, self._options, self._folder)
            parts = list(_parts(text, is_users))
            if sum(len(part) for _, _, part in parts) < SMALLEST:
                return None
            gathered = _gathered(parts, _included(text, source.directory, is_users))
            if gathered is None:
                return None
            return self._precompiled(source, gathered, _words(parts))
        except SourceError:  # the whole dump tells what is wrong
            return None

    def _precompiled(self, source: Source, gathered: str, words: list[bytes]) -> Path | None:
        key = (gathered, source.flags, source.directory)
        with self._lock:
            lock, made = self._made.setdefault(key, (Lock(), []))
            name = f"headers{len(self._made)}"
        with lock:
            if not made:
                made.append(self._compiled(source, gathered, words, name))
            return made[0]

    def _compiled(
        self, source: Source, gathered: str, words: list[bytes], name: str
    ) -> Path | None:
        file = self._folder / f"{name}.h"
        file.write_text(gathered)
        header = Source(str(file), "c++", source.flags, source.directory)
        text = self._compiler.expand(header, self._options, self._folder)
        own = str(file)
        if _words(list(_parts(text, lambda one: one == own or one.startswith("<")))) != words:
            return None
        output = self._folder / f"{name}.pch"
        self._compiler.precompile(header, self._options, self._folder, output)
        return output if output.exists() else None


def _parts(text: bytes, is_users: IsUsers) -> Iterator[tuple[str, bool, bytes]]:
    """Yield each part of preprocessed text that is not the user's.

    With it comes the file that it is from, and whether the user's own file includes that.
    """
    known: dict[bytes, bool] = {}
    from_users = True
    markers = list(_MARKER.finditer(text))
    ends = [*(one.start() for one in markers[1:]), len(text)]
    for marker, end in zip(markers, ends, strict=True):
        name = marker[1]
        if name not in known:
            file = os.fsdecode(name)
            known[name] = is_users(file) or file.startswith("<")
        if not known[name]:
            enters = from_users and b"1" in marker[2].split()
            yield os.fsdecode(name), enters, text[marker.end() : end]
        from_users = known[name]


def _words(parts: list[tuple[str, bool, bytes]]) -> list[bytes]:
    return b"\n".join(part for _, _, part in parts).split()


def _included(text: bytes, directory: str | None, is_users: IsUsers) -> list[str]:
    """Return the names between <> in the `#include`s of the user's files."""
    found: dict[str, None] = {}
    for file in files_of(text):
        path = os.path.join(directory or "", file)
        if is_users(file) and os.path.isfile(path):
            names = _INCLUDE.findall(read_file(path))
            found |= dict.fromkeys(os.fsdecode(name).strip() for name in names)
    return sorted(found, key=len, reverse=True)


def _gathered(parts: list[tuple[str, bool, bytes]], names: list[str]) -> str | None:
    """Return the headers that the user's files include, in order; None if one has no name."""
    lines = []
    for file, enters, _ in parts:
        if enters:
            name = next((one for one in names if file.endswith(f"/{one}")), None)
            if name is None:
                return None
            lines.append(f"#include <{name}>\n")
    return "".join(lines)
