"""Equivalence, symbols, pairs, lists, vectors, boxes, hash tables, records."""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from typing import Any

from kleene.frontends.scheme.interpreter.library.numbers import index, real
from kleene.frontends.scheme.interpreter.library.registry import plain
from kleene.frontends.scheme.interpreter.objects import (
    PROCEDURES,
    Box,
    CaseLambda,
    Promise,
    Record,
    RecordType,
)
from kleene.frontends.scheme.primitives import table
from kleene.frontends.scheme.values import (
    NIL,
    UNSPECIFIED,
    Char,
    Pair,
    String,
    items_of,
    list_of,
)

_BY_VALUE = (int, float, Fraction, complex, bool, str, Char)


@plain("eqv?")
def is_eqv(a: Any, b: Any) -> bool:
    """Return whether two values are the same: numbers and characters by value."""
    if a is b:
        return True
    if type(a) is not type(b) or type(a) not in _BY_VALUE:
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
plain("vector?")(lambda x: type(x) is list)
plain("procedure?")(lambda x: isinstance(x, PROCEDURES))
plain("void")(lambda *_: UNSPECIFIED)


def _all_same(kind: type, values: tuple[Any, ...]) -> bool:
    if any(type(value) is not kind for value in values):
        raise TypeError(f"not a {'symbol' if kind is str else 'Boolean'}")
    return all(value == values[0] for value in values)


plain("boolean=?")(lambda *values: _all_same(bool, values))
plain("symbol=?")(lambda *values: _all_same(str, values))


def symbol(x: Any) -> str:
    """Return x if it is a symbol."""
    if type(x) is not str:
        raise TypeError("not a symbol")
    return x


plain("symbol->string")(lambda x: String(symbol(x)))
plain("string->symbol")(lambda x: sys.intern(x.text))


def pair(x: Any) -> Pair:
    """Return x if it is a pair."""
    if type(x) is not Pair:
        raise TypeError("not a pair")
    return x


plain("cons")(Pair)
plain("car")(lambda x: pair(x).car)
plain("cdr")(lambda x: pair(x).cdr)


def _path(letters: str) -> None:
    steps = [f"{letter}" for letter in reversed(letters)]

    @plain(f"c{letters}r")
    def path(x: Any) -> Any:
        for step in steps:
            x = pair(x).car if step == "a" else pair(x).cdr
        return x


for _name in table():
    if _match := re.fullmatch("c([ad]{2,4})r", _name):
        _path(_match[1])


@plain("set-car!")
def _set_car(x: Any, value: Any) -> Any:
    pair(x).car = value
    return UNSPECIFIED


@plain("set-cdr!")
def _set_cdr(x: Any, value: Any) -> Any:
    pair(x).cdr = value
    return UNSPECIFIED


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


@plain("concatenate")
def _concatenate(lists: Any) -> Any:
    return _append(*items_of(lists))


plain("reverse")(lambda x: list_of(list(items_of(x))[::-1]))
plain("append-reverse")(lambda x, tail: list_of(list(items_of(x))[::-1], tail))
plain("make-list")(lambda n, fill=UNSPECIFIED: list_of([fill] * index(n)))
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


@plain("list-set!")
def _list_set(x: Any, k: Any, value: Any) -> Any:
    pair(_tail(x, k)).car = value
    return UNSPECIFIED


@plain("last-pair")
def _last_pair(x: Any) -> Any:
    while type(pair(x).cdr) is Pair:
        x = x.cdr
    return x


plain("last")(lambda x: _last_pair(x).car)


@plain("list-copy")
def _copy(x: Any) -> Any:
    items = []
    while type(x) is Pair:
        items.append(x.car)
        x = x.cdr
    return list_of(items, x)


def _member(name: str, same: Any) -> None:
    @plain(name)
    def member(item: Any, x: Any) -> Any:
        while x is not NIL:
            if same(item, pair(x).car):
                return x
            x = x.cdr
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


@plain("iota")
def _iota(count: Any, start: Any = 0, step: Any = 1) -> Any:
    return list_of([real(start) + i * real(step) for i in range(index(count))])


def vector(x: Any) -> list[Any]:
    """Return x if it is a vector."""
    if type(x) is not list:
        raise TypeError("not a vector")
    return x


def bounds(n: int, start: Any, end: Any) -> tuple[int, int]:
    """Return a range of indices below n, both ends checked."""
    stop = n if end is None else index(end)
    if not 0 <= index(start) <= stop <= n:
        raise IndexError("the range is outside")
    return start, stop


def part(items: Any, start: Any, end: Any) -> Any:
    """Return the items from start to before end."""
    first, last = bounds(len(items), start, end)
    return items[first:last]


