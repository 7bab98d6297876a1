"""One element inside compiled code: what differs between floats and integers.

These are what plain Python runs, where entry points are interpreted: sums of floats are rounded
upwards one by one, as the reference does it. Compiled code has `instructions` for each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.kernels.minplus import layout, reference
from kleene.kernels.minplus.cpu.compiled import Element, instruction


@instruction
def is_float(like: Any) -> bool:
    """Return whether the elements of an array, or at a pointer, are floats."""
    return bool(like.dtype.kind == "f")


@instruction
def infinity_of(like: Any) -> Element:
    """Return what means "no bound" among elements such as those of `like`."""
    return layout.infinity(like.dtype)


@instruction
def lowest_of(like: Any) -> Element:
    """Return what fills an empty octagon of elements such as those of `like`."""
    return layout.lowest(like.dtype)


@instruction
def tile_infinity_of(tile: Any) -> Element:
    """Return what means "no bound" in a tile."""
    return layout.tile_infinity(tile.dtype)


@instruction
def each(values: Any, t: int) -> Any:
    """Return the one for octagon t: an element of an array, or the number for a batch of one."""
    return values[t] if isinstance(values, np.ndarray) else values


@instruction
def cast(like: Any, value: Any) -> Element:
    """Return a number as an element such as those of `like`."""
    return like.dtype.type(value)


@instruction
def half_up(x: Element) -> Element:
    """Return x / 2 rounded upwards; half of infinity is infinite."""
    return reference.half_up(np.asarray(x))[()]


@instruction
def whole(x: Element) -> Element:
    """Return the greatest integer that is no more than x."""
    return np.floor(x) if x.dtype.kind == "f" else x


@instruction
def even(x: Element) -> Element:
    """Return the greatest even integer that is no more than x; infinity is even."""
    if x.dtype.kind == "f":
        return 2 * np.floor(x / 2)
    return x if x == np.iinfo(x.dtype).max else x & ~x.dtype.type(1)


@instruction
def add_up(a: Element, b: Element) -> Element:
    """Return a + b: floats rounded upwards, integers saturated, infinity kept."""
    return reference.add_up(np.asarray(a), np.asarray(b))[()]


@instruction
def times_up(low: Element, high: Element, by: int, up: Element, down: Element) -> Element:
    """Return c * v, the upper bound for low+by <= c <= high+by, v <= up, -v <= down; by is int64.

    It is reached at one end of c's interval; 0 times infinity is 0.
    """
    return reference.times_up(low, high, by, up, down)


@instruction
def wide(x: Element) -> Any:
    """Return an integer as one of 64 bits, a float as it is: sums of two are then exact."""
    return x.item()
