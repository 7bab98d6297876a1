"""How the reader's loops are compiled: see `kleene.kernels.compiled`."""

from __future__ import annotations

from pathlib import Path

from kleene.kernels.compiled import Room

_ROOM = Room(Path(__file__).parent)
entry, piece = _ROOM.entry, _ROOM.piece
