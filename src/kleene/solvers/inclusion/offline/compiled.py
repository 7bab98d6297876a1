"""How the loops of this room and of the CPU solver are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.kernels import bits
from kleene.kernels.compiled import Room

_HERE = Path(__file__).parent
_ROOM = Room(_HERE, _HERE.parent / "cpu", _HERE.parent / "problem.py", bits.__file__)
entry, piece = _ROOM.entry, _ROOM.piece
