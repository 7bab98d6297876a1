"""The operations on one octagon on CPUs; see `kleene.kernels.minplus`.

Those that are called most have entries of their own, `single`. Each of the others is a batch of
one: that costs a microsecond or two a call, and halves what is compiled.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from kleene.kernels.minplus import reference
from kleene.kernels.minplus.cpu import batch, closure, single
from kleene.kernels.minplus.cpu.tile import CLOSED, WIDER
from kleene.kernels.minplus.cpu.types import inner_of, outer_of
from kleene.kernels.minplus.layout import Forms


@cache
def _whole(n_elements: int) -> Any:
    """Return the offsets of a batch with one octagon."""
    return np.array([0, n_elements])


def close(m: Any, tighten: bool) -> bool:
    """Close strongly."""
    offsets, outer = _whole(len(m)), outer_of(m.dtype)
    for inner in inner_of(m.dtype):
        code = closure.close_one(m, offsets, outer, inner, tighten)
        if code != WIDER:
            return code == CLOSED
    return reference.close(m, tighten)


def strengthen(m: Any, tighten: bool) -> bool:
    """Combine unary bounds."""
    return bool(batch.strengthen(m, _whole(len(m)), tighten)[0])


def close_after(m: Any, rows: Any, columns: Any, bounds: Any, tighten: bool) -> bool:
    """Add constraints to a closed octagon and close it again."""
    starts = _whole(len(rows))
    return bool(batch.close_after(m, _whole(len(m)), starts, rows, columns, bounds, tighten)[0])


def add(m: Any, rows: Any, columns: Any, bounds: Any) -> None:
    """Add constraints."""
    batch.add(m, _whole(len(m)), _whole(len(rows)), rows, columns, bounds)


def join(out: Any, a: Any, b: Any) -> None:
    """Write the pointwise maximum."""
    np.maximum(a, b, out=out)


def meet(out: Any, a: Any, b: Any) -> None:
    """Write the pointwise minimum."""
    np.minimum(a, b, out=out)


def widen(out: Any, a: Any, b: Any, thresholds: Any) -> None:
    """Keep stable bounds."""
    batch.widen(out, a, b, _whole(len(a)), thresholds)


def narrow(out: Any, a: Any, b: Any) -> None:
    """Refine missing bounds only."""
    batch.narrow(out, a, b, _whole(len(a)))


def includes(a: Any, b: Any) -> bool:
    """Return whether every bound of `a` is no tighter than that of `b`."""
    return bool(single.includes(a, b))


def equals(a: Any, b: Any) -> bool:
    """Return whether all bounds are the same."""
    return bool(batch.equals(a, b, _whole(len(a)))[0])


def forget(m: Any, variable: int) -> None:
    """Drop all bounds on a variable."""
    single.forget(m, variable, outer_of(m.dtype))


def shift(m: Any, variable: int, negate: bool, up: Any, down: Any) -> None:
    """Assign x := ±x + d."""
    assign(m, variable, variable, negate, up, down)


def assign(m: Any, target: int, source: int, negate: bool, up: Any, down: Any) -> None:
    """Assign x := ±y + d."""
    single.move(m, target, source, bool(negate), *_numbers(m, up, down))


def assign_interval(m: Any, variable: int, up: Any, down: Any) -> None:
    """Assign x := d."""
    single.set_interval(m, variable, *_numbers(m, up, down))


def assign_linear(
    m: Any,
    target: int,
    variables: Any,
    lows: Any,
    highs: Any,
    up: Any,
    down: Any,
    tighten: bool,
) -> None:
    """Assign an interval linear form."""
    ends = np.array([up], m.dtype), np.array([down], m.dtype)
    form = Forms(_whole(len(variables)), variables, lows, highs, *ends)
    batch.assign_linear(m, _whole(len(m)), np.array([target]), form, tighten)


def _numbers(m: Any, up: Any, down: Any) -> Any:
    """Return two elements as Python's numbers."""
    return np.array([up, down], m.dtype).tolist()


def unary(out: Any, m: Any) -> None:
    """Read twice the bounds."""
    batch.unary(out, _whole(len(out)), m, _whole(len(m)))


def select(out: Any, m: Any, variables: Any) -> None:
    """Read some variables."""
    sizes = _whole(len(out)), _whole(len(m)), _whole(len(variables))
    batch.select(out, sizes[0], m, sizes[1], variables, sizes[2])


def place(out: Any, m: Any, variables: Any) -> None:
    """Write some variables."""
    sizes = _whole(len(out)), _whole(len(m)), _whole(len(variables))
    batch.place(out, sizes[0], m, sizes[1], variables, sizes[2])


def minimal(out: Any, m: Any) -> None:
    """Mark the constraints to keep."""
    batch.minimal(out, m, _whole(len(m)))
