"""Closure: its laws on every back end and type, and exact fractions as the oracle."""

import subprocess
import sys
from fractions import Fraction
from itertools import chain
from math import ceil, inf
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.kernels import minplus
from kleene.kernels.minplus import reference
from kleene.kernels.minplus.cpu import closure
from kleene.kernels.minplus.cpu.tiles import CLOSED, EMPTY
from tests.kernels.minplus.octagon_inputs import (
    DTYPES,
    EXACT_DTYPES,
    FLOAT_DTYPES,
    constraints,
    contains,
    converted,
    exact_closure,
    fractions_of,
    magnitude,
    octagons,
    of_constraints,
    random_octagon,
)

SIZES = (0, 1, 2, 5, 31, 32, 33, 45, 70)  # one tile holds 32 variables


def is_empty(m):
    return bool((m == minplus.lowest(m.dtype)).all())


@given(m=octagons(), tighten=st.booleans())
def test_closes_exactly(m, tighten, backend):
    expected = exact_closure(fractions_of(m), tighten)
    found = m.copy()
    assert backend.close(found, tighten) == (expected is not None)
    if expected is None:
        assert is_empty(found)
    else:
        if m.dtype.kind == "i":  # integers round a half upwards
            expected = [[x if x == inf else ceil(x) for x in row] for row in expected]
        assert fractions_of(found) == expected


@pytest.mark.parametrize("n", SIZES)
@given(
    dtype=DTYPES,
    seed=st.integers(0, 2**32),
    density=st.sampled_from([0.02, 0.3, 1.0]),
    tighten=st.booleans(),
)
def test_is_a_closure_at_any_size(n, dtype, seed, density, tighten, backend):
    m = random_octagon(n, dtype, np.random.default_rng(seed), density)
    closed, expected = m.copy(), m.copy()
    assert backend.close(closed, tighten)
    assert reference.close(expected, tighten)
    assert np.array_equal(closed, expected)
    assert (closed <= m).all()
    again = closed.copy()
    assert backend.close(again, tighten)
    assert np.array_equal(again, closed)


@given(m=octagons(max_n=3), seed=st.integers(0, 2**32), tighten=st.booleans())
def test_keeps_every_point(m, seed, tighten, backend):
    n = minplus.n_variables(len(m))
    points = np.random.default_rng(seed).integers(-6, 10, (60, n))
    closed = m.copy()
    backend.close(closed, tighten)
    for point in points:
        assert contains(m, point) == contains(closed, point)


@given(
    dtype=FLOAT_DTYPES,
    n=st.integers(1, 4),
    rows=st.data(),
    large=st.sampled_from([0, 0, 31, 33]),
    tighten=st.booleans(),
)
def test_floats_are_never_below_the_exact_bound(dtype, n, rows, large, tighten, backend):
    tenths = st.integers(-40, 90).map(lambda x: x / 10) | st.floats(-1e3, 1e6, width=32)
    chosen = rows.draw(constraints(n, tenths, max_size=20))
    small = of_constraints(n, dtype, chosen)
    m = minplus.top(n + large, dtype)  # the same constraints in one tile, or in several
    reference.place(m, small, np.arange(n) + large)
    expected = exact_closure(fractions_of(small), tighten)
    found = backend.close(m, tighten)
    if expected is None:
        return  # rounding upwards may leave a point where there is none
    assert found
    result = np.empty_like(small)
    reference.select(result, m, np.arange(n) + large)
    slack = 64 * float(np.finfo(dtype).eps) * (1 + float(magnitude(small)))
    for got, exact in zip(chain(*fractions_of(result)), chain(*expected), strict=True):
        assert got >= exact
        assert got == exact or got - exact <= slack


def test_floats_round_upwards_where_it_matters(backend):
    """To nearest, 0.7 + 0.1 and 1 + 2**-60 are rounded downwards."""
    assert Fraction(0.7 + 0.1) < Fraction(0.7) + Fraction(0.1)
    for dtype, a, b in ((np.float64, 0.7, 0.1), (np.float64, 1.0, 2.0**-60)):
        m = of_constraints(2, dtype, [(1, 0, a), (0, 2, b)])
        assert backend.close(m, False)
        exact = Fraction(m.dtype.type(a).item()) + Fraction(m.dtype.type(b).item())
        bound = m[minplus.cell(1, 2)].item()
        assert exact <= Fraction(bound)
        assert Fraction(np.nextafter(m.dtype.type(bound), m.dtype.type(-np.inf)).item()) < exact
    assert 1.0 + 2.0**-60 == 1.0  # this thread still rounds to nearest


@given(
    dtype=EXACT_DTYPES,
    n=st.integers(1, 4),
    data=st.data(),
    tighten=st.booleans(),
)
def test_integers_saturate_soundly(dtype, n, data, tighten, backend):
    info = np.iinfo(dtype)
    bounds = st.integers(info.min + 2, info.max - 1) | st.integers(-5, 5)
    m = of_constraints(n, dtype, data.draw(constraints(n, bounds)))
    expected = exact_closure(fractions_of(m), tighten)
    found = backend.close(m, tighten)
    if expected is None:
        return  # a sum that saturated may hide that there is no point
    assert found
    for got, exact in zip(chain(*fractions_of(m)), chain(*expected), strict=True):
        assert got >= exact


