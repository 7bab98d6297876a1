"""How the loops of this package are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.kernels.compiled import CompilationUnit, linear

_INTERPRETED_S_AN_ELEMENT = 2e-6  # of the arrays of a graph

UNIT = CompilationUnit(Path(__file__).parent, interpreted_s=linear(_INTERPRETED_S_AN_ELEMENT))
entry_point, device_function = UNIT.entry_point, UNIT.device_function
