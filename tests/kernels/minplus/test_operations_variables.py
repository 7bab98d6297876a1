"""Operations on variables of an octagon: what they mean, on every back end and type."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kleene.kernels import minplus
from kleene.kernels.minplus import reference
from tests.kernels.minplus.octagon_inputs import (
    DTYPES,
    closed_octagons,
    columns,
    contains,
    octagons,
    random_octagon,
)
from tests.kernels.minplus.operation_inputs import SEEDS, is_empty, pairs, points_of


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
    backend.assign(found, x, x, negate, up, down)
    assert_closed(found, m, backend)
    for point in points_of(n, seed):
        if contains(m, point):
            for d in (low, high):
                moved = point.copy()
                moved[x] = (-point[x] if negate else point[x]) + d
                assert contains(found, moved)
    if low == high and up == high and down == -low:  # then it can be undone
        backend.assign(found, x, x, negate, *((up, down) if negate else (down, up)))
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


@pytest.mark.parametrize("n", [33, 45])
@given(dtype=DTYPES, seed=SEEDS, negate=st.booleans())
def test_variables_change_at_any_size(n, dtype, seed, negate, backend):
    """Against the reference, in rows longer than a vector."""
    random = np.random.default_rng(seed)
    m = random_octagon(n, dtype, random, 0.3)
    assume(reference.close(m, False))
    x, y, z = random.choice(n, 3, replace=False).tolist()
    up, down = m.dtype.type(3), m.dtype.type(-1)
    expected = m.copy()
    for found, one in ((m, backend), (expected, reference)):
        one.assign(found, x, y, negate, up, down)
        one.assign(found, y, y, negate, up, down)
        one.assign_interval(found, z, up, down)
        one.forget(found, x)
    assert np.array_equal(m, expected)
