"""How the reader's functions are compiled: once each, small, and quickly.

Left to itself, Numba compiles a function anew for every constant that it is called with, gives each
a Python wrapper, and lets LLVM inline small functions into hundreds of places: two minutes for this
reader, against 25 s. Here a parameter's name fixes its type, wrappers are made for entry points
alone, and a function that calls `noinline()` is never inlined. See `kleene.kernels.compiled`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from numba import types

from kleene.ir import codes
from kleene.kernels.compiled import CompilationUnit, Kinds, noinline

# Arrays, as Numba sees them: integers go in and come out.
Cells: TypeAlias = Any
Text: TypeAlias = Any
Nodes: TypeAlias = Any

CELLS = types.Array(types.int64, 1, "C")
ARRAYS = {  # what both readers have
    "text": types.Array(types.uint8, 1, "C", readonly=True),
    "nodes": types.Array(types.int64, 2, "C"),
    "s": CELLS,
    "m": CELLS,
}


def unit(**arrays: Any) -> CompilationUnit:
    """Return the readers' unit, where parameters of these names are arrays and others numbers."""
    known = ARRAYS | arrays

    def by_name(function: Callable[..., Any], _called_with: Kinds) -> Kinds:
        names = inspect.signature(function).parameters
        return tuple(known.get(name, types.int64) for name in names)

    return CompilationUnit(Path(__file__).parent, codes.__file__, rule=by_name)


_UNIT = unit(cells=CELLS, t=CELLS)
entry_point, no_refcount = _UNIT.entry_point, _UNIT.no_refcount

__all__ = ["Cells", "Nodes", "Text", "entry_point", "no_refcount", "noinline"]
