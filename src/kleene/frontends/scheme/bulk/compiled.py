"""How the loops of `bulk` are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.ir.scheme import core
from kleene.kernels import pointers
from kleene.kernels.compiled import CompilationUnit

_HERE = Path(__file__).parent
_SOURCES = (_HERE / "scan.py", _HERE / "tables.py", _HERE / "expand.py")
UNIT = CompilationUnit(*_SOURCES, core.__file__, pointers.__file__)
entry_point, device_function = UNIT.entry_point, UNIT.device_function
