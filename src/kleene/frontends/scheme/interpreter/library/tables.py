"""Boxes, hashing, records, and what derived forms make."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

from kleene.frontends.scheme.interpreter.library.lists import BY_VALUE
from kleene.frontends.scheme.interpreter.library.registry import checked, plain
from kleene.frontends.scheme.interpreter.objects import Box, CaseLambda, Promise, Record, RecordType
from kleene.ir.scheme.values import Pair, String, items_of, pairs_of

box = checked("a box", Box)
record_type = checked("a record type", RecordType)

plain("box")(Box)
plain("box?")(lambda x: type(x) is Box)
plain("unbox")(lambda x: box(x).value)
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


def _folded(value: Any) -> Any:
    return String(value.text.lower()) if type(value) is String else value


def _hashed(name: str, key: Callable[[Any], Any]) -> None:
    @plain(name)
    def hash_of(value: Any, bound: int = 2**29) -> int:
        return zlib.crc32(repr(key(value)).encode(errors="surrogatepass")) % bound


_hashed("hash", key_of)
_hashed("string-hash", key_of)
_hashed("string-ci-hash", lambda value: key_of(_folded(value)))
_hashed("hash-by-identity", lambda value: key_of(value) if type(value) in BY_VALUE else id(value))


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
