"""Quasi-quotation: a template becomes calls of cons, append and list->vector, and constants."""

from __future__ import annotations

from kleene.frontends.scheme.data import (
    Datum,
    Dotted,
    Form,
    Identifier,
    Vector,
    plain_name,
)
from kleene.frontends.scheme.expander.expand import Expander
from kleene.frontends.scheme.expander.forms import items_of
from kleene.frontends.scheme.expander.quoting import value_of
from kleene.frontends.scheme.expander.scopes import Scope

_STEP = {"unquote": -1, "unquote-splicing": -1, "quasiquote": 1}  # in levels of quotation


def quasiquote(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(quasiquote template)."""
    (datum,) = items_of(x, form, 1, 1, "(quasiquote template)")
    Template(datum, 1, _live(datum)).expand(x, scope, slot)


def _live(root: Datum) -> set[int]:
    """Return the ids of the data with an unquote or a quasi-quotation somewhere inside."""
    order: list[tuple[Datum, int]] = [(root, -1)]
    for i, (datum, _) in enumerate(order):  # grows while it runs
        if type(datum) is Form or type(datum) is Vector or type(datum) is Dotted:
            order.extend((item, i) for item in datum.items)
            if type(datum) is Dotted:
                order.append((datum.tail, i))
    live: set[int] = set()
    marked: set[int] = set()
    for i in range(len(order) - 1, -1, -1):
        datum, around = order[i]
        if i in marked or _word(datum):
            live.add(id(datum))
            marked.add(around)
    return live


def _word(datum: Datum) -> str | None:
    """Return which of the three words the datum is, if any."""
    name = plain_name(datum.name) if type(datum) is Identifier else ""
    return name if name in _STEP else None


def _word_form(items: list[Datum]) -> str | None:
    """Return the word that a list of two items begins with, if any."""
    return _word(items[0]) if len(items) == 2 else None


class Template:
    """A part of a template, waiting to be expanded at its level of quotation."""

    __slots__ = ("at", "datum", "end", "level", "live")

    def __init__(self, datum: Datum, level: int, live: set[int]) -> None:
        self.datum = datum
        self.level = level
        self.live = live
        self.at = datum.at
        self.end = datum.end

    def expand(self, x: Expander, scope: Scope, slot: int) -> None:
        """Put what the template stands for into a slot."""
        datum = self.datum
        if id(datum) not in self.live:
            x.builder.constant(value_of(datum, x.sources), self.at, self.end, slot)
        elif type(datum) is Form:
            self._list(x, datum.items, None, scope, slot)
        elif type(datum) is Dotted:
            self._list(x, datum.items, datum.tail, scope, slot)
        elif type(datum) is Vector:
            inside = x.primitive_call("list->vector", self, slot, 1)
            self._list(x, datum.items, None, scope, inside, is_vector=True)
        else:  # a bare word, such as the first item of '(unquote)
            x.builder.constant(value_of(datum, x.sources), self.at, self.end, slot)

    def _list(
        self,
        x: Expander,
        items: list[Datum],
        tail: Datum | None,
        scope: Scope,
        slot: int,
        is_vector: bool = False,
    ) -> None:
        live = [i for i, item in enumerate(items) if id(item) in self.live]
        n_live = live[-1] + 1 if live else 0
        if tail is not None and id(tail) in self.live:
            n_live = len(items)
        for i, item in enumerate(items[:n_live]):
            word = None if tail or is_vector else _word_form(items[i:])
            if word and (i == 0 or word != "unquote-splicing"):
                return self._unquote(x, word, items[i:], scope, slot)
            slot = self._item(x, item, scope, slot)
        rest: Datum = Form(items[n_live:], self.at, self.end)
        if tail is not None:
            rest = tail if n_live == len(items) else Dotted(items[n_live:], tail, self.at, self.end)
        x.push(Template(rest, self.level, self.live), scope, slot)

    def _unquote(self, x: Expander, word: str, items: list[Datum], scope: Scope, slot: int) -> None:
        """Put the list of a word and a datum into a slot."""
        level = self.level + _STEP[word]
        if level == 0:
            if word == "unquote-splicing":
                raise x.error(self, "scheme/bad-quasiquote", "there is no list to splice into")
            return x.push(items[1], scope, slot)
        first = x.primitive_call("list", self, slot, 2)
        x.builder.constant(word, self.at, self.end, first)
        x.push(Template(items[1], level, self.live), scope, first + 1)

    def _item(self, x: Expander, item: Datum, scope: Scope, slot: int) -> int:
        """Put one item in front of a list; return the slot of the list."""
        is_splice = type(item) is Form and _word_form(item.items) == "unquote-splicing"
        if is_splice and self.level == 1:
            first = x.primitive_call("append", item, slot, 2)
            x.push(item.items[1], scope, first)  # type: ignore[union-attr]
        else:
            first = x.primitive_call("cons", item, slot, 2)
            x.push(Template(item, self.level, self.live), scope, first)
        return first + 1
