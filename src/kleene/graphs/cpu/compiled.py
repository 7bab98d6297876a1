"""How the loops of this package are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.kernels.compiled import CompilationUnit

UNIT = CompilationUnit(Path(__file__).parent)
entry_point, device_function = UNIT.entry_point, UNIT.device_function
