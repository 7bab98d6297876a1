"""How the loops of this room are compiled: once for each type of element, when first asked for."""

from __future__ import annotations

from pathlib import Path

from kleene.kernels.compiled import Room, apart, plain

_HERE = Path(__file__).parent
_ROOM = Room(_HERE, _HERE.parent / "layout.py", rule=plain)
entry, parallel_entry, piece = _ROOM.entry, _ROOM.parallel_entry, _ROOM.piece

__all__ = ["apart", "entry", "parallel_entry", "piece"]
