"""Octagons as min-plus matrices: closing them, and every operation on closed ones.

How an octagon lies in memory is said in `layout`. Every operation is on a batch of octagons of any
sizes: one flat array `m` and `offsets` (int64), octagon t being m[offsets[t]:offsets[t + 1]].
Without offsets `m` is one octagon, a batch of one:

    argument                    in a batch                               for one octagon
    variable, up, down, negate  an array with one for each octagon       a number
    rows, variables, lows, ...  an array cut by `starts` (int64)         an array
    a returned flag             an array of bool                         a bool

They run where `m` lies: on the CPU for an array of NumPy, on the GPU for one of CuPy. All work in
place on arrays of one type:

- float64: every sum is rounded upwards, so no bound is ever below the exact one.
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
from kleene.kernels import launch
from kleene.kernels.minplus import check
from kleene.kernels.minplus.cpu import operations
from kleene.kernels.minplus.layout import (
    DTYPES,
    OBJECT,
    Array,
    Each,
    Forms,
    cell,
    exact_dtype,
    infinity,
    least_bound,
    limit,
    lowest,
    n_variables,
    offsets_of,
    size,
    top,
)

__all__ = [
    "CUDA_FROM_VARIABLES", "DTYPES", "OBJECT", "Forms", "add", "assign", "assign_interval",
    "assign_linear", "cell", "choose", "close", "close_after", "equals", "exact_dtype", "forget",
    "includes", "infinity", "join", "least_bound", "limit", "lowest", "meet", "minimal",
    "n_variables", "narrow", "offsets_of", "place", "select", "size", "strengthen", "top",
    "unary", "widen",
]  # fmt: skip

# From here on the library's operations that close are four times as fast on an H200 as on the 16
# threads of its host, a guard 2.6 times, and no other loses more than 0.2 ms
# (benchmarks/octagon_cuda_library.py); at 256 variables the common ones lose five to ten times.
CUDA_FROM_VARIABLES = 512
_THRESHOLDS = {dtype: np.zeros(0, dtype) for dtype in DTYPES}


def choose(n_variables: int) -> tuple[Device, str]:
    """Return where an octagon should lie that many operations will be asked of, and why."""
    why = f"{n_variables} variables; a GPU pays from {CUDA_FROM_VARIABLES}"
    if n_variables >= CUDA_FROM_VARIABLES and (reason := launch.gpu_problem()):
        return Device.CPU, reason
    return Device.CPU if n_variables < CUDA_FROM_VARIABLES else Device.CUDA, why


def _backend(m: Array) -> Any:
    """Return the module that computes where an array lies: each operation, arguments by place."""
    if type(m) is np.ndarray:
        return operations
    from kleene.kernels.minplus import cuda  # compiles nothing yet, but few callers ask for it

    return cuda


def close(m: Array, offsets: Array = None, *, tighten: bool = False) -> Any:
    """Return whether the octagon has a point, having closed it.

    Cost: 4n³ sums. Emptiness is found at the first negative cycle, before the rest is computed.
    """
    check.octagons(m, offsets)
    return _answer(_backend(m).close(m, offsets, tighten), offsets)


def strengthen(m: Array, offsets: Array = None, *, tighten: bool = False) -> Any:
    """Return whether the octagon has a point, having combined its unary bounds; O(n²).

    What it gives is closed where no path gives a tighter bound: in a box, or in closed octagons of
    different variables placed in one.
    """
    check.octagons(m, offsets)
    return _answer(_backend(m).strengthen(m, offsets, tighten), offsets)


def close_after(
    m: Array,
    rows: Array,
    columns: Array,
    bounds: Array,
    *,
    offsets: Array = None,
    starts: Array = None,
    tighten: bool = False,
) -> Any:
    """Return whether a closed octagon has a point under more constraints, having closed it again.

    Constraint t says V'[columns[t]] - V'[rows[t]] <= bounds[t]. Cost: O(n²) for each that tightens
    something, O(1) for the others.
    """
    check.constraints(m, offsets, rows, columns, bounds, starts)
    found = _backend(m).close_after(m, offsets, rows, columns, bounds, starts, tighten)
    return _answer(found, offsets)


def add(
    m: Array,
    rows: Array,
    columns: Array,
    bounds: Array,
    *,
    offsets: Array = None,
    starts: Array = None,
) -> None:
    """Add the constraints V'[columns[t]] - V'[rows[t]] <= bounds[t], and close nothing."""
    check.constraints(m, offsets, rows, columns, bounds, starts)
    _backend(m).add(m, offsets, rows, columns, bounds, starts)


def join(out: Array, a: Array, b: Array, offsets: Array = None) -> None:
    """Write the least octagon around two closed ones; it is closed."""
    check.pairs(out, a, b, offsets)
    _backend(out).join(out, a, b)


def meet(out: Array, a: Array, b: Array, offsets: Array = None) -> None:
    """Write the constraints of both; closed arguments do not make it closed."""
    check.pairs(out, a, b, offsets)
    _backend(out).meet(out, a, b)


def widen(
    out: Array, a: Array, b: Array, thresholds: Array = None, *, offsets: Array = None
) -> None:
    """Write each bound of `a` that holds in `b`, and for others the next threshold or none.

    `thresholds`, the same for all octagons of a batch, ascend and are bounds on V'[j] - V'[i] and
    on V'[i], so a unary cell, which holds twice a bound, takes twice a threshold. For a chain of
    widenings to end, `a` must be the last result as it was written, not closed; `b` is better
    closed.
    """
    check.pairs(out, a, b, offsets)
    steps = _THRESHOLDS[a.dtype] if thresholds is None else thresholds
    check.thresholds(a, steps)
    _backend(out).widen(out, a, b, offsets, steps)


def narrow(out: Array, a: Array, b: Array, offsets: Array = None) -> None:
    """Write the bounds of `a`, and those of `b` where `a` has none."""
    check.pairs(out, a, b, offsets)
    _backend(out).narrow(out, a, b, offsets)


def includes(a: Array, b: Array, offsets: Array = None) -> Any:
    """Return whether every point of `b` is in `a`, if `b` is closed; True is right in any case."""
    check.octagons(a, offsets, is_written=False)
    check.same(a, b)
    return _answer(_backend(a).includes(a, b, offsets), offsets)


def equals(a: Array, b: Array, offsets: Array = None) -> Any:
    """Return whether all bounds are equal: if both are closed, whether their points are."""
    check.octagons(a, offsets, is_written=False)
    check.same(a, b)
    return _answer(_backend(a).equals(a, b, offsets), offsets)


def forget(m: Array, variable: Each, *, offsets: Array = None) -> None:
    """Drop every bound on a variable; what was closed stays closed."""
    check.variables(m, offsets, variable)
    _backend(m).forget(m, offsets, variable)


def assign(
    m: Array,
    target: Each,
    source: Each,
    *,
    up: Each,
    down: Each,
    negate: Each = False,
    offsets: Array = None,
) -> None:
    """Assign x := y + d, or -y + d, for all d with d <= up and -d <= down; O(n).

    The two variables may be the same. What was closed stays closed; if it was not, bounds are lost
    with the old value of x.
    """
    check.variables(m, offsets, target, source)
    check.ends(m, offsets, up, down, negate)
    _backend(m).assign(m, offsets, target, source, negate, up, down)


def assign_interval(
    m: Array, variable: Each, *, up: Each, down: Each, offsets: Array = None
) -> None:
    """Assign x := d, for all d with d <= up and -d <= down; O(n), and keeps it closed."""
    check.variables(m, offsets, variable)
    check.ends(m, offsets, up, down)
    _backend(m).assign_interval(m, offsets, variable, up, down)


def assign_linear(
    m: Array, target: Each, forms: Forms, *, offsets: Array = None, tighten: bool = False
) -> None:
    """Assign x := Σ c_t y_t + d for all c_t in lows[t]..highs[t], d <= up and -d <= down.

    Variables differ, x may be among them: its old value is meant. An interval linear form, as Miné
    has them: bounds of it, and of its sums and differences with each of its variables, come from
    the bounds of single variables; so x := x + d and a known y - z are better left to `assign` and
    `close_after`. What was closed stays closed, if each point has a value; with `tighten` a whole
    one, and bounds on x are rounded down. Cost: O(n) for each term; no terms: `assign_interval`.
    """
    check.variables(m, offsets, target)
    check.forms(m, offsets, forms)
    _backend(m).assign_linear(m, offsets, target, forms, tighten)


def unary(out: Array, m: Array, *, offsets: Array = None, starts: Array = None) -> None:
    """Write to out[i] (of 2n elements) twice the bound of V'[i]: of 2x at 2k, of -2x at 2k+1."""
    check.octagons(m, offsets, is_written=False)
    length = len(out) if offsets is not None else 2 * n_variables(len(m))
    check.column(out, m.dtype, length, "out")
    check.writeable(out)
    check.cut(offsets, starts, len(out))
    _backend(out).unary(out, m, offsets, starts)


def select(
    out: Array,
    m: Array,
    variables: Array,
    *,
    offsets: Array = None,
    out_offsets: Array = None,
    starts: Array = None,
) -> None:
    """Write the octagon whose variable k is variables[k] of `m`, or is free where that is -1.

    No variable of `m` may come twice. A closed `m` gives a closed `out`.
    """
    check.chosen(out, out_offsets, m, offsets, variables, starts, least=-1)
    _backend(out).select(out, m, variables, offsets, out_offsets, starts)


def place(
    out: Array,
    m: Array,
    variables: Array,
    *,
    offsets: Array = None,
    out_offsets: Array = None,
    starts: Array = None,
) -> None:
    """Overwrite in `out` all bounds between variables[k] with those between the variables k of `m`.

    To put closed octagons of different variables together: `place` them in `top`, `strengthen`.
    """
    check.chosen(m, offsets, out, out_offsets, variables, starts, least=0)
    check.writeable(out)
    _backend(out).place(out, m, variables, offsets, out_offsets, starts)


def minimal(out: Array, m: Array, offsets: Array = None) -> None:
    """Mark in `out` (of bool) elements of a closed octagon that give all others, none to spare.

    Closing those again gives the octagon back, and without any of them it does not (integers closed
    by tightening may still spare some). Of an empty octagon the first element is marked.
    """
    check.octagons(m, offsets, is_written=False)
    check.column(out, np.dtype(np.bool_), len(m), "out")
    check.writeable(out)
    _backend(out).minimal(out, m, offsets)


def _answer(found: Any, offsets: Array) -> Any:
    """Return flags, or the only one as a bool."""
    return bool(found) if offsets is None else found
