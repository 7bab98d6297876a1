"""`or_rows` on CPU threads: each thread owns some rows, so no two write one word."""

from __future__ import annotations

import numba
import numpy as np
from numba import njit, prange

from kleene.kernels.bit_rows.types import Bits, Indices

# Below this many words to OR one thread is faster than waking several.
PARALLEL_FROM_WORDS = 1 << 16
_CHUNK_WORDS = 64  # looked at before written: most chunks bring nothing new
_OWNED_ROWS = 8  # neighbouring rows share an owner, so that owners seldom share a cache line


def or_rows(
    rows: Bits, delta: Bits, sources: Indices, destinations: Indices, fresh: Bits
) -> Indices:
    """Return the changed rows; see `kleene.kernels.bit_rows.or_rows`."""
    hit = np.zeros(len(sources), np.bool_)
    n_threads = numba.get_num_threads()
    if n_threads == 1 or len(sources) * rows.shape[1] < PARALLEL_FROM_WORDS:
        _or_owned(rows, delta, sources, destinations, fresh, hit, 0, 1)
    else:
        _or_parallel(rows, delta, sources, destinations, fresh, hit, n_threads)
    return np.unique(destinations[hit])


@njit(cache=True)
def _or_owned(rows, delta, sources, destinations, fresh, hit, owner, n_owners):  # type: ignore[no-untyped-def]
    """Apply the pairs whose destination `owner` owns; scanning the rest costs a load each."""
    for pair in range(len(sources)):
        destination = destinations[pair]
        if n_owners == 1 or (destination // _OWNED_ROWS) % n_owners == owner:
            hit[pair] = _or_row(rows[destination], delta[sources[pair]], fresh[destination])


@njit(cache=True)
def _or_row(row, bits, fresh):  # type: ignore[no-untyped-def]
    """OR `bits` into `row`; return whether any was new. Only chunks with news are written."""
    n_words = len(row)
    changed = False
    for start in range(0, n_words, _CHUNK_WORDS):
        end = min(start + _CHUNK_WORDS, n_words)
        news = np.uint64(0)
        for w in range(start, end):
            news |= bits[w] & ~row[w]
        if news == 0:
            continue
        changed = True
        for w in range(start, end):
            gained = bits[w] & ~row[w]
            row[w] |= gained
            fresh[w] |= gained
    return changed


@njit(cache=True, parallel=True)
def _or_parallel(rows, delta, sources, destinations, fresh, hit, n_owners):  # type: ignore[no-untyped-def]
    for owner in prange(n_owners):
        _or_owned(rows, delta, sources, destinations, fresh, hit, owner, n_owners)
