"""The operations on one octagon on GPUs; see `kleene.kernels.minplus`.

Octagons are arrays on the GPU (`to_device`, `to_host` move them), and stay there: nothing is copied
back but the answer of an operation that returns a bool, for which it waits. Small octagons are
batches of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kleene.kernels.minplus.cuda import batch, closure
from kleene.kernels.minplus.cuda.modules import arrays, ends, few, module, run, to_device, to_host
from kleene.kernels.minplus.layout import Forms, infinity, n_variables

__all__ = ["batch", "to_device", "to_host"]


def close(m: Any, tighten: bool) -> bool:
    """Close strongly."""
    arrays(m)
    n = n_variables(len(m))
    close_one = closure.close_large if n > closure.LARGEST_ALONE else closure.close_tile
    return close_one(m, n, tighten)


def strengthen(m: Any, tighten: bool) -> bool:
    """Combine unary bounds."""
    if n_variables(len(m)) > closure.LARGEST_TILE:
        return _revise(m, "prepare_given", [(np.int32(-1), np.int32(-1), m.dtype.type(0))], tighten)
    return bool(batch.strengthen(m, ends(len(m)), tighten).item())


def close_after(m: Any, rows: Any, columns: Any, bounds: Any, tighten: bool) -> bool:
    """Add constraints to a closed octagon and close it again."""
    if n_variables(len(m)) > closure.LARGEST_TILE:
        arrays(rows, columns, bounds)
        turns = [(rows, columns, bounds, np.int32(s)) for s in range(len(rows))]
        return _revise(m, "prepare_one", turns, tighten)
    starts = ends(len(rows))
    return bool(batch.close_after(m, ends(len(m)), starts, rows, columns, bounds, tighten).item())


def constrain(
    m: Any, rows: Sequence[int], columns: Sequence[int], bounds: Sequence[Any], tighten: bool
) -> bool:
    """Do what `close_after` does with constraints of the host: they travel with the launches."""
    cells = zip(rows, columns, bounds, strict=True)
    turns = [(np.int32(i), np.int32(j), m.dtype.type(bound)) for i, j, bound in cells]
    return _revise(m, "prepare_given", turns, tighten)


def _revise(m: Any, kernel: str, turns: list[Any], tighten: bool) -> bool:
    """Take up constraints, as `kernel` wants them, one after the other with all of the GPU."""
    xp, n = arrays(m), np.int32(n_variables(len(m)))
    if not turns or not n:
        return not (n and m[:1].item() < 0)
    room, code = xp.empty(12 * int(n), m.dtype), xp.ones(1, np.int32)
    kernels, flag = module("revise", m.dtype), np.int32(tighten)
    for constraint in turns:
        kernels.launch(kernel, (1,), (1024,), (m, n, *constraint, flag, room, code))
        run("revise", "apply_one", m.dtype, 1, len(m), m, n, flag, room, code)
    return bool(code.item() != closure.EMPTY)


def add(m: Any, rows: Any, columns: Any, bounds: Any) -> None:
    """Add constraints: two cells each, and nothing else is touched."""
    batch.add(m, ends(len(m)), ends(len(rows)), rows, columns, bounds)


def join(out: Any, a: Any, b: Any) -> None:
    """Write the pointwise maximum."""
    batch.join(out, a, b, None)


def meet(out: Any, a: Any, b: Any) -> None:
    """Write the pointwise minimum."""
    batch.meet(out, a, b, None)


def widen(out: Any, a: Any, b: Any, thresholds: Any) -> None:
    """Keep stable bounds."""
    batch.widen(out, a, b, ends(len(a)), thresholds)


def narrow(out: Any, a: Any, b: Any) -> None:
    """Refine missing bounds only."""
    batch.narrow(out, a, b, ends(len(a)))


def includes(a: Any, b: Any) -> bool:
    """Return whether every bound of `a` is no tighter than that of `b`."""
    return bool(batch.includes(a, b, ends(len(a))).item())


def equals(a: Any, b: Any) -> bool:
    """Return whether all bounds are the same."""
    return bool(batch.equals(a, b, ends(len(a))).item())


def forget(m: Any, variable: int) -> None:
    """Drop all bounds on a variable."""
    free = infinity(m.dtype)
    assign_interval(m, variable, free, free)


def shift(m: Any, variable: int, negate: bool, up: Any, down: Any) -> None:
    """Assign x := ±x + d."""
    assign(m, variable, variable, negate, up, down)


def assign(m: Any, target: int, source: int, negate: bool, up: Any, down: Any) -> None:
    """Assign x := ±y + d."""
    arrays(m)
    n = n_variables(len(m))
    args = (np.int32(n), np.int32(target), np.int32(source), np.int32(negate))
    run("operations", "move_one", m.dtype, 1, 2 * n, m, *args, *_two(m, up, down))


def assign_interval(m: Any, variable: int, up: Any, down: Any) -> None:
    """Assign x := d."""
    arrays(m)
    n = n_variables(len(m))
    args = (np.int32(n), np.int32(variable), *_two(m, up, down))
    run("operations", "set_one", m.dtype, 1, 2 * n, m, *args)


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
    xp, n = arrays(m, variables, lows, highs), n_variables(len(m))
    limits = to_device(np.array([up, down], m.dtype))
    form = Forms(ends(len(variables)), variables, lows, highs, limits[:1], limits[1:])
    room = xp.empty(8 * n + 2, m.dtype)
    batch.assign_forms(m, ends(len(m)), few(target), form, tighten, room, 2 * n)


def unary(out: Any, m: Any) -> None:
    """Read twice the bounds."""
    batch.unary(out, ends(len(out)), m, ends(len(m)))


def select(out: Any, m: Any, variables: Any) -> None:
    """Read some variables."""
    batch.select(out, ends(len(out)), m, ends(len(m)), variables, ends(len(variables)))


def place(out: Any, m: Any, variables: Any) -> None:
    """Write some variables."""
    batch.place(out, ends(len(out)), m, ends(len(m)), variables, ends(len(variables)))


def minimal(out: Any, m: Any) -> None:
    """Mark the constraints to keep."""
    is_lead, n = batch.mark_small(out, m, ends(len(m))), n_variables(len(m))
    if n > closure.LARGEST_TILE:
        closure.mark_needed(out, m, n, is_lead)


def labels(m: Any) -> Any:
    """Return for each variable the least of its group; see `batch.relate`."""
    n = n_variables(len(m))
    found = arrays(m).empty(n, np.int32)
    batch.relate(found, ends(n), m, ends(len(m)))
    return found


def greatest(m: Any) -> int:
    """Return the greatest absolute value of a bound, of integers."""
    return int(batch.greatest(m, ends(len(m))).item())


def divisor(m: Any, of: int) -> int:
    """Return the greatest that divides all bounds, of integers, and `of`."""
    found = arrays(m).full(1, of, np.uint64)
    batch.divide(found, m, ends(len(m)))
    return int(found.item())


def _two(m: Any, up: Any, down: Any) -> tuple[Any, Any]:
    return m.dtype.type(up), m.dtype.type(down)
