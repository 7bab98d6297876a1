"""What is wrong with the arguments of an operation: compiled code would write anywhere.

Every fault is a ValueError. What is inside arrays of a GPU is not looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.kernels.minplus.cpu import operations
from kleene.kernels.minplus.layout import (
    DTYPES,
    Array,
    DType,
    Each,
    Forms,
    infinity,
    least_bound,
    n_variables,
)

_KNOWN = frozenset(DTYPES)
_INT64, _BOOL = np.dtype(np.int64), np.dtype(np.bool_)


def flat(m: Array) -> None:
    """Refuse what is not a contiguous vector of a known type."""
    if m.dtype not in _KNOWN:
        known = ", ".join(dtype.name for dtype in DTYPES)
        raise ValueError(f"an octagon has elements of {known}, not of {m.dtype}")
    if m.ndim != 1 or not m.flags.c_contiguous:
        raise ValueError("an octagon is a contiguous vector")


def octagons(m: Array, offsets: Array, *, is_written: bool = True) -> None:
    """Refuse what is not one octagon, or a batch cut by `offsets`."""
    flat(m)
    if is_written:
        writeable(m)
    if offsets is None:
        n_variables(len(m))
        return
    column(offsets, _INT64, len(offsets), "offsets")
    if isinstance(m, np.ndarray):
        n = _variables_of(offsets)
        if not _cuts(offsets, len(m)) or (2 * n * (n + 1) != np.diff(offsets)).any():
            raise ValueError(f"offsets do not cut {len(m)} elements into octagons")


def _variables_of(offsets: Array) -> Any:
    """Return the variables of each octagon of a batch; see `layout.n_variables`."""
    return (np.sqrt(1 + 2 * np.abs(np.diff(offsets))).astype(np.int64) - 1) >> 1


def _cuts(cut: Array, n_items: int) -> bool:
    """Return whether `cut` ascends from 0 to n_items."""
    is_whole = len(cut) > 0 and cut[0] == 0 and cut[-1] == n_items
    return bool(is_whole and (cut[1:] >= cut[:-1]).all())


def writeable(m: Array) -> None:
    """Refuse an array that may not be written."""
    if isinstance(m, np.ndarray) and not m.flags.writeable:
        raise ValueError("the octagon is changed in place and must be writeable")


def same(m: Array, *others: Array) -> None:
    """Refuse octagons of different types or sizes."""
    for other in others:
        flat(other)
        if other.dtype != m.dtype or len(other) != len(m):
            shapes = f"{m.dtype} of {len(m)} elements, {other.dtype} of {len(other)}"
            raise ValueError(f"the octagons differ in type or size: {shapes}")


def pairs(out: Array, a: Array, b: Array, offsets: Array) -> None:
    """Refuse octagons that do not pair up."""
    octagons(out, offsets)
    same(out, a, b)


def variables(m: Array, offsets: Array, *chosen: Each) -> None:
    """Refuse variables, one for each octagon, that an octagon to be changed does not have."""
    octagons(m, offsets)
    for x in chosen:
        if offsets is not None:
            _of_each(offsets, x, None, 0, 1, "variable")
        elif not 0 <= x < n_variables(len(m)):
            raise ValueError(f"there is no variable {x} among {n_variables(len(m))}")


def column(values: Array, dtype: DType, length: int, name: str) -> None:
    """Refuse an argument that is not a contiguous vector of that type and length."""
    if values.dtype != dtype or values.ndim != 1 or len(values) != length:
        raise ValueError(f"{name} must be a vector of {length} elements of {dtype}")
    if not values.flags.c_contiguous:
        raise ValueError(f"{name} must be contiguous")


def ends(m: Array, offsets: Array, up: Each, down: Each, negate: Each = None) -> None:
    """Refuse numbers that are not one for each octagon of a batch."""
    if offsets is not None:
        column(up, m.dtype, len(offsets) - 1, "up")
        column(down, m.dtype, len(offsets) - 1, "down")
        if negate is not None:
            column(negate, _BOOL, len(offsets) - 1, "negate")


def constraints(
    m: Array, offsets: Array, rows: Array, columns: Array, bounds: Array, starts: Array
) -> None:
    """Refuse constraints that the octagons cannot have."""
    octagons(m, offsets)
    cut(offsets, starts, len(rows))
    for ends_, name in ((rows, "rows"), (columns, "columns")):
        column(ends_, _INT64, len(rows), name)
        _list(m, offsets, ends_, starts, 0, 2, name)
    column(bounds, m.dtype, len(rows), "bounds")


def chosen(
    smaller: Array,
    cuts: Array,
    m: Array,
    offsets: Array,
    variables: Array,
    starts: Array,
    *,
    least: int,
) -> None:
    """Refuse variables of `m` that are not as many as the smaller octagons have, from `least`."""
    octagons(m, offsets, is_written=False)
    octagons(smaller, cuts, is_written=least < 0)
    column(smaller, m.dtype, len(smaller), "out" if least < 0 else "m")
    column(variables, _INT64, len(variables), "variables")
    if offsets is None:
        column(variables, _INT64, n_variables(len(smaller)), "variables")
    cut(offsets, starts, len(variables))
    _list(m, offsets, variables, starts, least, 1, "variables")


def forms(m: Array, offsets: Array, given: Forms) -> None:
    """Refuse forms with terms that the octagons do not have, twice, or without an order."""
    ends(m, offsets, given.up, given.down)
    length = len(given.variables)
    column(given.variables, _INT64, length, "variables")
    cut(offsets, given.starts, length)
    _list(m, offsets, given.variables, given.starts, 0, 1, "variables")
    if isinstance(given.variables, np.ndarray):
        cuts: Array = np.array([0, length]) if offsets is None else given.starts
        n_terms = np.diff(cuts)
        pairs = zip(np.repeat(np.arange(len(n_terms)), n_terms), given.variables, strict=True)
        if len(set(pairs)) < length:
            raise ValueError("variables has an element twice")
    column(given.lows, m.dtype, length, "lows")
    column(given.highs, m.dtype, length, "highs")
    if isinstance(given.lows, np.ndarray):
        is_finite = (given.lows >= least_bound(m.dtype)) & (given.highs < infinity(m.dtype))
        if not (is_finite & (given.lows <= given.highs)).all():
            raise ValueError("each of lows must be finite, and no more than its one of highs")


def thresholds(m: Array, steps: Array) -> None:
    """Refuse thresholds of another type, or that do not ascend."""
    column(steps, m.dtype, len(steps), "thresholds")
    if len(steps) > 1 and bool((steps[1:] < steps[:-1]).any()):
        raise ValueError("thresholds must ascend")


def cut(offsets: Array, starts: Array, n_items: int) -> None:
    """Refuse what does not cut a list into a part for each octagon of a batch."""
    if offsets is None:
        return
    if starts is None:
        raise ValueError("a batch takes `starts`, which say where the list of each octagon begins")
    column(starts, _INT64, len(offsets), "starts")
    if isinstance(starts, np.ndarray) and not _cuts(starts, n_items):
        raise ValueError(f"starts do not cut {n_items} elements into parts")


def _list(
    m: Array, offsets: Array, values: Array, starts: Array, least: int, scale: int, name: str
) -> None:
    """Refuse indices of a list of which some are not in least..scale*n-1."""
    if offsets is not None:
        _of_each(offsets, values, starts, least, scale, name)
        return
    end = scale * n_variables(len(m))
    if isinstance(values, np.ndarray) and not operations.are_between(values, least, end):
        raise ValueError(f"{name} has an element outside {least}..{end - 1}")


def _of_each(
    offsets: Array, values: Array, starts: Array, least: int, scale: int, name: str
) -> None:
    """Refuse indices of which some are not of their octagon; without `starts` each has one."""
    n_octagons = len(offsets) - 1
    column(values, _INT64, n_octagons if starts is None else len(values), name)
    if isinstance(values, np.ndarray):
        ends = scale * _variables_of(offsets)
        ends = ends if starts is None else np.repeat(ends, np.diff(starts))
        if ((ends > 0) & ((values < least) | (values >= ends))).any():  # of no variables, anything
            raise ValueError(f"{name} has an element that its octagon does not have")
