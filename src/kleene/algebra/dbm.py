"""The cells of a component: integers in the narrowest exact type, or floats rounded upwards.

A component is a half matrix of difference bounds (DBM), laid out as in `kleene.kernels.minplus`.
Its cells are int16, int32, int64 or float64; where no machine integer is wide enough, Python's own
integers, with `INFINITY` for no bound. Here are the kernels' operations on either, run where the
cells lie (`memory`); those on Python's integers are slow, and right.
"""

from __future__ import annotations

from collections import Counter
from math import gcd, inf
from typing import Any, Self

import numpy as np

from kleene.algebra import memory
from kleene.algebra.memory import Cells, beside, here, is_here, where
from kleene.kernels import minplus
from kleene.kernels.minplus.cpu import components as compiled
from kleene.kernels.minplus.cpu import entry_points, partition
from kleene.kernels.minplus.cpu.compiled import outer_of
from kleene.kernels.minplus.reference import halve, whole


class _Infinity:
    """Greater than every integer, and unmoved by sums and multiples."""

    def _same(self, _other: object = None) -> Self:
        return self

    __add__ = __radd__ = __mul__ = __rmul__ = __floordiv__ = __neg__ = _same

    def __lt__(self, other: object) -> bool:
        return False

    def __le__(self, other: object) -> bool:
        return other is self

    def __gt__(self, other: object) -> bool:
        return other is not self

    def __ge__(self, other: object) -> bool:
        return True

    def __reduce__(self) -> str:
        return "INFINITY"  # there is one only, in every process


INFINITY = _Infinity()


OBJECT = np.dtype(object)
FLOAT = np.dtype(np.float64)
INDEX = np.dtype(np.int64)


def infinity(dtype: np.dtype[Any]) -> Any:
    """Return what means "no bound" in cells of this type."""
    return INFINITY if dtype == OBJECT else minplus.infinity(dtype)


