"""Options of commands as plain data, and the usual command line read without Typer.

A command names each option once, `Annotated[bool, option("--stats", help="…")]`. From that Typer
makes help, completion and messages about wrong usage, and `parsed` reads what is plainly right: to
import Typer and the Pydantic behind it takes as long as a small program takes to be analysed.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, get_args, get_origin

_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")


class UsageError(ValueError):
    """An option or argument is wrong, or does not fit another."""


class Option(NamedTuple):
    """What Typer is told of an option; without names it is the argument that takes the files."""

    names: tuple[str, ...]
    settings: dict[str, Any]


def option(*names: str, **settings: Any) -> Option:
    """Return an option, with settings of the names that `typer.Option` gives them."""
    return Option(names, settings)


def parsed(
    words: Iterable[str], parameters: Mapping[str, inspect.Parameter]
) -> dict[str, Any] | None:
    """Return the argument for each parameter that `words` give; None where Typer has to look.

    That is for help, for whatever is wrong, and for rare spellings: `--`, joined short flags.

    Args:
        words: the command line after the command's name.
        parameters: by name; each annotation is `Annotated[type, Option]`.
    """
    kinds = {name: _Kind.of(parameter.annotation) for name, parameter in parameters.items()}
    named = {word: name for name, kind in kinds.items() for word in kind.option.names or [""]}
    found: dict[str, Any] = {}
    waiting = list(words)[::-1]
    while waiting:
        word, *texts = _split(waiting.pop())
        if word not in named:
            return None
        name, kind = named[word], kinds[named[word]]
        while len(texts) < kind.n_words and waiting:
            texts.append(waiting.pop())
        if len(texts) != kind.n_words or any(not text or text[0] == "-" for text in texts):
            return None
        try:
            values = tuple(map(kind.value, texts))
        except ValueError:
            return None
        if kind.is_repeated:
            found.setdefault(name, []).extend(values)
        else:
            found[name] = (values or (True,))[0] if kind.n_words < 2 else values
    absent = {name: one.default for name, one in parameters.items() if name not in found}
    return None if inspect.Parameter.empty in absent.values() else absent | found


def _split(word: str) -> list[str]:
    """Return an option's name, and its value if that is in the same word; "" names the files."""
    if word.startswith("--"):
        return word.split("=", 1)
    if word.startswith("-"):
        return [word[:2], word[2:]] if len(word) > 2 else [word]
    return ["", word]


class _Kind(NamedTuple):
    """How the words behind an option become its value."""

    option: Option
    of_one: Any  # the type of one value
    n_words: int  # behind each occurrence of the option: none is a flag
    is_repeated: bool

    @staticmethod
    def of(annotation: Any) -> _Kind:
        (told,), hint = annotation.__metadata__, annotation.__origin__
        if type(None) in get_args(hint):
            (hint,) = (one for one in get_args(hint) if one is not type(None))
        if (outer := get_origin(hint)) in (list, tuple):
            inner = get_args(hint)
            return _Kind(told, inner[0], len(inner), outer is list)
        return _Kind(told, hint, int(hint is not bool), False)

    def value(self, text: str) -> Any:
        """Return the value of a word.

        Raises:
            ValueError: it has none, or one out of range.
        """
        settings = self.option.settings
        if "parser" in settings:
            return settings["parser"](text)
        if self.of_one not in (int, float):
            return self.of_one(text)
        if not _NUMBER.fullmatch(text):
            raise ValueError(text)
        number = self.of_one(text)
        if not settings.get("min", number) <= number <= settings.get("max", number):
            raise ValueError(text)
        return number
