"""What does a compilation database (`compile_commands.json`) say about each source?

Of each entry's own command we keep what decides the meaning of the code (macros, header folders,
the standard, the target, ABI and dialect flags), and drop what decides optimisation, the choice of
a CPU, warnings, outputs, dependency files and linking. Entries in other languages (assembly,
Fortran) are left out: what they define stays external.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kleene.base.errors import SourceError, Span, raise_all
from kleene.frontends.c.source import LANGUAGES, Language, Source, is_chosen

_KEPT_WITH_VALUE = re.compile(
    r"-[DUIF]|-isystem|-iquote|-idirafter|-include|-imacros|-isysroot|--sysroot|-target"
)
_DROPPED_WITH_VALUE = re.compile(
    r"-o|-x|-M[FTQJ]|-Xclang|-Xlinker|-Xassembler|-Xpreprocessor|-mllvm|-arch"
)
_KEPT = re.compile(
    r"""
    -[DUIF].+ | -(isystem|iquote|idirafter|include|imacros).+ | -isysroot.+
    | --(sysroot|target)=.+ | -std=.+ | -ansi | -nostdinc(\+\+)? | -pthread | -trigraphs | -undef
    | -m(32|64|ms-bitfields|long-double-\w+)
    | -m(no-)?(sse|ssse|avx|fma|aes|bmi|popcnt|pclmul|f16c|sha|lzcnt|movbe|rdrnd|adx|xsave)[\w.]*
    | -f(no-)?(signed-char|unsigned-char|short-enums|short-wchar|pack-struct(=\d+)?
        |common|builtin(-\w+)?|exceptions|rtti|strict-aliasing|wrapv|trapv|ms-extensions|char8_t
        |gnu89-inline|gnu-keywords|blocks|asm|delete-null-pointer-checks|threadsafe-statics
        |declspec)
    | -f(freestanding|hosted|visibility=\w+)
    """,
    re.VERBOSE,
)


def entries(path: str, only: tuple[str, ...] = ()) -> Iterator[Source]:
    """Yield the sources of the database whose file or output `only` chooses."""
    found: list[Source] = []
    errors: list[SourceError] = []
    for entry in _read(path):
        if not is_chosen(only, entry["file"], _output(entry)):
            continue
        source = _source(entry, os.path.dirname(path))
        if source is None:
            continue
        found.append(source)
        for needed in (source.path, source.directory or "."):
            if not os.path.exists(needed):
                note = f"it is named by {path}"
                errors.append(SourceError(Span(needed), "c/no-such-file", "not there", note))
    raise_all(errors)
    if not found:
        what = f"no C or C++ entry that '{' '.join(only)}' chooses" if only else "no C or C++ entry"
        raise SourceError(Span(path), "c/no-sources", what)
    yield from found


def kept(arguments: list[str], directory: str) -> tuple[str, ...]:
    """Return the arguments that decide what the code means."""
    flags: list[str] = []
    rest = iter(_expanded(arguments, directory))
    for argument in rest:
        if _KEPT_WITH_VALUE.fullmatch(argument):
            flags += [argument, next(rest, "")]
        elif _DROPPED_WITH_VALUE.fullmatch(argument):
            next(rest, None)
        elif _KEPT.fullmatch(argument):
            flags.append(argument)
    return tuple(flags)


def _read(path: str) -> list[dict[str, Any]]:
    try:
        raw = Path(path).read_text(encoding="utf-8")
        found = json.loads(raw)
    except json.JSONDecodeError as error:
        place = Span(path, error.lineno, error.colno)
        raise SourceError(place, "c/bad-database", f"not JSON: {error.msg}") from None
    except UnicodeDecodeError:
        raise SourceError(Span(path), "c/bad-database", "not UTF-8 text") from None
    except OSError as error:
        raise SourceError(Span(path), "c/unreadable", f"{error.strerror}") from None
    if not isinstance(found, list) or not all(_is_entry(entry) for entry in found):
        raise SourceError(
            Span(path),
            "c/bad-database",
            "not a compilation database",
            "expected a list of entries with 'directory', 'file', and 'command' or 'arguments'",
        )
    return found


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        return False
    arguments = entry.get("arguments", [])
    return (
        isinstance(entry.get("directory", ""), str)
        and isinstance(entry.get("command", ""), str)
        and isinstance(arguments, list)
        and all(isinstance(argument, str) for argument in arguments)
        and ("command" in entry or "arguments" in entry)
    )


def _source(entry: dict[str, Any], folder: str) -> Source | None:
    arguments = _arguments(entry)
    language = _language(entry["file"], arguments)
    if language is None:
        return None
    directory = os.path.join(folder, entry.get("directory", "")) or "."
    return Source(entry["file"], language, kept(arguments, directory), directory)


def _arguments(entry: dict[str, Any]) -> list[str]:
    if "arguments" in entry:
        return list(entry["arguments"])
    try:
        return shlex.split(entry["command"])
    except ValueError as error:
        raise SourceError(
            Span(entry["file"]), "c/bad-database", f"its command cannot be split: {error}"
        ) from None


def _language(file: str, arguments: list[str]) -> Language | None:
    """Return the language that `-x` names, else that of the suffix."""
    chosen = _after("-x", arguments)
    if chosen is None:
        return LANGUAGES.get(Path(file).suffix)
    return {"c": LANGUAGES[".c"], "c++": LANGUAGES[".cc"]}.get(chosen)


def _output(entry: dict[str, Any]) -> str:
    return str(entry.get("output") or _after("-o", _arguments(entry)) or "")


def _after(option: str, arguments: list[str]) -> str | None:
    for argument, value in zip(arguments, [*arguments[1:], ""], strict=True):
        if argument == option:
            return value
        if argument.startswith(option):
            return argument.removeprefix(option)
    return None


def _expanded(arguments: list[str], directory: str) -> Iterator[str]:
    """Yield the arguments, with those of response files (`@file`) in their place."""
    for argument in arguments:
        file = os.path.join(directory, argument[1:])
        if argument.startswith("@") and os.path.isfile(file):
            yield from shlex.split(Path(file).read_text(encoding="utf-8", errors="replace"))
        else:
            yield argument
