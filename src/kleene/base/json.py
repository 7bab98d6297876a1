"""The one place that writes JSON: sorted keys, NumPy scalars and arrays as plain numbers.

The text is that of `json.dumps(value, sort_keys=True, indent=2)`, whose indented form is written
by Python code, an item at a time. Here lists of plain items are written by C code, and a list that
occurs several times (the same object: what many pointers hold) once.
"""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any

_SCALARS = {str, int, float, bool, type(None)}
_INDENT = "  "
# The text of a list by the list's `id` and how far it is indented, with the list: so it lives on.
_Known = dict[tuple[int, str], tuple[object, str]]


def dumps(value: object) -> str:
    """Return `value` as indented JSON whose key order never depends on how it was built."""
    parts: list[str] = []
    _write(value, "\n", parts, {})
    return "".join(parts)


def _write(value: Any, newline: str, parts: list[str], known: _Known) -> None:
    """Add the text of a value; `newline` ends a line and indents the next one as far as this."""
    inner = newline + _INDENT
    if isinstance(value, dict):
        before = inner
        parts.append("{")
        for key in sorted(value):
            parts.append(f"{before}{_key(key)}: ")
            _write(value[key], inner, parts, known)
            before = "," + inner
        parts.append(newline + "}" if value else "}")
    elif not isinstance(value, list | tuple):
        plain = _plain(value)
        if isinstance(plain, list):
            _write(plain, newline, parts, known)
        else:
            parts.append(json.dumps(plain, allow_nan=False))
    elif not set(map(type, value)) <= _SCALARS:
        before = "[" + inner
        for item in value:
            parts.append(before)
            _write(item, inner, parts, known)
            before = "," + inner
        parts.append(newline + "]")
    else:
        place = id(value), newline
        if place not in known:
            items = json.dumps(value, separators=("," + inner, ": "), allow_nan=False)[1:-1]
            known[place] = value, f"[{inner}{items}{newline}]" if items else "[]"
        parts.append(known[place][1])


def _key(key: object) -> str:
    """Return a key as text between quotes; numbers, booleans and None are keys too, as text."""
    return json.dumps(key if isinstance(key, str) else json.dumps(key))


def _plain(value: Any) -> object:
    """Return a value JSON knows for one it does not, or raise TypeError."""
    if isinstance(value, str | int | float | None):
        return value
    if hasattr(value, "tolist"):  # NumPy scalars and arrays; asking by type would import NumPy
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
