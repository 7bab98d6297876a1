"""What a unit was made from, so that an unchanged source is not even preprocessed.

A unit is known by its preprocessed text (`units`). To make that text starts a compiler for every
source: on a small program that is most of the time. Its *manifest* lists what the preprocessor
looked at, each path with its size and time of change:

- the files it read, but for headers of the bundled compiler;
- the folders in which it would find another file of the same name first, or will, once someone
  writes one: a new file changes the time of its folder.

Where that does not tell all, there is no manifest, and the source is preprocessed again: another
compiler than the bundled one, flags and variables of the environment that we do not know to be
harmless, `__has_include`, `__TIME__` and their like, and files that changed a moment ago.
"""

from __future__ import annotations

import json
import os
import re

from kleene.base.cache import Cache, key_of
from kleene.base.files import read_file
from kleene.frontends.c.compiler import Compiler, Options, files_of
from kleene.frontends.c.source import Source

State = tuple[int, int] | None  # size and time of change; None if there is nothing

_A_MOMENT_NS = 1_000_000_000  # a file system may count time in steps, but in no longer ones
_FOLDER = re.compile(r"-(?:I|isystem|iquote|idirafter)(.*)")
_HARMLESS = re.compile(r"-[DUOWgw].*|-std=.*|-f(?!modules|plugin|pass).*|-m\w+(=.*)?|cc|c\+\+")
_OF_TWO_WORDS = ("-D", "-U", "-x", "-target")
_OURS = (["-Xclang", "-disable-O0-optnone"], ["-Xclang", "-disable-llvm-passes"])
_VARIES = re.compile(rb"__has_include|__has_embed|__DATE__|__TIME__|__TIMESTAMP__|#\s*embed")
_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "SOURCE_DATE_EPOCH")


def find(source: Source, compiler: Compiler, options: Options, cache: Cache) -> bytes | None:
    """Return the bitcode of a source that is what it was; None if that is not known."""
    stored = cache.get("c-manifest", _key(source, compiler, options))
    if stored is None or any(name in os.environ for name in _VARIABLES):
        return None
    unit, states = json.loads(stored)
    if any(_state(path) != (state and tuple(state)) for path, state in states.items()):
        return None
    return cache.get("c-unit", unit)


def note(
    source: Source,
    compiler: Compiler,
    options: Options,
    cache: Cache,
    *,
    text: bytes,
    unit: str,
    start_ns: int,
) -> None:
    """Remember what the preprocessed `text`, begun at `start_ns`, of a unit came from."""
    folders = _folders(source, compiler.words(source, options)[1:])
    home = compiler.home
    if home is None or folders is None or any(name in os.environ for name in _VARIABLES):
        return
    here = source.directory or ""
    files = [os.path.abspath(os.path.join(here, name)) for name in files_of(text)]
    files = [file for file in files if not file.startswith(home)]
    try:
        if any(_VARIES.search(read_file(file)) for file in files if os.path.isfile(file)):
            return
    except OSError:  # it has gone in the meantime
        return
    folders |= {os.path.dirname(file) for file in files}
    # A file found as F = folder/sub/name would have been found in any other folder/sub first.
    subs = {
        os.path.relpath(os.path.dirname(file), folder)
        for file in files
        for folder in folders
        if file.startswith(os.path.join(folder, ""))
    }
    searched = {os.path.normpath(os.path.join(folder, sub)) for folder in folders for sub in subs}
    states = {path: _state(path) for path in {*files, *folders, *searched}}
    if all(state is None or state[1] < start_ns - _A_MOMENT_NS for state in states.values()):
        cache.put(
            "c-manifest", _key(source, compiler, options), json.dumps((unit, states)).encode()
        )


def _key(source: Source, compiler: Compiler, options: Options) -> str:
    place = os.path.abspath(source.directory or "")
    _, *words = compiler.words(source, options)
    return key_of(compiler.identity, place, *words, source.file)


def _folders(source: Source, words: list[str]) -> set[str] | None:
    """Return the folders that the words of a command say to search; None for words unknown."""
    found = set()
    waiting = words[::-1]
    while waiting:
        word = waiting.pop()
        if match := _FOLDER.fullmatch(word):
            folder = match[1] or (waiting.pop() if waiting else "")
            found.add(os.path.abspath(os.path.join(source.directory or "", folder)))
        elif word in _OF_TWO_WORDS or [word, *waiting[-1:]] in _OURS:
            del waiting[-1:]
        elif not _HARMLESS.fullmatch(word):
            return None
    return found


def _state(path: str) -> State:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns
