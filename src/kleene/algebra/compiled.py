"""Loops over the cells of a block, compiled once for each type of element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])
_njit: Any = njit  # Numba publishes no types


def _entry(function: Function) -> Function:
    return cast(Function, _njit(cache=True, nogil=True)(function))


@_entry
def magnitude(m: Any, infinity: Any) -> Any:
    """Return the greatest absolute value of a bound."""
    greatest = 0
    for at in range(len(m)):
        if m[at] != infinity:
            greatest = max(greatest, abs(int(m[at])))
    return greatest


@_entry
def label(m: Any, n: Any, infinity: Any, labels: Any) -> Any:
    """Return how many groups of related variables there are; related ones get the same label.

    Two are related when some bound on both is less than what the bounds on each give: half of the
    sum of two cells, each of which is twice a bound. It stops when one group is left.
    """
    n_groups = n
    for i in range(2 * n):
        row = (i + 1) ** 2 // 2
        of_i = m[row + (i ^ 1)]
        for j in range(i & ~1):
            at = row + j
            if labels[i >> 1] == labels[j >> 1] or m[at] == infinity:
                continue
            of_j = m[j + ((j ^ 1) + 1) ** 2 // 2]
            if of_i == infinity or of_j == infinity or m[at] + m[at] < of_i + of_j:
                old, new = max(labels[i >> 1], labels[j >> 1]), min(labels[i >> 1], labels[j >> 1])
                for k in range(n):
                    if labels[k] == old:
                        labels[k] = new
                n_groups -= 1
        if n_groups == 1:
            break
    return n_groups


@_entry
def place(out: Any, flat: Any, starts: Any, at: Any) -> None:
    """Write blocks, one after the other in `flat`, into the places `at` of their variables."""
    first = 0
    for t in range(len(starts) - 1):
        source, n = starts[t], 0
        while 2 * n * (n + 1) < starts[t + 1] - source:
            n += 1
        for i in range(2 * n):
            for j in range((i | 1) + 1):
                if at[first + (i >> 1)] >= 0 and at[first + (j >> 1)] >= 0:
                    row, column = (
                        2 * at[first + (i >> 1)] + (i & 1),
                        2 * at[first + (j >> 1)] + (j & 1),
                    )
                    if column > (row | 1):
                        row, column = column ^ 1, row ^ 1
                    out[column + (row + 1) ** 2 // 2] = flat[source + j + (i + 1) ** 2 // 2]
        first += n
