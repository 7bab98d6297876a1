"""The operations of `kleene.kernels.minplus` on many octagons of any sizes in one call.

A batch is one flat array `m` and `offsets` (int64): octagon t is m[offsets[t]:offsets[t + 1]]. An
argument that is one number there is an array with one for each octagon here; one that is a list
there is a flat array here, cut by `starts` (int64) as `m` is by `offsets`. A returned flag is an
array of bool. Variables, rows and columns are int64; `up`, `down`, `bounds` of the type of `m`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.base.device import Device
from kleene.kernels.minplus.backends import of
from kleene.kernels.minplus.layout import size


def offsets_of(n_variables: Any) -> np.ndarray:
    """Return the offsets of octagons with these numbers of variables."""
    lengths = [size(int(n)) for n in n_variables]
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def close(m: Any, offsets: Any, *, tighten: bool = False, device: Device = Device.CPU) -> Any:
    """Close each; return which have a point."""
    return of(device).batch.close(m, offsets, tighten)


def strengthen(m: Any, offsets: Any, *, tighten: bool = False, device: Device = Device.CPU) -> Any:
    """Combine the unary bounds of each; return which have a point."""
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
    of(device).batch.add(m, offsets, starts, rows, columns, bounds)


def join(out: Any, a: Any, b: Any, offsets: Any, *, device: Device = Device.CPU) -> None:
    """Write the join of each pair."""
    of(device).batch.join(out, a, b, offsets)


def meet(out: Any, a: Any, b: Any, offsets: Any, *, device: Device = Device.CPU) -> None:
    """Write the meet of each pair."""
    of(device).batch.meet(out, a, b, offsets)


def widen(
    out: Any, a: Any, b: Any, offsets: Any, thresholds: Any, *, device: Device = Device.CPU
) -> None:
    """Widen each pair, all with the same thresholds (none: of no elements)."""
    of(device).batch.widen(out, a, b, offsets, thresholds)


def narrow(out: Any, a: Any, b: Any, offsets: Any, *, device: Device = Device.CPU) -> None:
    """Narrow each pair."""
    of(device).batch.narrow(out, a, b, offsets)


def includes(a: Any, b: Any, offsets: Any, *, device: Device = Device.CPU) -> Any:
    """Return which octagons of `a` include those of `b`."""
    return of(device).batch.includes(a, b, offsets)


def equals(a: Any, b: Any, offsets: Any, *, device: Device = Device.CPU) -> Any:
    """Return which octagons are equal."""
    return of(device).batch.equals(a, b, offsets)


def forget(m: Any, offsets: Any, variables: Any, *, device: Device = Device.CPU) -> None:
    """Forget variables[t] of octagon t."""
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
    of(device).batch.assign(m, offsets, targets, sources, negate, up, down)


def assign_interval(
    m: Any, offsets: Any, variables: Any, up: Any, down: Any, *, device: Device = Device.CPU
) -> None:
    """Assign x := d in each."""
    of(device).batch.assign_interval(m, offsets, variables, up, down)


def unary(out: Any, starts: Any, m: Any, offsets: Any, *, device: Device = Device.CPU) -> None:
    """Write twice the bounds of octagon t to out[starts[t]:starts[t + 1]], two a variable."""
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
    of(device).batch.place(out, out_offsets, m, offsets, variables, starts)


def minimal(out: Any, m: Any, offsets: Any, *, device: Device = Device.CPU) -> None:
    """Mark the constraints of each to keep."""
    of(device).batch.minimal(out, m, offsets)
