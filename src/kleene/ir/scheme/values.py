"""Scheme values as Python objects.

Numbers are `int`, `Fraction`, `float` and `complex`, Booleans `bool`, symbols interned `str`,
characters `Char`, bytevectors `bytearray`, vectors `list`. The rest is here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


class Char(str):
    """A character: a string of one code point that is no symbol."""

    __slots__ = ()


class String:
    """A mutable string."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Pair:
    """A mutable pair."""

    __slots__ = ("car", "cdr")

    def __init__(self, car: Any, cdr: Any) -> None:
        self.car = car
        self.cdr = cdr


class Singleton:
    """A value of which there is one, known by its name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


NIL = Singleton("()")
UNSPECIFIED = Singleton("#<unspecified>")
EOF = Singleton("#<eof>")


def list_of(items: Iterable[Any], tail: Any = NIL) -> Any:
    """Return the Scheme list of `items`, ending in `tail`."""
    for item in reversed(list(items)):
        tail = Pair(item, tail)
    return tail


def pairs_of(value: Any) -> Iterator[Pair]:
    """Yield the pairs of a list, proper or not; TypeError where it has no end."""
    slow, moves = value, False
    while type(value) is Pair:
        yield value
        value = value.cdr
        slow = slow.cdr if moves else slow
        moves = not moves
        if value is slow and type(value) is Pair:
            raise TypeError("a list without end")


def items_of(value: Any) -> Iterator[Any]:
    """Yield the items of a proper list; TypeError where it is none."""
    for pair in pairs_of(value):
        yield pair.car
        value = pair.cdr
    if value is not NIL:
        raise TypeError("not a list")
