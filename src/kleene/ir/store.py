"""A program as bytes and back, without copying a column on the way in.

The form is a JSON head (names, shapes, places), then the raw columns, each at a multiple of 64
bytes.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, get_type_hints

import numpy as np

from kleene.ir.program import Program
from kleene.ir.tables import Table

VERSION = 5
_MAGIC = b"kleene-ir\0"
_ALIGN = 64


def dumps(program: Program) -> bytes:
    """Return the program as bytes."""
    head: dict[str, Any] = {"version": VERSION, "text": {}, "tables": {}}
    chunks: list[bytes] = []
    place = 0
    for field in dataclasses.fields(program):
        if not field.metadata.get("stored", True):
            continue
        value = getattr(program, field.name)
        if not isinstance(value, Table):
            head["text"][field.name] = value
            continue
        head["tables"][field.name] = {}
        for name, column in value.columns():
            raw = np.ascontiguousarray(column).tobytes()
            head["tables"][field.name][name] = [column.dtype.str, len(column), place]
            padded = raw + b"\0" * (-len(raw) % _ALIGN)
            chunks.append(padded)
            place += len(padded)
    head["bytes"] = place
    text = json.dumps(head).encode()
    start = len(_MAGIC) + 8 + len(text)
    front = _MAGIC + len(text).to_bytes(8, "little") + text + b"\0" * (-start % _ALIGN)
    return b"".join([front, *chunks])


def loads(raw: bytes) -> Program | None:
    """Return the program in `raw`, its columns read-only.

    None where another version wrote it, or it is not whole; that the bytes are the ones written is
    for the caller to know (the cache keeps a digest).
    """
    if raw[: len(_MAGIC)] != _MAGIC:
        return None
    at = len(_MAGIC) + 8
    length = int.from_bytes(raw[len(_MAGIC) : at], "little")
    try:
        head = json.loads(raw[at : at + length])
    except ValueError:
        return None
    first = at + length + (-(at + length) % _ALIGN)
    if head["version"] != VERSION or first + head["bytes"] != len(raw):
        return None
    kinds = get_type_hints(Program)
    tables = {
        name: kinds[name](
            **{
                column: np.frombuffer(raw, dtype, count, first + place)
                for column, (dtype, count, place) in columns.items()
            }
        )
        for name, columns in head["tables"].items()
    }
    return Program(**head["text"], **tables)
