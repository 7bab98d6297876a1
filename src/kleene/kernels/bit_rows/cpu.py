"""`or_rows` on CPU threads: each thread owns some rows, so no two write one word."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import prange

from kleene.kernels.bit_rows.types import Bits, Indices
from kleene.kernels.compiled import CompilationUnit

# Below this many words to OR one thread is faster than waking several.
PARALLEL_FROM_WORDS = 1 << 19
_CHUNK_WORDS = 64  # looked at before written: most chunks of a round bring nothing new
_UNIT = CompilationUnit(__file__)
_U64 = np.uint64  # Numba tests other index types for a negative value at each access


def or_rows(
    rows: Bits, delta: Bits, sources: Indices, destinations: Indices, fresh: Bits
) -> Indices:
    """Return the changed rows; see `kleene.kernels.bit_rows.or_rows`."""
    changed = np.zeros(len(rows), np.bool_)
    n_threads = numba.get_num_threads()
    if n_threads == 1 or len(sources) * rows.shape[1] < PARALLEL_FROM_WORDS:
        _or_owned(rows, delta, sources, destinations, fresh, changed, 0, 1)
    else:
        _or_parallel(rows, delta, sources, destinations, fresh, changed, n_threads)
    if len(sources) > len(rows) >> 4:
        return np.flatnonzero(changed)
    candidates = np.unique(destinations).astype(np.intp)  # few pairs: do not look at every row
    return candidates[changed[candidates]]


@_UNIT.parallel_entry_point
def _or_parallel(
    rows: Any, delta: Any, sources: Any, destinations: Any, fresh: Any, changed: Any, n_owners: Any
) -> None:
    for owner in prange(n_owners):
        _or_owned(rows, delta, sources, destinations, fresh, changed, owner, n_owners)


@_UNIT.entry_point
def _or_owned(
    rows: Any,
    delta: Any,
    sources: Any,
    destinations: Any,
    fresh: Any,
    changed: Any,
    owner: Any,
    n_owners: Any,
) -> None:
    """Apply the pairs whose destination `owner` owns; passing one over costs a nanosecond."""
    n_words = _U64(rows.shape[1])
    flat_rows, flat_delta, flat_fresh = rows.reshape(-1), delta.reshape(-1), fresh.reshape(-1)
    for pair in range(len(sources)):
        destination = _U64(destinations[pair])
        if n_owners > 1 and _owner_of(destination, n_owners) != owner:
            continue
        to, start = destination * n_words, _U64(sources[pair]) * n_words
        if _or_words(flat_rows, flat_delta, flat_fresh, to, start, n_words):
            changed[destination] = True


@_UNIT.device_function
def _owner_of(row: Any, n_owners: Any) -> Any:
    """Return the owner of `row`: eight neighbours have one, so owners seldom share a cache line.

    A multiplicative hash spreads strided rows; the second product maps it to 0..n_owners - 1
    without a division.
    """
    spread = ((row >> _U64(3)) * _U64(0x9E3779B1)) & _U64(0xFFFFFFFF)
    return np.int64((spread * _U64(n_owners)) >> _U64(32))


@_UNIT.device_function
def _or_words(rows: Any, delta: Any, fresh: Any, to: Any, start: Any, n_words: Any) -> Any:
    """OR one row of words into another; return whether a bit was new."""
    changed = False
    done = _U64(0)
    while done < n_words:
        count = min(_U64(_CHUNK_WORDS), n_words - done)
        news = _U64(0)
        for w in range(count):
            news |= delta[start + w] & ~rows[to + w]
        if news != 0:
            changed = True
            for w in range(count):
                gained = delta[start + w] & ~rows[to + w]
                rows[to + w] |= gained
                fresh[to + w] |= gained
        done, to, start = done + count, to + count, start + count
    return changed
