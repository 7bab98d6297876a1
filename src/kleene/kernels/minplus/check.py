"""What is wrong with the arguments of an operation: compiled code would write anywhere.

Every fault is a ValueError. What is inside arrays of a GPU is not looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.kernels.minplus.cpu import entries
from kleene.kernels.minplus.layout import DTYPES, infinity, least_bound, n_variables

_KNOWN = frozenset(DTYPES)
_INT64, _BOOL = np.dtype(np.int64), np.dtype(np.bool_)


def flat(m: Any) -> None:
    """Refuse what is not a contiguous vector of a known type."""
    if m.dtype not in _KNOWN:
        known = ", ".join(dtype.name for dtype in DTYPES)
        raise ValueError(f"an octagon has elements of {known}, not of {m.dtype}")
    if m.ndim != 1 or not m.flags.c_contiguous:
        raise ValueError("an octagon is a contiguous vector")


def one(m: Any) -> int:
    """Return the variables of one octagon."""
    flat(m)
    return n_variables(len(m))


def written(m: Any) -> int:
    """Return the variables of one octagon that is to be changed."""
    n = one(m)
    writeable(m)
    return n


def writeable(m: Any) -> None:
    """Refuse an array that may not be written."""
    if isinstance(m, np.ndarray) and not m.flags.writeable:
        raise ValueError("the octagon is changed in place and must be writeable")


def same(m: Any, *others: Any) -> None:
    """Refuse octagons of different types or sizes."""
    for other in others:
        flat(other)
        if other.dtype != m.dtype or len(other) != len(m):
            shapes = f"{m.dtype} of {len(m)} elements, {other.dtype} of {len(other)}"
            raise ValueError(f"the octagons differ in type or size: {shapes}")


def variable(n: int, *chosen: int) -> None:
    """Refuse variables that an octagon of n does not have."""
    for x in chosen:
        if not 0 <= x < n:
            raise ValueError(f"there is no variable {x} among {n}")


def apart(target: int, source: int) -> None:
    """Refuse to assign a variable to itself, which `shift` does."""
    if target == source:
        raise ValueError("target and source are the same variable: use `shift`")


def column(values: Any, dtype: Any, length: int, name: str) -> None:
    """Refuse an argument that is not a contiguous vector of that type and length."""
    if values.dtype != dtype or values.ndim != 1 or len(values) != length:
        raise ValueError(f"{name} must be a vector of {length} elements of {dtype}")
    if not values.flags.c_contiguous:
        raise ValueError(f"{name} must be contiguous")


def indices(values: Any, length: int, least: int, end: int, name: str) -> None:
    """Refuse indices outside least..end-1."""
    column(values, _INT64, length, name)
    if isinstance(values, np.ndarray) and not entries.are_between(values, least, end):
        raise ValueError(f"{name} has an element outside {least}..{end - 1}")


def constraints(m: Any, n: int, rows: Any, columns: Any, bounds: Any) -> None:
    """Refuse constraints that an octagon of n variables cannot have."""
    indices(rows, len(rows), 0, 2 * n, "rows")
    indices(columns, len(rows), 0, 2 * n, "columns")
    column(bounds, m.dtype, len(rows), "bounds")


def terms(m: Any, n: int, variables: Any, lows: Any, highs: Any) -> None:
    """Refuse terms that no form over n variables has."""
    indices(variables, len(variables), 0, n, "variables")
    if isinstance(variables, np.ndarray):
        distinct(np.array([0, len(variables)]), variables)
    coefficients(m, lows, highs, len(variables))


def distinct(cut: Any, variables: Any) -> None:
    """Refuse a variable that comes twice in one part."""
    if isinstance(variables, np.ndarray) and not entries.are_distinct(cut, variables):
        raise ValueError("variables has an element twice")


def coefficients(m: Any, lows: Any, highs: Any, length: int) -> None:
    """Refuse ends of intervals that are not finite, or in the wrong order."""
    column(lows, m.dtype, length, "lows")
    column(highs, m.dtype, length, "highs")
    if isinstance(lows, np.ndarray):
        is_finite = (lows >= least_bound(m.dtype)) & (highs < infinity(m.dtype))
        if not (is_finite & (lows <= highs)).all():
            raise ValueError("each of lows must be finite, and no more than its one of highs")


def thresholds(m: Any, steps: Any) -> None:
    """Refuse thresholds of another type, or that do not ascend."""
    column(steps, m.dtype, len(steps), "thresholds")
    if len(steps) > 1 and bool((steps[1:] < steps[:-1]).any()):
        raise ValueError("thresholds must ascend")


def batch(m: Any, offsets: Any) -> None:
    """Refuse offsets that do not cut `m` into octagons."""
    flat(m)
    writeable(m)
    column(offsets, _INT64, len(offsets), "offsets")
    if isinstance(m, np.ndarray) and not entries.are_octagons(offsets, len(m)):
        raise ValueError(f"offsets do not cut {len(m)} elements into octagons")


def starts(cut: Any, n_octagons: int, n_items: int) -> None:
    """Refuse what does not cut a list into a part for each octagon."""
    column(cut, _INT64, n_octagons + 1, "starts")
    if isinstance(cut, np.ndarray) and not entries.are_parts(cut, n_items):
        raise ValueError(f"starts do not cut {n_items} elements into parts")


def of_each(offsets: Any, values: Any, cut: Any, least: int, scale: int, name: str) -> None:
    """Refuse indices of which some are not of their octagon: least..scale*n-1.

    `cut` says which belong to each octagon; None, that one does.
    """
    n_octagons = len(offsets) - 1
    column(values, _INT64, n_octagons if cut is None else len(values), name)
    if isinstance(values, np.ndarray):
        each = np.arange(n_octagons + 1) if cut is None else cut
        if not entries.are_of_each(offsets, each, values, least, scale):
            raise ValueError(f"{name} has an element that its octagon does not have")
