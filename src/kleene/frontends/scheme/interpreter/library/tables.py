"""Boxes, hash tables, records, and what derived forms make."""

from __future__ import annotations

from typing import Any

from kleene.frontends.scheme.interpreter.library.lists import BY_VALUE, pair
from kleene.frontends.scheme.interpreter.library.registry import checked, plain
from kleene.frontends.scheme.interpreter.objects import Box, CaseLambda, Promise, Record, RecordType
from kleene.ir.scheme.values import Pair, String, items_of, list_of, pairs_of

box = checked("a box", Box)
hash_table = checked("a hash table", dict)  # by what stands for a key: the key and its value
record_type = checked("a record type", RecordType)

plain("box")(Box)
plain("box?")(lambda x: type(x) is Box)
plain("unbox")(lambda x: x.value)
plain("set-box!")(lambda x, value: setattr(box(x), "value", value))


def key_of(value: Any) -> Any:
    """Return what stands for a value in a hash table, equal where `equal?` says so."""
    kind = type(value)
    if kind is String:
        return kind, value.text
    if kind is Pair or kind is list:
        inside = []
        for each in pairs_of(value):
            inside.append(key_of(each.car))
            value = each.cdr
        rest = tuple(map(key_of, value)) if type(value) is list else key_of(value)
        return kind, tuple(inside), rest
    if kind is bytearray:
        return kind, bytes(value)
    return (kind, value) if kind in BY_VALUE else (kind, id(value))


plain("make-hash-table")(lambda *_: {})
plain("hash-table?")(lambda x: type(x) is dict)
plain("hash-table-contains?")(lambda t, key: key_of(key) in hash_table(t))
plain("hash-table-count")(lambda t: len(hash_table(t)))
plain("hash-table-keys")(lambda t: list_of([key for key, _ in hash_table(t).values()]))
plain("hash-table-values")(lambda t: list_of([value for _, value in hash_table(t).values()]))
plain("hash-table->alist")(lambda t: list_of([Pair(k, v) for k, v in hash_table(t).values()]))
plain("hash-table-ref/default")(lambda t, key, v: hash_table(t).get(key_of(key), (None, v))[1])
plain("hash-table-set!")(lambda t, key, v: hash_table(t).update({key_of(key): (key, v)}))


@plain("hash-table-delete!")
def _hash_delete(t: Any, key: Any) -> None:
    hash_table(t).pop(key_of(key), None)


@plain("alist->hash-table")
def _hash_from(entries: Any, *_: Any) -> Any:
    made: dict[Any, Any] = {}
    for entry in items_of(entries):
        made.setdefault(key_of(pair(entry).car), (entry.car, entry.cdr))
    return made


plain("%make-record-type")(lambda name, fields: RecordType(name, list(items_of(fields))))
plain("%record")(lambda kind, *values: Record(record_type(kind), list(values)))
plain("%record?")(lambda x, kind: type(x) is Record and x.type is kind)


def _record(x: Any, kind: RecordType) -> Record:
    if type(x) is not Record or x.type is not record_type(kind):
        raise TypeError(f"not a {kind.name}")
    return x


plain("%record-ref")(lambda x, kind, i: _record(x, kind).values[i])
plain("%record-set!")(lambda x, kind, i, value: _record(x, kind).values.__setitem__(i, value))
plain("%case-lambda")(lambda *clauses: CaseLambda(list(clauses)))
plain("%delay")(lambda thunk: Promise(False, thunk))
plain("%delay-force")(lambda thunk: Promise(False, thunk, is_chain=True))
plain("make-promise")(lambda x: x if type(x) is Promise else Promise(True, x))
plain("promise?")(lambda x: type(x) is Promise)
