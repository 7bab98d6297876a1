"""How the reader's functions are compiled: once each, small, and quickly.

Left to itself, Numba compiles a function anew for every constant that it is called with, gives each
a Python wrapper, and lets LLVM inline small pieces into hundreds of places: two minutes for this
reader, against 25 s. Here a parameter's name fixes its type, wrappers are made for entries alone,
and a function that calls `apart()` is never inlined. See `kleene.kernels.compiled` for the rest.
"""

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
Text: TypeAlias = Any
Nodes: TypeAlias = Any

_CELLS = types.Array(types.int64, 1, "C")
_ARRAYS = {
    "text": types.Array(types.uint8, 1, "C", readonly=True),
    "cells": _CELLS,
    "s": _CELLS,
    "t": _CELLS,
    "m": _CELLS,
    "nodes": types.Array(types.int64, 2, "C"),
}


def _by_name(function: Callable[..., Any], _called_with: Kinds) -> Kinds:
    names = inspect.signature(function).parameters
    return tuple(_ARRAYS.get(name, types.int64) for name in names)


_ROOM = Room(Path(__file__).parent, codes.__file__, rule=_by_name)
entry, step = _ROOM.entry, _ROOM.borrower

__all__ = ["Cells", "Nodes", "Text", "apart", "entry", "step"]
