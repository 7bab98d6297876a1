"""The compiled operations that Python calls, each over a batch of octagons.

What is written for a batch is what `half_matrix` says of one octagon, for each that is not empty.
The last ones, `..._one` and `guard`, are for one octagon and have few arguments: making a batch of
one would take longer than a call of them does (1 to 6 µs, benchmarks/octagon_operations.py). They
check nothing; elements come as Python's numbers: integers for integers, floats for floats, the
type's infinity for no bound. `guard` finds one of `SAME`, `TIGHTER` and `EMPTY`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.base.arrays import I64
from kleene.kernels.minplus.cpu import half_matrix
from kleene.kernels.minplus.cpu.compiled import Elements, device_function, entry_point
from kleene.kernels.minplus.cpu.half_matrix import n_of, n_of_length
from kleene.kernels.minplus.cpu.partition import address_of
from kleene.kernels.minplus.cpu.scalar import even, keep, pointer, whole, wide
from kleene.kernels.minplus.cpu.vector import to_nearest, upwards

SAME, TIGHTER, EMPTY = 0, 1, 2
_CHUNK = 512  # elements compared without looking up


@device_function
def is_live(m: Any, offsets: Any, t: int) -> bool:
    """Return whether octagon t has variables and is not empty."""
    return offsets[t + 1] > offsets[t] and not m[offsets[t]] < 0


@device_function
def fill(m: Any, offsets: Any, t: int, value: Any) -> None:
    """Fill octagon t."""
    for at in range(offsets[t], offsets[t + 1]):
        m[at] = value


@entry_point
def move(
    m: Elements, offsets: I64, xs: I64, ys: I64, negate: Elements, up: Elements, down: Elements
) -> None:
    """Assign x := ±y + d in each."""
    upwards()
    for t in range(len(offsets) - 1):
        if is_live(m, offsets, t):
            n = n_of(offsets, t)
            half_matrix.move(pointer(m, offsets[t]), n, xs[t], ys[t], negate[t], up[t], down[t])
    to_nearest()


@entry_point
def set_interval(m: Elements, offsets: I64, xs: I64, up: Elements, down: Elements) -> None:
    """Assign x := d in each."""
    upwards()
    for t in range(len(offsets) - 1):
        if is_live(m, offsets, t):
            at, n = pointer(m, offsets[t]), n_of(offsets, t)
            half_matrix.set_interval(at, n, xs[t], up[t], down[t])
    to_nearest()


@entry_point
def forget(m: Elements, offsets: I64, xs: I64, outer: Elements) -> None:
    """Forget x in each."""
    for t in range(len(offsets) - 1):
        if is_live(m, offsets, t):
            half_matrix.forget(pointer(m, offsets[t]), n_of(offsets, t), xs[t], outer[0])


@entry_point
def add(m: Elements, offsets: I64, starts: I64, rows: I64, columns: I64, bounds: Elements) -> None:
    """Add constraints to each."""
    for t in range(len(offsets) - 1):
        begin, end = starts[t], starts[t + 1]
        half_matrix.add(pointer(m, offsets[t]), rows, columns, bounds, begin, end)


@entry_point
def close_after(
    m: Elements,
    offsets: I64,
    starts: I64,
    rows: I64,
    columns: I64,
    bounds: Elements,
    tighten: bool,
    outer: Elements,
    found: Elements,
) -> None:
    """Add constraints to each closed octagon and close it; find which have a point."""
    upwards()
    longest = 0
    for t in range(len(offsets) - 1):
        longest = max(longest, n_of(offsets, t))
    space = np.empty(12 * longest, m.dtype)
    for t in range(len(offsets) - 1):
        found[t] = is_live(m, offsets, t) or offsets[t] == offsets[t + 1]
        at, n = pointer(m, offsets[t]), n_of(offsets, t)
        for s in range(starts[t], starts[t + 1]):
            if found[t]:
                i, j, scratch = rows[s], columns[s], pointer(space, 0)
                found[t] = half_matrix.close_after(
                    at, n, i, j, bounds[s], tighten, scratch, outer[0]
                )
        if not found[t]:
            fill(m, offsets, t, outer[2])
    keep(space)
    to_nearest()


@entry_point
def strengthen(m: Elements, offsets: I64, tighten: bool, outer: Elements, found: Elements) -> None:
    """Combine the unary bounds of each; find which have a point."""
    upwards()
    for t in range(len(offsets) - 1):
        n = n_of(offsets, t)
        found[t] = n == 0
        if is_live(m, offsets, t):
            space = np.empty(4 * n, m.dtype)
            found[t] = half_matrix.strengthen(pointer(m, offsets[t]), n, tighten, pointer(space, 0))
            keep(space)
        if not found[t]:
            fill(m, offsets, t, outer[2])
    to_nearest()


@entry_point
def widen(
    out: Elements, a: Elements, b: Elements, offsets: I64, steps: Elements, outer: Elements
) -> None:
    """Widen each pair."""
    upwards()
    for t in range(len(offsets) - 1):
        at, n = offsets[t], n_of(offsets, t)
        if n:
            half_matrix.widen(pointer(out, at), pointer(a, at), pointer(b, at), n, steps, outer[0])
    to_nearest()


@entry_point
def narrow(out: Elements, a: Elements, b: Elements, offsets: I64, outer: Elements) -> None:
    """Narrow each pair."""
    for t in range(len(offsets) - 1):
        at, n = offsets[t], n_of(offsets, t)
        if n:
            half_matrix.narrow(pointer(out, at), pointer(a, at), pointer(b, at), n, outer[0])


@entry_point
def compare(a: Elements, b: Elements, offsets: I64, for_equality: bool, found: Elements) -> None:
    """Find which octagons of `a` include, or equal, those of `b`."""
    x, y = pointer(a, 0), pointer(b, 0)
    for t in range(len(offsets) - 1):
        begin, end = offsets[t], offsets[t + 1]
        while begin < end and not differ(x, y, begin, min(begin + _CHUNK, end), for_equality):
            begin += _CHUNK
        found[t] = begin >= end


@device_function
def differ(x: Any, y: Any, begin: int, end: int, for_equality: bool) -> bool:
    """Return whether some x is less than its y, or for equality, not the same."""
    less = more = False
    for at in range(begin, end):
        less |= x[at] < y[at]
        more |= x[at] > y[at]
    return less or (for_equality and more)


@entry_point
def assign_linear(
    m: Elements,
    offsets: I64,
    targets: I64,
    starts: I64,
    variables: I64,
    lows: Elements,
    highs: Elements,
    up: Elements,
    down: Elements,
    tighten: bool,
    outer: Elements,
) -> None:
    """Assign a form in each."""
    upwards()
    longest = 0
    for t in range(len(offsets) - 1):
        longest = max(longest, n_of(offsets, t))
    space = np.empty(8 * longest, m.dtype)
    for t in range(len(offsets) - 1):
        if is_live(m, offsets, t):
            at, scratch, s = pointer(m, offsets[t]), pointer(space, 0), starts[t]
            form = (pointer(variables, s), pointer(lows, s), pointer(highs, s), starts[t + 1] - s)
            n, x = n_of(offsets, t), targets[t]
            half_matrix.assign_one(at, n, x, form, up[t], down[t], tighten, scratch, outer[0])
    keep(space)
    to_nearest()


@entry_point
def unary(out: Elements, starts: I64, m: Elements, offsets: I64) -> None:
    """Read twice the bounds of each V'[i]."""
    for t in range(len(offsets) - 1):
        at = pointer(m, offsets[t])
        for i in range(2 * n_of(offsets, t)):
            out[starts[t] + i] = at[half_matrix.index(i ^ 1, i)]


