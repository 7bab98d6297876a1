"""Assigning an interval linear form: what it means, on every back end and type."""

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kleene.kernels import minplus
from kleene.kernels.minplus import reference
from kleene.kernels.minplus.layout import Forms
from tests.kernels.minplus.octagon_inputs import (
    DTYPES,
    EXACT_DTYPES,
    FLOAT_DTYPES,
    closed_octagons,
    contains,
    exact_closure,
    fractions_of,
    random_octagon,
)
from tests.kernels.minplus.operation_inputs import SEEDS, empty_like, is_empty, points_of
from tests.kernels.minplus.test_batch import Many, many

QUARTERS = st.integers(-8, 8).map(lambda k: k / 4)
ROUGH = st.integers(-9, 12).map(lambda k: k / 7)
WHOLE = st.integers(-3, 3)


@st.composite
def forms(draw, m, coefficients):
    """Return a form for the octagon `m`: the arguments after it, but for `tighten`."""
    n, dtype = minplus.n_variables(len(m)), m.dtype
    assume(n > 0)
    variables = draw(st.permutations(range(n)))[: draw(st.integers(0, n))]
    ends = [sorted(draw(st.tuples(coefficients, coefficients))) for _ in variables]
    lows, highs = np.array(ends, dtype).reshape(-1, 2).T.copy()
    low = draw(WHOLE)
    up = draw(st.sampled_from([low + 1, low, minplus.infinity(dtype)]))
    down = draw(st.sampled_from([-low, minplus.infinity(dtype)]))
    target = draw(st.integers(0, n - 1))
    return target, np.array(variables, np.int64), lows, highs, dtype.type(up), dtype.type(down)


@st.composite
def cases(draw):
    """A closed octagon, a form whose bounds have no rounding in its type, and `tighten`."""
    tighten = draw(st.booleans())
    m = draw(closed_octagons(max_n=4, tighten=tighten))
    is_whole = tighten or m.dtype.kind == "i"
    return m, draw(forms(m, WHOLE if is_whole else QUARTERS)), tighten


def exact_end(value):
    return inf if value == minplus.infinity(value.dtype) else Fraction(value.item())


def exact_assignment(m, form, tighten):
    """Return the exact bounds after the assignment as a square list, or None if there is no point.

    Here the form is taken with every variable of the octagon, not only with its own.
    """
    target, variables, lows, highs, up, down = form
    square = fractions_of(m)
    terms = {
        x: (Fraction(low.item()), Fraction(high.item()))
        for x, low, high in zip(variables.tolist(), lows, highs, strict=True)
    }

    def upper(sign, y=None, by=0):
        total = exact_end(up if sign > 0 else down)
        for x in terms.keys() | ({y} - {None}):
            ends = [sign * (c + by * (x == y)) for c in terms.get(x, (0, 0))]
            total += max(product(c, x) for c in ends)
        return total

    def product(c, x):
        end = 2 * x + (c < 0)
        return 0 if c == 0 else abs(c) * square[end ^ 1][end] / 2

    n = len(square) // 2
    rows = [(i, j, inf) for i in range(2 * n) for j in range(2 * n) if target in (i >> 1, j >> 1)]
    for negate, sign in enumerate((1, -1)):
        end = 2 * target + negate
        rows.append((end ^ 1, end, 2 * upper(sign)))
        for i in range(2 * n):
            if i >> 1 != target:
                by = -1 if i & 1 == 0 else 1  # V'[end] - V'[i] = sign * (form + sign * by * y)
                rows.append((i, end, upper(sign, i >> 1, sign * by)))
    for i, j, bound in rows:
        square[i][j] = square[j ^ 1][i ^ 1] = 0 if i == j else bound
    return exact_closure(square, tighten)


@given(case=cases())
def test_agrees_with_the_reference(case, backend):
    m, form, tighten = case
    expected = m.copy()
    reference.assign_linear(expected, *form, tighten)
    backend.assign_linear(m, *form, tighten)
    assert np.array_equal(m, expected)


@given(case=cases())
def test_is_what_exact_arithmetic_gives(case, backend):
    m, form, tighten = case
    found = m.copy()
    backend.assign_linear(found, *form, tighten)
    if is_empty(m):
        assert is_empty(found)
        return
    exact = exact_assignment(m, form, tighten)
    if tighten or m.dtype.kind == "f":
        assert fractions_of(found) == exact
    else:  # halves are rounded upwards
        assert_no_less(found, exact)
    closed = found.copy()
    assert backend.close(closed, tighten)
    assert np.array_equal(closed, found)


def assert_no_less(found, exact):
    for row, least in zip(fractions_of(found), exact, strict=True):
        assert all(bound >= end for bound, end in zip(row, least, strict=True))


