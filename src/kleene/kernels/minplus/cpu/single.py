"""The compiled operations on one octagon that are called most: few arguments, nothing checked.

Elements come as Python's numbers: integers for integers, floats for floats, the type's infinity for
no bound. `guard` finds one of `SAME`, `TIGHTER` and `EMPTY`.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from kleene.kernels.minplus.cpu import cells
from kleene.kernels.minplus.cpu.compiled import device_function, entry_point
from kleene.kernels.minplus.cpu.scalar import even, keep, pointer, whole
from kleene.kernels.minplus.cpu.table import address_of
from kleene.kernels.minplus.cpu.vector import to_nearest, upwards

SAME, TIGHTER, EMPTY = 0, 1, 2
_CHUNK = 512  # elements compared without looking up


@device_function
def n_of_length(n_elements: int) -> int:
    """Return the variables of an octagon: 1 + 2 * 2n(n+1) is the square of 2n + 1."""
    return (int(sqrt(1 + 2 * n_elements)) - 1) >> 1


@entry_point
def address(m: Any) -> int:
    """Return where the elements are in memory: as NumPy says it, but in a fifth of the time."""
    return address_of(pointer(m, 0))


@entry_point
def move(m: Any, x: int, y: int, negate: bool, up: Any, down: Any) -> None:
    """Assign x := ±y + d, d <= up and -d <= down; x and y may be the same."""
    upwards()
    ends = np.empty(2, m.dtype)
    ends[0], ends[1] = up, down
    if not m[0] < 0:
        cells.move(pointer(m, 0), n_of_length(len(m)), x, y, negate, ends[0], ends[1])
    to_nearest()


@entry_point
def set_interval(m: Any, x: int, up: Any, down: Any) -> None:
    """Assign x := d, d <= up and -d <= down."""
    upwards()
    ends = np.empty(2, m.dtype)
    ends[0], ends[1] = up, down
    if not m[0] < 0:
        cells.set_interval(pointer(m, 0), n_of_length(len(m)), x, ends[0], ends[1])
    to_nearest()


@entry_point
def forget(m: Any, x: int, outer: Any) -> None:
    """Drop all bounds on x."""
    if not m[0] < 0:
        cells.forget(pointer(m, 0), n_of_length(len(m)), x, outer[0])


@entry_point
def guard(m: Any, i: int, j: int, bound: Any, tighten: bool, outer: Any) -> int:
    """Add V'[j] - V'[i] <= bound to a closed octagon and close it again."""
    typed = np.empty(1, m.dtype)
    typed[0] = bound
    if tighten:
        typed[0] = even(whole(typed[0])) if i == j ^ 1 else whole(typed[0])
    if not typed[0] < m[cells.index(i, j)]:
        return SAME
    n = n_of_length(len(m))
    space = np.empty(12 * n, m.dtype)
    at, room = pointer(m, 0), pointer(space, 0)
    upwards()
    found = cells.close_after(at, n, i, j, typed[0], tighten, room, outer[0])
    to_nearest()
    keep(space)
    return TIGHTER if found else EMPTY


@entry_point
def includes(a: Any, b: Any) -> bool:
    """Return whether no bound of `a` is less than that of `b`."""
    x, y = pointer(a, 0), pointer(b, 0)
    begin, end = 0, len(a)
    while begin < end and not any_less(x, y, begin, min(begin + _CHUNK, end)):
        begin += _CHUNK
    return begin >= end


@device_function
def any_less(x: Any, y: Any, begin: int, end: int) -> bool:
    """Return whether some x is less than its y."""
    less = False
    for at in range(begin, end):
        less |= x[at] < y[at]
    return less


@entry_point
def magnitude(m: Any, outer: Any) -> Any:
    """Return the greatest absolute value of a bound."""
    low = high = outer[0] - outer[0]
    at = pointer(m, 0)
    for k in range(len(m)):
        low = min(low, at[k])
        high = max(high, at[k] if at[k] != outer[0] else low)
    return max(-low, high)


@entry_point
def convert(out: Any, m: Any, factor: int, outer: Any, wider: Any) -> None:
    """Write integers times `factor` in a type that has room for them; infinity stays infinite."""
    scale(pointer(out, 0), pointer(m, 0), len(m), factor, outer[0], wider[0])


@device_function
def scale(out: Any, m: Any, length: int, factor: int, infinity: Any, wider: Any) -> None:
    """Write numbers times `factor`."""
    for at in range(length):
        out[at] = wider if m[at] == infinity else m[at] * factor
