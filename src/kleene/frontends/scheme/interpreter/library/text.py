"""Characters and strings."""

from __future__ import annotations

import operator
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from kleene.frontends.scheme.interpreter.library.numbers import index, size
from kleene.frontends.scheme.interpreter.library.registry import checked, plain
from kleene.frontends.scheme.interpreter.library.vectors import bounds, octets, part, vector
from kleene.ir.scheme.values import Char, String, items_of, list_of

_SPACE = Char(" ")


char = checked("a character", Char)


def text(x: Any) -> str:
    """Return the text of a string."""
    if type(x) is not String:
        raise TypeError("not a string")
    return x.text


def _ordering(name: str, holds: Callable[[str, str], bool], key: Callable[[Any], str]) -> None:
    @plain(name)
    def ordered(*values: Any) -> bool:
        keys = [key(value) for value in values]
        return all(holds(a, b) for a, b in pairwise(keys))


_ORDERS = {"<": operator.lt, ">": operator.gt, "=": operator.eq, "<=": operator.le}
for _sign, _holds in {**_ORDERS, ">=": operator.ge}.items():
    _ordering(f"char{_sign}?", _holds, char)
    _ordering(f"string{_sign}?", _holds, text)
    _ordering(f"char-ci{_sign}?", _holds, lambda x: char(x).casefold())
    _ordering(f"string-ci{_sign}?", _holds, lambda x: text(x).casefold())


def _one(before: str, after: str) -> Char:
    """Return the changed character if it is one, else the character unchanged."""
    return Char(after if len(after) == 1 else before)


plain("char?")(lambda x: type(x) is Char)
plain("char->integer")(lambda x: ord(char(x)))
plain("char-upcase")(lambda x: _one(x, char(x).upper()))
plain("char-downcase")(lambda x: _one(x, char(x).lower()))
plain("char-foldcase")(lambda x: _one(x, char(x).casefold()))
plain("char-alphabetic?")(lambda x: char(x).isalpha())
plain("char-numeric?")(lambda x: char(x).isdecimal())
plain("char-whitespace?")(lambda x: char(x).isspace())
plain("char-upper-case?")(lambda x: char(x).isupper())
plain("char-lower-case?")(lambda x: char(x).islower())
plain("digit-value")(lambda x: unicodedata.decimal(char(x), False))


@plain("integer->char")
def _from_code(x: Any) -> Char:
    if 0xD800 <= index(x) < 0xE000:
        raise ValueError("no character has this number")
    return Char(chr(x))


plain("string?")(lambda x: type(x) is String)
plain("string")(lambda *chars: String("".join(char(x) for x in chars)))
plain("make-string")(lambda n, fill=_SPACE: String(char(fill) * size(n)))
plain("string-length")(lambda x: len(text(x)))
plain("string-ref")(lambda x, k: Char(text(x)[index(k)]))
plain("string-append")(lambda *strings: String("".join(text(x) for x in strings)))
plain("substring", "string-copy")(lambda x, i=0, j=None: String(part(text(x), i, j)))
plain("string->list")(lambda x, i=0, j=None: list_of(map(Char, part(text(x), i, j))))
plain("list->string")(lambda x: String("".join(char(each) for each in items_of(x))))
plain("string->vector")(lambda x, i=0, j=None: [Char(each) for each in part(text(x), i, j)])
plain("string-upcase")(lambda x: String(text(x).upper()))
plain("string-downcase")(lambda x: String(text(x).lower()))
plain("string-foldcase")(lambda x: String(text(x).casefold()))
plain("vector->string")(
    lambda x, i=0, j=None: String("".join(char(each) for each in part(vector(x), i, j)))
)


@plain("string-join")
def _join(strings: Any, separator: Any = None) -> String:
    between = " " if separator is None else text(separator)
    return String(between.join(text(each) for each in items_of(strings)))


def _replace(string: Any, at: int, new: str) -> None:
    old = text(string)
    string.text = old[:at] + new + old[at + len(new) :]


@plain("string-set!")
def _string_set(string: Any, k: Any, value: Any) -> None:
    if index(k) >= len(text(string)):
        raise IndexError("outside the string")
    _replace(string, k, char(value))


@plain("string-fill!")
def _string_fill(string: Any, fill: Any, start: Any = 0, end: Any = None) -> None:
    first, last = bounds(len(text(string)), start, end)
    _replace(string, first, char(fill) * (last - first))


@plain("string-copy!")
def _string_copy(to: Any, at: Any, source: Any, start: Any = 0, end: Any = None) -> None:
    new = part(text(source), start, end)
    bounds(len(text(to)), at, at + len(new))
    _replace(to, at, new)


plain("utf8->string")(lambda x, i=0, j=None: String(part(octets(x), i, j).decode()))
plain("string->utf8")(lambda x, i=0, j=None: bytearray(part(text(x), i, j).encode()))
