"""Atoms: the text of one token to a symbol, number, string, character or Boolean."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TypeAlias

from kleene.frontends.scheme.reader import scan
from kleene.frontends.scheme.reader.numbers import parse_number
from kleene.ir.scheme.values import Char

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
_CONSTANTS = {"#t": True, "#true": True, "#f": False, "#false": False}
_ESCAPES = {"a": "\a", "b": "\b", "t": "\t", "n": "\n", "r": "\r", '"': '"', "\\": "\\", "|": "|"}
_ESCAPE = re.compile(r"\\(?:[xX]([0-9a-fA-F]+);|[ \t]*(?:\r\n|\n|\r)[ \t]*|(.?))|\r\n?", re.DOTALL)
_NO_NUMBER = re.compile(r"[+-]?[0-9]+/0+")  # looks like one, and must not pass as a symbol


class Fault(Exception):  # noqa: N818 - not an error yet: it gets its place in `Reader`
    """What is wrong with an atom, and how many bytes after its start."""

    def __init__(self, offset: int, id: str, message: str) -> None:
        super().__init__(message)
        self.id = id
        self.message = message
        self.offset = offset


class Symbol(str):
    """The name of a symbol, told from the text of a string by its type."""

    __slots__ = ()


Atom: TypeAlias = object


def parse(kind: int, text: str) -> Atom:
    """Return the value of a token: a `Symbol`, a label's `int`, or a literal's value."""
    return _PARSERS[kind](text)


def _atom(text: str) -> Atom:
    first = text[0]
    if first == "#":
        return _hash_atom(text)
    if first in "+-.0123456789":
        number = parse_number(text)
        if number is not None:
            return number
        if _NO_NUMBER.fullmatch(text):
            raise Fault(0, "scheme/bad-number", f"{text} divides by zero")
    return _symbol(text)


def _symbol(text: str) -> Symbol:
    if not text.isprintable():
        raise Fault(0, "scheme/bad-token", f"a symbol with an unprintable character: {text!r}")
    return Symbol(sys.intern(text))


def _folded(text: str) -> Atom:
    if text.startswith("#\\"):
        return _character(text if len(text) == 3 else text.casefold())
    value = _atom(text)
    return Symbol(sys.intern(value.casefold())) if type(value) is Symbol else value


def _hash_atom(text: str) -> Atom:
    if text.startswith("#\\"):
        return _character(text)
    lower = text.lower()
    if lower in _CONSTANTS:
        return _CONSTANTS[lower]
    number = parse_number(text)
    if number is None:
        raise Fault(0, "scheme/bad-token", f"'{text}' is neither a number nor any other datum")
    return number


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


def _label(text: str) -> int:
    if len(text) > 12:
        raise Fault(0, "scheme/bad-label", "a label of more than ten digits")
    return int(text[1:-1])


_PARSERS: dict[int, Callable[[str], Atom]] = {
    scan.ATOM: _atom,
    scan.FOLDED: _folded,
    scan.BARRED: lambda text: Symbol(sys.intern(_unescaped(text))),
    scan.STRING: _unescaped,
    scan.LABEL: _label,
    scan.LABEL_USE: _label,
}
