"""The operations on CPUs, compiled over a batch of octagons; see `kleene.kernels.minplus`.

What is written for a batch is what `half_matrix` says of one octagon, for each that is not empty.
Without offsets (None) there is one octagon, and a number may stand for an array with one for each:
Numba compiles that apart, with nothing left of the batch. `guard` and what follows it are for one
octagon. Nothing is checked here.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from kleene.base.arrays import I64, Bools
from kleene.kernels.minplus.cpu import closure, half_matrix, reduction
from kleene.kernels.minplus.cpu.compiled import Element, Elements, device_function, entry_point
from kleene.kernels.minplus.cpu.half_matrix import n_of_length
from kleene.kernels.minplus.cpu.scalar import cast, each, even, infinity_of, lowest_of, whole, wide
from kleene.kernels.minplus.cpu.vector import to_nearest, upwards
from kleene.kernels.minplus.layout import Forms
from kleene.kernels.pointers import Pointer, address_of, keep, pointer

SAME, TIGHTER, EMPTY = 0, 1, 2
Cuts: TypeAlias = I64 | None  # where the octagons of a batch begin and end, or their lists
_CHUNK = 512  # elements compared without looking up

close = closure.close


def join(out: Elements, a: Elements, b: Elements) -> None:
    """Write the pointwise maximum."""
    np.maximum(a, b, out=out)


def meet(out: Elements, a: Elements, b: Elements) -> None:
    """Write the pointwise minimum."""
    np.minimum(a, b, out=out)


def minimal(out: Elements, m: Elements, offsets: Cuts) -> None:
    """Mark the constraints to keep."""
    for begin, end in pairwise([0, len(m)] if offsets is None else offsets):
        reduction.minimal(out[begin:end], m[begin:end])


@device_function
def n_parts(cut: Cuts) -> int:
    """Return how many octagons there are, or lists."""
    if cut is None:
        return 1
    return len(cut) - 1


@device_function
def start(cut: Cuts, t: int) -> int:
    """Return where octagon t begins, or its list."""
    if cut is None:
        return 0
    return cut[t]


@device_function
def end(m: Elements, cut: Cuts, t: int) -> int:
    """Return where octagon t of `m` ends, or its list."""
    if cut is None:
        return len(m)
    return cut[t + 1]


@device_function
def n_of(m: Elements, offsets: Cuts, t: int) -> int:
    """Return the variables of octagon t."""
    return n_of_length(end(m, offsets, t) - start(offsets, t))


@device_function
def octagon(m: Elements, offsets: Cuts, t: int) -> tuple[Pointer, int]:
    """Return where octagon t is, and its variables."""
    return pointer(m, start(offsets, t)), n_of(m, offsets, t)


@device_function
def most_variables(m: Elements, offsets: Cuts) -> int:
    """Return the variables of the largest octagon."""
    longest = 0
    for t in range(n_parts(offsets)):
        longest = max(longest, n_of(m, offsets, t))
    return longest


@device_function
def is_live(m: Elements, offsets: Cuts, t: int) -> bool:
    """Return whether octagon t has variables and is not empty."""
    begin = start(offsets, t)
    return end(m, offsets, t) > begin and not m[begin] < 0


@device_function
def fill(m: Elements, offsets: Cuts, t: int) -> None:
    """Make octagon t empty."""
    for at in range(start(offsets, t), end(m, offsets, t)):
        m[at] = lowest_of(m)


@entry_point
def assign(
    m: Elements, offsets: Cuts, target: Any, source: Any, negate: Any, up: Any, down: Any
) -> None:
    """Assign x := ±y + d, d <= up and -d <= down; x and y may be the same."""
    upwards()
    for t in range(n_parts(offsets)):
        if is_live(m, offsets, t):
            at, n = octagon(m, offsets, t)
            x, y, above, below = each(target, t), each(source, t), each(up, t), each(down, t)
            half_matrix.move(at, n, x, y, each(negate, t), cast(m, above), cast(m, below))
    to_nearest()


@entry_point
def assign_interval(m: Elements, offsets: Cuts, variable: Any, up: Any, down: Any) -> None:
    """Assign x := d, d <= up and -d <= down."""
    upwards()
    for t in range(n_parts(offsets)):
        if is_live(m, offsets, t):
            at, n = octagon(m, offsets, t)
            above, below = cast(m, each(up, t)), cast(m, each(down, t))
            half_matrix.set_interval(at, n, each(variable, t), above, below)
    to_nearest()


@entry_point
def forget(m: Elements, offsets: Cuts, variable: Any) -> None:
    """Drop all bounds on a variable."""
    for t in range(n_parts(offsets)):
        if is_live(m, offsets, t):
            at, n = octagon(m, offsets, t)
            half_matrix.forget(at, n, each(variable, t))


@entry_point
def add(
    m: Elements, offsets: Cuts, rows: I64, columns: I64, bounds: Elements, starts: Cuts
) -> None:
    """Add constraints."""
    for t in range(n_parts(offsets)):
        at = pointer(m, start(offsets, t))
        half_matrix.add(at, rows, columns, bounds, start(starts, t), end(rows, starts, t))


@entry_point
def close_after(
    m: Elements,
    offsets: Cuts,
    rows: I64,
    columns: I64,
    bounds: Elements,
    starts: Cuts,
    tighten: bool,
) -> Bools:
    """Add constraints to closed octagons and close them again; return which have a point."""
    upwards()
    space = np.empty(12 * most_variables(m, offsets), m.dtype)
    found = np.empty(n_parts(offsets), np.bool_)
    for t in range(n_parts(offsets)):
        at, n = octagon(m, offsets, t)
        has_point = is_live(m, offsets, t) or n == 0
        for s in range(start(starts, t), end(rows, starts, t)):
            if has_point:
                i, j, scratch = rows[s], columns[s], pointer(space, 0)
                has_point = half_matrix.close_after(at, n, i, j, bounds[s], tighten, scratch)
        if not has_point:
            fill(m, offsets, t)
        found[t] = has_point
    keep(space)
    to_nearest()
    return found


@entry_point
def strengthen(m: Elements, offsets: Cuts, tighten: bool) -> Bools:
    """Combine unary bounds; return which octagons have a point."""
    upwards()
    space = np.empty(4 * most_variables(m, offsets), m.dtype)
    found = np.empty(n_parts(offsets), np.bool_)
    for t in range(n_parts(offsets)):
        at, n = octagon(m, offsets, t)
        found[t] = n == 0
        if is_live(m, offsets, t):
            found[t] = half_matrix.strengthen(at, n, tighten, pointer(space, 0))
        if not found[t]:
            fill(m, offsets, t)
    keep(space)
    to_nearest()
    return found


@entry_point
def widen(out: Elements, a: Elements, b: Elements, offsets: Cuts, thresholds: Elements) -> None:
    """Keep stable bounds."""
    upwards()
    for t in range(n_parts(offsets)):
        at, n = start(offsets, t), n_of(a, offsets, t)
        if n:
            half_matrix.widen(pointer(out, at), pointer(a, at), pointer(b, at), n, thresholds)
    to_nearest()


@entry_point
def narrow(out: Elements, a: Elements, b: Elements, offsets: Cuts) -> None:
    """Refine missing bounds only."""
    for t in range(n_parts(offsets)):
        at, n = start(offsets, t), n_of(a, offsets, t)
        if n:
            half_matrix.narrow(pointer(out, at), pointer(a, at), pointer(b, at), n)


@entry_point
def includes(a: Elements, b: Elements, offsets: Cuts) -> Bools:
    """Return whether every bound of `a` is no tighter than that of `b`."""
    return compared(a, b, offsets, False)


@entry_point
def equals(a: Elements, b: Elements, offsets: Cuts) -> Bools:
    """Return whether all bounds are the same."""
    return compared(a, b, offsets, True)


@device_function
def compared(a: Elements, b: Elements, offsets: Cuts, for_equality: bool) -> Bools:
    """Return which octagons of `a` include, or equal, those of `b`."""
    found = np.empty(n_parts(offsets), np.bool_)
    x, y = pointer(a, 0), pointer(b, 0)
    for t in range(n_parts(offsets)):
        found[t] = holds(x, y, start(offsets, t), end(a, offsets, t), for_equality)
    return found


@device_function
def holds(x: Pointer, y: Pointer, begin: int, stop: int, for_equality: bool) -> bool:
    """Return whether no x is less than its y, and for equality, none is more."""
    while begin < stop and not differ(x, y, begin, min(begin + _CHUNK, stop), for_equality):
        begin += _CHUNK
    return begin >= stop


@device_function
def differ(x: Pointer, y: Pointer, begin: int, stop: int, for_equality: bool) -> bool:
    """Return whether some x is less than its y, or for equality, not the same."""
    less = more = False
    for at in range(begin, stop):
        less |= x[at] < y[at]
        more |= x[at] > y[at]
    return less or (for_equality and more)


@entry_point
def assign_linear(m: Elements, offsets: Cuts, target: Any, forms: Forms, tighten: bool) -> None:
    """Assign interval linear forms."""
    upwards()
    space = np.empty(8 * most_variables(m, offsets), m.dtype)
    for t in range(n_parts(offsets)):
        if is_live(m, offsets, t):
            at, n = octagon(m, offsets, t)
            s, stop = start(forms.starts, t), end(forms.variables, forms.starts, t)
            variables, lows = pointer(forms.variables, s), pointer(forms.lows, s)
            form = (variables, lows, pointer(forms.highs, s), stop - s)
            x, above, below = (
                each(target, t),
                cast(m, each(forms.up, t)),
                cast(m, each(forms.down, t)),
            )
            half_matrix.assign_linear(at, n, x, form, above, below, tighten, pointer(space, 0))
    keep(space)
    to_nearest()


@entry_point
def unary(out: Elements, m: Elements, offsets: Cuts, starts: Cuts) -> None:
    """Read twice the bounds of each V'[i]."""
    for t in range(n_parts(offsets)):
        at = pointer(m, start(offsets, t))
        for i in range(2 * n_of(m, offsets, t)):
            out[start(starts, t) + i] = at[half_matrix.index(i ^ 1, i)]


