"""How the loops of this folder are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.kernels.compiled import CompilationUnit

_HERE = Path(__file__).parent
UNIT = CompilationUnit(_HERE / "codes.py", _HERE / "cpu.py", _HERE / "sparse.py", only_indexes=True)
entry_point, device_function = UNIT.entry_point, UNIT.device_function
