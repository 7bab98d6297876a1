"""The definition of `or_rows`, and the judge of the other back ends."""

from __future__ import annotations

import numpy as np

from kleene.kernels.bit_rows.types import Bits, Indices


def or_rows(
    rows: Bits, delta: Bits, sources: Indices, destinations: Indices, fresh: Bits
) -> Indices:
    """Return the changed rows; see `kleene.kernels.bit_rows.or_rows`."""
    before = rows.copy()
    np.bitwise_or.at(rows, destinations, delta[sources])
    gained = rows & ~before
    fresh |= gained
    return np.flatnonzero(gained.any(axis=1))
