"""Fresh words as they cross the bus: sparse, and only what this round found."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.solvers.inclusion.hybrid.compiled import entry_point

_ONE = np.uint64(1)


class Words(NamedTuple):
    """Words by row: row r has `place/word[offsets[r]:offsets[r + 1]]`."""

    offsets: NDArray[np.int64]
    place: NDArray[np.int32]
    word: NDArray[np.uint64]

    @property
    def n_bytes(self) -> int:
        """How many bytes cross the bus."""
        return self.offsets.nbytes + self.place.nbytes + self.word.nbytes


def pack(matrix: NDArray[np.uint64], mask: NDArray[np.uint64]) -> Words:
    """Return the words of the rows with a mask that are not zero."""
    rows = np.flatnonzero(mask)
    chosen = matrix[rows]
    place, index = np.nonzero(chosen)
    offsets = np.zeros(len(matrix) + 1, np.int64)
    offsets[rows + 1] = np.bincount(place, minlength=len(rows))
    np.cumsum(offsets, out=offsets)
    return Words(offsets, index.astype(np.int32), chosen[place, index])


@entry_point
def merge(words: Any, every: Any, fresh: Any, gained: Any, block_words: int) -> None:
    """Add the words to the rows; what is new becomes fresh, and its blocks are noted."""
    offsets, index, word = words
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], offsets[row + 1]):
            w = index[i]
            new = word[i] & ~every[row, w]
            if new:
                every[row, w] |= new
                fresh[row, w] |= new
                gained[row] |= _ONE << np.uint64(w // block_words)