@entry_point
def select(
    out: Elements,
    out_offsets: I64,
    m: Elements,
    offsets: I64,
    variables: I64,
    starts: I64,
    outer: Elements,
) -> None:
    """Read some variables of each."""
    for t in range(len(offsets) - 1):
        n_chosen = starts[t + 1] - starts[t]
        chosen = pointer(variables, starts[t])
        if is_live(m, offsets, t) or offsets[t] == offsets[t + 1]:
            into, at = pointer(out, out_offsets[t]), pointer(m, offsets[t])
            half_matrix.select(into, n_chosen, at, chosen, outer[0])
        else:
            fill(out, out_offsets, t, outer[2])


@entry_point
def place(
    out: Elements,
    out_offsets: I64,
    m: Elements,
    offsets: I64,
    variables: I64,
    starts: I64,
    outer: Elements,
) -> None:
    """Write some variables of each."""
    for t in range(len(offsets) - 1):
        n = n_of(offsets, t)
        if n and not is_live(m, offsets, t):
            fill(out, out_offsets, t, outer[2])
        elif n and is_live(out, out_offsets, t):
            into, chosen = pointer(out, out_offsets[t]), pointer(variables, starts[t])
            half_matrix.place(into, pointer(m, offsets[t]), n, chosen)


@entry_point
def are_between(values: Elements, least: int, end: int) -> bool:
    """Return whether all values are in least..end-1."""
    inside = True
    for value in values:
        inside &= least <= value < end
    return inside


@entry_point
def are_parts(cut: I64, n_items: int) -> bool:
    """Return whether `cut` ascends from 0 to n_items."""
    ascends = len(cut) > 0 and cut[0] == 0 and cut[len(cut) - 1] == n_items
    for t in range(len(cut) - 1):
        ascends &= cut[t] <= cut[t + 1]
    return ascends


