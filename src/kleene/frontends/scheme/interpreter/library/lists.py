"""Equivalence, symbols, pairs and lists."""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from typing import Any

from kleene.frontends.scheme.interpreter.library.numbers import index, real, size
from kleene.frontends.scheme.interpreter.library.registry import checked, plain
from kleene.frontends.scheme.interpreter.objects import PROCEDURES
from kleene.ir.scheme.primitives import table
from kleene.ir.scheme.values import (
    NIL,
    UNSPECIFIED,
    Char,
    Pair,
    String,
    items_of,
    list_of,
    pairs_of,
)

BY_VALUE = (int, float, Fraction, complex, bool, str, Char)


@plain("eqv?")
def is_eqv(a: Any, b: Any) -> bool:
    """Return whether two values are the same: numbers and characters by value."""
    if a is b:
        return True
    if type(a) is not type(b) or type(a) not in BY_VALUE:
        return False
    return bool(a == b) or (a != a and b != b)


@plain("eq?")
def is_eq(a: Any, b: Any) -> bool:
    """Return whether two values are identical; small numbers and characters are."""
    return a is b or (type(a) is type(b) and type(a) in (int, str, Char) and a == b)


@plain("equal?")
def is_equal(a: Any, b: Any) -> bool:
    """Return whether two values look the same, cycles included."""
    waiting = [(a, b)]
    seen: set[tuple[int, int]] = set()
    while waiting:
        a, b = waiting.pop()
        if is_eqv(a, b):
            continue
        if type(a) is not type(b):
            return False
        if type(a) is Pair or type(a) is list:
            if (id(a), id(b)) in seen:
                continue
            seen.add((id(a), id(b)))
        if type(a) is Pair:
            waiting += [(a.cdr, b.cdr), (a.car, b.car)]
        elif type(a) is list:
            if len(a) != len(b):
                return False
            waiting.extend(zip(a, b, strict=True))
        elif not (type(a) is String and a.text == b.text) and not (type(a) is bytearray and a == b):
            return False
    return True


plain("not")(lambda x: x is False)
plain("boolean?")(lambda x: type(x) is bool)
plain("pair?")(lambda x: type(x) is Pair)
plain("null?")(lambda x: x is NIL)
plain("symbol?")(lambda x: type(x) is str)
plain("procedure?")(lambda x: isinstance(x, PROCEDURES))
plain("void")(lambda *_: UNSPECIFIED)


def _all_same(kind: type, values: tuple[Any, ...]) -> bool:
    if any(type(value) is not kind for value in values):
        raise TypeError(f"not a {'symbol' if kind is str else 'Boolean'}")
    return all(value == values[0] for value in values)


plain("boolean=?")(lambda *values: _all_same(bool, values))
plain("symbol=?")(lambda *values: _all_same(str, values))


symbol = checked("a symbol", str)
pair = checked("a pair", Pair)

plain("symbol->string")(lambda x: String(symbol(x)))
plain("string->symbol")(lambda x: sys.intern(x.text))
plain("cons")(Pair)
plain("car")(lambda x: pair(x).car)
plain("cdr")(lambda x: pair(x).cdr)


def _path(letters: str) -> None:
    @plain(f"c{letters}r")
    def path(x: Any) -> Any:
        for letter in reversed(letters):
            x = pair(x).car if letter == "a" else pair(x).cdr
        return x


for _name in table():
    if _match := re.fullmatch("c([ad]{2,4})r", _name):
        _path(_match[1])


plain("set-car!")(lambda x, value: setattr(pair(x), "car", value))
plain("set-cdr!")(lambda x, value: setattr(pair(x), "cdr", value))
plain("list")(lambda *items: list_of(items))
plain("cons*")(lambda *items: list_of(items[:-1], items[-1]))


@plain("list?")
def _is_list(x: Any) -> bool:
    slow, moves = x, False
    while type(x) is Pair:
        x = x.cdr
        slow = slow.cdr if moves else slow
        moves = not moves
        if x is slow and type(x) is Pair:
            return False
    return x is NIL


@plain("length")
def _length(x: Any) -> int:
    if not _is_list(x):
        raise TypeError("not a list")
    return sum(1 for _ in items_of(x))


@plain("append")
def _append(*lists: Any) -> Any:
    result = lists[-1] if lists else NIL
    for each in reversed(lists[:-1]):
        result = list_of(items_of(each), result)
    return result


plain("concatenate")(lambda lists: _append(*items_of(lists)))
plain("reverse")(lambda x: list_of(list(items_of(x))[::-1]))
plain("append-reverse")(lambda x, tail: list_of(list(items_of(x))[::-1], tail))
plain("make-list")(lambda n, fill=UNSPECIFIED: list_of([fill] * size(n)))
plain("list->vector")(lambda x: list(items_of(x)))


@plain("list-tail", "drop")
def _tail(x: Any, k: Any) -> Any:
    for _ in range(index(k)):
        x = pair(x).cdr
    return x


@plain("take", "list-head")
def _take(x: Any, k: Any) -> Any:
    taken = []
    for _ in range(index(k)):
        taken.append(pair(x).car)
        x = x.cdr
    return list_of(taken)


@plain("drop-right")
def _drop_right(x: Any, k: Any) -> Any:
    items = list(items_of(x))
    if index(k) > len(items):
        raise IndexError("the list is too short")
    return list_of(items[: len(items) - k])


plain("list-ref")(lambda x, k: pair(_tail(x, k)).car)
plain("first")(lambda x: pair(x).car)
plain("second")(lambda x: pair(_tail(x, 1)).car)
plain("third")(lambda x: pair(_tail(x, 2)).car)
plain("list-set!")(lambda x, k, value: setattr(pair(_tail(x, k)), "car", value))


@plain("last-pair")
def _last_pair(x: Any) -> Any:
    *_, last = pairs_of(pair(x))
    return last


plain("last")(lambda x: _last_pair(x).car)


@plain("list-copy")
def _copy(x: Any) -> Any:
    items = []
    for each in pairs_of(x):
        items.append(each.car)
        x = each.cdr
    return list_of(items, x)


def _member(name: str, same: Any) -> None:
    @plain(name)
    def member(item: Any, x: Any) -> Any:
        for each in pairs_of(x):
            if same(item, each.car):
                return each
            x = each.cdr
        if x is not NIL:
            raise TypeError("not a list")
        return False


def _association(name: str, same: Any) -> None:
    @plain(name)
    def association(key: Any, x: Any) -> Any:
        for entry in items_of(x):
            if same(key, pair(entry).car):
                return entry
        return False


_member("memq", is_eq)
_member("memv", is_eqv)
_association("assq", is_eq)
_association("assv", is_eqv)


plain("iota")(
    lambda n, start=0, step=1: list_of([real(start) + i * real(step) for i in range(size(n))])
)
