"""How an octagon lies in memory, and what its elements can hold.

An octagon of n variables is one array of 2n(n+1) elements. V'[2k] = +x_k and V'[2k+1] = -x_k; cell
(i, j) holds the least known c with V'[j] - V'[i] <= c. Cell (i, j) equals cell (j^1, i^1), so only
the cells with j <= (i|1) are stored, row after row: (i, j) is at j + (i+1)**2 // 2.
"""

from __future__ import annotations

from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from kleene.base import arrays
from kleene.base.arrays import I64

DTYPES = tuple(np.dtype(name) for name in ("float64", "int64", "int32", "int16"))
_INTEGERS = tuple(np.dtype(name) for name in ("int16", "int32", "int64"))


class Forms(NamedTuple):
    """An interval linear form for each octagon t: the terms from starts[t] to starts[t + 1], and d.

    Its values are Σ c_k x_k + d, c_k in lows[k]..highs[k], with d <= up[t] and -d <= down[t]. For
    one octagon there are no starts, and `up` and `down` are numbers.
    """

    variables: Any
    lows: Any
    highs: Any
    up: Any
    down: Any
    starts: Any = None


def size(n_variables: int) -> int:
    """Return how many elements an octagon of `n_variables` takes."""
    return 2 * n_variables * (n_variables + 1)


def n_variables(n_elements: int) -> int:
    """Return how many variables an octagon of `n_elements` has.

    Raises:
        ValueError: no octagon has that many elements.
    """
    n = (isqrt(1 + 2 * n_elements) - 1) >> 1
    if 2 * n * (n + 1) != n_elements:
        raise ValueError(f"no octagon has {n_elements} elements: n variables take 2n(n+1)")
    return n


def offsets_of(n_variables: Any) -> I64:
    """Return the offsets of a batch of octagons with these numbers of variables."""
    return arrays.offsets_of([size(int(n)) for n in n_variables])


def cell(i: int, j: int) -> int:
    """Return where the bound of V'[j] - V'[i] is stored."""
    if j > (i | 1):
        i, j = j ^ 1, i ^ 1
    return j + (i + 1) ** 2 // 2


def infinity(dtype: Any) -> Any:
    """Return the element that means "no bound": inf, or the greatest integer."""
    dtype = np.dtype(dtype)
    return dtype.type(np.inf) if dtype.kind == "f" else dtype.type(np.iinfo(dtype).max)


def lowest(dtype: Any) -> Any:
    """Return the element that fills an empty octagon: -inf, or the least integer."""
    dtype = np.dtype(dtype)
    return dtype.type(-np.inf) if dtype.kind == "f" else dtype.type(np.iinfo(dtype).min)


def least_bound(dtype: Any) -> Any:
    """Return the least bound of a type: sums below it stay there, which is sound."""
    dtype = np.dtype(dtype)
    # Even, so that tightening keeps it.
    return np.finfo(dtype).min if dtype.kind == "f" else dtype.type(np.iinfo(dtype).min + 2)


def top(n_variables: int, dtype: Any) -> np.ndarray:
    """Return the octagon without constraints."""
    m = np.full(size(n_variables), infinity(dtype))
    i = np.arange(2 * n_variables)
    m[i + (i + 1) ** 2 // 2] = 0
    return m


def limit(dtype: Any, n_variables: int) -> int:
    """Return the greatest bound up to which closing in an integer type is exact.

    A bound of a closed octagon is a sum of at most 2n of those it began with. Four times that must
    stay below a quarter of the type's range, where the closure keeps its own infinity.
    """
    bits = np.iinfo(dtype).bits
    return ((1 << (bits - 2)) - 8) // (8 * max(1, n_variables))


def exact_dtype(n_variables: int, magnitude: int) -> np.dtype[Any] | None:
    """Return the narrowest integer type that closes bounds up to `magnitude` exactly, if any."""
    fitting = (dtype for dtype in _INTEGERS if magnitude <= limit(dtype, n_variables))
    return next(fitting, None)


def magnitude(m: Any) -> int | float:
    """Return the greatest absolute value of a finite element; 0 if there is none."""
    finite = m[(m != infinity(m.dtype)) & (m != lowest(m.dtype))]
    return max(finite.max().item(), -finite.min().item()) if len(finite) else 0


def convert(out: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Return `out`, filled with the octagon `m` in the type of `out`, rounded upwards.

    What the type of `out` cannot hold becomes infinity above and its least bound below: sound, and
    exact where `magnitude(m)` fits.
    """
    kind = out.dtype
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.ceil(m) if m.dtype.kind == "f" and kind.kind == "i" else m
        out[...] = whole
        _round_up(out, whole)
    if kind.kind == "i":
        out[whole > np.iinfo(kind).max - 1] = infinity(kind)
        out[whole < np.iinfo(kind).min + 2] = least_bound(kind)
    out[m == infinity(m.dtype)] = infinity(kind)
    out[m == lowest(m.dtype)] = lowest(kind)
    return out


def _round_up(out: np.ndarray, m: np.ndarray) -> None:
    """Lift what conversion of integers to float64 rounded down."""
    if out.dtype.kind != "f" or m.dtype.kind == "f":
        return
    inside = np.abs(out) < 2.0**62  # there integers and floats are compared exactly, as int64
    low = np.zeros(len(out), np.bool_)
    low[inside] = out[inside].astype(np.int64) < m[inside]
    low[~inside] = True  # one step more is sound, and no octagon lives there
    out[low] = np.nextafter(out[low], np.inf)