@entry_point
def select(
    out: Elements, m: Elements, variables: I64, offsets: Cuts, out_offsets: Cuts, starts: Cuts
) -> None:
    """Read some variables."""
    for t in range(n_parts(offsets)):
        n_chosen = end(variables, starts, t) - start(starts, t)
        if is_live(m, offsets, t) or n_of(m, offsets, t) == 0:
            into, at = pointer(out, start(out_offsets, t)), pointer(m, start(offsets, t))
            half_matrix.select(into, n_chosen, at, pointer(variables, start(starts, t)))
        else:
            fill(out, out_offsets, t)


@entry_point
def place(
    out: Elements, m: Elements, variables: I64, offsets: Cuts, out_offsets: Cuts, starts: Cuts
) -> None:
    """Write some variables."""
    for t in range(n_parts(offsets)):
        n = n_of(m, offsets, t)
        if n and not is_live(m, offsets, t):
            fill(out, out_offsets, t)
        elif n and is_live(out, out_offsets, t):
            into, at = pointer(out, start(out_offsets, t)), pointer(m, start(offsets, t))
            half_matrix.place(into, at, n, pointer(variables, start(starts, t)))


@entry_point
def are_between(values: Elements, least: int, stop: int) -> bool:
    """Return whether all values are in least..stop-1."""
    inside = True
    for value in values:
        inside &= least <= value < stop
    return inside


