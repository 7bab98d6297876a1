"""How the loops of this package are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.kernels import bits
from kleene.kernels.compiled import CompilationUnit

_HERE = Path(__file__).parent
_ROOM = _HERE.parent
_UNIT = CompilationUnit(_HERE, _ROOM / "problem.py", _ROOM / "cuda" / "tables.py", bits.__file__)
entry_point, device_function = _UNIT.entry_point, _UNIT.device_function
