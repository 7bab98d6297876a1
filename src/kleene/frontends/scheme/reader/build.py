"""From nodes to data: one small object each, made and filled a kind at a time."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from kleene.base.arrays import I32, U8
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
)
from kleene.frontends.scheme.reader import scan
from kleene.frontends.scheme.reader.atoms import Atom, Symbol
from kleene.frontends.scheme.reader.nest import ROOT
from kleene.ir.scheme.sources import Sources

_PREFIXES = {
    scan.QUOTE: "quote",
    scan.QUASIQUOTE: "quasiquote",
    scan.UNQUOTE: "unquote",
    scan.SPLICE: "unquote-splicing",
}


@dataclass(frozen=True, slots=True)
class Nodes:
    """The columns of the nodes; `number` says which of `values` an atom or a label has."""

    kind: U8
    number: I32
    at: I32
    end: I32
    parent: I32
    dot: I32
    values: list[Atom]


def build(nodes: Nodes, sources: Sources) -> list[Datum]:
    """Return the data of the text."""
    order = np.argsort(nodes.parent, kind="stable")
    firsts = np.searchsorted(nodes.parent, np.arange(ROOT, len(order)), sorter=order)
    bounds = [*firsts.tolist(), len(order)]
    objects = _objects(nodes, order, bounds)
    ordered = objects[order].tolist()
    _fill(nodes, objects, ordered, bounds, sources)
    return ordered[bounds[0] : bounds[1]]  # type: ignore[no-any-return]


def _objects(nodes: Nodes, order: Any, bounds: list[int]) -> Any:
    """Return an object for each node, of its final class and still empty."""
    objects = np.empty(len(nodes.kind), object)
    is_symbol = np.array([type(value) is Symbol for value in nodes.values], np.bool_)
    texts = np.empty(len(nodes.values), object)
    texts[:] = [str(value) if type(value) is Symbol else value for value in nodes.values]
    is_atom = nodes.kind < scan.LABEL
    if len(is_symbol):
        named = is_atom & is_symbol[nodes.number]
        _make(objects, Identifier, np.flatnonzero(named), nodes, texts)
        _make(objects, Literal, np.flatnonzero(is_atom & ~named), nodes, texts)
    is_list = (nodes.kind == scan.LIST) | (nodes.kind == scan.SQUARE)
    _make(objects, Form, np.flatnonzero(is_list & (nodes.dot < 0)), nodes, None)
    rare = np.flatnonzero(~is_atom & ~(is_list & (nodes.dot < 0)))
    for node in rare[::-1].tolist():  # inner ones first: a list is proper if its tail is
        tail = objects[order[bounds[node + 2] - 1]] if nodes.dot[node] >= 0 else None
        objects[node] = _rare(nodes, node, tail)
    return objects


def _make(objects: Any, kind: Any, which: Any, nodes: Nodes, texts: Any) -> None:
    """Make the objects of one kind; a list's items come later."""
    first = repeat(None) if texts is None else texts[nodes.number[which]].tolist()
    places = (nodes.at[which].tolist(), nodes.end[which].tolist())
    objects[which] = list(map(kind, first, *places))


def _rare(nodes: Nodes, node: int, tail: Any) -> Datum:
    kind, at, end = int(nodes.kind[node]), int(nodes.at[node]), int(nodes.end[node])
    if tail is not None:
        return Form([], at, end) if type(tail) is Form else Dotted([], tail, at, end)
    if kind in _PREFIXES:
        length = 2 if kind == scan.SPLICE else 1
        return Form([Identifier(_PREFIXES[kind], at, at + length)], at, end)
    if kind == scan.VECTOR:
        return Vector([], at, end)
    if kind == scan.BYTES:
        return Literal(b"", at, end)
    label: Any = nodes.values[nodes.number[node]] if kind != scan.COMMENT else 0
    if kind == scan.LABEL_USE:
        return LabelUse(label, at, end)
    return Labelled(label, Literal(False, at, end), at, end)  # a comment's will not be looked at


def _fill(
    nodes: Nodes, objects: Any, ordered: list[Any], bounds: list[int], sources: Sources
) -> None:
    """Give every list its items; bounds[i + 1] is where those of node i begin in `ordered`."""
    is_plain = (nodes.dot < 0) & ((nodes.kind == scan.LIST) | (nodes.kind == scan.SQUARE))
    plain = np.flatnonzero(is_plain)
    firsts, stops = np.array(bounds)[plain + 1].tolist(), np.array(bounds)[plain + 2].tolist()
    for form, first, stop in zip(objects[plain].tolist(), firsts, stops, strict=True):
        form.items = ordered[first:stop]
    is_parent = ~is_plain & ((nodes.kind >= scan.LIST) | (nodes.kind == scan.LABEL))
    for node in np.flatnonzero(is_parent)[::-1].tolist():
        _fill_rare(objects[node], ordered[bounds[node + 1] : bounds[node + 2]], sources)


def _fill_rare(node: Any, inside: list[Any], sources: Sources) -> None:
    if type(node) is Vector:
        node.items = inside
    elif type(node) is Labelled:
        node.datum = inside[0]
    elif type(node) is Literal:
        node.value = bytes(_byte(sources, item) for item in inside)
    elif type(node) is Form and node.items:  # a prefix: its word is there already
        node.items += inside
    else:
        tail = inside[-1]
        node.items = inside[:-1] + (tail.items if type(tail) in (Form, Dotted) else [])
        if type(tail) is Dotted:
            node.tail = tail.tail


def _byte(sources: Sources, item: Any) -> int:
    if type(item) is Literal and type(item.value) is int and 0 <= item.value <= 255:
        return item.value
    place = sources.span(item.at, item.end)
    raise SourceError(place, "scheme/bad-byte", "a bytevector holds integers from 0 to 255")
