"""The text of a value, as `write` and `display` print it; cycles and depth do no harm."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from kleene.frontends.scheme.interpreter.objects import (
    PROCEDURES,
    Box,
    Environment,
    ErrorObject,
    InputPort,
    OutputPort,
    Parameter,
    Promise,
    Record,
    RecordType,
    Values,
)
from kleene.frontends.scheme.reader.atoms import CHARACTER_NAMES
from kleene.frontends.scheme.reader.numbers import parse_number
from kleene.ir.scheme.values import NIL, Char, Pair, Singleton, String

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_CHUNK = 4000  # digits: Python converts no more than 4300 at once
_FORMATS = {2: "b", 8: "o", 16: "x"}
_NAMES = {char: name for name, char in reversed(CHARACTER_NAMES.items())}
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\a": "\\a"}
_BAR_ESCAPES = {"|": "\\|", "\\": "\\\\", "\n": "\\n"}
_SPECIAL = re.compile(r"[][\s()\"';`,|\\]")
_PREFIXES = {"quote": "'", "quasiquote": "`", "unquote": ",", "unquote-splicing": ",@"}


def number_text(value: Any, radix: int = 10) -> str:
    """Return a number as Scheme writes it."""
    if isinstance(value, int):
        return integer_text(value, radix)
    if isinstance(value, Fraction):
        parts = (value.numerator, value.denominator)
        return "/".join(integer_text(part, radix) for part in parts)
    if isinstance(value, complex):
        imaginary = number_text(value.imag)
        sign = "" if imaginary[0] in "+-" else "+"
        return f"{number_text(value.real)}{sign}{imaginary}i"
    if value != value:
        return "+nan.0"
    if value in (float("inf"), float("-inf")):
        return "+inf.0" if value > 0 else "-inf.0"
    mantissa, mark, exponent = repr(value).partition("e")
    return mantissa + (f"e{int(exponent)}" if mark else "")


def integer_text(value: int, radix: int) -> str:
    """Return an integer in any radix, however many digits it has."""
    if value < 0:
        return "-" + integer_text(-value, radix)
    if radix in _FORMATS:
        return format(value, _FORMATS[radix])
    step, width = (10**_CHUNK, _CHUNK) if radix == 10 else (radix, 1)
    parts: list[str] = []
    while value >= step:
        value, low = divmod(value, step)
        parts.append((str(low) if radix == 10 else _DIGITS[low]).rjust(width, "0"))
    return (str(value) if radix == 10 else _DIGITS[value]) + "".join(reversed(parts))


def text_of(root: Any, *, is_written: bool, with_labels: str = "cycles") -> str:
    """Return the text of a value.

    Args:
        root: the value.
        is_written: whether strings are quoted and characters named, as `write` does.
        with_labels: what gets a datum label: "cycles", "all" shared parts, or "none".
    """
    labels = _labels(root, with_labels)
    numbers: dict[int, int] = {}
    out: list[str] = []
    waiting: list[Any] = [root]
    while waiting:
        value = waiting.pop()
        if type(value) is _Text:
            out.append(value.text)
            continue
        rest = type(value) is _Rest
        if rest:
            value = value.value
            if type(value) is not Pair or id(value) in labels:
                if value is not NIL:
                    out.append(" . ")
                    waiting += [_Text(")"), value]
                else:
                    out.append(")")
                continue
            out.append(" ")
        elif id(value) in labels:
            if id(value) in numbers:
                out.append(f"#{numbers[id(value)]}#")
                continue
            numbers[id(value)] = len(numbers)
            out.append(f"#{numbers[id(value)]}=")
        if type(value) is Pair:
            _open_pair(value, rest, out, waiting, labels)
        elif type(value) is list:
            out.append("#(")
            waiting.append(_Text(")"))
            for i, item in enumerate(reversed(value)):
                waiting += [item] if i == len(value) - 1 else [item, _Text(" ")]
        else:
            out.append(_atom(value, is_written))
    return "".join(out)


class _Text:
    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class _Rest:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _open_pair(
    pair: Pair, is_rest: bool, out: list[str], waiting: list[Any], labels: set[int]
) -> None:
    rest = pair.cdr
    is_short = type(rest) is Pair and rest.cdr is NIL and id(rest) not in labels
    if not is_rest and is_short and type(pair.car) is str and pair.car in _PREFIXES:
        out.append(_PREFIXES[pair.car])
        waiting.append(rest.car)
        return
    if not is_rest:
        out.append("(")
    waiting += [_Rest(rest), pair.car]


def _labels(root: Any, which: str) -> set[int]:
    """Return the ids of the pairs and vectors that need a label."""
    found: set[int] = set()
    if which == "none":
        return found
    seen: set[int] = set()
    active: set[int] = set()
    waiting: list[tuple[Any, bool]] = [(root, False)]
    while waiting:
        value, is_done = waiting.pop()
        if is_done:
            active.discard(id(value))
            continue
        if type(value) is not Pair and (type(value) is not list or not value):
            continue
        if id(value) in seen:
            if which == "all" or id(value) in active:
                found.add(id(value))
            continue
        seen.add(id(value))
        active.add(id(value))
        waiting.append((value, True))
        parts = [value.cdr, value.car] if isinstance(value, Pair) else value
        waiting.extend((part, False) for part in parts)
    return found


def _atom(value: Any, is_written: bool) -> str:
    kind = type(value)
    if kind is bool:
        return "#t" if value else "#f"
    if kind in (int, float, Fraction, complex):
        return number_text(value)
    if kind is str:
        return _symbol(value) if is_written else str(value)
    if kind is String:
        return _quoted(value.text) if is_written else value.text
    if kind is Char:
        return _character(value) if is_written else str(value)
    if kind is bytearray:
        return "#u8(" + " ".join(map(str, value)) + ")"
    if kind is Singleton:
        return str(value.name)
    return _opaque(value)


def _opaque(value: Any) -> str:
    """Return the text of a value that cannot be read back."""
    if isinstance(value, PROCEDURES):
        return "#<parameter>" if isinstance(value, Parameter) else "#<procedure>"
    if isinstance(value, Record):
        return f"#<{value.type.name}>"
    if isinstance(value, RecordType):
        return f"#<record type {value.name}>"
    if isinstance(value, ErrorObject):
        return f"#<error {value.message}>"
    if isinstance(value, Values):
        return " ".join(text_of(item, is_written=True) for item in value.items)
    names = {Promise: "promise", Box: "box", Environment: "environment"}
    names.update({InputPort: "input port", OutputPort: "output port"})
    return f"#<{names.get(type(value), 'object')}>"


def _quoted(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(c, c) for c in text) + '"'


def _character(value: str) -> str:
    if value in _NAMES:
        return "#\\" + _NAMES[value]
    return "#\\" + (value if value.isprintable() else f"x{ord(value):x}")


def _symbol(name: str) -> str:
    """Return a symbol so that reading it gives the same symbol."""
    is_plain = bool(name) and name != "." and name.isprintable() and name[0] != "#"
    if is_plain and not _SPECIAL.search(name) and parse_number(name) is None:
        return name
    return "|" + "".join(_BAR_ESCAPES.get(c, c) for c in name) + "|"