def top(n: int, dtype: np.dtype[Any]) -> Cells:
    """Return n variables without bounds."""
    if dtype != OBJECT:
        return minplus.top(n, dtype)
    m = np.full(minplus.size(n), INFINITY, OBJECT)
    i = np.arange(2 * n)
    m[i + (i + 1) ** 2 // 2] = 0
    return m


def magnitude(m: Cells) -> int:
    """Return the greatest absolute value of a bound."""
    if m.dtype == OBJECT:
        return max((abs(x) for x in m if x is not INFINITY), default=0)
    if not is_here(m):
        return memory.greatest(m)
    return int(entry_points.magnitude(m, outer_of(m.dtype)))


def room_for(n: int, greatest: int) -> np.dtype[Any]:
    """Return the type in which n variables with bounds up to `greatest` are closed exactly."""
    return minplus.exact_dtype(n, greatest) or OBJECT


def converted(m: Cells, dtype: np.dtype[Any], factor: int = 1) -> Cells:
    """Return a copy of the bounds, times `factor`, in a type that has room for them."""
    if m.dtype == dtype and factor == 1:
        return m.copy()
    if type(m) is np.ndarray and OBJECT not in (m.dtype, dtype):
        wide = np.empty(len(m), dtype)
        entry_points.convert(wide, m, factor, outer_of(m.dtype), outer_of(dtype))
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
        return memory.divisor(m, scale)
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
        return int(compiled.split(found, m, exactly, outer_of(m.dtype))), found
    labels = _labels(whole(m)) if is_here(m) else memory.labels(m)
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


def close(m: Cells, tighten: bool) -> bool:
    """Close; return whether a point is left."""
    if m.dtype != OBJECT:
        return bool(minplus.close(m, tighten=tighten, device=where(m)))
    square = whole(m)
    for k in range(len(square)):
        np.minimum(square, square[:, k, None] + square[None, k], out=square)
        if (square.diagonal() < 0).any():
            return False
    return _finish(square, m, tighten)


def strengthen(m: Cells, tighten: bool) -> bool:
    """Combine bounds on single variables; return whether a point is left."""
    if m.dtype == OBJECT:
        return _finish(whole(m), m, tighten)
    return bool(minplus.strengthen(m, tighten=tighten, device=where(m)))


def _finish(square: Cells, m: Cells, tighten: bool) -> bool:
    i = np.arange(len(square))
    if tighten:
        square[i, i ^ 1] = square[i, i ^ 1] // 2 * 2
    unary = square[i, i ^ 1]
    if (unary + unary[i ^ 1] < 0).any():
        return False
    halves = -(-(unary[:, None] + unary[i ^ 1]) // 2)
    np.minimum(square, halves, out=square)
    np.fill_diagonal(square, 0)
    halve(square, m)
    return True


def close_after(m: Cells, rows: Any, columns: Any, bounds: list[Any], tighten: bool) -> bool:
    """Add constraints to closed cells and close them; return whether a point is left."""
    if not is_here(m):
        return memory.constrain(m, rows, columns, bounds, tighten)
    values = np.array(bounds, m.dtype)
    i, j = np.array(rows, np.int64), np.array(columns, np.int64)
    if m.dtype != OBJECT:
        return bool(minplus.close_after(m, i, j, values, tighten=tighten))
    add(m, i, j, values)
    return close(m, tighten)


def add(m: Cells, i: Any, j: Any, values: Cells) -> None:
    """Add constraints and close nothing."""
    if m.dtype != OBJECT:
        return minplus.add(m, beside(m, i), beside(m, j), beside(m, values), device=where(m))
    for row, column, value in zip(i.tolist(), j.tolist(), values, strict=True):
        at = minplus.cell(row, column)
        m[at] = min(m[at], value)
    return None


def move(m: Cells, target: int, source: int, negate: bool, up: Any, down: Any) -> None:
    """Assign target := ±source + d in closed cells, d <= up and -d <= down."""
    if m.dtype != OBJECT:
        minplus.assign(m, target, source, up=up, down=down, negate=negate, device=where(m))
    else:
        _move(m, target, source, negate, up, down)


def _move(m: Cells, target: int, source: int, negate: bool, up: Any, down: Any) -> None:
    plus, minus = 2 * target, 2 * target + 1
    order = np.arange(2 * minplus.n_variables(len(m)))
    order[plus], order[minus] = 2 * source + negate, 2 * source + (not negate)
    square = whole(m)[np.ix_(order, order)]
    for end, step in ((plus, up), (minus, down)):
        square[:, end] = square[:, end] + step
        square[end ^ 1, :] = square[end ^ 1, :] + step
    square[plus, plus] = square[minus, minus] = 0
    halve(square, m)


def select(m: Cells, variables: list[int]) -> Cells:
    """Return the cells of these variables; -1 gives one without bounds."""
    chosen = np.array(variables, np.int64)
    if is_here(m) and m.dtype != OBJECT and _ascends(chosen):
        return _subset(m, chosen)
    if m.dtype != OBJECT:
        out = np.empty_like(m, shape=(minplus.size(len(variables)),))
        minplus.select(out, m, beside(m, chosen), device=where(m))
        return out
    out = top(len(variables), OBJECT)
    known = np.flatnonzero(chosen >= 0)
    square, ends = whole(out), _ends(chosen[known])
    square[np.ix_(_ends(known), _ends(known))] = whole(m)[np.ix_(ends, ends)]
    halve(square, out)
    return out


def _ascends(chosen: Any) -> bool:
    return bool(len(chosen) and chosen[0] >= 0 and (chosen[1:] > chosen[:-1]).all())


def _subset(m: Cells, chosen: Any) -> Cells:
    """Return what `select` does of variables in their order: row by row, in stretches."""
    n = len(chosen)
    out = np.empty(minplus.size(n), m.dtype)
    compiled.assemble(
        out, partition.table_of([entry_points.address(m)], 0, chosen), outer_of(m.dtype)
    )
    return out


def forget(m: Cells, variable: int) -> None:
    """Drop every bound on a variable."""
    if m.dtype != OBJECT:
        return minplus.forget(m, variable, device=where(m))
    others = [-1 if k == variable else k for k in range(minplus.n_variables(len(m)))]
    m[:] = select(m, others)
    return None


def place(out: Cells, parts: list[Cells], places: list[list[int]]) -> None:
    """Write into `out` the cells of parts of the same type, their variables at these places.

    Variables at -1 are left out.
    """
    for part, places_of_part in zip(parts, places, strict=True):
        at = np.array(places_of_part, np.int64)
        m = part if (at >= 0).all() else select(part, np.flatnonzero(at >= 0).tolist())
        _put(out, m, at[at >= 0])


def _put(out: Cells, m: Cells, at: Any) -> None:
    m = here(m) if is_here(out) else beside(out, m)
    if out.dtype != OBJECT:
        return minplus.place(out, m, beside(out, at), device=where(out))
    square, ends = whole(out), _ends(at)
    square[np.ix_(ends, ends)] = whole(m)
    return halve(square, out)


def _ends(variables: Any) -> Any:
    return (2 * variables[:, None] + np.arange(2)).reshape(-1)


def widen(a: Cells, b: Cells, steps: list[Any]) -> Cells:
    """Return the bounds of `a` that hold in `b`, the next of `steps` for others, or none."""
    out = np.empty_like(a)
    if a.dtype != OBJECT:
        minplus.widen(out, a, b, beside(a, np.array(steps, a.dtype)), device=where(a))
        return out
    i, j = stored(minplus.n_variables(len(a)))
    for at, (x, y) in enumerate(zip(a, b, strict=True)):
        by = 2 if i[at] ^ 1 == j[at] else 1
        wider = (by * step for step in steps if y <= by * step)
        out[at] = x if y <= x else next(wider, INFINITY)
    return out


def narrow(a: Cells, b: Cells) -> Cells:
    """Return the bounds of `a`, and those of `b` where it has none."""
    if a.dtype == OBJECT:
        return np.where(a == INFINITY, b, a)
    out = np.empty_like(a)
    minplus.narrow(out, a, b, device=where(a))
    return out


def join(a: Cells, b: Cells) -> Cells:
    """Return the greater of each two bounds."""
    if a.dtype == OBJECT:
        return np.maximum(a, b)
    out = np.empty_like(a)
    minplus.join(out, a, b, device=where(a))
    return out


def meet(a: Cells, b: Cells) -> Cells:
    """Return the lesser of each two bounds."""
    if a.dtype == OBJECT:
        return np.minimum(a, b)
    out = np.empty_like(a)
    minplus.meet(out, a, b, device=where(a))
    return out


def includes(a: Cells, b: Cells) -> bool:
    """Return whether no bound of `a` is less than that of `b`."""
    return bool((b <= a).all()) if a.dtype == OBJECT else minplus.includes(a, b, device=where(a))


def minimal(m: Cells, tighten: bool) -> Cells:
    """Return which cells give all others, none to spare (between integers, a few to spare)."""
    if m.dtype != OBJECT:
        kept = np.empty_like(m, dtype=np.bool_)
        minplus.minimal(kept, m, device=where(m))
        return here(kept)
    out = np.zeros(len(m), np.bool_)
    i, j = stored(minplus.n_variables(len(m)))
    out[:] = (i != j) & (m != INFINITY)
    for at in np.flatnonzero(out):
        without: Cells = np.where(out, m, top(minplus.n_variables(len(m)), OBJECT))
        without[at] = INFINITY
        out[at] = not (close(without, tighten) and without[at] <= m[at])
    return out


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
