"""The cells of a component: integers in the narrowest exact type, or floats rounded upwards.

A component is a half matrix of difference bounds (DBM), laid out as in `kleene.kernels.minplus`.
Its cells are int16, int32, int64 or float64; where no machine integer is wide enough, Python's own
integers, with `INFINITY` for no bound, which the kernels' reference computes with. Here are the
kernels' operations on either, run where the cells lie (`memory`).
"""

from __future__ import annotations

from collections import Counter
from math import gcd, inf
from typing import Any

import numpy as np

from kleene.algebra import memory
from kleene.algebra.memory import Cells, beside, here, is_here
from kleene.kernels import minplus
from kleene.kernels.minplus import OBJECT, infinity, reference
from kleene.kernels.minplus.cpu import components as compiled
from kleene.kernels.minplus.cpu import operations, partition
from kleene.kernels.minplus.layout import INFINITY

FLOAT = np.dtype(np.float64)
INDEX = np.dtype(np.int64)


def magnitude(m: Cells) -> int:
    """Return the greatest absolute value of a bound."""
    if m.dtype == OBJECT:
        return max((abs(x) for x in m if x is not INFINITY), default=0)
    if not is_here(m):
        return int(memory.cuda().greatest(m))
    return int(operations.magnitude(m))


def room_for(n: int, greatest: int) -> np.dtype[Any]:
    """Return the type in which n variables with bounds up to `greatest` are closed exactly."""
    return minplus.exact_dtype(n, greatest) or OBJECT


def converted(m: Cells, dtype: np.dtype[Any], factor: int = 1) -> Cells:
    """Return a copy of the bounds, times `factor`, in a type that has room for them."""
    if m.dtype == dtype and factor == 1:
        return m.copy()
    if type(m) is np.ndarray and OBJECT not in (m.dtype, dtype):
        wide = np.empty(len(m), dtype)
        operations.convert(wide, m, factor)
        return wide
    m = here(m) if dtype == OBJECT else m
    is_free = m == infinity(m.dtype)
    finite = m.copy()
    finite[is_free] = 0
    out = finite.astype(dtype)
    out *= factor
    out[is_free] = infinity(dtype)
    return out


def widened(m: Cells, dtype: np.dtype[Any]) -> Cells:
    """Return the bounds in a wider type, or `m` itself if it has that type."""
    return m if m.dtype == dtype else converted(m, dtype)


def with_room(
    m: Cells, n: int, bound: int = 0, factor: int = 1, *, in_place: bool = False
) -> Cells:
    """Return a copy times `factor` that can be closed exactly with more bounds up to `bound`.

    With `in_place` it is `m` itself where that will do. Only Python's integers become narrower.
    """
    dtype = m.dtype
    if dtype != FLOAT:
        needed = room_for(n, max(magnitude(m) * factor, bound))
        dtype = needed if dtype == OBJECT or _bits(needed) > _bits(dtype) else dtype
    return m if in_place and factor == 1 and dtype == m.dtype else converted(m, dtype, factor)


def common(a: Cells, b: Cells) -> tuple[Cells, Cells]:
    """Return both in the wider of their types, in one place; closed bounds fit."""
    if is_here(a) is not is_here(b) and OBJECT in (a.dtype, b.dtype):
        a, b = here(a), here(b)
    a, b = beside(b, a), beside(a, b)
    if a.dtype == b.dtype:
        return a, b
    dtype = a.dtype if _bits(a.dtype) > _bits(b.dtype) else b.dtype
    return converted(a, dtype), converted(b, dtype)


def _bits(dtype: np.dtype[Any]) -> int:
    return 1 << 30 if dtype == OBJECT else dtype.itemsize


def divisor(m: Cells, scale: int) -> int:
    """Return the greatest divisor of all bounds and of `scale`."""
    if scale == 1:
        return 1
    if not is_here(m):
        return int(memory.cuda().divisor(m, scale))
    finite = m[m != infinity(m.dtype)]
    return gcd(scale, *finite) if m.dtype == OBJECT else gcd(scale, int(np.gcd.reduce(finite)))


def divided(m: Cells, by: int) -> Cells:
    """Return the bounds divided by `by`, rounded down."""
    is_free = m == infinity(m.dtype)
    out = m // by
    out[is_free] = infinity(m.dtype)
    return out


def components(m: Cells, n: int) -> list[list[int]]:
    """Return the variables in groups between which bounds follow from those on single variables."""
    n_cells, labels = survey(m, n, True)
    return [list(range(n))] if n_cells == minplus.size(n) else grouped(labels)


def grouped(labels: Any) -> list[list[int]]:
    """Return the numbers of equal labels together."""
    groups: dict[int, list[int]] = {}
    for k, label in enumerate(np.asarray(labels).tolist()):
        groups.setdefault(label, []).append(k)
    return list(groups.values())


def survey(m: Cells, n: int, exactly: bool) -> tuple[int, Any]:
    """Return how many cells the groups have that `components` finds, and the label of each's.

    The labels have no meaning if there is one group; nor, unless it must be known exactly, if most
    variables are in one.
    """
    if is_here(m) and m.dtype != OBJECT:
        found = np.empty(n, INDEX)
        return int(compiled.split(found, m, exactly)), found
    labels = _labels(reference.whole(m)) if is_here(m) else here(memory.cuda().labels(m)).tolist()
    return sum(map(minplus.size, Counter(labels).values())), labels


