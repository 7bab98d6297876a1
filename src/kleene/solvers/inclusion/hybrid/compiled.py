"""How the loops of this room are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.kernels import bits
from kleene.kernels.compiled import Room

_HERE = Path(__file__).parent
_SOLVERS = _HERE.parent
_ROOM = Room(_HERE, _SOLVERS / "problem.py", _SOLVERS / "cuda" / "tables.py", bits.__file__)
entry, parallel_entry, piece = _ROOM.entry, _ROOM.parallel_entry, _ROOM.piece
