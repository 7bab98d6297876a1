"""How the loops of this folder are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.kernels import bits
from kleene.kernels.compiled import CompilationUnit

_HERE = Path(__file__).parent
_SOURCES = ("codes", "words", "rows", "arithmetic", "comparisons", "transfer", "cpu")
UNIT = CompilationUnit(
    *(_HERE / f"{name}.py" for name in _SOURCES), bits.__file__, only_indexes=True
)
entry_point, device_function = UNIT.entry_point, UNIT.device_function
