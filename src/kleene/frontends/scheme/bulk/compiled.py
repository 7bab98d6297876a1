"""How the loops of `bulk` are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.ir.scheme import core
from kleene.kernels import pointers
from kleene.kernels.compiled import CompilationUnit

_HERE = Path(__file__).parent
_MODULES = ("scan", "tables", "checks", "bodies", "forms", "expand")
_SOURCES = [_HERE / f"{name}.py" for name in _MODULES]
UNIT = CompilationUnit(*_SOURCES, core.__file__, pointers.__file__)
entry_point, device_function = UNIT.entry_point, UNIT.device_function
