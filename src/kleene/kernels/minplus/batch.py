"""The operations of `kleene.kernels.minplus` on many octagons of any sizes in one call.

A batch is one flat array `m` and `offsets` (int64): octagon t is m[offsets[t]:offsets[t + 1]]. An
argument that is one number there is an array with one for each octagon here; one that is a list
there is a flat array here, cut by `starts` (int64) as `m` is by `offsets`. A returned flag is an
array of bool. Variables, rows and columns are int64; `up`, `down`, `bounds` of the type of `m`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.base import arrays
from kleene.base.device import Device
from kleene.kernels.minplus import check
from kleene.kernels.minplus.backends import of
from kleene.kernels.minplus.layout import Forms, size


def offsets_of(n_variables: Any) -> np.ndarray:
    """Return the offsets of octagons with these numbers of variables."""
    return arrays.offsets_of([size(int(n)) for n in n_variables])


def close(m: Any, offsets: Any, *, tighten: bool = False, device: Device = Device.CPU) -> Any:
    """Close each; return which have a point."""
    check.batch(m, offsets)
    return of(device).batch.close(m, offsets, tighten)


def strengthen(m: Any, offsets: Any, *, tighten: bool = False, device: Device = Device.CPU) -> Any:
    """Combine the unary bounds of each; return which have a point."""
    check.batch(m, offsets)
    return of(device).batch.strengthen(m, offsets, tighten)


def close_after(
    m: Any,
    offsets: Any,
    starts: Any,
    rows: Any,
    columns: Any,
    bounds: Any,
    *,
    tighten: bool = False,
    device: Device = Device.CPU,
) -> Any:
    """Add constraints starts[t] to starts[t + 1] to closed octagon t, and close it again."""
    _check_constraints(m, offsets, starts, rows, columns, bounds)
    return of(device).batch.close_after(m, offsets, starts, rows, columns, bounds, tighten)


def add(
    m: Any,
    offsets: Any,
    starts: Any,
    rows: Any,
    columns: Any,
    bounds: Any,
    *,
    device: Device = Device.CPU,
) -> None:
    """Add constraints starts[t] to starts[t + 1] to octagon t."""
    _check_constraints(m, offsets, starts, rows, columns, bounds)
    of(device).batch.add(m, offsets, starts, rows, columns, bounds)


def join(out: Any, a: Any, b: Any, offsets: Any, *, device: Device = Device.CPU) -> None:
    """Write the join of each pair."""
    _check_pairs(out, a, b, offsets)
    of(device).batch.join(out, a, b, offsets)


def meet(out: Any, a: Any, b: Any, offsets: Any, *, device: Device = Device.CPU) -> None:
    """Write the meet of each pair."""
    _check_pairs(out, a, b, offsets)
    of(device).batch.meet(out, a, b, offsets)


def widen(
    out: Any, a: Any, b: Any, offsets: Any, thresholds: Any, *, device: Device = Device.CPU
) -> None:
    """Widen each pair, all with the same thresholds (none: of no elements)."""
    _check_pairs(out, a, b, offsets)
    check.thresholds(a, thresholds)
    of(device).batch.widen(out, a, b, offsets, thresholds)


def narrow(out: Any, a: Any, b: Any, offsets: Any, *, device: Device = Device.CPU) -> None:
    """Narrow each pair."""
    _check_pairs(out, a, b, offsets)
    of(device).batch.narrow(out, a, b, offsets)


def includes(a: Any, b: Any, offsets: Any, *, device: Device = Device.CPU) -> Any:
    """Return which octagons of `a` include those of `b`."""
    check.batch(a, offsets)
    check.same(a, b)
    return of(device).batch.includes(a, b, offsets)


def equals(a: Any, b: Any, offsets: Any, *, device: Device = Device.CPU) -> Any:
    """Return which octagons are equal."""
    check.batch(a, offsets)
    check.same(a, b)
    return of(device).batch.equals(a, b, offsets)


def forget(m: Any, offsets: Any, variables: Any, *, device: Device = Device.CPU) -> None:
    """Forget variables[t] of octagon t."""
    _check_variables(m, offsets, variables, "variables")
    of(device).batch.forget(m, offsets, variables)


def shift(
    m: Any,
    offsets: Any,
    variables: Any,
    negate: Any,
    up: Any,
    down: Any,
    *,
    device: Device = Device.CPU,
) -> None:
    """Assign x := x + d in each, or -x + d where `negate` (bool) says so."""
    _check_variables(m, offsets, variables, "variables")
    _check_ends(m, offsets, up, down, negate)
    of(device).batch.shift(m, offsets, variables, negate, up, down)


def assign(
    m: Any,
    offsets: Any,
    targets: Any,
    sources: Any,
    negate: Any,
    up: Any,
    down: Any,
    *,
    device: Device = Device.CPU,
) -> None:
    """Assign x := y + d in each, or -y + d where `negate` (bool) says so."""
    _check_variables(m, offsets, targets, "targets")
    check.of_each(offsets, sources, None, 0, 1, "sources")
    _check_ends(m, offsets, up, down, negate)
    of(device).batch.assign(m, offsets, targets, sources, negate, up, down)


def assign_interval(
    m: Any, offsets: Any, variables: Any, up: Any, down: Any, *, device: Device = Device.CPU
) -> None:
    """Assign x := d in each."""
    _check_variables(m, offsets, variables, "variables")
    _check_ends(m, offsets, up, down, None)
    of(device).batch.assign_interval(m, offsets, variables, up, down)


def assign_linear(
    m: Any,
    offsets: Any,
    targets: Any,
    forms: Forms,
    *,
    tighten: bool = False,
    device: Device = Device.CPU,
) -> None:
    """Assign form t to targets[t] in octagon t."""
    starts, variables, lows, highs, up, down = forms
    _check_variables(m, offsets, targets, "targets")
    _check_ends(m, offsets, up, down, None)
    check.starts(starts, len(offsets) - 1, len(variables))
    check.of_each(offsets, variables, starts, 0, 1, "variables")
    check.distinct(starts, variables)
    check.coefficients(m, lows, highs, len(variables))
    of(device).batch.assign_linear(m, offsets, targets, forms, tighten)


def unary(out: Any, starts: Any, m: Any, offsets: Any, *, device: Device = Device.CPU) -> None:
    """Write twice the bounds of octagon t to out[starts[t]:starts[t + 1]], two a variable."""
    check.batch(m, offsets)
    check.column(out, m.dtype, len(out), "out")
    check.starts(starts, len(offsets) - 1, len(out))
    of(device).batch.unary(out, starts, m, offsets)


def select(
    out: Any,
    out_offsets: Any,
    m: Any,
    offsets: Any,
    variables: Any,
    starts: Any,
    *,
    device: Device = Device.CPU,
) -> None:
    """Write to octagon t of `out` the variables starts[t] to starts[t + 1] of octagon t of `m`."""
    _check_chosen(out, out_offsets, m, offsets, variables, starts)
    check.of_each(offsets, variables, starts, -1, 1, "variables")
    of(device).batch.select(out, out_offsets, m, offsets, variables, starts)


def place(
    out: Any,
    out_offsets: Any,
    m: Any,
    offsets: Any,
    variables: Any,
    starts: Any,
    *,
    device: Device = Device.CPU,
) -> None:
    """Overwrite variables starts[t] to starts[t + 1] of octagon t of `out` by octagon t of `m`."""
    _check_chosen(out, out_offsets, m, offsets, variables, starts)
    check.of_each(out_offsets, variables, starts, 0, 1, "variables")
    of(device).batch.place(out, out_offsets, m, offsets, variables, starts)


def minimal(out: Any, m: Any, offsets: Any, *, device: Device = Device.CPU) -> None:
    """Mark the constraints of each to keep."""
    check.batch(m, offsets)
    check.column(out, np.dtype(np.bool_), len(m), "out")
    of(device).batch.minimal(out, m, offsets)


def _check_pairs(out: Any, a: Any, b: Any, offsets: Any) -> None:
    check.batch(out, offsets)
    check.same(out, a, b)


def _check_variables(m: Any, offsets: Any, variables: Any, name: str) -> None:
    check.batch(m, offsets)
    check.of_each(offsets, variables, None, 0, 1, name)


def _check_chosen(
    out: Any, out_offsets: Any, m: Any, offsets: Any, variables: Any, starts: Any
) -> None:
    check.batch(m, offsets)
    check.batch(out, out_offsets)
    check.column(out, m.dtype, len(out), "out")
    check.starts(starts, len(offsets) - 1, len(variables))


def _check_constraints(
    m: Any, offsets: Any, starts: Any, rows: Any, columns: Any, bounds: Any
) -> None:
    check.batch(m, offsets)
    check.starts(starts, len(offsets) - 1, len(rows))
    check.of_each(offsets, rows, starts, 0, 2, "rows")
    check.column(columns, rows.dtype, len(rows), "columns")
    check.of_each(offsets, columns, starts, 0, 2, "columns")
    check.column(bounds, m.dtype, len(rows), "bounds")


def _check_ends(m: Any, offsets: Any, up: Any, down: Any, negate: Any) -> None:
    n_octagons = len(offsets) - 1
    check.column(up, m.dtype, n_octagons, "up")
    check.column(down, m.dtype, n_octagons, "down")
    if negate is not None:
        check.column(negate, np.dtype(np.bool_), n_octagons, "negate")