@entry_point
def are_distinct(cut: I64, values: Elements) -> bool:
    """Return whether no part has a value twice."""
    distinct = True
    for t in range(len(cut) - 1):
        for at in range(cut[t], cut[t + 1]):
            for before in range(cut[t], at):
                distinct &= values[before] != values[at]
    return distinct


@entry_point
def are_octagons(offsets: I64, n_elements: int) -> bool:
    """Return whether `offsets` cut n_elements into octagons."""
    fitting = len(offsets) > 0 and offsets[0] == 0 and offsets[len(offsets) - 1] == n_elements
    for t in range(len(offsets) - 1):
        if offsets[t + 1] < offsets[t]:
            return False
        n = n_of(offsets, t)
        fitting &= 2 * n * (n + 1) == offsets[t + 1] - offsets[t]
    return fitting


@entry_point
def are_of_each(offsets: I64, cut: I64, values: Elements, least: int, scale: int) -> bool:
    """Return whether the values of each octagon are in least..scale*n-1; of none, anything."""
    inside = True
    for t in range(len(offsets) - 1):
        n = n_of(offsets, t)
        for at in range(cut[t], cut[t + 1]):
            inside &= n == 0 or least <= values[at] < scale * n
    return inside


@entry_point
def address(m: Elements) -> int:
    """Return where the elements are in memory: as NumPy says it, but in a fifth of the time."""
    return address_of(pointer(m, 0))


@entry_point
def move_one(m: Elements, x: int, y: int, negate: bool, up: Any, down: Any) -> None:
    """Assign x := ±y + d, d <= up and -d <= down; x and y may be the same."""
    upwards()
    ends = np.empty(2, m.dtype)
    ends[0], ends[1] = up, down
    if not m[0] < 0:
        half_matrix.move(pointer(m, 0), n_of_length(len(m)), x, y, negate, ends[0], ends[1])
    to_nearest()


@entry_point
def set_interval_one(m: Elements, x: int, up: Any, down: Any) -> None:
    """Assign x := d, d <= up and -d <= down."""
    upwards()
    ends = np.empty(2, m.dtype)
    ends[0], ends[1] = up, down
    if not m[0] < 0:
        half_matrix.set_interval(pointer(m, 0), n_of_length(len(m)), x, ends[0], ends[1])
    to_nearest()


@entry_point
def forget_one(m: Elements, x: int, outer: Elements) -> None:
    """Drop all bounds on x."""
    if not m[0] < 0:
        half_matrix.forget(pointer(m, 0), n_of_length(len(m)), x, outer[0])


@entry_point
def guard(m: Elements, i: int, j: int, bound: Any, tighten: bool, outer: Elements) -> int:
    """Add V'[j] - V'[i] <= bound to a closed octagon and close it again."""
    typed = np.empty(1, m.dtype)
    typed[0] = bound
    if tighten:
        typed[0] = even(whole(typed[0])) if i == j ^ 1 else whole(typed[0])
    if not typed[0] < m[half_matrix.index(i, j)]:
        return SAME
    n = n_of_length(len(m))
    space = np.empty(12 * n, m.dtype)
    at, scratch = pointer(m, 0), pointer(space, 0)
    upwards()
    found = half_matrix.close_after(at, n, i, j, typed[0], tighten, scratch, outer[0])
    to_nearest()
    keep(space)
    return TIGHTER if found else EMPTY


@entry_point
def includes_one(a: Elements, b: Elements) -> bool:
    """Return whether no bound of `a` is less than that of `b`."""
    x, y = pointer(a, 0), pointer(b, 0)
    begin, end = 0, len(a)
    while begin < end and not differ(x, y, begin, min(begin + _CHUNK, end), False):
        begin += _CHUNK
    return begin >= end


@entry_point
def magnitude(m: Elements, outer: Elements) -> Any:
    """Return the greatest absolute value of a bound."""
    low = high = outer[0] - outer[0]
    at = pointer(m, 0)
    for k in range(len(m)):
        low = min(low, at[k])
        high = max(high, at[k] if at[k] != outer[0] else low)
    return max(-low, high)


@entry_point
def convert(out: Elements, m: Elements, factor: int, outer: Elements, wider: Elements) -> None:
    """Write integers times `factor` in a type that has room for them; infinity stays infinite."""
    scale(pointer(out, 0), pointer(m, 0), len(m), factor, outer[0], wider[0])


@device_function
def scale(out: Any, m: Any, length: int, factor: int, infinity: Any, wider: Any) -> None:
    """Write numbers times `factor`."""
    for at in range(length):
        out[at] = wider if m[at] == infinity else wide(m[at]) * factor
