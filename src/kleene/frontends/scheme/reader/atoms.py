"""Atoms: the text of one token to a symbol, number, string, character or Boolean."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TypeAlias

from kleene.frontends.scheme.data import Identifier, LabelUse, Literal
from kleene.frontends.scheme.reader.numbers import parse_number
from kleene.ir.scheme.values import EOF, UNSPECIFIED, Char

Atom: TypeAlias = tuple[Callable[..., Identifier | Literal | LabelUse], object]

CHARACTER_NAMES = {
    "alarm": "\a",
    "backspace": "\b",
    "delete": "\x7f",
    "escape": "\x1b",
    "newline": "\n",
    "null": "\0",
    "return": "\r",
    "space": " ",
    "tab": "\t",
    # R5RS and R6RS programs know these as well
    "nul": "\0",
    "linefeed": "\n",
    "page": "\f",
    "vtab": "\v",
    "esc": "\x1b",
}
# What MIT Scheme, CHICKEN and Gambit write so; the first two mean something among formals.
OBJECTS: dict[bytes, Atom] = {
    b"#!optional": (Identifier, "#!optional"),
    b"#!rest": (Identifier, "#!rest"),
    b"#!default": (Literal, UNSPECIFIED),
    b"#!unspecific": (Literal, UNSPECIFIED),
    b"#!void": (Literal, UNSPECIFIED),
    b"#!eof": (Literal, EOF),
}
_CONSTANTS = {"#t": True, "#true": True, "#f": False, "#false": False}
_ESCAPES = {"a": "\a", "b": "\b", "t": "\t", "n": "\n", "r": "\r", '"': '"', "\\": "\\", "|": "|"}
_ESCAPE = re.compile(r"\\(?:[xX]([0-9a-fA-F]+);|[ \t]*(?:\r\n|\n|\r)[ \t]*|(.?))|\r\n?", re.DOTALL)
_LABEL_USE = re.compile("#[0-9]+#")
_NO_NUMBER = re.compile(r"[+-]?[0-9]+/0+")  # looks like one, and must not pass as a symbol


class Fault(Exception):  # noqa: N818 - not an error yet: it gets its place in `Reader`
    """What is wrong with an atom, and how many bytes after its start."""

    def __init__(self, offset: int, id: str, message: str) -> None:
        super().__init__(message)
        self.id = id
        self.message = message
        self.offset = offset


def parse(text: str, folds: bool) -> Atom:
    """Return what makes the datum of a token, and the value that it is given.

    With `folds`, symbols and names of characters are read without regard to case.
    """
    first = text[0]
    if first == "#":
        return OBJECTS.get(text.encode()) or _hash(text, folds)
    if first in "+-.0123456789":
        if (number := parse_number(text)) is not None:
            return Literal, number
        if _NO_NUMBER.fullmatch(text):
            raise Fault(0, "scheme/bad-number", f"{text} divides by zero")
    if text == '"':
        raise Fault(0, "scheme/unclosed-string", "this string is never closed")
    if text == "|":
        raise Fault(0, "scheme/unclosed-symbol", "this symbol is never closed")
    if first == '"':
        return Literal, _unescaped(text)
    if first == "|":
        return Identifier, sys.intern(_unescaped(text))
    if not text.isprintable():
        raise Fault(0, "scheme/bad-token", f"a symbol with an unprintable character: {text!r}")
    return Identifier, sys.intern(text.casefold() if folds else text)


def _hash(text: str, folds: bool) -> Atom:
    if text[1:2] == "\\":
        return Literal, _character(text.casefold() if folds and len(text) != 3 else text)
    if _LABEL_USE.fullmatch(text):
        return LabelUse, label_of(text)
    lower = text.lower()
    value = _CONSTANTS[lower] if lower in _CONSTANTS else parse_number(text)
    if value is None:
        raise Fault(0, "scheme/bad-token", f"'{text}' is neither a number nor any other datum")
    return Literal, value


def _character(text: str) -> Char:
    name = text[2:]
    if len(name) == 1:
        return Char(name)
    if name in CHARACTER_NAMES:
        return Char(CHARACTER_NAMES[name])
    if re.fullmatch("[xXuU]\\+?[0-9a-fA-F]+", name):
        return Char(_code_point(name[1:].lstrip("+"), 2))
    raise Fault(0, "scheme/bad-character", f"'{text}' names no character")


def _code_point(digits: str, offset: int) -> str:
    point = int(digits, 16) if len(digits) < 12 else 0x110000
    if point > 0x10FFFF or 0xD800 <= point < 0xE000:
        raise Fault(offset, "scheme/bad-character", f"there is no code point {digits}")
    return chr(point)


def _unescaped(text: str) -> str:
    """Return the inside of a string or of bars, without its escapes."""
    if "\\" not in text and "\r" not in text:
        return text[1:-1]
    inside = text[1:-1]

    def plain(match: re.Match[str]) -> str:
        digits, letter = match[1], match[2]
        offset = 1 + len(inside[: match.start()].encode())
        if digits is not None:
            return _code_point(digits, offset)
        if letter is None:  # the end of a line: dropped after a backslash, else one newline
            return "" if match[0][0] == "\\" else "\n"
        if letter not in _ESCAPES or not letter:
            raise Fault(offset, "scheme/bad-escape", f"there is no escape '\\{letter}'")
        return _ESCAPES[letter]

    return _ESCAPE.sub(plain, inside)


def label_of(text: str) -> int:
    """Return the number of a label, `#0=` or `#0#`."""
    if len(text) > 12:
        raise Fault(0, "scheme/bad-label", "a label of more than ten digits")
    return int(text[1:-1])
