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

VERSION = 1
_MAGIC = b"kleene-ir\0"
_ALIGN = 64


def dumps(program: Program) -> bytes:
    """Return the program as bytes."""
    head: dict[str, Any] = {"version": VERSION, "text": {}, "tables": {}}
    chunks: list[bytes] = []
    place = 0
    for field in dataclasses.fields(program):
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
    text = json.dumps(head).encode()
    start = len(_MAGIC) + 8 + len(text)
    front = _MAGIC + len(text).to_bytes(8, "little") + text + b"\0" * (-start % _ALIGN)
    return b"".join([front, *chunks])


def loads(raw: bytes) -> Program | None:
    """Return the program in `raw`, or None if another version wrote it; columns are read-only."""
    if raw[: len(_MAGIC)] != _MAGIC:
        return None
    at = len(_MAGIC) + 8
    length = int.from_bytes(raw[len(_MAGIC) : at], "little")
    head = json.loads(raw[at : at + length])
    if head["version"] != VERSION:
        return None
    first = at + length + (-(at + length) % _ALIGN)
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
