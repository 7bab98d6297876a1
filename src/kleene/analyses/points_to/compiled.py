"""How the loops of this analysis are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.ir import codes
from kleene.kernels import bits, pointers
from kleene.kernels.compiled import CompilationUnit

_HERE = Path(__file__).parent
UNIT = CompilationUnit(
    *(
        _HERE / "images",
        _HERE / "object_layout.py",
        _HERE / "offset_edges.py",
        _HERE / "constraints",
    ),
    codes.__file__,
    bits.__file__,
    pointers.__file__,
)
entry_point, device_function = UNIT.entry_point, UNIT.device_function