@given(n=st.integers(1, 4), dtype=FLOAT_DTYPES, seed=SEEDS, data=st.data())
def test_floats_are_never_below_the_exact_bounds(n, dtype, seed, data, backend):
    m = random_octagon(n, dtype, np.random.default_rng(seed), 0.6)
    m /= dtype.type(7)
    assume(reference.close(m, False))
    form = data.draw(forms(m, ROUGH))
    exact = exact_assignment(m, form, False)
    assume(exact is not None)
    backend.assign_linear(m, *form, False)
    assert_no_less(m, exact)
    for row, least in zip(fractions_of(m), exact, strict=True):
        for bound, end in zip(row, least, strict=True):
            assert bound == end or abs(bound - end) < 1e-3


@pytest.mark.parametrize("factor", [-(2.0**-60), 2.0**-60])
def test_a_merged_coefficient_is_rounded_outwards(factor, backend):
    """One more or less than a tiny factor is no float; -8 <= y <= 8."""
    dtype = np.float64
    m = minplus.top(2, dtype)
    reference.close_after(m, np.array([3, 2]), np.array([2, 3]), np.array([16, 16], dtype), False)
    factors = np.array([factor], dtype)
    form = 0, np.array([1]), factors, factors, dtype(0), dtype(0)
    exact = exact_assignment(m, form, False)
    backend.assign_linear(m, *form, False)
    assert_no_less(m, exact)


