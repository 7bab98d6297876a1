"""The values of constant variables and tables, from their initialisers."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping

from kleene.frontends.c.loops.ast import Node, children
from kleene.ir.loops.tree import Type

_MAX_ELEMENTS = 1 << 16
_TRANSPARENT = {"ParenExpr", "ConstantExpr"}
_CASTS = {"FloatingCast", "FloatingToIntegral", "IntegralCast", "IntegralToFloating", "NoOp"}
Number = int | float


class _NotConstantError(Exception):
    """An initialiser whose value is not computed here."""


def initial_values(
    node: Node, kind: Type, text: str, enumerators: Mapping[str, int]
) -> tuple[Number, ...]:
    """Return the values of a variable that is `const`, all elements in a row; empty if unknown.

    `text` is its type as clang writes it; `enumerators` are constants by clang's id.
    """
    if not _is_constant(text) or kind.volatile:
        return ()
    parts = [one for one in children(node) if not one.get("kind", "").endswith(("Attr", "Comment"))]
    n_elements = _n_elements(kind)
    if len(parts) != 1 or n_elements is None or not 0 < n_elements <= _MAX_ELEMENTS:
        return ()
    try:
        return tuple(_values(parts[0], kind, enumerators))
    except _NotConstantError:
        return ()


def _is_constant(text: str) -> bool:
    """Return whether the elements of a type are constant, and no pointers."""
    return "*" not in text and re.search(r"\bconst\b", text) is not None


def _n_elements(kind: Type) -> int | None:
    n = 1
    while kind.kind == "array":
        if not isinstance(kind.extent, int) or kind.target is None:
            return None
        n *= kind.extent
        kind = kind.target
    return n if kind.kind in ("int", "float") and kind.bits <= 64 else None


def _values(node: Node, kind: Type, enumerators: Mapping[str, int]) -> list[Number]:
    if kind.kind != "array":
        if node.get("kind") == "InitListExpr":
            inner = children(node)
            if len(inner) != 1:
                raise _NotConstantError
            node = inner[0]
        return [_converted(_value(node, enumerators), kind)]
    target, extent = kind.target, kind.extent
    if node.get("kind") != "InitListExpr" or target is None or not isinstance(extent, int):
        raise _NotConstantError  # a string, say
    filled: list[Node] = node.get("array_filler", [])
    parts = filled[1:] if filled else children(node)
    made = [
        value
        for part in parts
        for value in (
            [0] * (_n_elements(target) or 0)
            if part.get("kind") == "ImplicitValueInitExpr"
            else _values(part, target, enumerators)
        )
    ]
    if len(parts) > extent:
        raise _NotConstantError
    return [*made, *[0] * ((_n_elements(target) or 0) * (extent - len(parts)))]


def _value(node: Node, enumerators: Mapping[str, int]) -> Number:
    kind = node.get("kind", "")
    if kind in _TRANSPARENT or (kind.endswith("CastExpr") and node.get("castKind") in _CASTS):
        inner = _value(children(node)[0], enumerators)
        return inner if kind in _TRANSPARENT else _cast(inner, node)
    if kind in ("IntegerLiteral", "CharacterLiteral"):
        return int(node["value"])
    if kind == "FloatingLiteral":
        return _finite(float(node["value"]))
    if kind == "DeclRefExpr":
        meant = node.get("referencedDecl", {}).get("id", "")
        if meant in enumerators:
            return enumerators[meant]
    if kind == "UnaryOperator" and node.get("opcode") in ("-", "+", "~"):
        (part,) = children(node)
        inner = _value(part, enumerators)
        if node["opcode"] == "~":
            if not isinstance(inner, int) or _is_unsigned(node):
                raise _NotConstantError
            return ~inner
        if node["opcode"] == "-" and isinstance(inner, int) and _is_unsigned(node):
            raise _NotConstantError
        return -inner if node["opcode"] == "-" else inner
    raise _NotConstantError


def _cast(value: Number, node: Node) -> Number:
    text = node.get("type", {}).get("qualType", "").replace("const ", "")
    if node["castKind"] in ("IntegralToFloating", "FloatingCast"):
        wide = float(value)
        if text == "float":
            return _single(wide)
        if text != "double":
            raise _NotConstantError
        return wide
    if node["castKind"] == "FloatingToIntegral":
        return math.trunc(_finite(float(value)))
    return value  # the last conversion checks that it fits


def _is_unsigned(node: Node) -> bool:
    return "unsigned" in node.get("type", {}).get(
        "desugaredQualType", ""
    ) or "unsigned" in node.get("type", {}).get("qualType", "")


def _single(value: float) -> float:
    found: float = struct.unpack("f", struct.pack("f", value))[0]
    return _finite(found)


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise _NotConstantError
    return value


def _converted(value: Number, kind: Type) -> Number:
    """Return a value in its variable's type, which must hold it."""
    if kind.kind == "float":
        return _single(float(value)) if kind.bits == 32 else float(value)
    low, high = kind.range
    if not isinstance(value, int) or not low <= value <= high:
        raise _NotConstantError
    return value
