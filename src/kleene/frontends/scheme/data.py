"""Data as the reader returns them: values with the place they were read at.

`at` and `end` are byte numbers of `Sources`. A proper list is a `Form`, whatever it looked like in
the text: `(a . (b))` and `(a b)` are one, and `'a` is `(quote a)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from kleene.frontends.scheme.expander.scopes import Alias

Name: TypeAlias = "str | Alias"


class Identifier:
    """A symbol; in the output of a macro its name may be an alias."""

    __slots__ = ("at", "end", "name")

    def __init__(self, name: Name, at: int, end: int) -> None:
        self.name = name
        self.at = at
        self.end = end


class Literal:
    """A number, string, character, Boolean or bytevector."""

    __slots__ = ("at", "end", "value")

    def __init__(self, value: object, at: int, end: int) -> None:
        self.value = value
        self.at = at
        self.end = end


class Form:
    """A proper list."""

    __slots__ = ("at", "end", "items")

    def __init__(self, items: list[Datum], at: int, end: int) -> None:
        self.items = items
        self.at = at
        self.end = end


class Vector:
    """A vector."""

    __slots__ = ("at", "end", "items")

    def __init__(self, items: list[Datum], at: int, end: int) -> None:
        self.items = items
        self.at = at
        self.end = end


class Dotted:
    """An improper list: at least one item, and a tail that is no list."""

    __slots__ = ("at", "end", "items", "tail")

    def __init__(self, items: list[Datum], tail: Datum, at: int, end: int) -> None:
        self.items = items
        self.tail = tail
        self.at = at
        self.end = end


class Labelled:
    """A datum with a label, `#0=datum`."""

    __slots__ = ("at", "datum", "end", "label")

    def __init__(self, label: int, datum: Datum, at: int, end: int) -> None:
        self.label = label
        self.datum = datum
        self.at = at
        self.end = end


class LabelUse:
    """A reference to a label, `#0#`."""

    __slots__ = ("at", "end", "label")

    def __init__(self, label: int, at: int, end: int) -> None:
        self.label = label
        self.at = at
        self.end = end


Datum: TypeAlias = Identifier | Literal | Form | Vector | Dotted | Labelled | LabelUse


def dotted(items: list[Datum], tail: Datum, at: int, end: int) -> Form | Dotted:
    """Return the list of `items` that ends in `tail`: proper if the tail is."""
    if type(tail) is Form:
        return Form(items + tail.items, at, end)
    if type(tail) is Dotted:
        return Dotted(items + tail.items, tail.tail, at, end)
    return Dotted(items, tail, at, end) if items else Form([], at, end)


def after_first(items: list[Datum], tail: Datum, place: Datum) -> Datum:
    """Return what follows the first of `items` in a list that ends in `tail`."""
    return dotted(items[1:], tail, place.at, place.end) if items[1:] else tail


def plain_name(name: Name) -> str:
    """Return the symbol as it was first written, whatever macros renamed it to."""
    while type(name) is not str:
        name = name.name  # type: ignore[union-attr]
    return name
