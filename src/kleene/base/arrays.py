"""The array types of every column, and compressed sparse rows (CSR) over them.

CSR keeps rows of different lengths in one array: row r is `items[offsets[r]:offsets[r + 1]]`, so
that n rows have n + 1 offsets, the first 0 and the last `len(items)`. For rows `[7, 8], [], [9]`:

    offsets  0  2  2  3
    items    7  8  9
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
U16 = NDArray[np.uint16]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.integer[Any]]  # of any width
_Item = TypeVar("_Item", bound=np.integer[Any])


def offsets_of(lengths: ArrayLike) -> I64:
    """Return the CSR offsets of rows with these lengths."""
    counts = np.asarray(lengths, np.int64)
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def csr(keys: Ints, n_keys: int) -> tuple[I64, NDArray[np.intp] | None]:
    """Return the offsets of each key's rows, and the stable order by key (None: as it is).

    `items[order]` are then the items of CSR rows 0 … n_keys - 1; keys are from 0 to n_keys - 1.
    """
    offsets = offsets_of(np.bincount(keys, minlength=n_keys))
    if bool((keys[1:] >= keys[:-1]).all()):
        return offsets, None
    # NumPy sorts 16-bit keys by counting: one such pass per half is linear, stable and vectorised,
    # and two of them take a third of the time of one 32-bit sort.
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    if n_keys > 1 << 16:
        order = order[np.argsort((keys >> 16).astype(np.uint16)[order], kind="stable")]
    return offsets, order


def distinct(values: NDArray[_Item]) -> NDArray[_Item]:
    """Return the values ascending, each once.

    `np.unique` does the same, but imports NumPy's masked arrays first, which takes 0.02 s.
    """
    ordered = np.sort(values)
    is_new = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]


def ragged(starts: Ints, ends: Ints) -> tuple[I64, I64]:
    """Return every index of the ranges `starts[i]` … `ends[i]` - 1, beside the range's number i.

    `ragged([5, 9], [7, 10])` is ranges `[0, 0, 1]` with indices `[5, 6, 9]`.
    """
    lengths = (ends - starts).astype(np.int64)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    before = np.cumsum(lengths) - lengths
    return owner, np.arange(len(owner)) + (starts - before)[owner]
