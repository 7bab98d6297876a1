"""The definition of every operation on one octagon, and the oracle of the back ends.

Each takes the half-stored array, works on the whole matrix, and writes the half back. What each
means is said in `kleene.kernels.minplus`. Elements may also be Python's integers (`layout.OBJECT`),
of any size.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from kleene.kernels.minplus.layout import OBJECT, infinity, least_bound, lowest, n_variables, top

Array = np.ndarray


def whole(m: Array) -> Array:
    """Return the octagon as a square matrix."""
    i = np.arange(2 * n_variables(len(m)))
    rows, columns = np.meshgrid(i, i, indexing="ij")
    is_stored = columns <= (rows | 1)
    rows, columns = (
        np.where(is_stored, rows, columns ^ 1),
        np.where(is_stored, columns, rows ^ 1),
    )
    return m[columns + (rows + 1) ** 2 // 2]


def halve(square: Array, m: Array) -> None:
    """Store a coherent square matrix in the array `m`."""
    i = np.arange(len(square))
    m[:] = square[i <= (i[:, None] | 1)]


def add_up(a: Array, b: Array) -> Array:
    """Return a + b: floats rounded upwards, integers exact or saturated; infinity stays."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = a + b
        if getattr(total, "dtype", OBJECT) == OBJECT:
            return total
        if total.dtype.kind == "f":
            part = total - a
            error = (a - (total - part)) + (b - part)  # what the sum lost (Knuth), barring inf
            total = np.where(error > 0, np.nextafter(total, total.dtype.type(np.inf)), total)
            return np.maximum(total, least_bound(total.dtype))
        overflown = ((a ^ total) & (b ^ total)) < 0
    greatest, least = infinity(total.dtype), least_bound(total.dtype)
    total = np.where(overflown, np.where(a > 0, greatest, least), total)
    return np.where((a == greatest) | (b == greatest), greatest, np.maximum(total, least))


