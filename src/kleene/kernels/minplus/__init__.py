"""Octagons as min-plus matrices: closing them, and every operation on closed ones.

How an octagon lies in memory is said in `layout`. Here are the operations on one octagon, in
`batch` the same on many of any sizes in one call. All work in place on arrays of one type:

- float64, float32: every sum is rounded upwards, so no bound is ever below the exact one.
- int64, int32, int16: sums are exact, or saturate: to infinity above, to the least bound below.
  `exact_dtype` says which type cannot saturate. A half is rounded upwards, unless `tighten` says
  that the variables are integers; then it is exact.

The diagonal holds 0. In an empty octagon every element is `lowest(dtype)`, below all bounds: so it
is known by its first element, takes part in joins and meets as any other, and every operation here
leaves it empty. `close` makes it so when it finds a negative cycle. An octagon of no variables has
no elements and is never empty.

A fault of the arguments is a ValueError: a type, shape, size or index that does not fit. Arrays of
indices are int64. NaN must not come in: nothing looks for it.

"Closed" means strongly closed: no path and no pair of unary bounds gives a tighter bound (Miné, The
octagon abstract domain, 2006; one strengthening after the shortest paths suffices: Bagnara, Hill,
Zaffanella, 2009). With `tighten` every bound is also reached by integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.base.device import Device
from kleene.kernels.minplus import check
from kleene.kernels.minplus.backends import of
from kleene.kernels.minplus.layout import (
    DTYPES,
    cell,
    convert,
    exact_dtype,
    infinity,
    least_bound,
    limit,
    lowest,
    magnitude,
    n_variables,
    size,
    top,
)

__all__ = [
    "DTYPES",
    "add",
    "assign",
    "assign_interval",
    "assign_linear",
    "cell",
    "close",
    "close_after",
    "convert",
    "equals",
    "exact_dtype",
    "forget",
    "includes",
    "infinity",
    "join",
    "least_bound",
    "limit",
    "lowest",
    "magnitude",
    "meet",
    "minimal",
    "n_variables",
    "narrow",
    "place",
    "select",
    "shift",
    "size",
    "strengthen",
    "top",
    "unary",
    "widen",
]

_BOOL = np.dtype(np.bool_)
_THRESHOLDS = {dtype: np.zeros(0, dtype) for dtype in DTYPES}


def close(m: Any, *, tighten: bool = False, device: Device = Device.CPU) -> bool:
    """Return whether the octagon has a point, having closed it.

    Cost: 4n³ sums. Emptiness is found at the first negative cycle, before the rest is computed.
    """
    check.written(m)
    return of(device).close(m, tighten)


def strengthen(m: Any, *, tighten: bool = False, device: Device = Device.CPU) -> bool:
    """Return whether the octagon has a point, having combined its unary bounds; O(n²).

    What it gives is closed where no path gives a tighter bound: in a box, or in closed octagons of
    different variables placed in one.
    """
    check.written(m)
    return of(device).strengthen(m, tighten)


def close_after(
    m: Any,
    rows: Any,
    columns: Any,
    bounds: Any,
    *,
    tighten: bool = False,
    device: Device = Device.CPU,
) -> bool:
    """Return whether a closed octagon has a point under more constraints, having closed it again.

    Constraint t says V'[columns[t]] - V'[rows[t]] <= bounds[t]. Cost: O(n²) for each that tightens
    something, O(1) for the others.
    """
    check.constraints(m, check.written(m), rows, columns, bounds)
    return of(device).close_after(m, rows, columns, bounds, tighten)


def add(m: Any, rows: Any, columns: Any, bounds: Any, *, device: Device = Device.CPU) -> None:
    """Add the constraints V'[columns[t]] - V'[rows[t]] <= bounds[t], and close nothing."""
    check.constraints(m, check.written(m), rows, columns, bounds)
    of(device).add(m, rows, columns, bounds)


def join(out: Any, a: Any, b: Any, *, device: Device = Device.CPU) -> None:
    """Write the least octagon around two closed ones; it is closed."""
    check.written(out)
    check.same(out, a, b)
    of(device).join(out, a, b)


def meet(out: Any, a: Any, b: Any, *, device: Device = Device.CPU) -> None:
    """Write the constraints of both; closed arguments do not make it closed."""
    check.written(out)
    check.same(out, a, b)
    of(device).meet(out, a, b)


def widen(out: Any, a: Any, b: Any, thresholds: Any = None, *, device: Device = Device.CPU) -> None:
    """Write each bound of `a` that holds in `b`, and for others the next threshold or none.

    `thresholds` ascend and are bounds on V'[j] - V'[i] and on V'[i], so a unary cell, which holds
    twice a bound, takes twice a threshold. For a chain of widenings to end, `a` must be the last
    result as it was written, not closed; `b` is better closed.
    """
    check.written(out)
    check.same(out, a, b)
    steps = _THRESHOLDS[a.dtype] if thresholds is None else thresholds
    check.thresholds(a, steps)
    of(device).widen(out, a, b, steps)


def narrow(out: Any, a: Any, b: Any, *, device: Device = Device.CPU) -> None:
    """Write the bounds of `a`, and those of `b` where `a` has none."""
    check.written(out)
    check.same(out, a, b)
    of(device).narrow(out, a, b)


def includes(a: Any, b: Any, *, device: Device = Device.CPU) -> bool:
    """Return whether every point of `b` is in `a`, if `b` is closed; True is right in any case."""
    check.one(a)
    check.same(a, b)
    return of(device).includes(a, b)


def equals(a: Any, b: Any, *, device: Device = Device.CPU) -> bool:
    """Return whether all bounds are equal: if both are closed, whether their points are."""
    check.one(a)
    check.same(a, b)
    return of(device).equals(a, b)


def forget(m: Any, variable: int, *, device: Device = Device.CPU) -> None:
    """Drop every bound on a variable; what was closed stays closed."""
    check.variable(check.written(m), variable)
    of(device).forget(m, variable)


def shift(
    m: Any, variable: int, *, up: Any, down: Any, negate: bool = False, device: Device = Device.CPU
) -> None:
    """Assign x := x + d, or -x + d, for all d with d <= up and -d <= down; keeps it closed."""
    check.variable(check.written(m), variable)
    of(device).shift(m, variable, negate, up, down)


def assign(
    m: Any,
    target: int,
    source: int,
    *,
    up: Any,
    down: Any,
    negate: bool = False,
    device: Device = Device.CPU,
) -> None:
    """Assign x := y + d, or -y + d, for all d with d <= up and -d <= down; O(n).

    The two variables differ. What was closed stays closed; if it was not, bounds are lost with the
    old value of x.
    """
    check.variable(check.written(m), target, source)
    check.apart(target, source)
    of(device).assign(m, target, source, negate, up, down)


def assign_interval(
    m: Any, variable: int, *, up: Any, down: Any, device: Device = Device.CPU
) -> None:
    """Assign x := d, for all d with d <= up and -d <= down; O(n), and keeps it closed."""
    check.variable(check.written(m), variable)
    of(device).assign_interval(m, variable, up, down)


def assign_linear(
    m: Any,
    target: int,
    variables: Any,
    lows: Any,
    highs: Any,
    *,
    up: Any,
    down: Any,
    tighten: bool = False,
    device: Device = Device.CPU,
) -> None:
    """Assign x := Σ c_t y_t + d for all c_t in lows[t]..highs[t], d <= up and -d <= down.

    Variables differ, x may be among them: its old value is meant. An interval linear form, as Miné
    has them: bounds of it, and of its sums and differences with each of its variables, come from
    the bounds of single variables; so x := x + d and a known y - z are better left to `shift` and
    `close_after`. What was closed stays closed, if each point has a value; with `tighten` a whole
    one, and bounds on x are rounded down. Cost: O(n) for each term; no terms: `assign_interval`.
    """
    n = check.written(m)
    check.variable(n, target)
    check.terms(m, n, variables, lows, highs)
    of(device).assign_linear(m, target, variables, lows, highs, up, down, tighten)


def unary(out: Any, m: Any, *, device: Device = Device.CPU) -> None:
    """Write to out[i] (of 2n elements) twice the bound of V'[i]: of 2x at 2k, of -2x at 2k+1."""
    check.column(out, m.dtype, 2 * check.one(m), "out")
    check.writeable(out)
    of(device).unary(out, m)


