"""How these functions are compiled: as the text reader's, a parameter's name fixing its type."""

from __future__ import annotations

from typing import Any, TypeAlias

from kleene.frontends.c.reader.compiled import CELLS, Cells, Nodes, Text, unit
from kleene.kernels.compiled import ArrayOf, noinline

Words: TypeAlias = Any

_UNIT = unit(
    words=ArrayOf("uint64", readonly=True),
    letters=ArrayOf("uint8"),
    b=CELLS,
    c=CELLS,
    h=CELLS,
)
entry_point, no_refcount = _UNIT.entry_point, _UNIT.no_refcount

__all__ = ["Cells", "Nodes", "Text", "Words", "entry_point", "no_refcount", "noinline"]
