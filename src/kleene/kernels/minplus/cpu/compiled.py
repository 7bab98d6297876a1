"""How these loops are compiled: once for each type of element, when first asked for."""

from __future__ import annotations

from pathlib import Path

from kleene.kernels.compiled import CompilationUnit, noinline, plain

_HERE = Path(__file__).parent
_UNIT = CompilationUnit(_HERE, _HERE.parent / "layout.py", rule=plain)
entry_point, parallel_entry_point = _UNIT.entry_point, _UNIT.parallel_entry_point
device_function = _UNIT.device_function

__all__ = ["device_function", "entry_point", "noinline", "parallel_entry_point"]
