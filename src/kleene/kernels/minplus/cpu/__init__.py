"""The operations on CPUs; see `kleene.kernels.minplus`.

Without offsets an octagon is a batch of one: that costs a microsecond or two a call. The operations
that are called most have entry points of their own for one octagon.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from kleene.kernels.minplus import reference
from kleene.kernels.minplus.cpu import closure, entry_points, reduction
from kleene.kernels.minplus.cpu.compiled import inner_of, outer_of
from kleene.kernels.minplus.cpu.tiles import CLOSED, WIDER
from kleene.kernels.minplus.layout import Forms


@cache
def _whole(n_elements: int) -> Any:
    """Return the offsets of a batch with one octagon, or the starts of one list."""
    return np.array([0, n_elements])


def _cut(m: Any, offsets: Any) -> Any:
    return _whole(len(m)) if offsets is None else offsets


def close(m: Any, offsets: Any, tighten: bool) -> Any:
    """Close strongly."""
    if offsets is None:
        return _close_one(m, tighten)
    codes = np.full(len(offsets) - 1, WIDER)
    for inner in inner_of(m.dtype):
        closure.close_all(m, offsets, codes, outer_of(m.dtype), inner, tighten)
        if not (codes == WIDER).any():
            return codes == CLOSED
    for t in np.flatnonzero(codes == WIDER):
        codes[t] = reference.close(m[offsets[t] : offsets[t + 1]], tighten)
    return codes == CLOSED


def _close_one(m: Any, tighten: bool) -> bool:
    offsets, outer = _whole(len(m)), outer_of(m.dtype)
    for inner in inner_of(m.dtype):
        code = closure.close_one(m, offsets, outer, inner, tighten)
        if code != WIDER:
            return code == CLOSED
    return reference.close(m, tighten)


def strengthen(m: Any, offsets: Any, tighten: bool) -> Any:
    """Combine unary bounds."""
    cut = _cut(m, offsets)
    found = _flags(cut)
    entry_points.strengthen(m, cut, tighten, outer_of(m.dtype), found)
    return found


def close_after(
    m: Any, offsets: Any, rows: Any, columns: Any, bounds: Any, starts: Any, tighten: bool
) -> Any:
    """Add constraints to closed octagons and close them again."""
    cut, lists = _cut(m, offsets), _cut(rows, starts)
    found, outer = _flags(cut), outer_of(m.dtype)
    entry_points.close_after(m, cut, lists, rows, columns, bounds, tighten, outer, found)
    return found


def add(m: Any, offsets: Any, rows: Any, columns: Any, bounds: Any, starts: Any) -> None:
    """Add constraints."""
    entry_points.add(m, _cut(m, offsets), _cut(rows, starts), rows, columns, bounds)


def join(out: Any, a: Any, b: Any) -> None:
    """Write the pointwise maximum."""
    np.maximum(a, b, out=out)


def meet(out: Any, a: Any, b: Any) -> None:
    """Write the pointwise minimum."""
    np.minimum(a, b, out=out)


def widen(out: Any, a: Any, b: Any, offsets: Any, thresholds: Any) -> None:
    """Keep stable bounds."""
    entry_points.widen(out, a, b, _cut(a, offsets), thresholds, outer_of(a.dtype))


def narrow(out: Any, a: Any, b: Any, offsets: Any) -> None:
    """Refine missing bounds only."""
    entry_points.narrow(out, a, b, _cut(a, offsets), outer_of(a.dtype))


def includes(a: Any, b: Any, offsets: Any) -> Any:
    """Return whether every bound of `a` is no tighter than that of `b`."""
    return entry_points.includes_one(a, b) if offsets is None else _compared(a, b, offsets, False)


def equals(a: Any, b: Any, offsets: Any) -> Any:
    """Return whether all bounds are the same."""
    return _compared(a, b, _cut(a, offsets), True)


def _compared(a: Any, b: Any, offsets: Any, for_equality: bool) -> Any:
    found = _flags(offsets)
    entry_points.compare(a, b, offsets, for_equality, found)
    return found


def forget(m: Any, offsets: Any, variable: Any) -> None:
    """Drop all bounds on a variable."""
    if offsets is None:
        entry_points.forget_one(m, variable, outer_of(m.dtype))
    else:
        entry_points.forget(m, offsets, variable, outer_of(m.dtype))


def assign(m: Any, offsets: Any, target: Any, source: Any, negate: Any, up: Any, down: Any) -> None:
    """Assign x := ±y + d."""
    if offsets is None:
        entry_points.move_one(m, target, source, bool(negate), *_numbers(m, up, down))
    else:
        entry_points.move(m, offsets, target, source, negate, up, down)


def assign_interval(m: Any, offsets: Any, variable: Any, up: Any, down: Any) -> None:
    """Assign x := d."""
    if offsets is None:
        entry_points.set_interval_one(m, variable, *_numbers(m, up, down))
    else:
        entry_points.set_interval(m, offsets, variable, up, down)


def _numbers(m: Any, up: Any, down: Any) -> Any:
    """Return two elements as Python's numbers."""
    return np.array([up, down], m.dtype).tolist()


def assign_linear(m: Any, offsets: Any, target: Any, forms: Forms, tighten: bool) -> None:
    """Assign an interval linear form."""
    variables, lows, highs, up, down, starts = forms
    if offsets is None:
        target = np.array([target])
        up, down = np.array([up], m.dtype), np.array([down], m.dtype)
    lists = _cut(variables, starts), variables, lows, highs
    cut, outer = _cut(m, offsets), outer_of(m.dtype)
    entry_points.assign_linear(m, cut, target, *lists, up, down, tighten, outer)


def unary(out: Any, m: Any, offsets: Any, starts: Any) -> None:
    """Read twice the bounds."""
    entry_points.unary(out, _cut(out, starts), m, _cut(m, offsets))


def select(out: Any, m: Any, variables: Any, offsets: Any, out_offsets: Any, starts: Any) -> None:
    """Read some variables."""
    both = out, _cut(out, out_offsets), m, _cut(m, offsets)
    entry_points.select(*both, variables, _cut(variables, starts), outer_of(m.dtype))


def place(out: Any, m: Any, variables: Any, offsets: Any, out_offsets: Any, starts: Any) -> None:
    """Write some variables."""
    both = out, _cut(out, out_offsets), m, _cut(m, offsets)
    entry_points.place(*both, variables, _cut(variables, starts), outer_of(m.dtype))


def minimal(out: Any, m: Any, offsets: Any) -> None:
    """Mark the constraints to keep."""
    for begin, end in pairwise(_cut(m, offsets)):
        reduction.minimal(out[begin:end], m[begin:end])


def _flags(offsets: Any) -> Any:
    return np.empty(len(offsets) - 1, np.bool_)