@entry_point
def guard(m: Elements, i: int, j: int, bound: Element, tighten: bool) -> int:
    """Add V'[j] - V'[i] <= bound to a closed octagon and close it: is it the `SAME`, or `EMPTY`?"""
    typed = cast(m, bound)
    if tighten:
        typed = even(whole(typed)) if i == j ^ 1 else whole(typed)
    if not typed < m[half_matrix.index(i, j)]:
        return SAME
    n = n_of_length(len(m))
    space = np.empty(12 * n, m.dtype)
    upwards()
    found = half_matrix.close_after(pointer(m, 0), n, i, j, typed, tighten, pointer(space, 0))
    to_nearest()
    keep(space)
    return TIGHTER if found else EMPTY


@entry_point
def covers(a: Elements, b: Elements) -> bool:
    """Return what `includes` does, as one truth value."""
    return holds(pointer(a, 0), pointer(b, 0), 0, len(a), False)


@entry_point
def address(m: Elements) -> int:
    """Return where the elements are in memory: as NumPy says it, but in a fifth of the time."""
    return address_of(pointer(m, 0))


@entry_point
def magnitude(m: Elements) -> Element:
    """Return the greatest absolute value of a bound."""
    infinity, at = infinity_of(m), pointer(m, 0)
    low = high = infinity - infinity
    for k in range(len(m)):
        low = min(low, at[k])
        high = max(high, at[k] if at[k] != infinity else low)
    return max(-low, high)


@entry_point
def convert(out: Elements, m: Elements, factor: int) -> None:
    """Write integers times `factor` in a type that has room for them; infinity stays infinite."""
    scale(pointer(out, 0), pointer(m, 0), len(m), factor)


@device_function
def scale(out: Pointer, m: Pointer, length: int, factor: int) -> None:
    """Write numbers times `factor`."""
    infinity, wider = infinity_of(m), infinity_of(out)
    for at in range(length):
        out[at] = wider if m[at] == infinity else wide(m[at]) * factor
