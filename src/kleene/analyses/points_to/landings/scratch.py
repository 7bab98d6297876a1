"""Memory to work in while the moves of one shape are followed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kleene.analyses.points_to.compiled import device_function
from kleene.analyses.points_to.landings.frame import Grid
from kleene.analyses.points_to.landings.sets import Set, n_words, put_all
from kleene.base.arrays import I64

# Rows of an enumeration of addresses: per array around a place, innermost first, its row, the first
# element to choose, how many there are to choose, and which of these is chosen. The last row has
# the array that is taken past its end, or -1, and whether elements were left out that go outside.
AROUND, LOW, CHOICES, CHOSEN, PAST, N_WALK = range(6)
DEEPEST = 16  # arrays in one another: see shapes
N_RESIDUES = 1 << 8  # remembered at a time, of a stride and of one divisor of it


class Scratch(NamedTuple):
    """What the pieces write on: sets of places of the shape, and addresses."""

    landing: Set  # per place: where a move takes it
    following: Set  # per place: where one more stride takes it
    between: Set  # two: on the way
    swept: Set  # two per residue: the places that have addresses of it
    swept_modulus: I64  # per row of `swept`: which modulus it is of, 0 before there is one
    walks: Grid  # two enumerations of addresses


@device_function
def scratch_for(n_rows: int) -> Scratch:
    """Return memory for a shape of so many places, of which the last, the blur, leads to all."""
    width = n_words(n_rows)
    landing, following = np.zeros((n_rows, width), np.uint64), np.zeros((n_rows, width), np.uint64)
    put_all(landing[n_rows - 1], n_rows)
    put_all(following[n_rows - 1], n_rows)
    return Scratch(
        landing,
        following,
        np.empty((2, width), np.uint64),
        np.empty((2 * N_RESIDUES, width), np.uint64),
        np.zeros(2 * N_RESIDUES, np.int64),
        np.zeros((2, N_WALK, DEEPEST), np.int64),
    )