plain("vector")(lambda *items: list(items))
plain("make-vector")(lambda n, fill=UNSPECIFIED: [fill] * index(n))
plain("vector-length")(lambda x: len(vector(x)))
plain("vector-ref")(lambda x, k: vector(x)[index(k)])
plain("vector->list")(lambda x, start=0, end=None: list_of(part(vector(x), start, end)))
plain("vector-copy")(lambda x, start=0, end=None: part(vector(x), start, end))
plain("vector-append")(lambda *vectors: [item for each in vectors for item in vector(each)])


@plain("vector-set!")
def _vector_set(x: Any, k: Any, value: Any) -> Any:
    vector(x)[index(k)] = value
    return UNSPECIFIED


@plain("vector-fill!")
def _vector_fill(x: Any, fill: Any, start: Any = 0, end: Any = None) -> Any:
    first, last = bounds(len(vector(x)), start, end)
    x[first:last] = [fill] * (last - first)
    return UNSPECIFIED


@plain("vector-copy!")
def _vector_copy(to: Any, at: Any, source: Any, start: Any = 0, end: Any = None) -> Any:
    items = part(vector(source), start, end)
    bounds(len(vector(to)), at, at + len(items))
    to[at : at + len(items)] = items
    return UNSPECIFIED


plain("box")(Box)
plain("box?")(lambda x: type(x) is Box)
plain("unbox")(lambda x: x.value)


@plain("set-box!")
def _set_box(box: Box, value: Any) -> Any:
    if type(box) is not Box:
        raise TypeError("not a box")
    box.value = value
    return UNSPECIFIED


def key_of(value: Any) -> Any:
    """Return what stands for a value in a hash table, equal where `equal?` says so."""
    kind = type(value)
    if kind is String:
        return kind, value.text
    if kind is Pair or kind is list:
        inside = []
        while type(value) is Pair:
            inside.append(key_of(value.car))
            value = value.cdr
        rest = tuple(map(key_of, value)) if type(value) is list else key_of(value)
        return kind, tuple(inside), rest
    if kind is bytearray:
        return kind, bytes(value)
    return (kind, value) if kind in _BY_VALUE else (kind, id(value))


def hash_table(x: Any) -> dict[Any, Any]:
    """Return x if it is a hash table: keys stand for (key, value)."""
    if type(x) is not dict:
        raise TypeError("not a hash table")
    return x


plain("make-hash-table")(lambda *_: {})
plain("hash-table?")(lambda x: type(x) is dict)
plain("hash-table-contains?")(lambda t, key: key_of(key) in hash_table(t))
plain("hash-table-count")(lambda t: len(hash_table(t)))
plain("hash-table-keys")(lambda t: list_of([key for key, _ in hash_table(t).values()]))
plain("hash-table-values")(lambda t: list_of([value for _, value in hash_table(t).values()]))
plain("hash-table->alist")(lambda t: list_of([Pair(k, v) for k, v in hash_table(t).values()]))


@plain("hash-table-ref/default")
def _hash_ref(t: Any, key: Any, default: Any) -> Any:
    return hash_table(t).get(key_of(key), (None, default))[1]


@plain("hash-table-set!")
def _hash_set(t: Any, key: Any, value: Any) -> Any:
    hash_table(t)[key_of(key)] = (key, value)
    return UNSPECIFIED


@plain("hash-table-delete!")
def _hash_delete(t: Any, key: Any) -> Any:
    hash_table(t).pop(key_of(key), None)
    return UNSPECIFIED


@plain("alist->hash-table")
def _hash_from(entries: Any, *_: Any) -> Any:
    made: dict[Any, Any] = {}
    for entry in items_of(entries):
        made.setdefault(key_of(pair(entry).car), (entry.car, entry.cdr))
    return made


plain("%make-record-type")(lambda name, fields: RecordType(name, list(items_of(fields))))
plain("%record")(lambda kind, *values: Record(_record_type(kind), list(values)))
plain("%record?")(lambda x, kind: type(x) is Record and x.type is kind)


def _record_type(kind: Any) -> RecordType:
    if type(kind) is not RecordType:
        raise TypeError("not a record type")
    return kind


def _record(x: Any, kind: RecordType) -> Record:
    if type(x) is not Record or x.type is not _record_type(kind):
        raise TypeError(f"not a {kind.name}")
    return x


plain("%record-ref")(lambda x, kind, i: _record(x, kind).values[i])


@plain("%record-set!")
def _record_set(x: Any, kind: Any, i: Any, value: Any) -> Any:
    _record(x, kind).values[i] = value
    return UNSPECIFIED


plain("%case-lambda")(lambda *clauses: CaseLambda(list(clauses)))
plain("%delay")(lambda thunk: Promise(False, thunk))
plain("%delay-force")(lambda thunk: Promise(False, thunk, is_chain=True))
plain("make-promise")(lambda x: x if type(x) is Promise else Promise(True, x))
plain("promise?")(lambda x: type(x) is Promise)
