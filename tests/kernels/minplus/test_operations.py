"""Adding constraints, and two octagons in one: what it means, on every back end and type."""

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
    of_constraints,
    random_octagon,
)
from tests.kernels.minplus.operation_inputs import SEEDS, is_empty, pairs, points_of

SIZES = (1, 5, 32, 33, 45)


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
