"""The batched operations, defined: one octagon after the other."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from kleene.kernels.minplus import reference
from kleene.kernels.minplus.layout import Forms


def _each(offsets: Any, *arrays: Any) -> Any:
    for begin, end in pairwise(offsets):
        yield tuple(array[begin:end] for array in arrays)


def close(m: Any, offsets: Any, tighten: bool) -> Any:
    """Close each; return which have a point."""
    found = [reference.close(o, tighten) for (o,) in _each(offsets, m)]
    return np.array(found, np.bool_)


def strengthen(m: Any, offsets: Any, tighten: bool) -> Any:
    """Combine the unary bounds of each; return which have a point."""
    found = [reference.strengthen(o, tighten) for (o,) in _each(offsets, m)]
    return np.array(found, np.bool_)


def close_after(
    m: Any, offsets: Any, starts: Any, rows: Any, columns: Any, bounds: Any, tighten: bool
) -> Any:
    """Add constraints starts[t] to starts[t + 1] to closed octagon t, and close it again."""
    lists = zip(_each(offsets, m), _each(starts, rows, columns, bounds), strict=True)
    found = [reference.close_after(o, i, j, bound, tighten) for (o,), (i, j, bound) in lists]
    return np.array(found, np.bool_)


def add(m: Any, offsets: Any, starts: Any, rows: Any, columns: Any, bounds: Any) -> None:
    """Add constraints starts[t] to starts[t + 1] to octagon t."""
    for (o,), added in zip(_each(offsets, m), _each(starts, rows, columns, bounds), strict=True):
        reference.add(o, *added)


def join(out: Any, a: Any, b: Any, offsets: Any) -> None:
    """Write the join of each pair."""
    for three in _each(offsets, out, a, b):
        reference.join(*three)


def meet(out: Any, a: Any, b: Any, offsets: Any) -> None:
    """Write the meet of each pair."""
    for three in _each(offsets, out, a, b):
        reference.meet(*three)


def widen(out: Any, a: Any, b: Any, offsets: Any, thresholds: Any) -> None:
    """Widen each pair, all with the same thresholds (none: of no elements)."""
    for written, x, y in _each(offsets, out, a, b):
        reference.widen(written, x, y, thresholds)


def narrow(out: Any, a: Any, b: Any, offsets: Any) -> None:
    """Narrow each pair."""
    for three in _each(offsets, out, a, b):
        reference.narrow(*three)


def includes(a: Any, b: Any, offsets: Any) -> Any:
    """Return which octagons of `a` include those of `b`."""
    found = [reference.includes(*pair) for pair in _each(offsets, a, b)]
    return np.array(found, np.bool_)


def equals(a: Any, b: Any, offsets: Any) -> Any:
    """Return which octagons are equal."""
    found = [reference.equals(*pair) for pair in _each(offsets, a, b)]
    return np.array(found, np.bool_)


def forget(m: Any, offsets: Any, variables: Any) -> None:
    """Forget variables[t] of octagon t."""
    for (o,), variable in zip(_each(offsets, m), variables, strict=True):
        reference.forget(o, variable)


def shift(m: Any, offsets: Any, variables: Any, negate: Any, up: Any, down: Any) -> None:
    """Assign x := x + d in each, or -x + d where `negate` (bool) says so."""
    for (o,), *values in zip(_each(offsets, m), variables, negate, up, down, strict=True):
        reference.shift(o, *values)


def assign(
    m: Any, offsets: Any, targets: Any, sources: Any, negate: Any, up: Any, down: Any
) -> None:
    """Assign x := y + d in each, or -y + d where `negate` (bool) says so."""
    columns = (targets, sources, negate, up, down)
    for (o,), *values in zip(_each(offsets, m), *columns, strict=True):
        reference.assign(o, *values)


def assign_interval(m: Any, offsets: Any, variables: Any, up: Any, down: Any) -> None:
    """Assign x := d in each."""
    for (o,), *values in zip(_each(offsets, m), variables, up, down, strict=True):
        reference.assign_interval(o, *values)


def assign_linear(m: Any, offsets: Any, targets: Any, forms: Forms, tighten: bool) -> None:
    """Assign form t to targets[t] in octagon t."""
    starts, *terms, up, down = forms
    each = zip(_each(offsets, m), targets, _each(starts, *terms), up, down, strict=True)
    for (o,), x, (variables, lows, highs), high, low in each:
        reference.assign_linear(o, x, variables, lows, highs, high, low, tighten)


def unary(out: Any, starts: Any, m: Any, offsets: Any) -> None:
    """Write twice the bounds of octagon t to out[starts[t]:starts[t + 1]], two a variable."""
    for (written,), (o,) in zip(_each(starts, out), _each(offsets, m), strict=True):
        reference.unary(written, o)


def select(out: Any, out_offsets: Any, m: Any, offsets: Any, variables: Any, starts: Any) -> None:
    """Write to octagon t of `out` the variables starts[t] to starts[t + 1] of octagon t of `m`."""
    three = (_each(out_offsets, out), _each(offsets, m), _each(starts, variables))
    for (written,), (o,), (chosen,) in zip(*three, strict=True):
        reference.select(written, o, chosen)


def place(out: Any, out_offsets: Any, m: Any, offsets: Any, variables: Any, starts: Any) -> None:
    """Overwrite variables starts[t] to starts[t + 1] of octagon t of `out` by octagon t of `m`."""
    three = (_each(out_offsets, out), _each(offsets, m), _each(starts, variables))
    for (written,), (o,), (chosen,) in zip(*three, strict=True):
        reference.place(written, o, chosen)


def minimal(out: Any, m: Any, offsets: Any) -> None:
    """Mark the constraints of each to keep."""
    for pair in _each(offsets, out, m):
        reference.minimal(*pair)
