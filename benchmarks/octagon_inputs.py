"""Dense octagons to measure with, as arrays of the host; bounds are integers in every type."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from kleene.kernels import minplus


def point_of(n: int, seed: int) -> Any:
    """Return the point that the octagons of a seed are around."""
    return np.random.default_rng(n + seed).integers(-10, 11, n, dtype=np.int32)


@cache
def dense(n: int, dtype: str, seed: int = 0) -> Any:
    """Return an octagon with every constraint, near its point and far from closed."""
    return _around(n, dtype, seed, 0, 0)


@cache
def loose(n: int, dtype: str, seed: int = 0) -> Any:
    """Return a closed octagon with every constraint, none of which follows from the others.

    Every bound leaves 100 to 120 from the point, so two of them leave more than any one; those on
    one variable, of which a cell holds twice the bound, leave more than 150 and are even.
    """
    return _around(n, dtype, seed, 100, 150)


def _around(n: int, dtype: str, seed: int, least: int, least_unary: int) -> Any:
    if dtype != "int32":
        return _around(n, "int32", seed, least, least_unary).astype(dtype)
    point = point_of(n, seed)
    ends = np.stack([point, -point], axis=1).reshape(-1)
    random = np.random.default_rng(n + seed + 1)
    m = random.integers(least, least + 21, minplus.size(n), dtype=np.int32)
    for i in range(2 * n):
        start, end = (i + 1) ** 2 // 2, (i | 1) + 1
        m[start : start + end] += ends[:end] - ends[i]
        m[start + (i ^ 1)] = (m[start + (i ^ 1)] + least_unary - least) & ~1
        m[start + i] = 0
    return m
