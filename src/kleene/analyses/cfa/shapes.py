"""Kinds of data and their fields: each selector is a move that works on data of its kind alone.

Data of a kind is an allocation with a place for each field, and is known by its first place. The
move of a field takes the first place to the field's; data of other kinds it takes nowhere, so that
`(car x)` finds nothing in the vectors that x may hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kleene.base.arrays import I32
from kleene.solvers.inclusion.problem import BY_LAYOUT, NONE

Tag = str | tuple[str, int]  # of a record type or of several values, with a number

FIELDS: dict[str, tuple[Tag, int]] = {
    "car": ("pair", 0),
    "cdr": ("pair", 1),
    "item": ("vector", 0),
    "content": ("box", 0),
    "key": ("table", 0),
    "value": ("table", 1),
    "delayed": ("delay", 0),
    "chained": ("chain", 0),
    "kept": ("promise", 0),
    "current": ("parameter", 0),
    "converter": ("parameter", 1),
    "irritants": ("condition", 0),
    "any-value": ("values", 0),
}


@dataclass(slots=True)
class Shapes:
    """Numbers shapes (tag, size) and moves (tag, place) as they are asked for."""

    shapes: dict[tuple[Tag, int], int] = field(default_factory=dict)
    moves: dict[tuple[Tag, int], int] = field(default_factory=dict)

    def shape(self, tag: Tag, size: int) -> int:
        """Return the number of the shape with that tag and so many places."""
        return self.shapes.setdefault((tag, size), len(self.shapes))

    def amount(self, tag: Tag, place: int) -> int:
        """Return the offset from data with that tag to one of its places."""
        return BY_LAYOUT - self.moves.setdefault((tag, place), len(self.moves))

    def tables(self) -> tuple[I32, I32, I32]:
        """Return the rows, offsets and landings of the moves.

        A move and a shape that do not fit have a block of rows without landings, of which there is
        one for all. `NONE`, for the tokens that no move is ever asked of, needs no rows.
        """
        largest = max((size for tag, size in self.shapes if tag != "token"), default=1)
        rows = np.zeros((len(self.moves), len(self.shapes)), np.int32)
        landings: list[int] = []
        offsets = [0] * (largest + 1)
        for (tag, place), move in self.moves.items():
            for (other, size), shape in self.shapes.items():
                if other == "token":
                    rows[move, shape] = NONE
                elif tag == other and place < size:
                    rows[move, shape] = len(offsets) - 1
                    landings.append(place)
                    offsets += [len(landings)] * size
        return rows.ravel(), np.array(offsets, np.int32), np.array(landings, np.int32)
