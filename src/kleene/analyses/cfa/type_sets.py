"""Types as sets: the bits of an integer, and the signatures of primitives (`types.txt`).

The bits `several(n)` stand for n values at once, so that the types of a procedure's body also say
how many values it returns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

from kleene.ir.scheme.values import NIL, Char, Pair, String

NAMES = (
    *("false", "true", "number", "symbol", "string", "character", "null", "pair", "vector"),
    *("bytevector", "procedure", "box", "table", "promise", "record", "port", "eof", "other"),
)
BITS = {name: 1 << number for number, name in enumerate(NAMES)}
_N_SEVERAL = 9  # bits for 0 to 7 values at once, and for more
ONE = (1 << len(NAMES)) - 1  # any one value
ANY = (1 << len(NAMES) + _N_SEVERAL) - 1
UNIONS = {
    "any": ANY,
    "never": 0,
    "boolean": BITS["false"] | BITS["true"],
    "list": BITS["null"] | BITS["pair"],
}
_SHOWN = {
    "false": "#f",
    "true": "#t",
    "null": "()",
    "table": "a hash table",
    "eof": "an end of file",
    "other": "something else",
}


def several(n: int) -> int:
    """Return the bit for n values at once; one value has the bit of its type."""
    return 1 << len(NAMES) + min(n, _N_SEVERAL - 1)


def counts(types: int) -> list[int] | None:
    """Return how many values there may be at once; None if that is not known."""
    if types & several(_N_SEVERAL):
        return None
    found = [n for n in range(_N_SEVERAL - 1) if types & several(n)]
    return sorted(found + [1] * bool(types & ONE))


def shown(types: int) -> str:
    """Return types as people read them: `a number or a string`."""
    if types & UNIONS["boolean"] == UNIONS["boolean"]:
        return _either(["a Boolean", *_shown(types & ~UNIONS["boolean"])])
    if types & UNIONS["list"] == UNIONS["list"]:
        return _either(["a list", *_shown(types & ~UNIONS["list"])])
    return _either(_shown(types))


def _shown(types: int) -> list[str]:
    return [_SHOWN.get(name, f"a {name}") for name in NAMES if types & BITS[name]]


def _either(words: list[str]) -> str:
    return " or ".join(words[-2:] if len(words) < 3 else [", ".join(words[:-1]), words[-1]])


@dataclass(frozen=True, slots=True)
class Signature:
    """What a primitive takes and returns, as types."""

    result: int
    fixed: tuple[int, ...]
    rest: int = ANY
    last: int | None = None

    def argument(self, index: int, n_arguments: int) -> int:
        """Return the types of one of so many arguments, counted from 0."""
        if self.last is not None and index == n_arguments - 1:
            return self.last
        return self.fixed[index] if index < len(self.fixed) else self.rest


OPEN = Signature(ANY, ())


@cache
def signatures() -> dict[str, Signature]:
    """Return the signature of each primitive that `types.txt` has."""
    text = files(__package__).joinpath("types.txt").read_text(encoding="utf-8")
    found: dict[str, Signature] = {}
    for line in text.splitlines():
        if matched := re.fullmatch(r"([^; ]+) \((.*?)\) (.+)", line):
            result, arguments, names = matched.groups()
            words, _, last = arguments.partition(" . ")
            *fixed, final = words.split() or [""]
            rest = ANY
            if final == "...":
                rest = _union(fixed.pop())
            elif final:
                fixed.append(final)
            signature = Signature(
                _union(result), tuple(map(_union, fixed)), rest, _union(last) if last else None
            )
            found.update(dict.fromkeys(names.split(), signature))
    return found


def _union(words: str) -> int:
    found = 0
    for word in words.split("|"):
        found |= UNIONS[word] if word in UNIONS else BITS[word]
    return found


@cache
def predicates() -> dict[str, int]:
    """Return the types for which each predicate holds: for all values of them, and for no other."""
    plain = ("number", "symbol", "string", "null", "pair", "vector", "bytevector", "procedure")
    others = {"char?": "character", "box?": "box", "hash-table?": "table", "port?": "port"}
    found = {f"{name}?": BITS[name] for name in plain} | {"boolean?": UNIONS["boolean"]}
    return found | {name: BITS[kind] for name, kind in others.items()}


def type_of(value: Any) -> int:
    """Return the type of a constant."""
    if value is NIL:
        return BITS["null"]
    if type(value) is bool:
        return BITS["true"] if value else BITS["false"]
    return _OF_CLASS.get(type(value), ANY)


_OF_CLASS: dict[type, int] = {
    **dict.fromkeys((int, float, Fraction, complex), BITS["number"]),
    Char: BITS["character"],
    str: BITS["symbol"],
    String: BITS["string"],
    Pair: BITS["pair"],
    list: BITS["vector"],
    bytearray: BITS["bytevector"],
}
