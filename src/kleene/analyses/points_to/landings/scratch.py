"""Memory to work in while the moves of one shape are followed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kleene.analyses.points_to.compiled import piece
from kleene.analyses.points_to.landings.frame import Grid
from kleene.ir.tables import I64, U8

# Rows of an enumeration of addresses: per array around a place, innermost first, its row, the first
# element to choose, how many there are to choose, and which of these is chosen. The last row has
# the array that is taken past its end, or -1, and whether elements were left out that go outside.
AROUND, LOW, CHOICES, CHOSEN, PAST, N_WALK = range(6)
DEEPEST = 16  # arrays in one another: see shapes
N_RESIDUES = 1 << 8  # remembered at a time, of a stride and of one divisor of it


class Scratch(NamedTuple):
    """What the pieces write on; columns of all but the last two are places of the shape."""

    landing: U8  # per place: where a move takes it
    following: U8  # per place: where one more stride takes it
    between: U8  # two rows: on the way
    swept: U8  # two rows per residue: the places that have addresses of it
    swept_modulus: I64  # per row of `swept`: which modulus it is of, 0 before there is one
    walks: Grid  # two enumerations of addresses


@piece
def scratch_for(n_rows: int) -> Scratch:
    """Return memory for a shape of so many places."""
    return Scratch(
        np.ones((n_rows, n_rows), np.uint8),
        np.empty((n_rows, n_rows), np.uint8),
        np.empty((2, n_rows), np.uint8),
        np.empty((2 * N_RESIDUES, n_rows), np.uint8),
        np.zeros(2 * N_RESIDUES, np.int64),
        np.zeros((2, N_WALK, DEEPEST), np.int64),
    )
