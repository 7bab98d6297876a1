"""How the loops of this analysis are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.ir import codes
from kleene.kernels import bits
from kleene.kernels.compiled import CompilationUnit

_HERE = Path(__file__).parent
_UNIT = CompilationUnit(
    *(_HERE / "images", _HERE / "object_layout.py", _HERE / "constraints"),
    codes.__file__,
    bits.__file__,
)
entry_point, device_function = _UNIT.entry_point, _UNIT.device_function
no_refcount = _UNIT.no_refcount
