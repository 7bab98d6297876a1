"""How the loops of `offline` and `cpu` are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.kernels import bits, pointers
from kleene.kernels.compiled import CompilationUnit

_HERE = Path(__file__).parent
UNIT = CompilationUnit(
    *(_HERE / "offline", _HERE / "cpu", _HERE / "problem.py"), bits.__file__, pointers.__file__
)
entry_point, device_function = UNIT.entry_point, UNIT.device_function
