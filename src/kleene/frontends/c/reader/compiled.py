"""How the reader's functions are compiled: once each, small, and quickly.

Left to itself, Numba compiles a function anew for every constant that it is called with, gives each
a Python wrapper, and lets LLVM inline small functions into hundreds of places: two minutes for this
reader, against 25 s. Here a parameter's name fixes its type, wrappers are made for entry points
alone, and a function that calls `noinline()` is never inlined. See `kleene.kernels.compiled`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from kleene.ir import codes
from kleene.kernels import bits
from kleene.kernels.compiled import ArrayOf, CompilationUnit, by_name, noinline

# Arrays, as Numba sees them: integers go in and come out.
Cells: TypeAlias = Any
Text: TypeAlias = Any
Nodes: TypeAlias = Any

CELLS = ArrayOf("int64")
ARRAYS = {  # what both readers have
    "text": ArrayOf("uint8", readonly=True),
    "nodes": ArrayOf("int64", n_dimensions=2),
    "s": CELLS,
    "m": CELLS,
}


def unit(**arrays: ArrayOf) -> CompilationUnit:
    """Return the readers' unit, where parameters of these names are arrays and others numbers."""
    rule = by_name(**(ARRAYS | arrays))
    return CompilationUnit(
        Path(__file__).parent, codes.__file__, bits.__file__, rule=rule, only_indexes=True
    )


_UNIT = unit(cells=CELLS, t=CELLS)
entry_point, no_refcount = _UNIT.entry_point, _UNIT.no_refcount

__all__ = ["Cells", "Nodes", "Text", "entry_point", "no_refcount", "noinline"]
