"""Assigning an interval linear form: x := Σ c_t y_t + d, c_t in lows[t]..highs[t].

What the form's points are but for x, they were before. So no bound between others changes, and the
octagon is closed again as soon as the bounds on x are: O(n) for each term, not O(n²). For the same
reason a path through both ends of x gives nothing that the unary bounds on it do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.kernels.minplus.cpu.cells import index
from kleene.kernels.minplus.cpu.compiled import device_function, entry_point, noinline
from kleene.kernels.minplus.cpu.entries import is_live
from kleene.kernels.minplus.cpu.scalar import (
    add_up,
    beyond,
    even,
    half_up,
    keep,
    pointer,
    times_up,
    whole,
)
from kleene.kernels.minplus.cpu.tile import n_of
from kleene.kernels.minplus.cpu.vector import to_nearest, upwards


@entry_point
def assign(
    m: Any,
    offsets: Any,
    targets: Any,
    starts: Any,
    variables: Any,
    lows: Any,
    highs: Any,
    up: Any,
    down: Any,
    tighten: bool,
    outer: Any,
) -> None:
    """Assign a form in each."""
    upwards()
    longest = 0
    for t in range(len(offsets) - 1):
        longest = max(longest, n_of(offsets, t))
    space = np.empty(8 * longest, m.dtype)
    for t in range(len(offsets) - 1):
        if is_live(m, offsets, t):
            at, room, s = pointer(m, offsets[t]), pointer(space, 0), starts[t]
            form = (pointer(variables, s), pointer(lows, s), pointer(highs, s), starts[t + 1] - s)
            n, x = n_of(offsets, t), targets[t]
            assign_one(at, n, x, form, up[t], down[t], tighten, room, outer[0])
    keep(space)
    to_nearest()


@device_function
def assign_one(
    m: Any, n: int, x: int, form: Any, up: Any, down: Any, tighten: bool, space: Any, infinity: Any
) -> None:
    """Assign a form to x; there is space for 8n elements.

    near[2t + p] bounds x - V'[k] and far[2t + p] bounds -x - V'[k], where k = 2y + p and y is the
    variable of term t; to_plus[i] and to_minus[i] the same for every V'[i].
    """
    noinline()
    near, far = space, beyond(space, 2 * n)
    to_plus, to_minus = beyond(space, 4 * n), beyond(space, 6 * n)
    bound_terms(m, x, form, up, down, tighten, near, far, infinity)
    extend(m, n, form, near, far, to_plus, to_minus, infinity)
    high, low = twice(m, form, up, 0, -1, 0), twice(m, form, down, 1, -1, 0)
    for t in range(form[3]):
        for p in range(2):
            k = 2 * form[0][t] + p
            high = min(high, add_up(near[2 * t + 1 - p], to_plus[k]))
            low = min(low, add_up(far[2 * t + 1 - p], to_minus[k]))
    if tighten:
        high, low = even(whole(high)), even(whole(low))
    for i in range(2 * n):
        if i >> 1 != x:
            own = m[index(i, i ^ 1)]
            m[index(i, 2 * x)] = min(to_plus[i], half_up(add_up(own, high)))
            m[index(i, 2 * x + 1)] = min(to_minus[i], half_up(add_up(own, low)))
    m[index(2 * x + 1, 2 * x)] = high
    m[index(2 * x, 2 * x + 1)] = low


@device_function
def bound_terms(
    m: Any, x: int, form: Any, up: Any, down: Any, tighten: bool, near: Any, far: Any, infinity: Any
) -> None:
    """Bound the form's sums and differences with each of its variables but x."""
    for t in range(form[3]):
        for p in range(2):
            if form[0][t] == x:
                near[2 * t + p] = far[2 * t + p] = infinity
            else:
                near[2 * t + p] = half(twice(m, form, up, 0, t, 2 * p - 1), tighten)
                far[2 * t + p] = half(twice(m, form, down, 1, t, 1 - 2 * p), tighten)


@device_function
def twice(m: Any, form: Any, constant: Any, negate: int, merged: int, by: int) -> Any:
    """Return twice the bound of the form plus `by` times the variable of term `merged`.

    With `negate` of the negation of all that.
    """
    variables, lows, highs, n_terms = form
    total = add_up(constant, constant)
    for t in range(n_terms):
        end = 2 * variables[t] + negate
        up, down = m[index(end ^ 1, end)], m[index(end, end ^ 1)]
        moved = by if t == merged else 0
        total = add_up(total, times_up(lows[t], highs[t], moved, up, down))
    return total


@device_function
def half(bound: Any, tighten: bool) -> Any:
    """Return half a bound, rounded upwards; of integers downwards, to one."""
    return half_up(even(whole(bound)) if tighten else bound)


@device_function
def extend(
    m: Any, n: int, form: Any, near: Any, far: Any, to_plus: Any, to_minus: Any, infinity: Any
) -> None:
    """Bound ±x - V'[i] for every i, by what is known of the form's variables."""
    for i in range(2 * n):
        to_plus[i] = to_minus[i] = infinity
    for s in range(2 * form[3]):
        k, a, b = 2 * form[0][s >> 1] + (s & 1), near[s], far[s]
        if a != infinity or b != infinity:
            for i in range(2 * n):
                path = m[index(i, k)]
                to_plus[i] = min(to_plus[i], add_up(path, a))
                to_minus[i] = min(to_minus[i], add_up(path, b))
