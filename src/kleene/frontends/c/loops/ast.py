"""clang's syntax tree of a source file, from its JSON dump: the declarations of the user's files.

The compiler and the flags are those that make the bitcode. Headers make most of the dump (5 MB for
<stdio.h> and <math.h>): it is split into top-level declarations as text, and only those in the
user's own files are parsed. Large headers of C++ are left out of it (`headers`).

clang leaves out the file and the line of a place where they are those of the place printed before;
`_Places` puts them back, in the order of the dump.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from kleene.base import tidy
from kleene.base.errors import SourceError, Span
from kleene.frontends.c.compiler import Compiler, Options
from kleene.frontends.c.loops.headers import Headers
from kleene.frontends.c.source import Source

Node = dict[str, Any]

_BETWEEN = b"\n    },\n    {\n"  # two top-level declarations, by their indentation
_FIRST = b'\n  "inner": [\n    {\n'
_LAST = b"\n    }\n  ]\n}"
# The file of a place follows its offset; that of `includedFrom` follows a brace.
_FILE = re.compile(rb'"offset": \d+,\s+"file": ("(?:[^"\\]|\\.)*")')
_LINE = re.compile(rb'"line": (\d+)')


def declarations(
    source: Source, compiler: Compiler, options: Options, headers: Headers | None = None
) -> list[Node]:
    """Return the top-level declarations of `source` and of the headers that are the user's.

    Each place in them is a dictionary with "file", "line" and "col".

    Raises:
        SourceError: the file does not compile.
    """
    with tidy.scratch() as scratch:
        dump = _dump(source, compiler, options, headers, scratch)
    return list(_chosen(dump, source.directory, compiler.home))


def _dump(
    source: Source, compiler: Compiler, options: Options, headers: Headers | None, scratch: Path
) -> bytes:
    def is_users(file: str) -> bool:
        return _is_users(file, source.directory, compiler.home)

    precompiled = None if headers is None else headers.of(source, is_users)
    if precompiled is not None:
        with suppress(SourceError):  # if the headers do not fit, the whole dump is taken
            return compiler.syntax_tree(source, options, scratch, precompiled)
    return compiler.syntax_tree(source, options, scratch)


def _chosen(dump: bytes, folder: str | None, home: str | None) -> Iterator[Node]:
    start = dump.find(_FIRST)
    if start < 0:
        return  # a translation unit without declarations
    places = _Places()
    end = dump.rfind(_LAST)
    position = start + len(_FIRST)
    while position < end:
        following = dump.find(_BETWEEN, position, end)
        stop = following if following >= 0 else end
        chunk = dump[position:stop]
        position = stop + len(_BETWEEN)
        files = [json.loads(name) for name in _FILE.findall(chunk)]
        if any(_is_users(file, folder, home) for file in (places.file, *files)):
            node = json.loads(b"{" + chunk + b"}")
            places.complete(node)
            if _is_users(place(node).file, folder, home):
                yield node
            continue
        if files:
            places.file = files[-1]
        if (at := chunk.rfind(b'"line": ')) >= 0:
            found = _LINE.match(chunk, at)
            assert found is not None
            places.line = int(found[1])


def _is_users(file: str, folder: str | None, home: str | None) -> bool:
    """Return whether a file, named as seen from `folder`, is none of the compiler or the system.

    zig names even its own headers from there if they lie inside, as a virtual environment may.
    """
    whole = os.path.join(folder or os.getcwd(), file)
    is_system = whole.startswith("/usr/") or (home is not None and whole.startswith(home))
    return bool(file) and not is_system and not file.startswith("<")


class _Places:
    """The file and line of the place printed last."""

    def __init__(self) -> None:
        self.file = ""
        self.line = 0

    def complete(self, value: Any) -> None:
        """Write the file and the line into every place inside of `value`."""
        if isinstance(value, list):
            for one in value:
                self.complete(one)
        elif isinstance(value, dict):
            if "col" in value:
                self.file = value.setdefault("file", self.file)
                self.line = value.setdefault("line", self.line)
                return
            for one in value.values():
                if isinstance(one, dict | list):
                    self.complete(one)


def place(node: Node) -> Span:
    """Return where `node` begins: of what a macro makes, where the macro is used."""
    location = node.get("loc") or node.get("range", {}).get("begin", {})
    return _span(location)


def beginning(node: Node) -> Span:
    """Return the first token of `node`."""
    return _span(node.get("range", {}).get("begin", {}))


def _span(location: Node) -> Span:
    location = location.get("expansionLoc", location)
    if "col" not in location:
        return Span("")
    return Span(location["file"], location["line"], location["col"], location.get("tokLen", 1))


def end_line(node: Node) -> int:
    """Return the last line of `node`."""
    location = node.get("range", {}).get("end", {})
    location = location.get("expansionLoc", location)
    return int(location.get("line", 0))


def children(node: Node) -> list[Node]:
    """Return what `node` consists of; an omitted part, as in `for (;;)`, is an empty dictionary."""
    inner: list[Node] = node.get("inner", [])
    return inner
