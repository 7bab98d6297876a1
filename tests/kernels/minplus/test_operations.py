"""Every other operation: what it means in points and constraints, on every back end and type."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kleene.kernels import minplus
from kleene.kernels.minplus import reference
from tests.kernels.minplus.octagon_inputs import (
    DTYPES,
    closed_like,
    closed_octagons,
    columns,
    constraints,
    contains,
    octagons,
    of_constraints,
    random_octagon,
)

SEEDS = st.integers(0, 2**32)
SIZES = (1, 5, 32, 33, 45)


def empty_like(m):
    return np.full_like(m, minplus.lowest(m.dtype))


def is_empty(m):
    return len(m) > 0 and bool((m == minplus.lowest(m.dtype)).all())


def both(draw, tighten=False):
    """Return two closed octagons of one size, either of them empty at times."""
    a = draw(closed_octagons(tighten=tighten))
    b = closed_like(a, np.random.default_rng(draw(SEEDS)), tighten=tighten)
    return a, (empty_like(b) if draw(st.integers(0, 9)) == 0 else b)


pairs = st.composite(both)


def points_of(n, seed, count=40):
    return np.random.default_rng(seed).integers(-8, 9, (count, n))


@given(m=closed_octagons(), data=st.data(), tighten=st.booleans())
def test_closing_after_constraints_is_adding_and_closing(m, data, tighten, backend):
    if tighten:
        reference.close(m, True)
    n = minplus.n_variables(len(m))
    added = columns(data.draw(constraints(n, st.integers(-6, 9), max_size=4)), m.dtype)
    expected = m.copy()
    if not is_empty(m):
        reference.add(expected, *added)
    has_point = reference.close(expected, tighten)
    assert backend.close_after(m, *added, tighten) == has_point
    assert np.array_equal(m, expected)


@pytest.mark.parametrize("n", SIZES)
@given(dtype=DTYPES, seed=SEEDS, tighten=st.booleans(), density=st.sampled_from([0.05, 1.0]))
def test_closing_after_constraints_at_any_size(n, dtype, seed, tighten, density, backend):
    random = np.random.default_rng(seed)
    m = random_octagon(n, dtype, random, density)
    reference.close(m, tighten)
    i, j = random.integers(0, 2 * n, (2, 3))
    finite = np.minimum(reference.whole(m)[i, j], 100)  # often tighter, now and then too tight
    bounds = (finite - random.integers(-2, 12, 3)).astype(dtype)
    expected = m.copy()
    reference.add(expected, i, j, bounds)
    assert backend.close_after(m, i, j, bounds, tighten) == reference.close(expected, tighten)
    assert np.array_equal(m, expected)


def test_a_constraint_that_never_holds_is_kept(backend):
    for dtype in minplus.DTYPES:
        m = minplus.top(2, dtype)
        backend.add(m, np.array([3]), np.array([3]), np.array([-1], dtype))
        assert m[minplus.cell(2, 2)] == m[minplus.cell(3, 3)] == -1
        assert not backend.close(m, False)
        assert is_empty(m)


@given(m=closed_octagons(max_n=3), data=st.data(), seed=SEEDS)
def test_adding_keeps_the_points_that_fit(m, data, seed, backend):
    n = minplus.n_variables(len(m))
    assume(n)
    rows = data.draw(constraints(n, st.integers(-6, 9), max_size=3))
    old = m.copy()
    backend.add(m, *columns(rows, m.dtype))
    expected = old.copy()
    reference.add(expected, *columns(rows, m.dtype))
    assert np.array_equal(m, expected)
    fitting = of_constraints(n, m.dtype, rows)
    for point in points_of(n, seed):
        assert contains(m, point) == (contains(old, point) and contains(fitting, point))


@given(two=pairs(), seed=SEEDS)
def test_join_is_the_least_upper_bound(two, seed, backend):
    a, b = two
    out = np.empty_like(a)
    backend.join(out, a, b)
    assert backend.includes(out, a)
    assert backend.includes(out, b)
    closed = out.copy()
    assert backend.close(closed, False) != is_empty(out)
    assert np.array_equal(closed, out)
    for x, y, z in zip(out, a, b, strict=True):  # no bound is looser than one of the two needs
        assert x in (y, z)


def test_join_of_two_points(backend):
    """{x = 0, y = 0} and {x = 1, y = 1}: 0 <= x, y <= 1 and x = y."""
    for dtype in minplus.DTYPES:
        fixed = [[(1, 0, 2 * k), (0, 1, -2 * k), (3, 2, 2 * k), (2, 3, -2 * k)] for k in (0, 1)]
        a, b = (of_constraints(2, dtype, rows) for rows in fixed)
        assert backend.close(a, True)
        assert backend.close(b, True)
        out = np.empty_like(a)
        backend.join(out, a, b)
        expected = of_constraints(2, dtype, [(1, 0, 2), (0, 1, 0), (0, 2, 0), (2, 0, 0)])
        assert backend.close(expected, True)
        assert np.array_equal(out, expected)


@given(two=pairs(), seed=SEEDS)
def test_meet_is_both(two, seed, backend):
    a, b = two
    out = np.empty_like(a)
    backend.meet(out, a, b)
    for point in points_of(minplus.n_variables(len(a)), seed):
        assert contains(out, point) == (contains(a, point) and contains(b, point))


@given(two=pairs())
def test_inclusion_and_equality(two, backend):
    a, b = two
    assert backend.includes(a, b) == bool((b <= a).all())
    assert backend.equals(a, b) == np.array_equal(a, b)
    assert backend.equals(a, a.copy())
    out = np.empty_like(a)
    reference.meet(out, a, b)
    assert backend.includes(a, out)
    assert backend.equals(a, out) == backend.includes(b, a)


@pytest.mark.parametrize("where", [0, 511, 512, 1000, -1])
def test_one_bound_makes_the_difference(where, backend):
    for dtype in minplus.DTYPES:
        a = random_octagon(32, dtype, np.random.default_rng(0))
        b = a.copy()
        b[where] -= 1
        assert backend.includes(a, b)
        assert not backend.includes(b, a)
        assert not backend.equals(a, b)
        assert not backend.equals(b, a)


@given(two=pairs(), steps=st.lists(st.integers(-5, 12), max_size=4))
def test_widening_keeps_what_is_stable(two, steps, backend):
    a, b = two
    thresholds = np.array(sorted(steps), a.dtype)
    out, expected = np.empty_like(a), np.empty_like(a)
    backend.widen(out, a, b, thresholds)
    reference.widen(expected, a, b, thresholds)
    assert np.array_equal(out, expected)
    assert (out >= np.maximum(a, b)).all()
    if is_empty(a):
        assert np.array_equal(out, b)
    in_place = a.copy()
    backend.widen(in_place, in_place, b, thresholds)
    assert np.array_equal(in_place, out)


def test_thresholds_bound_variables_and_differences(backend):
    for dtype in minplus.DTYPES:
        a = of_constraints(2, dtype, [(1, 0, 2), (0, 2, 1)])  # x <= 1, y - x <= 1
        b = of_constraints(2, dtype, [(1, 0, 4), (0, 2, 4)])  # x <= 2, y - x <= 4
        out = np.empty_like(a)
        backend.widen(out, a, b, np.array([3, 7], dtype))
        assert out[minplus.cell(1, 0)] == 6  # x <= 3
        assert out[minplus.cell(0, 2)] == 7  # y - x <= 7
        backend.widen(out, a, b, np.zeros(0, dtype))
        assert out[minplus.cell(1, 0)] == minplus.infinity(dtype)


@given(m=closed_octagons(max_n=3), seed=SEEDS, steps=st.lists(st.integers(-9, 30), max_size=3))
def test_chains_of_widenings_end(m, seed, steps, backend):
    random, thresholds = np.random.default_rng(seed), np.array(sorted(steps), m.dtype)
    n_lifts = len(m) * (len(steps) + 1) + 1  # each changes a bound, and a bound has so many steps
    n_changes = 0
    for _ in range(3 * n_lifts):
        following, out = closed_like(m, random), np.empty_like(m)
        backend.widen(out, m, following, thresholds)
        n_changes += not backend.equals(out, m)
        m = out
    assert n_changes <= n_lifts


@given(two=pairs())
def test_narrowing_lies_between(two, backend):
    a, b = two
    reference.meet(b, a, b)
    out = np.empty_like(a)
    backend.narrow(out, a, b)
    assert (b <= out).all()
    assert (out <= a).all()
    if is_empty(b):
        assert is_empty(out)
    else:
        infinite = a == minplus.infinity(a.dtype)
        assert np.array_equal(out, np.where(infinite, b, a))


def variable_of(m, data):
    n = minplus.n_variables(len(m))
    assume(n > 0)
    return n, data.draw(st.integers(0, n - 1))


@given(m=closed_octagons(), data=st.data())
def test_forgetting_is_projecting(m, data, backend):
    n, x = variable_of(m, data)
    found = m.copy()
    backend.forget(found, x)
    if is_empty(m):
        assert is_empty(found)
        return
    closed = found.copy()
    assert backend.close(closed, False)
    assert np.array_equal(closed, found)
    others = np.delete(np.arange(n), x)
    before, after = (np.empty(minplus.size(n - 1), m.dtype) for _ in range(2))
    backend.select(before, m, others)
    backend.select(after, found, others)
    assert np.array_equal(before, after)
    own = reference.whole(found)[[2 * x, 2 * x + 1]]
    assert (own == minplus.infinity(m.dtype)).sum() == 4 * n - 2


def ends(data, dtype):
    """Return d <= up and -d <= down; at times without an end."""
    low = data.draw(st.integers(-5, 5))
    high = low + data.draw(st.integers(0, 3))
    unbounded = minplus.infinity(dtype)
    up = data.draw(st.sampled_from([high, high, unbounded]))
    down = data.draw(st.sampled_from([-low, -low, unbounded]))
    return low, high, dtype.type(up), dtype.type(down)


@given(m=closed_octagons(max_n=3), data=st.data(), negate=st.booleans(), seed=SEEDS)
def test_shifting_moves_every_point(m, data, negate, seed, backend):
    n, x = variable_of(m, data)
    low, high, up, down = ends(data, m.dtype)
    found = m.copy()
    backend.shift(found, x, negate, up, down)
    assert_closed(found, m, backend)
    for point in points_of(n, seed):
        if contains(m, point):
            for d in (low, high):
                moved = point.copy()
                moved[x] = (-point[x] if negate else point[x]) + d
                assert contains(found, moved)
    if low == high and up == high and down == -low:  # then it can be undone
        backend.shift(found, x, negate, *((up, down) if negate else (down, up)))
        assert np.array_equal(found, m)


@given(m=closed_octagons(), data=st.data(), negate=st.booleans())
def test_assigning_is_forgetting_and_constraining(m, data, negate, backend):
    n, x = variable_of(m, data)
    y = data.draw(st.integers(0, n - 1))
    assume(x != y)
    _, _, up, down = ends(data, m.dtype)
    expected, found = m.copy(), m.copy()
    reference.forget(expected, x)
    source = 2 * y + negate
    rows = [(source, 2 * x, up), (2 * x, source, down)]
    if not is_empty(m):
        reference.add(expected, *columns(rows, m.dtype))
        reference.close(expected, False)
    backend.assign(found, x, y, negate, up, down)
    assert np.array_equal(found, expected)


@given(m=closed_octagons(), data=st.data())
def test_assigning_an_interval_is_forgetting_and_bounding(m, data, backend):
    _, x = variable_of(m, data)
    _, _, up, down = ends(data, m.dtype)
    expected, found = m.copy(), m.copy()
    reference.forget(expected, x)
    infinite = minplus.infinity(m.dtype)
    twice = [end if end == infinite else 2 * end for end in (up, down)]
    if not is_empty(m):
        rows = [(2 * x + 1, 2 * x, twice[0]), (2 * x, 2 * x + 1, twice[1])]
        reference.add(expected, *columns(rows, m.dtype))
        reference.close(expected, False)
    backend.assign_interval(found, x, up, down)
    assert np.array_equal(found, expected)


def assert_closed(found, before, backend):
    closed = found.copy()
    assert backend.close(closed, False) != is_empty(before)
    assert np.array_equal(closed, found)


@given(m=closed_octagons())
def test_unary_bounds_are_read(m, backend):
    square = reference.whole(m)
    out = np.empty(len(square), m.dtype)
    backend.unary(out, m)
    assert out.tolist() == [square[i ^ 1, i] for i in range(len(square))]


@given(m=closed_octagons(max_n=4), data=st.data())
def test_selected_variables_have_their_bounds(m, data, backend):
    n = minplus.n_variables(len(m))
    order = data.draw(st.permutations(range(n)))[: data.draw(st.integers(0, n))]
    for at in data.draw(st.lists(st.integers(0, n), max_size=2)):
        order.insert(at, -1)
    variables = np.array(order, np.int64)
    out = np.empty(minplus.size(len(order)), m.dtype)
    backend.select(out, m, variables)
    if is_empty(m):
        assert is_empty(out) or not len(out)
        return
    assert_closed(out, out, backend)
    placed = minplus.top(n, m.dtype)
    known = variables[variables >= 0]
    picked = np.empty(minplus.size(len(known)), m.dtype)
    backend.select(picked, out, np.flatnonzero(variables >= 0))
    backend.place(placed, picked, known)
    expected = m.copy()
    for x in set(range(n)) - set(order):
        reference.forget(expected, x)
    inside = np.isin(np.arange(n), known).repeat(2)
    both_in = inside[:, None] & inside
    assert np.array_equal(reference.whole(placed)[both_in], reference.whole(expected)[both_in])


@given(two=pairs(), tighten=st.booleans())
def test_placed_together_and_strengthened_they_are_closed(two, tighten, backend):
    a, b = two
    reference.close(a, tighten)
    reference.close(b, tighten)
    n = minplus.n_variables(len(a))
    out, expected = minplus.top(2 * n, a.dtype), minplus.top(2 * n, a.dtype)
    evens, odds = 2 * np.arange(n), 2 * np.arange(n) + 1
    backend.place(out, a, evens)
    backend.place(out, b, odds)
    reference.place(expected, a, evens)
    reference.place(expected, b, odds)
    has_point = reference.close(expected, tighten)
    assert backend.strengthen(out, tighten) == has_point
    assert np.array_equal(out, expected)


@given(m=octagons(max_n=4), seed=SEEDS)
def test_strengthening_agrees(m, seed, backend):
    expected = m.copy()
    for tighten in (False, True):
        assert backend.strengthen(m, tighten) == reference.strengthen(expected, tighten)
        assert np.array_equal(m, expected)


def only(m, kept):
    """Return the octagon with nothing but the kept constraints."""
    return np.where(kept, m, minplus.top(minplus.n_variables(len(m)), m.dtype))


@given(m=closed_octagons())
def test_minimal_constraints_give_all_and_none_is_spare(m, backend):
    kept = np.ones(len(m), np.bool_)
    backend.minimal(kept, m)
    if is_empty(m):
        assert kept.tolist() == [True] + [False] * (len(m) - 1)
        return
    again = only(m, kept)
    assert backend.close(again, False)
    assert np.array_equal(again, m)
    for at in np.flatnonzero(kept):
        fewer = kept.copy()
        fewer[at] = False
        without = only(m, fewer)
        backend.close(without, False)
        assert not np.array_equal(without, m)


@pytest.mark.parametrize("n", [33, 45])
@given(dtype=DTYPES, seed=SEEDS, density=st.sampled_from([0.02, 0.3]))
def test_minimal_constraints_of_larger_octagons(n, dtype, seed, density, backend):
    random = np.random.default_rng(seed)
    m = random_octagon(n, dtype, random, density, spread=6)
    for x in range(0, n - 1, 3):  # some fixed differences
        there = m[minplus.cell(2 * x + 2, 2 * x)]
        m[minplus.cell(2 * x, 2 * x + 2)] = 0 if there == minplus.infinity(dtype) else -there
        m[minplus.cell(2 * x + 2, 2 * x)] = -m[minplus.cell(2 * x, 2 * x + 2)]
    if not reference.close(m, False):
        return
    kept, expected = np.ones(len(m), np.bool_), np.ones(len(m), np.bool_)
    backend.minimal(kept, m)
    reference.minimal(expected, m)
    assert np.array_equal(kept, expected)
    again = only(m, kept)
    assert backend.close(again, False)
    assert np.array_equal(again, m)
