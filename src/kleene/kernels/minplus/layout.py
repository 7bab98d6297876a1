"""How an octagon lies in memory, and what its elements can hold.

An octagon of n variables is one array of 2n(n+1) elements. V'[2k] = +x_k and V'[2k+1] = -x_k; cell
(i, j) holds the least known c with V'[j] - V'[i] <= c. Cell (i, j) equals cell (j^1, i^1), so only
the cells with j <= (i|1) are stored, row after row: (i, j) is at j + (i+1)**2 // 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt
from typing import Any, NamedTuple, Self

import numpy as np

from kleene.base import arrays
from kleene.base.arrays import I64

Array = Any  # a vector of NumPy or of CuPy, which publishes no types
Each = Any  # a number, or an array with one for each octagon of a batch
DType = Any  # a type of elements, or its name
DTYPES = tuple(np.dtype(name) for name in ("float64", "int64", "int32", "int16"))
_INTEGERS = tuple(np.dtype(name) for name in ("int16", "int32", "int64"))
OBJECT = np.dtype(object)  # Python's integers, which only `reference` computes with


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


class Forms(NamedTuple):
    """An interval linear form for each octagon t: the terms from starts[t] to starts[t + 1], and d.

    Its values are Σ c_k x_k + d, c_k in lows[k]..highs[k], with d <= up[t] and -d <= down[t]. For
    one octagon there are no starts, and `up` and `down` are numbers.
    """

    variables: Array
    lows: Array
    highs: Array
    up: Each
    down: Each
    starts: Array = None


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


def offsets_of(n_variables: Iterable[int]) -> I64:
    """Return the offsets of a batch of octagons with these numbers of variables."""
    return arrays.offsets_of([size(int(n)) for n in n_variables])


def cell(i: int, j: int) -> int:
    """Return where the bound of V'[j] - V'[i] is stored."""
    if j > (i | 1):
        i, j = j ^ 1, i ^ 1
    return j + (i + 1) ** 2 // 2


def infinity(dtype: DType) -> Any:
    """Return the element that means "no bound": inf, the greatest integer, or `INFINITY`."""
    dtype = np.dtype(dtype)
    if dtype == OBJECT:
        return INFINITY
    return dtype.type(np.inf) if dtype.kind == "f" else dtype.type(np.iinfo(dtype).max)


def lowest(dtype: DType) -> Any:
    """Return the element that fills an empty octagon: -inf, or the least integer."""
    dtype = np.dtype(dtype)
    return dtype.type(np.iinfo(dtype).min if dtype.kind == "i" else -np.inf)


def least_bound(dtype: DType) -> Any:
    """Return the least bound of a type: sums below it stay there, which is sound."""
    dtype = np.dtype(dtype)
    # Even, so that tightening keeps it.
    return np.finfo(dtype).min if dtype.kind == "f" else dtype.type(np.iinfo(dtype).min + 2)


def top(n_variables: int, dtype: DType) -> np.ndarray:
    """Return the octagon without constraints."""
    m = np.full(size(n_variables), infinity(dtype), dtype)
    i = np.arange(2 * n_variables)
    m[i + (i + 1) ** 2 // 2] = 0
    return m


def limit(dtype: DType, n_variables: int) -> int:
    """Return the greatest bound up to which closing in an integer type is exact.

    A bound of a closed octagon is a sum of at most 2n of those it began with. Four times that must
    stay below a quarter of the type's range, where the closure keeps its own infinity.
    """
    return int(tile_infinity(dtype)) // (8 * max(1, n_variables))


def tile_infinity(dtype: DType) -> Any:
    """Return what means "no bound" while closing: inf, or a quarter of the range of integers.

    There integers are added without a look at overflow.
    """
    dtype = np.dtype(dtype)
    return dtype.type(np.inf if dtype.kind == "f" else (1 << (8 * dtype.itemsize - 2)) - 8)


def tile_greatest(dtype: DType, outer: DType) -> Any:
    """Return the greatest value that is a bound after closing in `dtype` an octagon of `outer`."""
    if np.dtype(dtype).kind == "f":
        return tile_infinity(dtype)
    return np.dtype(dtype).type(min(tile_infinity(dtype) // 4, np.iinfo(outer).max - 1))


def closing_dtypes(dtype: DType) -> tuple[np.dtype[Any], ...]:
    """Return the types to close in, narrowest first: the next where sums do not fit."""
    if np.dtype(dtype) not in _INTEGERS:
        return (np.dtype(dtype),)
    return _INTEGERS[_INTEGERS.index(np.dtype(dtype)) :]


def exact_dtype(n_variables: int, magnitude: int) -> np.dtype[Any] | None:
    """Return the narrowest integer type that closes bounds up to `magnitude` exactly, if any."""
    fitting = (dtype for dtype in _INTEGERS if magnitude <= limit(dtype, n_variables))
    return next(fitting, None)
