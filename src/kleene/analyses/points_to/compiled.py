"""How the loops of this analysis are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.ir import codes
from kleene.kernels import bits
from kleene.kernels.compiled import Room

_HERE = Path(__file__).parent
_ROOM = Room(
    *(_HERE / "landings", _HERE / "heap_types.py", _HERE / "scan"), codes.__file__, bits.__file__
)
entry, piece, borrower = _ROOM.entry, _ROOM.piece, _ROOM.borrower
