"""`or_rows` on a GPU (or the host runner): `LANES` lanes take one pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kleene.kernels import launch

_BLOCK = 256
_SOURCE = Path(__file__).with_name("bit_rows.cu")


def or_rows(rows: Any, delta: Any, sources: Any, destinations: Any, fresh: Any) -> Any:
    """Return the changed rows; see `kleene.kernels.bit_rows.or_rows`.

    Arrays of the device stay there, and so does the answer; NumPy arrays travel there and back.
    """
    place = launch.current()
    xp = place.xp
    n_pairs, n_words = len(sources), rows.shape[1]
    if not n_pairs or not n_words:
        return xp.zeros(0, xp.intp)
    there = [xp.asarray(array) for array in (rows, fresh, delta, sources, destinations)]
    changed = xp.zeros(len(rows), xp.bool_)
    lanes = min(32, 1 << (n_words - 1).bit_length())
    index = "int" if sources.dtype.itemsize == 4 else "long long"
    module = launch.load(_SOURCE, LANES=lanes, BLOCK=_BLOCK, INDEX_T=index)
    grid = (-(-n_pairs * lanes // _BLOCK),)
    args = (*there, changed, np.int64(n_pairs), np.int32(n_words))
    module.launch("or_rows", grid, (_BLOCK,), args)
    indices = xp.flatnonzero(changed)
    if not isinstance(rows, np.ndarray):
        return indices
    place.to_host(there[0], rows)
    place.to_host(there[1], fresh)
    return indices if xp is np else indices.get()
