"""How these functions are compiled: as the text reader's, a parameter's name fixing its type."""

from __future__ import annotations

from typing import Any, TypeAlias

from numba import types

from kleene.frontends.c.reader.compiled import CELLS, Cells, Nodes, Text, room
from kleene.kernels.compiled import apart

Words: TypeAlias = Any

_ROOM = room(
    words=types.Array(types.uint64, 1, "C", readonly=True),
    letters=types.Array(types.uint8, 1, "C"),
    b=CELLS,
    c=CELLS,
    h=CELLS,
)
entry, step = _ROOM.entry, _ROOM.borrower

__all__ = ["Cells", "Nodes", "Text", "Words", "apart", "entry", "step"]
