"""Operations on closed octagons that cost O(n) or O(n²), one half-stored octagon at a pointer each.

The caller has set the rounding, and has seen that the octagon is not empty where that matters.
"""

from __future__ import annotations

from math import sqrt

from kleene.base.arrays import I64
from kleene.kernels.minplus.cpu.compiled import Element, Elements, device_function, noinline
from kleene.kernels.minplus.cpu.scalar import (
    add_up,
    even,
    half_up,
    infinity_of,
    times_up,
    whole,
)
from kleene.kernels.pointers import Pointer, advance

# An interval linear form: its variables, the ends of their coefficients, and how many there are.
Form = tuple[Pointer, Pointer, Pointer, int]


@device_function
def n_of_length(n_elements: int) -> int:
    """Return the variables of an octagon: 1 + 2 * 2n(n+1) is the square of 2n + 1."""
    return (int(sqrt(1 + 2 * n_elements)) - 1) >> 1


@device_function
def index(i: int, j: int) -> int:
    """Return where cell (i, j) is stored."""
    if j > (i | 1):
        i, j = j ^ 1, i ^ 1
    return j + (i + 1) * (i + 1) // 2


@device_function
def row_start(i: int) -> int:
    """Return where row i is stored."""
    return (i + 1) * (i + 1) // 2


@device_function
def move(m: Pointer, n: int, x: int, y: int, negate: bool, up: Element, down: Element) -> None:
    """Assign x := ±y + d, where x and y may be the same.

    Cells (i, 2x) and (i, 2x+1) of ends i before x lie in rows 2x+1 and 2x, at place i^1.
    """
    noinline()
    plus, minus = 2 * y + negate, 2 * y + 1 - negate
    twice_up = add_up(add_up(m[index(minus, plus)], up), up)
    twice_down = add_up(add_up(m[index(plus, minus)], down), down)
    of_plus, of_minus = advance(m, row_start(plus ^ 1)), advance(m, row_start(minus ^ 1))
    to_plus, to_minus = advance(m, row_start(2 * x + 1)), advance(m, row_start(2 * x))
    for c in range(2 * min(x, y)):
        a, b = of_plus[c], of_minus[c]
        to_plus[c], to_minus[c] = add_up(a, up), add_up(b, down)
    for i in range(2 * min(x, y), 2 * max(x, y) + 2):
        k, row = i >> 1, advance(m, row_start(i))
        if k != x:
            a, b = (row[plus], row[minus]) if k >= y else (of_plus[i ^ 1], of_minus[i ^ 1])
            if k > x:
                row[2 * x], row[2 * x + 1] = add_up(a, up), add_up(b, down)
            else:
                to_plus[i ^ 1], to_minus[i ^ 1] = add_up(a, up), add_up(b, down)
    for k in range(max(x, y) + 1, n):
        for row in (advance(m, row_start(2 * k)), advance(m, row_start(2 * k + 1))):
            a, b = row[plus], row[minus]
            row[2 * x], row[2 * x + 1] = add_up(a, up), add_up(b, down)
    m[index(2 * x + 1, 2 * x)] = twice_up
    m[index(2 * x, 2 * x + 1)] = twice_down


@device_function
def forget(m: Pointer, n: int, x: int) -> None:
    """Drop all bounds on x."""
    noinline()
    infinity = infinity_of(m)
    high, low = advance(m, row_start(2 * x)), advance(m, row_start(2 * x + 1))
    for j in range(2 * x + 2):
        high[j] = infinity
        low[j] = infinity
    for i in range(2 * x + 2, 2 * n):
        row = advance(m, row_start(i))
        row[2 * x], row[2 * x + 1] = infinity, infinity
    high[2 * x] = low[2 * x + 1] = 0


@device_function
def set_interval(m: Pointer, n: int, x: int, up: Element, down: Element) -> None:
    """Assign x := d."""
    noinline()
    for i in range(2 * n):
        if i >> 1 != x:
            half = half_up(m[index(i, i ^ 1)])
            m[index(i, 2 * x)] = add_up(half, up)
            m[index(i, 2 * x + 1)] = add_up(half, down)
    m[index(2 * x + 1, 2 * x)] = add_up(up, up)
    m[index(2 * x, 2 * x + 1)] = add_up(down, down)


@device_function
def add(m: Pointer, rows: I64, columns: I64, bounds: Elements, begin: int, end: int) -> None:
    """Add constraints, and close nothing."""
    for t in range(begin, end):
        i, j = rows[t], columns[t]
        for at in (index(i, j), index(j ^ 1, i ^ 1)):  # the diagonal alone is stored twice
            m[at] = min(m[at], bounds[t])


