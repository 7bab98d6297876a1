"""How the reader's functions are compiled: once each, small, and quickly.

Left to itself, Numba compiles a function anew for every constant that it is called with, gives each
a Python wrapper, and lets LLVM inline small functions into hundreds of places: minutes for this
reader, against 18 s. Here a parameter's name fixes its type, wrappers are made for entry points
alone, and a function that calls `noinline()` is never inlined. See `kleene.kernels.compiled`.

All of it is plain Python too, and run as such where a module is small. Python's integers have no
width: where a machine's would wrap around, `kernels.bits.wrapped` says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from kleene.ir import codes
from kleene.kernels import bits, pointers
from kleene.kernels.compiled import ArrayOf, CompilationUnit, by_name, noinline

# Arrays, as Numba sees them: integers go in and come out.
Cells: TypeAlias = Any
Words: TypeAlias = Any
Text: TypeAlias = Any
Nodes: TypeAlias = Any

_CELLS = ArrayOf("int64")
_RULE = by_name(
    words=ArrayOf("uint64", readonly=True),  # the file, 64 bits each
    text=ArrayOf("uint8", readonly=True),  # the file, and strings that were added
    letters=ArrayOf("uint8"),  # the same while strings are added
    nodes=_CELLS,  # debug metadata, row by row
    b=_CELLS,  # state of the bitstream
    c=_CELLS,  # records and their operands
    s=_CELLS,  # strings, interned
    h=_CELLS,  # state of the module that is read
    m=_CELLS,  # tables of the program
)
UNIT = CompilationUnit(
    Path(__file__).parent,
    codes.__file__,
    bits.__file__,
    pointers.__file__,
    rule=_RULE,
    only_indexes=True,
)
entry_point, device_function = UNIT.entry_point, UNIT.device_function

__all__ = ["Cells", "Nodes", "Text", "Words", "device_function", "entry_point", "noinline"]