def half_up(a: Array) -> Array:
    """Return a / 2 rounded upwards."""
    if a.dtype.kind == "f":
        half = a / 2
        return np.where(half + half < a, np.nextafter(half, a.dtype.type(np.inf)), half)
    if a.dtype == OBJECT:
        return -(-a // 2)
    return np.where(a == infinity(a.dtype), a, (a >> 1) + (a & 1))


def _is_empty(m: Array) -> bool:
    return len(m) > 0 and bool(m[0] < 0)


def _has_nothing(m: Array) -> bool:
    """Return whether no assignment changes anything: no variables, or no points."""
    return len(m) == 0 or _is_empty(m)


def _make_empty(m: Array) -> bool:
    m[:] = lowest(m.dtype)
    return False


def _unary(square: Array) -> Array:
    """Return the cells (i, i^1): twice the bounds of each V'[i^1]."""
    i = np.arange(len(square))
    return square[i, i ^ 1]


def _tighten(square: Array) -> None:
    """Round unary bounds down to even integers, as twice an integer is."""
    i = np.arange(len(square))
    unary = square[i, i ^ 1]
    if square.dtype.kind == "f":
        square[i, i ^ 1] = 2 * np.floor(unary / 2)
    elif square.dtype == OBJECT:
        square[i, i ^ 1] = unary // 2 * 2
    else:
        square[i, i ^ 1] = np.where(unary == infinity(unary.dtype), unary, unary & ~1)


def _square(m: Array, tighten: bool) -> Array:
    """Return the octagon as a square matrix; bounds between integers are integers."""
    square = whole(m)
    return np.floor(square) if tighten and square.dtype.kind == "f" else square


def _finish(square: Array, m: Array, tighten: bool) -> bool:
    """Tighten and strengthen a matrix closed under paths; return whether a point is left."""
    if tighten:
        _tighten(square)
    unary, i = _unary(square), np.arange(len(square))
    if (square.diagonal() < 0).any() or (add_up(unary, unary[i ^ 1]) < 0).any():
        return _make_empty(m)
    halves = half_up(add_up(unary[:, None], unary[i ^ 1]))
    np.fill_diagonal(halves, 0)
    halve(np.minimum(square, halves), m)
    return True


def close(m: Array, tighten: bool) -> bool:
    """Close strongly; see `kleene.kernels.minplus.close`."""
    if _is_empty(m):
        return _make_empty(m)
    square = _square(m, tighten)
    for k in range(len(square)):
        np.minimum(square, add_up(square[:, k, None], square[None, k]), out=square)
        if (square.diagonal() < 0).any():
            break
    np.fill_diagonal(square, np.minimum(square.diagonal(), 0))
    return _finish(square, m, tighten)


def strengthen(m: Array, tighten: bool) -> bool:
    """Combine unary bounds; see `kleene.kernels.minplus.strengthen`."""
    return _make_empty(m) if _is_empty(m) else _finish(_square(m, tighten), m, tighten)


def close_after(m: Array, rows: Array, columns: Array, bounds: Array, tighten: bool) -> bool:
    """Add and close again; see `kleene.kernels.minplus.close_after`."""
    add(m, rows, columns, bounds)
    return close(m, tighten)


def add(m: Array, rows: Array, columns: Array, bounds: Array) -> None:
    """Add constraints; see `kleene.kernels.minplus.add`."""
    square = whole(m)
    np.minimum.at(square, (rows, columns), bounds)
    np.minimum.at(square, (columns ^ 1, rows ^ 1), bounds)
    halve(square, m)


def join(out: Array, a: Array, b: Array) -> None:
    """Write the pointwise maximum."""
    np.maximum(a, b, out=out)


def meet(out: Array, a: Array, b: Array) -> None:
    """Write the pointwise minimum."""
    np.minimum(a, b, out=out)


def widen(out: Array, a: Array, b: Array, thresholds: Array) -> None:
    """Keep stable bounds; see `kleene.kernels.minplus.widen`."""
    if _is_empty(a):
        out[:] = b
        return
    steps = np.append(thresholds, infinity(a.dtype))
    double = np.append(add_up(thresholds, thresholds), infinity(a.dtype))
    n = 2 * n_variables(len(a))
    i, j = np.divmod(np.arange(n * n), n)
    is_unary = (i == j ^ 1)[j <= (i | 1)]
    wider = np.where(is_unary, _next(double, b), _next(steps, b))
    out[:] = np.where(b <= a, a, wider)


def _next(steps: Array, b: Array) -> Array:
    return steps[np.searchsorted(steps, b)]


def narrow(out: Array, a: Array, b: Array) -> None:
    """Refine missing bounds only; see `kleene.kernels.minplus.narrow`."""
    out[:] = b if _is_empty(b) else np.where(a == infinity(a.dtype), b, a)


def includes(a: Array, b: Array) -> bool:
    """Return whether every bound of `a` is no tighter than that of `b`."""
    return bool((b <= a).all())


def equals(a: Array, b: Array) -> bool:
    """Return whether all bounds are the same."""
    return bool((a == b).all())


def forget(m: Array, variable: int) -> None:
    """Drop all bounds on `variable`."""
    if _has_nothing(m):
        return
    square, two = whole(m), [2 * variable, 2 * variable + 1]
    square[two] = infinity(m.dtype)
    square[:, two] = infinity(m.dtype)
    square[two, two] = 0
    halve(square, m)


def _move(square: Array, variable: int, up: Any, down: Any) -> None:
    """Add d to the variable, d <= up and -d <= down."""
    plus, minus = 2 * variable, 2 * variable + 1
    square[:, plus] = add_up(square[:, plus], up)
    square[minus, :] = add_up(square[minus, :], up)
    square[:, minus] = add_up(square[:, minus], down)
    square[plus, :] = add_up(square[plus, :], down)
    square[plus, plus] = square[minus, minus] = 0


def assign(m: Array, target: int, source: int, negate: bool, up: Any, down: Any) -> None:
    """Assign x := ±y + d; see `kleene.kernels.minplus.assign`."""
    if _has_nothing(m):
        return
    order = np.arange(2 * n_variables(len(m)))
    order[2 * target], order[2 * target + 1] = 2 * source + negate, 2 * source + (not negate)
    square = whole(m)[np.ix_(order, order)]
    _move(square, target, m.dtype.type(up), m.dtype.type(down))
    halve(square, m)


def assign_interval(m: Array, variable: int, up: Any, down: Any) -> None:
    """Assign x := d; see `kleene.kernels.minplus.assign_interval`."""
    if _has_nothing(m):
        return
    forget(m, variable)
    square, two = whole(m), [2 * variable, 2 * variable + 1]
    halves = half_up(_unary(square))
    for j, bound in zip(two, (m.dtype.type(up), m.dtype.type(down)), strict=True):
        square[:, j] = add_up(halves, bound)
        square[j ^ 1, :] = add_up(bound, halves[np.arange(len(square)) ^ 1])
        square[j ^ 1, j] = add_up(bound, bound)
    square[two, two] = 0
    halve(square, m)


def assign_linear(
    m: Array,
    target: int,
    variables: Array,
    lows: Array,
    highs: Array,
    up: Any,
    down: Any,
    tighten: bool,
) -> None:
    """Assign an interval linear form; see `kleene.kernels.minplus.assign_linear`."""
    if _has_nothing(m):
        return
    square, constants = whole(m), (m.dtype.type(up), m.dtype.type(down))
    forget(m, target)
    form = list(zip(variables.tolist(), lows, highs, strict=True))
    for negate, constant in enumerate(constants):
        end = 2 * target + negate  # V'[end] is the form, or its negation
        twice = _twice_bound(square, form, negate, constant)
        _bound(m, end ^ 1, end, twice)
        for y in variables[variables != target].tolist():
            for i in (2 * y, 2 * y + 1):  # V'[end] - V'[i] is ±(form ± y)
                sign = -1 if i & 1 == negate else 1
                merged = [(x, *_moved(low, high, sign * (x == y))) for x, low, high in form]
                twice = _twice_bound(square, merged, negate, constant)
                _bound(m, i, end, _half_down(twice) if tighten else half_up(twice))
    close(m, tighten)


def _bound(m: Array, i: int, j: int, bound: Any) -> None:
    add(m, np.array([i]), np.array([j]), np.array([bound], m.dtype))


def _moved(low: Any, high: Any, by: int) -> tuple[Any, Any]:
    """Return an interval moved, its ends rounded outwards."""
    return -add_up(-low, low.dtype.type(-by)), add_up(high, high.dtype.type(by))


def _twice_bound(square: Array, form: list[Any], negate: int, constant: Any) -> Any:
    """Return twice the upper bound of a form or its negation, summed up term by term."""
    total = add_up(constant, constant)
    for x, low, high in form:
        end = 2 * x + negate
        up, down = square[end ^ 1, end], square[end, end ^ 1]
        total = add_up(total, max(_times(low, up, down), _times(high, up, down)))
    return total


def times_up(low: Any, high: Any, by: int, up: Any, down: Any) -> Any:
    """Return the upper bound of c * v for low+by <= c <= high+by, v <= up and -v <= down."""
    least, most = _moved(low, high, by)
    return max(_times(least, up, down), _times(most, up, down))


def _times(factor: Any, up: Any, down: Any) -> Any:
    """Return factor * v rounded upwards, the upper bound for all v with v <= up and -v <= down."""
    bound = up if factor >= 0 else down
    if factor == 0 or bound == infinity(bound.dtype):
        return bound.dtype.type(0) if factor == 0 else bound
    return _upwards(abs(Fraction(factor.item())) * Fraction(bound.item()), bound.dtype)


def _upwards(value: Fraction, dtype: np.dtype[Any]) -> Any:
    """Return the least element that is no less."""
    least = least_bound(dtype)
    if abs(value) > -Fraction(least.item()):
        return infinity(dtype) if value > 0 else least
    near = dtype.type(float(value) if dtype.kind == "f" else int(value))
    return near if near.item() >= value else np.nextafter(near, dtype.type(np.inf))


def _half_down(a: Any) -> Any:
    """Return a / 2 rounded downwards to an integer."""
    if a.dtype.kind == "f":
        return np.floor(a / 2)
    return np.where(a == infinity(a.dtype), a, a >> 1)


def unary(out: Array, m: Array) -> None:
    """Read twice the bounds; see `kleene.kernels.minplus.unary`."""
    out[:] = _unary(whole(m))[np.arange(len(out)) ^ 1]


def select(out: Array, m: Array, variables: Array) -> None:
    """Read some variables; see `kleene.kernels.minplus.select`."""
    out[:] = m[0] if _is_empty(m) else top(len(variables), m.dtype)
    if _is_empty(m):
        return
    known = np.flatnonzero(variables >= 0)
    square, source = whole(out), whole(m)
    square[np.ix_(_ends(known), _ends(known))] = source[
        np.ix_(_ends(variables[known]), _ends(variables[known]))
    ]
    halve(square, out)


def place(out: Array, m: Array, variables: Array) -> None:
    """Write some variables; see `kleene.kernels.minplus.place`."""
    if _is_empty(m):
        out[:] = m[0]
    if _is_empty(out):
        return
    square = whole(out)
    square[np.ix_(_ends(variables), _ends(variables))] = whole(m)
    halve(square, out)


def _ends(variables: Array) -> Array:
    """Return the rows of the variables: 2k and 2k+1 of each."""
    return (2 * variables[:, None] + np.arange(2)).reshape(-1)


def minimal(out: Array, m: Array) -> None:
    """Mark the constraints to keep; see `kleene.kernels.minplus.minimal`.

    Bagnara, Hill, Mazzi, Zaffanella: Widening operators for weakly-relational numeric abstractions
    (SAS 2005). V'[i] and V'[j] are one when their difference is fixed. Each class of equals keeps
    the cycle through its members; between classes only the first members, the leaders, speak, and
    of their bounds those that neither a path nor two unary bounds give. At most one class holds
    both some V'[i] and V'[i^1]: the variables of fixed values, which keep their unary bounds.
    """
    out[:] = False
    if _is_empty(m):
        out[0] = True
        return
    square = whole(m)
    kept = np.zeros(square.shape, np.bool_)
    leader = _leaders(square)
    i = np.arange(len(square))
    is_fixed = leader == leader[i ^ 1]
    heads = np.flatnonzero((leader == i) & ~is_fixed)
    kept[np.ix_(heads, heads)] = _needed(square[np.ix_(heads, heads)], heads)
    for head in heads[heads % 2 == 0]:  # the class of the negations keeps the same cells
        _keep_cycle(kept, np.flatnonzero(leader == head))
    fixed = np.flatnonzero(is_fixed)
    kept[fixed, fixed ^ 1] = True
    stored = i <= (i[:, None] | 1)
    out[:] = (kept | kept[np.ix_(i ^ 1, i ^ 1)].T)[stored] & (i != i[:, None])[stored]


def _leaders(square: Array) -> Array:
    """Return for each row the first row at a fixed difference from it."""
    is_equal = (add_up(square, square.T) == 0) & (square != infinity(square.dtype))
    np.fill_diagonal(is_equal, True)
    return np.argmax(is_equal, axis=1) if len(square) else np.zeros(0, np.intp)


def _needed(square: Array, heads: Array) -> Array:
    """Return which bounds between leaders follow from no others."""
    hollow = square.copy()
    np.fill_diagonal(hollow, infinity(square.dtype))
    needed = hollow != infinity(square.dtype)
    for k in range(len(square)):
        needed &= square < add_up(hollow[:, k, None], hollow[None, k])
    bar = np.searchsorted(heads, heads ^ 1)
    unary = square[np.arange(len(square)), bar]
    is_unary = heads[:, None] == heads ^ 1
    return needed & (is_unary | (square < half_up(add_up(unary[:, None], unary[bar]))))


def _keep_cycle(kept: Array, members: Array) -> None:
    if len(members) > 1:
        kept[members, np.roll(members, -1)] = True