def select(out: Any, m: Any, variables: Any, *, device: Device = Device.CPU) -> None:
    """Write the octagon whose variable k is variables[k] of `m`, or is free where that is -1.

    No variable of `m` may come twice. A closed `m` gives a closed `out`.
    """
    check.indices(variables, check.written(out), -1, check.one(m), "variables")
    check.column(out, m.dtype, len(out), "out")
    of(device).select(out, m, variables)


def place(out: Any, m: Any, variables: Any, *, device: Device = Device.CPU) -> None:
    """Overwrite in `out` all bounds between variables[k] with those between the variables k of `m`.

    To put closed octagons of different variables together: `place` them in `top`, `strengthen`.
    """
    check.indices(variables, check.one(m), 0, check.written(out), "variables")
    check.column(m, out.dtype, len(m), "m")
    of(device).place(out, m, variables)


def minimal(out: Any, m: Any, *, device: Device = Device.CPU) -> None:
    """Mark in `out` (of bool) elements of a closed octagon that give all others, none to spare.

    Closing those again gives the octagon back, and without any of them it does not (integers closed
    by tightening may still spare some). Of an empty octagon the first element is marked.
    """
    check.one(m)
    check.column(out, _BOOL, len(m), "out")
    check.writeable(out)
    of(device).minimal(out, m)
