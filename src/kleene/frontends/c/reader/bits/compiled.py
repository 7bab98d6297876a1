"""How these functions are compiled: as the text reader's, a parameter's name fixing its type."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from numba import types

from kleene.ir import codes
from kleene.kernels.compiled import Kinds, Room, apart

# Arrays, as Numba sees them: integers go in and come out.
Cells: TypeAlias = Any
Words: TypeAlias = Any
Text: TypeAlias = Any
Nodes: TypeAlias = Any

_CELLS = types.Array(types.int64, 1, "C")
_ARRAYS = {
    "words": types.Array(types.uint64, 1, "C", readonly=True),
    "text": types.Array(types.uint8, 1, "C", readonly=True),
    "letters": types.Array(types.uint8, 1, "C"),
    "b": _CELLS,
    "c": _CELLS,
    "h": _CELLS,
    "m": _CELLS,
    "s": _CELLS,
    "nodes": types.Array(types.int64, 2, "C"),
}


def _by_name(function: Callable[..., Any], _called_with: Kinds) -> Kinds:
    names = inspect.signature(function).parameters
    return tuple(_ARRAYS.get(name, types.int64) for name in names)


_ROOM = Room(Path(__file__).parents[1], codes.__file__, rule=_by_name)
entry, step = _ROOM.entry, _ROOM.borrower

__all__ = ["Cells", "Nodes", "Text", "Words", "apart", "entry", "step"]
