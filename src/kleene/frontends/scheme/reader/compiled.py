"""How the reader's loops are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.kernels import bits
from kleene.kernels.compiled import CompilationUnit

_UNIT = CompilationUnit(Path(__file__).parent, bits.__file__)
entry_point, device_function = _UNIT.entry_point, _UNIT.device_function
