"""Octagons to test with, and the exact closure that is the oracle: fractions, plain loops."""

from fractions import Fraction
from math import floor, inf

import numpy as np
from hypothesis import strategies as st

from kleene.kernels import minplus
from kleene.kernels.minplus import reference

DTYPES = st.sampled_from(minplus.DTYPES)
EXACT_DTYPES = st.sampled_from([d for d in minplus.DTYPES if d.kind == "i"])
FLOAT_DTYPES = st.sampled_from([d for d in minplus.DTYPES if d.kind == "f"])


SMALL = st.integers(-6, 9)


def constraints(n, bounds, max_size=12):
    """Lists of (i, j, bound)."""
    if n == 0:
        return st.just([])
    row = st.integers(0, 2 * n - 1)
    return st.lists(st.tuples(row, row, bounds).filter(lambda c: c[0] != c[1]), max_size=max_size)


def columns(rows, dtype):
    """Return constraints as the three arrays that operations take."""
    i, j, bound = zip(*rows, strict=True) if rows else ((), (), ())
    return np.array(i, np.int64), np.array(j, np.int64), np.array(bound, dtype)


def of_constraints(n, dtype, rows):
    m = minplus.top(n, dtype)
    reference.add(m, *columns(rows, dtype))
    return m


@st.composite
def octagons(draw, dtypes=DTYPES, max_n=5, bounds=SMALL):
    """Small octagons, some empty; often with differences that are fixed."""
    n = draw(st.integers(0, max_n))
    rows = draw(constraints(n, bounds))
    for i, j, bound in draw(constraints(n, st.integers(-3, 3), max_size=2)):
        rows += [(i, j, bound), (j, i, -bound)]
    return of_constraints(n, draw(dtypes), rows)


@st.composite
def closed_octagons(draw, dtypes=DTYPES, max_n=5, tighten=False):
    m = draw(octagons(dtypes, max_n))
    reference.close(m, tighten)
    return m


def closed_like(m, random, n_rows=8, tighten=False):
    """Return another closed octagon of the size and type of `m`."""
    n = minplus.n_variables(len(m))
    other = random_octagon(n, m.dtype, random, density=n_rows / max(1, len(m)))
    reference.close(other, tighten)
    return other


def random_octagon(n, dtype, random, density=1.0, spread=20):
    """Return an octagon around a random integer point."""
    point = random.integers(-spread, spread + 1, n)
    ends = np.stack([point, -point], axis=1).reshape(-1)
    m = minplus.top(n, dtype)
    i, j = np.divmod(np.arange(4 * n * n), max(1, 2 * n))
    i, j = i[j <= (i | 1)], j[j <= (i | 1)]
    bound = ends[j] - ends[i] + random.integers(0, spread + 1, len(i))
    chosen = (random.random(len(i)) < density) & (i != j)
    m[chosen] = bound[chosen].astype(dtype)
    return m


def fractions_of(m):
    """Return the octagon as a square list of exact bounds."""
    infinite = minplus.infinity(m.dtype)
    return [
        [inf if x == infinite else Fraction(x.item()) for x in row] for row in reference.whole(m)
    ]


def exact_closure(square, tighten=False):
    """Return the exact strong closure of a square list, or None if it is empty."""
    rows = range(len(square))
    if tighten:
        square = [[x if x == inf else floor(x) for x in row] for row in square]
    for k in rows:
        for i in rows:
            for j in rows:
                square[i][j] = min(square[i][j], square[i][k] + square[k][j])
    for i in rows:
        if square[i][i] < 0:
            return None
        if tighten and square[i][i ^ 1] != inf:
            square[i][i ^ 1] = 2 * floor(Fraction(square[i][i ^ 1], 2))
    unary = [square[i][i ^ 1] for i in rows]
    if any(unary[i] + unary[i ^ 1] < 0 for i in rows):
        return None
    halves = [[(unary[i] + unary[j ^ 1]) / 2 for j in rows] for i in rows]
    return [[min(square[i][j], halves[i][j]) if i != j else 0 for j in rows] for i in rows]


def ends_of(point):
    """Return the values of V' at a point."""
    return np.stack([point, -point], axis=1).reshape(-1)


def contains(m, point):
    """Return whether the point meets every constraint of `m`."""
    ends = ends_of(np.asarray(point, object))
    infinite = minplus.infinity(m.dtype)
    square = reference.whole(m)
    return all(
        bound == infinite or ends[j] - ends[i] <= bound.item()
        for i, row in enumerate(square)
        for j, bound in enumerate(row)
    )


def magnitude(m):
    """Return the greatest absolute value of a finite element; 0 if there is none."""
    finite = m[(m != minplus.infinity(m.dtype)) & (m != minplus.lowest(m.dtype))]
    return np.abs(finite.astype(object)).max(initial=0)


def converted(m, dtype):
    """Return the octagon in another type, with infinity for bounds that it does not hold."""
    out = np.full(len(m), minplus.infinity(dtype), dtype)
    is_empty = m == minplus.lowest(m.dtype)
    fits = (m != minplus.infinity(m.dtype)) & ~is_empty
    if np.dtype(dtype).kind == "i":
        fits &= m <= np.iinfo(dtype).max - 1
    out[fits], out[is_empty] = m[fits], minplus.lowest(dtype)
    return out