@given(dtype=EXACT_DTYPES, n=st.integers(1, 40), data=st.data())
def test_up_to_the_limit_integers_are_exact(dtype, n, data, backend):
    most = minplus.limit(dtype, n)
    rows = data.draw(constraints(n, st.integers(-most, most)))
    m = of_constraints(n, dtype, rows)
    wide = of_constraints(n, np.int64, rows)
    assert backend.close(m, False) == reference.close(wide, False)
    assert np.array_equal(m, converted(wide, dtype))


def test_a_type_too_narrow_for_sums_is_closed_in_a_wider_one(backend):
    """Bounds of 30,000 that cancel: every exact result fits an int16, no sum of three does."""
    rows = [(0, 2, 30_000), (2, 4, -30_000), (4, 6, 30_000), (6, 8, -29_999), (8, 9, 2)]
    m = of_constraints(5, np.int16, rows)
    assert backend.close(m, False)
    assert m[minplus.cell(0, 8)] == 1


def test_worked_examples(backend):
    for dtype in minplus.DTYPES:
        m = of_constraints(2, dtype, [(1, 0, 10), (0, 2, 2)])  # x <= 5, y - x <= 2
        assert backend.close(m, False)
        assert m[minplus.cell(3, 2)] == 14  # y <= 7
        assert m[minplus.cell(1, 2)] == 12  # x + y <= 12
        m = of_constraints(1, dtype, [(1, 0, 3)])  # 2x <= 3
        assert backend.close(m, False)
        assert m[minplus.cell(1, 0)] == 3
        assert backend.close(m, True)
        assert m[minplus.cell(1, 0)] == 2
        m = of_constraints(1, dtype, [(1, 0, 2), (0, 1, -4)])  # x <= 1, x >= 2
        assert not backend.close(m, False)
        assert is_empty(m)
        m = of_constraints(1, dtype, [(1, 0, 3), (0, 1, -3)])  # x = 3/2
        assert backend.close(m.copy(), False)
        assert not backend.close(m, True)


@pytest.mark.parametrize("n", [33, 70])
@pytest.mark.parametrize("where", ["first", "last", "across"])
def test_finds_a_negative_cycle_anywhere(n, where, backend):
    i, j = {"first": (0, 2), "last": (2 * n - 4, 2 * n - 2), "across": (0, 2 * n - 2)}[where]
    for dtype in minplus.DTYPES:
        m = random_octagon(n, dtype, np.random.default_rng(1), 0.3)
        backward = m[minplus.cell(j, i)]
        bound = -1 - (0 if backward == minplus.infinity(dtype) else backward)
        reference.add(m, np.array([i, j]), np.array([j, i]), np.array([bound, -bound - 1], dtype))
        assert not backend.close(m, False)
        assert is_empty(m)


def test_of_no_variables_and_of_one(backend):
    for dtype in minplus.DTYPES:
        assert backend.close(minplus.top(0, dtype), True)
        m = minplus.top(1, dtype)
        assert backend.close(m, True)
        assert np.array_equal(m, minplus.top(1, dtype))
        m[:] = minplus.lowest(dtype)
        assert not backend.close(m, True)
        assert is_empty(m)


@pytest.mark.parametrize("n", [33, 100])
def test_threads_share_the_work_and_agree(n):
    random = np.random.default_rng(n)
    for dtype in minplus.DTYPES:
        m = random_octagon(n, dtype, random, spread=3)
        one, three = m.copy(), m.copy()
        assert closure.close_large(one, dtype, True, 1) == CLOSED
        assert closure.close_large(three, dtype, True, 3) == CLOSED
        assert np.array_equal(one, three)
        reference.close(m, True)
        assert np.array_equal(one, m)
        m[minplus.cell(0, 2)] = m[minplus.cell(2, 0)] = -1
        assert closure.close_large(m, dtype, True, 3) == EMPTY


NARROW = """
import sys
from pathlib import Path
import numpy as np
from kleene.kernels import stamps
stamps.folder_of_package = lambda: Path(sys.argv[3])
from kleene.kernels.minplus.cpu import tiles, vector

n_bytes, dtype = int(sys.argv[1]), np.dtype(sys.argv[2])
vector.VECTOR_BYTES = n_bytes
vector.TILE_ROWS, tiles.TILE_ROWS, vector.HAS_FMA = 4, 4, False

from kleene.kernels import minplus
from kleene.kernels.compiled import interpreted
from kleene.kernels.minplus import reference
from tests.kernels.minplus.octagon_inputs import random_octagon

for n in (3, 32, 50):
    m = random_octagon(n, dtype, np.random.default_rng(n), 0.5)
    expected = m.copy()
    with interpreted(False):
        assert minplus.close(m) and reference.close(expected, False)
    assert np.array_equal(m, expected), n
print("agrees")
"""


@pytest.mark.parametrize(("n_bytes", "dtype"), [(16, "int16"), (32, "float64")])
def test_narrower_vectors_agree(n_bytes, dtype, tmp_path):
    """A machine without wide vectors runs other code; it is kept away from this machine's."""
    command = [sys.executable, "-c", NARROW, str(n_bytes), dtype, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "agrees\n", done.stderr
    assert any(tmp_path.iterdir())


def test_cpu_is_what_the_public_name_calls(monkeypatch):
    asked = []
    fake = SimpleNamespace(close=lambda m, offsets, tighten: asked.append(tighten) or True)
    monkeypatch.setattr("kleene.kernels.minplus.operations", fake)
    assert minplus.close(minplus.top(1, np.int32), tighten=True)
    assert asked == [True]