@device_function
def close_after(
    m: Pointer, n: int, i: int, j: int, bound: Element, tighten: bool, space: Pointer
) -> bool:
    """Add one constraint to a closed octagon and close it; return whether it has a point.

    A shortest path takes the new edge i -> j at most once, and so its dual j^1 -> i^1. With
    u[k] = m[j, k] and v[k] = m[i^1, k], all that the two edges give is p[a] + u[b] and q[a] + v[b].
    """
    noinline()
    if tighten:
        bound = even(whole(bound)) if i == j ^ 1 else whole(bound)
    if i == j:
        return not bound < 0
    if bound >= m[index(i, j)]:
        return True
    u, v, p = space, advance(space, 2 * n), advance(space, 4 * n)
    q, d, e = advance(space, 6 * n), advance(space, 8 * n), advance(space, 10 * n)
    infinity = infinity_of(m)
    for k in range(2 * n):
        u[k], v[k] = m[index(j, k)], m[index(i ^ 1, k)]
    again, dual = add_up(u[j ^ 1], bound), add_up(v[i], bound)
    if add_up(u[i], bound) < 0 or add_up(again, dual) < 0:
        return False
    for k in range(2 * n):
        straight, back = add_up(v[k ^ 1], bound), add_up(u[k ^ 1], bound)
        p[k] = min(straight, add_up(back, dual))
        q[k] = min(back, add_up(straight, again))
    for k in range(2 * n):
        d[k] = min(m[index(k, k ^ 1)], add_up(p[k], u[k ^ 1]), add_up(q[k], v[k ^ 1]))
    if not settle(d, e, n, tighten):
        return False
    for a in range(2 * n):
        if p[a] != infinity or q[a] != infinity or d[a] != infinity:
            row, mine = advance(m, (a + 1) * (a + 1) // 2), d[a]
            one, other = p[a], q[a]
            for b in range((a | 1) + 1):
                path = min(add_up(one, u[b]), add_up(other, v[b]))
                row[b] = min(row[b], path, half_up(add_up(mine, e[b])))
            row[a] = 0
    return True


@device_function
def settle(d: Pointer, e: Pointer, n: int, tighten: bool) -> bool:
    """Tighten the unary bounds d[i] of cells (i, i^1), copy d[i^1] to e[i]; is a point left?"""
    for i in range(2 * n):
        if tighten:
            d[i] = even(whole(d[i]))
        e[i ^ 1] = d[i]
    possible = True
    for i in range(2 * n):
        possible &= not add_up(d[i], e[i]) < 0
    return possible


@device_function
def strengthen(m: Pointer, n: int, tighten: bool, space: Pointer) -> bool:
    """Combine unary bounds; return whether a point is left."""
    noinline()
    d, e = space, advance(space, 2 * n)
    for i in range(2 * n):
        d[i] = m[index(i, i ^ 1)]
        if m[index(i, i)] < 0:
            return False
    if not settle(d, e, n, tighten):
        return False
    for i in range(2 * n):
        row, mine = advance(m, (i + 1) * (i + 1) // 2), d[i]
        for j in range((i | 1) + 1):
            bound = whole(row[j]) if tighten else row[j]
            row[j] = min(bound, half_up(add_up(mine, e[j])))
        row[i] = 0
    return True


@device_function
def widen(out: Pointer, a: Pointer, b: Pointer, n: int, steps: Elements) -> None:
    """Keep each bound of `a` that holds in `b`; lift others to the next step."""
    noinline()
    infinity = infinity_of(a)
    if a[0] < 0:
        for at in range(2 * n * (n + 1)):
            out[at] = b[at]
    elif len(steps) == 0:
        for at in range(2 * n * (n + 1)):
            out[at] = a[at] if b[at] <= a[at] else infinity
    else:
        at = 0
        for i in range(2 * n):
            for j in range((i | 1) + 1):
                if b[at] <= a[at]:
                    out[at] = a[at]
                else:
                    out[at] = next_step(steps, b[at], j == i ^ 1)
                at += 1


@device_function
def next_step(steps: Elements, bound: Element, is_unary: bool) -> Element:
    """Return the least step that is no less than `bound`; unary cells hold twice a bound."""
    low, high = 0, len(steps)
    while low < high:
        middle = (low + high) >> 1
        step = add_up(steps[middle], steps[middle]) if is_unary else steps[middle]
        if step < bound:
            low = middle + 1
        else:
            high = middle
    if low == len(steps):
        return infinity_of(steps)
    return add_up(steps[low], steps[low]) if is_unary else steps[low]


@device_function
def narrow(out: Pointer, a: Pointer, b: Pointer, n: int) -> None:
    """Take the bounds of `a`, and those of `b` where `a` has none."""
    is_empty, infinity = b[0] < 0, infinity_of(a)
    for at in range(2 * n * (n + 1)):
        out[at] = b[at] if is_empty or a[at] == infinity else a[at]


@device_function
def select(out: Pointer, n_chosen: int, m: Pointer, chosen: Pointer) -> None:
    """Read the chosen variables of `m`."""
    noinline()
    infinity = infinity_of(m)
    for i in range(2 * n_chosen):
        x = chosen[i >> 1]
        row = advance(out, (i + 1) * (i + 1) // 2)
        for j in range((i | 1) + 1):
            y = chosen[j >> 1]
            known = x >= 0 and y >= 0
            row[j] = m[index(2 * x + (i & 1), 2 * y + (j & 1))] if known else infinity
        row[i] = 0


@device_function
def place(out: Pointer, m: Pointer, n: int, chosen: Pointer) -> None:
    """Write `m` over the chosen variables of `out`."""
    noinline()
    for i in range(2 * n):
        row = advance(m, (i + 1) * (i + 1) // 2)
        for j in range((i | 1) + 1):
            out[index(2 * chosen[i >> 1] + (i & 1), 2 * chosen[j >> 1] + (j & 1))] = row[j]


@device_function
def assign_linear(
    m: Pointer,
    n: int,
    x: int,
    form: Form,
    up: Element,
    down: Element,
    tighten: bool,
    space: Pointer,
) -> None:
    """Assign an interval linear form to x, Σ c_t y_t + d; there is space for 8n elements.

    What the form's points are but for x, they were before. So no bound between others changes, and
    the octagon is closed again as soon as the bounds on x are: O(n) for each term, not O(n²). For
    the same reason a path through both ends of x gives nothing that the unary bounds on it do not.

    term_plus[2t + p] bounds x - V'[k] and term_minus[2t + p] bounds -x - V'[k], where k = 2y + p
    and y is the variable of term t; to_plus[i] and to_minus[i] the same for every V'[i].
    """
    noinline()
    term_plus, term_minus = space, advance(space, 2 * n)
    to_plus, to_minus = advance(space, 4 * n), advance(space, 6 * n)
    bound_terms(m, n, x, form, up, down, tighten, space)
    extend(m, n, form, space)
    high, low = twice(m, form, up, 0, -1, 0), twice(m, form, down, 1, -1, 0)
    for t in range(form[3]):
        for p in range(2):
            k = 2 * form[0][t] + p
            high = min(high, add_up(term_plus[2 * t + 1 - p], to_plus[k]))
            low = min(low, add_up(term_minus[2 * t + 1 - p], to_minus[k]))
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
    m: Pointer, n: int, x: int, form: Form, up: Element, down: Element, tighten: bool, sums: Pointer
) -> None:
    """Bound the form's sums and differences with each of its variables but x."""
    infinity, term_plus, term_minus = infinity_of(m), sums, advance(sums, 2 * n)
    for t in range(form[3]):
        for p in range(2):
            if form[0][t] == x:
                term_plus[2 * t + p] = term_minus[2 * t + p] = infinity
            else:
                term_plus[2 * t + p] = half(twice(m, form, up, 0, t, 2 * p - 1), tighten)
                term_minus[2 * t + p] = half(twice(m, form, down, 1, t, 1 - 2 * p), tighten)


@device_function
def twice(m: Pointer, form: Form, constant: Element, negate: int, merged: int, by: int) -> Element:
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
def half(bound: Element, tighten: bool) -> Element:
    """Return half a bound, rounded upwards; of integers downwards, to one."""
    return half_up(even(whole(bound)) if tighten else bound)


@device_function
def extend(m: Pointer, n: int, form: Form, space: Pointer) -> None:
    """Bound ±x - V'[i] for every i, by what is known of the form's variables."""
    infinity, term_plus, term_minus = infinity_of(m), space, advance(space, 2 * n)
    to_plus, to_minus = advance(space, 4 * n), advance(space, 6 * n)
    for i in range(2 * n):
        to_plus[i] = to_minus[i] = infinity
    for s in range(2 * form[3]):
        k, a, b = 2 * form[0][s >> 1] + (s & 1), term_plus[s], term_minus[s]
        if a != infinity or b != infinity:
            for i in range(2 * n):
                path = m[index(i, k)]
                to_plus[i] = min(to_plus[i], add_up(path, a))
                to_minus[i] = min(to_minus[i], add_up(path, b))