@given(n=st.integers(1, 3), dtype=EXACT_DTYPES, seed=SEEDS, data=st.data())
def test_products_of_integers_saturate_soundly(n, dtype, seed, data, backend):
    most = 2 ** (8 * dtype.itemsize - 1)
    spread = data.draw(st.sampled_from([8, most // 64]))
    m = random_octagon(n, dtype, np.random.default_rng(seed), 0.6, spread)
    assume(reference.close(m, False))
    form = data.draw(forms(m, st.one_of(WHOLE, st.integers(2 - most, most - 2))))
    exact = exact_assignment(m, form, False)
    backend.assign_linear(m, *form, False)
    assert_no_less(m, exact)


@given(case=cases(), seed=SEEDS, data=st.data())
def test_every_value_of_the_form_is_kept(case, seed, data, backend):
    m, form, tighten = case
    target, variables, lows, highs, up, down = form
    found = m.copy()
    backend.assign_linear(found, *form, tighten)
    low = -exact_end(down) if exact_end(down) != inf else Fraction(-50)
    d = low if exact_end(up) == inf else exact_end(up)
    for point in points_of(minplus.n_variables(len(m)), seed):
        if contains(m, point):
            at = data.draw(st.sampled_from([0, 1] if tighten else [0, Fraction(1, 3), 1]))
            ends = zip(lows.tolist(), highs.tolist(), strict=True)
            factors = [Fraction(a) + at * (Fraction(b) - Fraction(a)) for a, b in ends]
            moved = point.astype(object)
            pairs = zip(factors, variables, strict=True)
            moved[target] = d + sum(factor * int(point[y]) for factor, y in pairs)
            assert contains(found, moved)


@given(case=cases(), negate=st.booleans())
def test_one_variable_and_none_are_other_assignments(case, negate, backend):
    m, (target, *_, up, down), tighten = case
    n = minplus.n_variables(len(m))
    none, no_factors = np.zeros(0, np.int64), np.zeros(0, m.dtype)
    found, expected = m.copy(), m.copy()
    backend.assign_linear(found, target, none, no_factors, no_factors, up, down, tighten)
    reference.assign_interval(expected, target, up, down)
    assert np.array_equal(found, expected)
    if n > 1:
        source = (target + 1) % n
        found, expected = m.copy(), m.copy()
        one, factor = np.array([source]), np.array([-1 if negate else 1], m.dtype)
        backend.assign_linear(found, target, one, factor, factor, up, down, tighten)
        reference.assign(expected, target, source, negate, up, down)
        assert np.array_equal(found, expected)


@given(case=cases())
def test_what_is_empty_stays_empty(case, backend):
    m, form, tighten = case
    found = empty_like(m)
    backend.assign_linear(found, *form, tighten)
    assert is_empty(found)


def test_halving_an_integer(backend):
    """x := y / 2 without the rest, which is y/2 + d for some -1/2 <= d <= 0; 0 <= y <= 8."""
    dtype = np.float64
    m = minplus.top(2, dtype)
    rows, columns = np.array([3, 2]), np.array([2, 3])
    reference.close_after(m, rows, columns, np.array([16, 0], dtype), True)
    half = np.array([0.5], dtype)
    backend.assign_linear(m, 0, np.array([1]), half, half, dtype(0), dtype(0.5), True)
    twice = np.empty(4, dtype)
    backend.unary(twice, m)
    assert twice.tolist() == [8, 0, 16, 0]
    assert m[minplus.cell(2, 0)] == 0  # x <= y
    assert m[minplus.cell(0, 2)] == 4  # y <= x + 4: x is at least y/2 - 1/2


@given(dtype=DTYPES, seed=SEEDS)
def test_at_any_size(dtype, seed, backend):
    """Against the reference, in more rows than a warp has threads."""
    random, n = np.random.default_rng(seed), 40
    m = random_octagon(n, dtype, random, 0.3)
    assume(reference.close(m, False))
    n_terms = int(random.integers(0, 9))
    variables = random.choice(n, n_terms, replace=False)
    lows = random.integers(-3, 3, n_terms).astype(dtype)
    highs = (lows + 1).astype(dtype)
    form = int(random.integers(n)), variables, lows, highs, dtype.type(3), dtype.type(-1)
    expected = m.copy()
    backend.assign_linear(m, *form, False)
    reference.assign_linear(expected, *form, False)
    assert np.array_equal(m, expected)


def terms_of_each(case):
    """Return three terms for each octagon of a batch, or as many as it has variables."""
    counts = np.minimum(case.sizes, 3)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    chosen = [case.random.permutation(int(n))[:3] for n in case.sizes]
    variables = np.concatenate([np.zeros(0, np.int64), *chosen]).astype(np.int64)
    lows = case.random.integers(-2, 3, len(variables)).astype(case.dtype)
    return starts, variables, lows, (lows + 1).astype(case.dtype)


@pytest.mark.parametrize("backend", ["cpu"], indirect=True)  # the reference has no batches
@given(case=many, tighten=st.booleans())
def test_a_batch_is_one_after_the_other(case, tighten, backend):
    starts, *terms = terms_of_each(case)
    found = case.m.copy()
    if tighten:
        minplus.close(found, case.offsets, tighten=True)
    expected = found.copy()
    forms = Forms(*terms, case.up, case.down, starts)
    backend.batch.assign_linear(found, case.offsets, case.x, forms, tighten)
    for t, o in case.each(expected):
        if len(o):
            own = (array[starts[t] : starts[t + 1]] for array in terms)
            backend.assign_linear(o, case.x[t], *own, case.up[t], case.down[t], tighten)
    assert np.array_equal(found, expected)


def test_public_names_check_and_call():
    case = Many([3, 0, 7], np.int32, 3)
    starts, *terms = terms_of_each(case)
    found, expected = case.m.copy(), case.m.copy()
    forms = Forms(*terms, case.up, case.down, starts)
    minplus.assign_linear(found, case.x, forms, offsets=case.offsets)
    for t, o in case.each(expected):
        if len(o):
            own = (array[starts[t] : starts[t + 1]] for array in terms)
            minplus.assign_linear(o, case.x[t], Forms(*own, case.up[t], case.down[t]))
    assert np.array_equal(found, expected)
    assert not np.array_equal(found, case.m)


M = minplus.top(2, np.int32)
ENDS = np.array([0, 12])
BOTH, ONE = np.array([0, 1]), np.array([1])
TWO, THREE = np.array([2, 2], np.int32), np.array([3, 3], np.int32)
NO_BOUND = np.full(2, minplus.infinity(np.int32))


def one(target=0, variables=BOTH, lows=TWO, highs=THREE, m=M):
    minplus.assign_linear(m, target, Forms(variables, lows, highs, 0, 0))


def each(targets=ONE, variables=BOTH, starts=None, up=TWO[:1]):
    cut = np.array([0, 2]) if starts is None else starts
    forms = Forms(variables, TWO, THREE, up, TWO[:1], cut)
    minplus.assign_linear(M, targets, forms, offsets=ENDS)


FAULTS = {
    "no variable 2 among 2": lambda: one(target=2),
    "variables has an element outside 0..1": lambda: one(variables=BOTH + 1),
    "variables has an element twice": lambda: one(variables=np.array([1, 1])),
    "variables must be a vector of 2 elements of int64": lambda: one(variables=TWO),
    "lows must be a vector of 2 elements of int32": lambda: one(lows=TWO[:1]),
    "highs must be a vector of 2 elements of int32": lambda: one(highs=BOTH),
    "no more than its one of highs": lambda: one(lows=THREE, highs=TWO),
    "each of lows must be finite": lambda: one(highs=NO_BOUND),
    "must be finite, and": lambda: one(lows=-NO_BOUND - 1),
    "finite, and no more": lambda: one(
        lows=np.full(2, np.nan), highs=np.ones(2), m=M.astype(np.float64)
    ),
    "variable has an element that its": lambda: each(targets=ONE + 1),
    "starts do not cut 2": lambda: each(starts=np.array([0, 3])),
    "variables has an element that its": lambda: each(variables=BOTH + 1),
    "an element twice": lambda: each(variables=np.array([0, 0])),
    "up must be a vector of 1 elements of int32": lambda: each(up=TWO),
}


@pytest.mark.parametrize("message", FAULTS)
def test_is_refused(message):
    before = M.copy()
    with pytest.raises(ValueError, match=message):
        FAULTS[message]()
    assert np.array_equal(M, before)
