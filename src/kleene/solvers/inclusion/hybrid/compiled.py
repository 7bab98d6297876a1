"""How the loops of this package are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.kernels import bits
from kleene.kernels.compiled import CompilationUnit

_HERE = Path(__file__).parent
_SOLVERS = _HERE.parent
_UNIT = CompilationUnit(
    _HERE, _SOLVERS / "problem.py", _SOLVERS / "cuda" / "tables.py", bits.__file__
)
entry_point, parallel_entry_point = _UNIT.entry_point, _UNIT.parallel_entry_point
device_function = _UNIT.device_function
