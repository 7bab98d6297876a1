"""Quoted data as Scheme values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kleene.base.errors import SourceError
from kleene.frontends.scheme.data import (
    Datum,
    Dotted,
    Form,
    Identifier,
    Labelled,
    LabelUse,
    Literal,
    Vector,
    dotted,
    plain_name,
)
from kleene.ir.scheme.sources import Sources
from kleene.ir.scheme.values import NIL, Pair, String, list_of

_MOST_EVALUATED = 1_000_000  # values in one datum given to `eval`: it may be a cycle


class _Promised:
    """Stands for a labelled datum until that is built."""

    __slots__ = ("use",)

    def __init__(self, use: LabelUse) -> None:
        self.use = use


def literal_value(value: Any) -> Any:
    """Return the Scheme value of a literal: strings and bytevectors get an identity."""
    if type(value) is str:
        return String(value)
    return bytearray(value) if type(value) is bytes else value


def value_of(datum: Datum, sources: Sources) -> Any:
    """Return the value that `(quote datum)` has; no depth of nesting needs Python's stack."""
    if type(datum) is Identifier:
        return plain_name(datum.name)
    if type(datum) is Literal:
        return literal_value(datum.value)
    order: list[Datum] = [datum]
    for node in order:  # grows while it runs: every datum before those inside it
        order.extend(_inside(node))
    built: dict[int, Any] = {}
    labels: dict[int, Any] = {}
    for node in reversed(order):
        value = _build(node, built)
        built[id(node)] = value
        if type(node) is Labelled:
            labels[node.label] = value
    if labels or any(type(node) is LabelUse for node in order):
        return _tied(built[id(datum)], labels, sources)
    return built[id(datum)]


def _inside(node: Datum) -> list[Datum]:
    if type(node) is Form or type(node) is Vector:
        return node.items
    if type(node) is Dotted:
        return [*node.items, node.tail]
    return [node.datum] if type(node) is Labelled else []


def _build(node: Datum, built: dict[int, Any]) -> Any:
    if type(node) is Identifier:
        return plain_name(node.name)
    if type(node) is Literal:
        return literal_value(node.value)
    if type(node) is Form:
        return list_of([built[id(item)] for item in node.items])
    if type(node) is Vector:
        return [built[id(item)] for item in node.items]
    if type(node) is Dotted:
        return list_of([built[id(item)] for item in node.items], built[id(node.tail)])
    if type(node) is Labelled:
        return built[id(node.datum)]
    assert type(node) is LabelUse
    return _Promised(node)


def _tied(root: Any, labels: dict[int, Any], sources: Sources) -> Any:
    """Return the value with every label's use replaced by what the label stands for."""

    def final(value: Any) -> Any:
        for _ in range(len(labels) + 1):
            if type(value) is not _Promised:
                return value
            value = labels.get(value.use.label, value)
        place = sources.span(value.use.at, value.use.end)
        raise SourceError(place, "scheme/bad-label", "no datum around or before has this label")

    root = final(root)
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if id(value) not in seen and type(value) in (Pair, list):
            seen.add(id(value))
            waiting.extend(_tie_parts(value, final))
    return root


def _tie_parts(value: Any, final: Callable[[Any], Any]) -> list[Any]:
    if type(value) is Pair:
        value.car, value.cdr = final(value.car), final(value.cdr)
        return [value.car, value.cdr]
    value[:] = map(final, value)
    return list(value)


def datum_of(value: Any, sources: Sources) -> Datum:
    """Return the datum of a value, as if it had been read: how `eval` is given programs."""
    at = end = sources.add("<eval>", b"").base
    order = [value]
    for each in order:  # grows while it runs: every value before those inside it
        if len(order) > _MOST_EVALUATED:
            place = sources.span(at, end)
            raise SourceError(place, "scheme/endless-datum", "a datum without end is no program")
        order.extend(_parts(each))
    built: dict[int, Datum] = {}
    for each in reversed(order):
        parts = [built[id(part)] for part in _parts(each)]
        built[id(each)] = _datum(each, parts, at, end)
    return built[id(value)]


def _parts(value: Any) -> list[Any]:
    """Return the values inside a value: the items of a list and its tail, or those of a vector."""
    if type(value) is list:
        return value
    parts = []
    while type(value) is Pair:
        parts.append(value.car)
        value = value.cdr
        if len(parts) > _MOST_EVALUATED:
            break
    return [*parts, value] if parts else []


def _datum(value: Any, parts: list[Datum], at: int, end: int) -> Datum:
    if type(value) is str:
        return Identifier(value, at, end)
    if type(value) is list:
        return Vector(parts, at, end)
    if type(value) is Pair:
        return dotted(parts[:-1], parts[-1], at, end)
    if value is NIL:
        return Form([], at, end)
    if type(value) is String:
        return Literal(value.text, at, end)
    return Literal(bytes(value) if type(value) is bytearray else value, at, end)