def _labels(square: Cells) -> list[int]:
    """Return the least variable of each one's group."""
    i = np.arange(len(square))
    unary = square[i, i ^ 1]
    is_tighter = square + square < unary[:, None] + unary[i ^ 1]
    related = is_tighter.reshape(len(i) // 2, 2, -1, 2).any(axis=(1, 3))
    labels = list(range(len(related)))
    for x, y in np.argwhere(related).tolist():
        labels = [labels[x] if label == labels[y] else label for label in labels]
    return labels


def _kernels(m: Cells) -> Any:
    """Return the module whose operations compute with such cells, both with the same arguments."""
    return reference if m.dtype == OBJECT else minplus


def close(m: Cells, tighten: bool) -> bool:
    """Close; return whether a point is left."""
    return bool(_kernels(m).close(m, tighten=tighten))


def strengthen(m: Cells, tighten: bool) -> bool:
    """Combine bounds on single variables; return whether a point is left."""
    return bool(_kernels(m).strengthen(m, tighten=tighten))


def close_after(m: Cells, rows: Any, columns: Any, bounds: list[Any], tighten: bool) -> bool:
    """Add constraints to closed cells and close them; return whether a point is left."""
    if not is_here(m):
        return bool(memory.cuda().constrain(m, rows, columns, bounds, tighten))
    values, i, j = np.array(bounds, m.dtype), np.array(rows, INDEX), np.array(columns, INDEX)
    return bool(_kernels(m).close_after(m, i, j, values, tighten=tighten))


def add(m: Cells, i: Any, j: Any, values: Cells) -> None:
    """Add constraints and close nothing."""
    _kernels(m).add(m, beside(m, i), beside(m, j), beside(m, values))


def move(m: Cells, target: int, source: int, negate: bool, up: Any, down: Any) -> None:
    """Assign target := ±source + d in closed cells, d <= up and -d <= down."""
    _kernels(m).assign(m, target, source, negate=negate, up=up, down=down)


def select(m: Cells, variables: list[int]) -> Cells:
    """Return the cells of these variables; -1 gives one without bounds."""
    chosen = np.array(variables, INDEX)
    out = np.empty_like(m, shape=(minplus.size(len(chosen)),))
    is_compiled = is_here(m) and m.dtype != OBJECT
    if is_compiled and len(chosen) and chosen[0] >= 0 and (chosen[1:] > chosen[:-1]).all():
        # In their order, and so row by row, in stretches
        compiled.assemble(out, partition.table_of([operations.address(m)], 0, chosen))
    else:
        _kernels(m).select(out, m, beside(m, chosen))
    return out


def place(out: Cells, parts: list[Cells], places: list[list[int]]) -> None:
    """Write into `out` the cells of parts of the same type, their variables at these places.

    Variables at -1 are left out.
    """
    for part, places_of_part in zip(parts, places, strict=True):
        at = np.array(places_of_part, INDEX)
        m = part if (at >= 0).all() else select(part, np.flatnonzero(at >= 0).tolist())
        m, at = here(m) if is_here(out) else beside(out, m), at[at >= 0]
        _kernels(out).place(out, m, beside(out, at))


def widen(a: Cells, b: Cells, steps: list[Any]) -> Cells:
    """Return the bounds of `a` that hold in `b`, the next of `steps` for others, or none."""
    return _combined("widen", a, b, np.array(steps, a.dtype))


def narrow(a: Cells, b: Cells) -> Cells:
    """Return the bounds of `a`, and those of `b` where it has none."""
    return _combined("narrow", a, b)


def join(a: Cells, b: Cells) -> Cells:
    """Return the greater of each two bounds."""
    return _combined("join", a, b)


def meet(a: Cells, b: Cells) -> Cells:
    """Return the lesser of each two bounds."""
    return _combined("meet", a, b)


def _combined(operation: str, a: Cells, b: Cells, *more: Any) -> Cells:
    """Return what an operation of the kernels writes for two octagons."""
    out = np.empty_like(a)
    getattr(_kernels(a), operation)(out, a, b, *(beside(a, one) for one in more))
    return out


def includes(a: Cells, b: Cells) -> bool:
    """Return whether no bound of `a` is less than that of `b`."""
    return bool(_kernels(a).includes(a, b))


def minimal(m: Cells) -> Cells:
    """Return which cells give all others, none to spare (between integers, a few to spare)."""
    kept = np.empty_like(m, dtype=np.bool_)
    _kernels(m).minimal(kept, m)
    return here(kept)


def stored(n: int) -> tuple[Any, Any]:
    """Return the rows and columns of the cells, in the order in which they lie."""
    i, j = np.divmod(np.arange(4 * n * n), max(1, 2 * n))
    kept = j <= (i | 1)
    return i[kept], j[kept]


def upwards(value: Any) -> float:
    """Return the least float that is no less than a rational."""
    if value == inf:
        return inf
    try:
        near = float(value)
    except OverflowError:
        return inf if value > 0 else float(np.finfo(np.float64).min)
    return near if near >= value else float(np.nextafter(near, inf))
