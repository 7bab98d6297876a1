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
from kleene.base.files import file_problem, read_file
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
        _check(entry, path)
        if not is_chosen(only, entry["file"], _output(entry)):
            continue
        source = _source(entry, os.path.dirname(path))
        if source is None:
            continue
        found.append(source)
        if not os.path.isdir(source.directory or "."):
            folder, note = source.directory or ".", f"it is named by {path}"
            errors.append(SourceError(Span(folder), "c/no-such-file", "no such folder", note))
        elif problem := file_problem(source.path):
            id, note = "c/no-such-file", f"it is named by {path}"
            id = "c/unreadable" if os.path.exists(source.path) else id
            errors.append(SourceError(Span(source.path), id, problem, note))
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
        # Bytes of names that are no UTF-8 come as Python has them in names of files.
        found = json.loads(read_file(path).decode("utf-8-sig", "surrogateescape"))
    except json.JSONDecodeError as error:
        place = Span(path, error.lineno, error.colno)
        raise SourceError(place, "c/bad-database", f"not JSON: {error.msg}") from None
    except (RecursionError, ValueError):  # ValueError: a number of thousands of digits
        raise SourceError(Span(path), "c/bad-database", "no JSON that could be read") from None
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


def _check(entry: dict[str, Any], path: str) -> None:
    """Raise if no command could have what stands in an entry."""
    arguments = _arguments(entry)
    if not arguments:
        message = f"the entry of {entry['file']} has an empty command"
        raise SourceError(Span(path), "c/bad-database", message)
    for text in (entry["file"], entry.get("directory", ""), *arguments):
        try:
            is_right = b"\0" not in os.fsencode(text)
        except UnicodeEncodeError:  # a surrogate alone
            is_right = False
        if not is_right:
            message = f"{text!r} can be no name and no word of a command"
            raise SourceError(Span(path), "c/bad-database", message)


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
    for argument, value in zip(arguments, [*arguments[1:], ""], strict=False):
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
            yield from _words_in(file)
        else:
            yield argument


def _words_in(file: str) -> list[str]:
    try:
        return shlex.split(os.fsdecode(read_file(file)).replace("\0", ""))
    except OSError as error:
        raise SourceError(Span(file), "c/unreadable", f"{error.strerror}") from None
    except ValueError as error:
        message = f"this response file cannot be split: {error}"
        raise SourceError(Span(file), "c/bad-database", message) from None
