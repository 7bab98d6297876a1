"""The batched operations on CPUs; see `kleene.kernels.minplus.batch`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from kleene.kernels.minplus import reference
from kleene.kernels.minplus.cpu import closure, entries, linear, reduction
from kleene.kernels.minplus.cpu.tile import CLOSED, WIDER
from kleene.kernels.minplus.cpu.types import inner_of, outer_of
from kleene.kernels.minplus.layout import Forms


def close(m: Any, offsets: Any, tighten: bool) -> Any:
    """Close each; return which have a point."""
    codes = np.full(len(offsets) - 1, WIDER)
    for inner in inner_of(m.dtype):
        closure.close_all(m, offsets, codes, outer_of(m.dtype), inner, tighten)
        if not (codes == WIDER).any():
            return codes == CLOSED
    for t in np.flatnonzero(codes == WIDER):
        codes[t] = reference.close(m[offsets[t] : offsets[t + 1]], tighten)
    return codes == CLOSED


def strengthen(m: Any, offsets: Any, tighten: bool) -> Any:
    """Combine the unary bounds of each; return which have a point."""
    found = _flags(offsets)
    entries.strengthen(m, offsets, tighten, outer_of(m.dtype), found)
    return found


def close_after(
    m: Any, offsets: Any, starts: Any, rows: Any, columns: Any, bounds: Any, tighten: bool
) -> Any:
    """Add constraints to closed octagons and close each again; return which have a point."""
    found, outer = _flags(offsets), outer_of(m.dtype)
    entries.close_after(m, offsets, starts, rows, columns, bounds, tighten, outer, found)
    return found


def add(m: Any, offsets: Any, starts: Any, rows: Any, columns: Any, bounds: Any) -> None:
    """Add constraints to each."""
    entries.add(m, offsets, starts, rows, columns, bounds)


def join(out: Any, a: Any, b: Any, offsets: Any) -> None:
    """Write the join of each pair."""
    np.maximum(a, b, out=out)


def meet(out: Any, a: Any, b: Any, offsets: Any) -> None:
    """Write the meet of each pair."""
    np.minimum(a, b, out=out)


def widen(out: Any, a: Any, b: Any, offsets: Any, thresholds: Any) -> None:
    """Widen each pair."""
    entries.widen(out, a, b, offsets, thresholds, outer_of(a.dtype))


def narrow(out: Any, a: Any, b: Any, offsets: Any) -> None:
    """Narrow each pair."""
    entries.narrow(out, a, b, offsets, outer_of(a.dtype))


def includes(a: Any, b: Any, offsets: Any) -> Any:
    """Return which octagons of `a` include those of `b`."""
    found = _flags(offsets)
    entries.compare(a, b, offsets, False, found)
    return found


def equals(a: Any, b: Any, offsets: Any) -> Any:
    """Return which octagons are equal."""
    found = _flags(offsets)
    entries.compare(a, b, offsets, True, found)
    return found


def forget(m: Any, offsets: Any, variables: Any) -> None:
    """Forget a variable of each."""
    entries.forget(m, offsets, variables, outer_of(m.dtype))


def shift(m: Any, offsets: Any, variables: Any, negate: Any, up: Any, down: Any) -> None:
    """Assign x := ±x + d in each."""
    entries.move(m, offsets, variables, variables, negate, up, down)


def assign(
    m: Any, offsets: Any, targets: Any, sources: Any, negate: Any, up: Any, down: Any
) -> None:
    """Assign x := ±y + d in each."""
    entries.move(m, offsets, targets, sources, negate, up, down)


def assign_interval(m: Any, offsets: Any, variables: Any, up: Any, down: Any) -> None:
    """Assign x := d in each."""
    entries.set_interval(m, offsets, variables, up, down)


def assign_linear(m: Any, offsets: Any, targets: Any, forms: Forms, tighten: bool) -> None:
    """Assign an interval linear form in each."""
    linear.assign(m, offsets, targets, *forms, tighten, outer_of(m.dtype))


def unary(out: Any, starts: Any, m: Any, offsets: Any) -> None:
    """Read twice the bounds of each."""
    entries.unary(out, starts, m, offsets)


def select(out: Any, out_offsets: Any, m: Any, offsets: Any, variables: Any, starts: Any) -> None:
    """Read some variables of each."""
    entries.select(out, out_offsets, m, offsets, variables, starts, outer_of(m.dtype))


def place(out: Any, out_offsets: Any, m: Any, offsets: Any, variables: Any, starts: Any) -> None:
    """Write some variables of each."""
    entries.place(out, out_offsets, m, offsets, variables, starts, outer_of(m.dtype))


def minimal(out: Any, m: Any, offsets: Any) -> None:
    """Mark the constraints of each to keep."""
    for begin, end in pairwise(offsets):
        reduction.minimal(out[begin:end], m[begin:end])


def _flags(offsets: Any) -> Any:
    return np.empty(len(offsets) - 1, np.bool_)
