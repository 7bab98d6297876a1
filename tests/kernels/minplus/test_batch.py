"""A batch is its octagons one after the other; each operation, every back end and type."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.kernels import minplus
from kleene.kernels.minplus.cpu import operations
from tests.kernels.minplus.conftest import OneOctagon
from tests.kernels.minplus.octagon_inputs import DTYPES, random_octagon

SIZES = st.lists(st.sampled_from([0, 1, 2, 3, 7, 33]), max_size=6)


class Many:
    """Octagons of mixed sizes, closed, a few of them empty, and an argument for each."""

    def __init__(self, sizes, dtype, seed):
        self.random = random = np.random.default_rng(seed)
        self.sizes, self.dtype = np.array(sizes, np.int64), np.dtype(dtype)
        self.offsets = minplus.offsets_of(sizes)
        self.m = self.octagons()
        self.other = self.octagons()
        self.x = np.array([random.integers(0, max(1, n)) for n in sizes], np.int64)
        self.y = np.array(
            [(x + 1) % max(1, n) for x, n in zip(self.x, sizes, strict=True)], np.int64
        )
        self.negate = random.random(len(sizes)) < 0.5
        self.up = random.integers(-3, 9, len(sizes)).astype(dtype)
        self.down = (3 - self.up).astype(dtype)
        self.starts = np.concatenate([[0], np.cumsum((self.sizes > 0) * 2)]).astype(np.int64)
        ends = [random.integers(0, 2 * n, (2, 2)) for n in sizes if n]
        pairs = np.concatenate([np.zeros((2, 0), np.int64), *ends], axis=1)
        self.rows, self.columns = pairs[0].copy(), pairs[1].copy()
        self.bounds = random.integers(0, 12, len(self.rows)).astype(dtype)

    def octagons(self):
        parts = [self.octagon(int(n)) for n in self.sizes]
        return np.concatenate([np.zeros(0, self.dtype), *parts])

    def octagon(self, n):
        m = random_octagon(n, self.dtype, self.random, 0.5, spread=8)
        if self.random.random() < 0.2:
            m[:] = minplus.lowest(self.dtype)
        minplus.close(m)
        return m

    def each(self, *arrays):
        for t in range(len(self.sizes)):
            here = slice(self.offsets[t], self.offsets[t + 1])
            yield t, *(array[here] for array in arrays)


@pytest.fixture(scope="module")
def backend():
    """The back end that has batches: the reference is asked one octagon at a time."""
    return OneOctagon(operations)


many = st.builds(Many, SIZES, DTYPES, st.integers(0, 2**32))


@pytest.mark.parametrize("tighten", [False, True])
@given(case=many)
def test_closing(tighten, case, backend):
    m = case.m + (case.m > 0) * (case.m < 100)  # no longer closed
    m = m.astype(case.dtype)
    found, expected = m.copy(), m.copy()
    flags = backend.batch.close(found, case.offsets, tighten)
    assert flags.tolist() == [backend.close(o, tighten) for _, o in case.each(expected)]
    assert np.array_equal(found, expected)
    flags = backend.batch.strengthen(found, case.offsets, tighten)
    assert flags.tolist() == [backend.strengthen(o, tighten) for _, o in case.each(expected)]
    assert np.array_equal(found, expected)


@given(case=many, tighten=st.booleans())
def test_constraints(case, tighten, backend):
    added = (case.rows, case.columns, case.bounds)
    found, expected = case.m.copy(), case.m.copy()
    flags = backend.batch.close_after(found, case.offsets, *added, case.starts, tighten)
    cuts = [slice(case.starts[t], case.starts[t + 1]) for t in range(len(case.sizes))]
    lists = [tuple(array[cut] for array in added) for cut in cuts]
    one_by_one = [backend.close_after(o, *lists[t], tighten) for t, o in case.each(expected)]
    assert flags.tolist() == one_by_one
    assert np.array_equal(found, expected)
    backend.batch.add(found, case.offsets, *added, case.starts)
    for t, o in case.each(expected):
        backend.add(o, *lists[t])
    assert np.array_equal(found, expected)


@given(case=many)
def test_pairs(case, backend):
    a, b, cut = case.m, case.other, case.offsets
    thresholds = np.array([2, 5], case.dtype)
    for name, extra in (("join", ()), ("meet", ()), ("narrow", ()), ("widen", (thresholds,))):
        found, expected = np.empty_like(a), np.empty_like(a)
        cuts = () if name in ("join", "meet") else (cut,)
        getattr(backend.batch, name)(found, a, b, *cuts, *extra)
        for _, out, x, y in case.each(expected, a, b):
            getattr(backend, name)(out, x, y, *extra)
        assert np.array_equal(found, expected)
    for name in ("includes", "equals"):
        flags = getattr(backend.batch, name)(a, b, cut).tolist()
        assert flags == [getattr(backend, name)(x, y) for _, x, y in case.each(a, b)]


@given(case=many)
def test_assignments(case, backend):
    x, y, negate, up, down = case.x, case.y, case.negate, case.up, case.down
    for name, arguments in (
        ("forget", (x,)),
        ("assign", (x, x, negate, up, down)),
        ("assign", (x, y, negate, up, down)),
        ("assign_interval", (x, up, down)),
    ):
        found, expected = case.m.copy(), case.m.copy()
        getattr(backend.batch, name)(found, case.offsets, *arguments)
        for t, o in case.each(expected):
            if len(o):
                getattr(backend, name)(o, *(argument[t] for argument in arguments))
        assert np.array_equal(found, expected)


@given(case=many)
def test_parts(case, backend):
    bounds = np.concatenate([[0], np.cumsum(2 * case.sizes)]).astype(np.int64)
    found, expected = (np.empty(bounds[-1], case.dtype) for _ in range(2))
    backend.batch.unary(found, case.m, case.offsets, bounds)
    for t, o in case.each(case.m):
        backend.unary(expected[bounds[t] : bounds[t + 1]], o)
    assert np.array_equal(found, expected)
    kept, marked = (np.empty(len(case.m), np.bool_) for _ in range(2))
    backend.batch.minimal(kept, case.m, case.offsets)
    for _, out, o in case.each(marked, case.m):
        backend.minimal(out, o)
    assert np.array_equal(kept, marked)


@given(case=many)
def test_selecting_and_placing(case, backend):
    starts = np.concatenate([[0], np.cumsum(case.sizes)]).astype(np.int64)
    parts = [case.random.permutation(int(n)) for n in case.sizes]
    variables = np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)
    for name in ("select", "place"):
        found, expected = case.other.copy(), case.other.copy()
        cut = case.offsets
        getattr(backend.batch, name)(found, case.m, variables, cut, cut, starts)
        for t, out, o in case.each(expected, case.m):
            getattr(backend, name)(out, o, parts[t].astype(np.int64))
        assert np.array_equal(found, expected)


def test_large_batches_are_shared_by_threads(backend):
    for dtype in (np.int16, np.float64):
        case = Many([3, 20, 0, 33, 40, 8] * 12 + [128], dtype, 5)
        m = np.where((case.m > 0) & (case.m < 100), case.m + 1, case.m).astype(dtype)
        found, expected = m.copy(), m.copy()
        flags = backend.batch.close(found, case.offsets, True)
        assert flags.tolist() == [backend.close(o, True) for _, o in case.each(expected)]
        assert np.array_equal(found, expected)


def test_some_need_a_wider_type(backend):
    """Sums of 30,000 leave an int16: only those octagons are closed in a wider type."""
    rows, columns = np.array([0, 2]), np.array([2, 4])
    ms = []
    for bound in (3, 30_000, 5):
        m = minplus.top(3, np.int16)
        minplus.add(m, rows, columns, np.array([bound, -bound + 1], np.int16))
        ms.append(m)
    m, offsets = np.concatenate(ms), minplus.offsets_of([3, 3, 3])
    assert backend.batch.close(m, offsets, False).all()
    assert [m[at + minplus.cell(0, 4)] for at in offsets[:-1]] == [1, 1, 1]


@given(case=many)
def test_public_names_check_and_call(case):
    n_octagons, cut = len(case.sizes), case.offsets
    starts = np.concatenate([[0], np.cumsum(case.sizes)])
    variables = np.concatenate([np.zeros(0, np.int64), *map(np.arange, case.sizes)])
    added, lists = (case.rows, case.columns, case.bounds), {"starts": case.starts}
    moved = {"up": case.up, "down": case.down}
    some = {"out_offsets": cut, "starts": starts}
    calls = {
        "close": ((case.m,), {}),
        "strengthen": ((case.m,), {}),
        "close_after": ((case.m, *added), lists),
        "add": ((case.m, *added), lists),
        "join": ((np.zeros_like(case.m), case.m, case.other), {}),
        "meet": ((np.zeros_like(case.m), case.m, case.other), {}),
        "widen": ((np.zeros_like(case.m), case.m, case.other), {}),
        "narrow": ((np.zeros_like(case.m), case.m, case.other), {}),
        "includes": ((case.m, case.other), {}),
        "equals": ((case.m, case.other), {}),
        "forget": ((case.m, case.x), {}),
        "assign": ((case.m, case.x, case.y), {**moved, "negate": case.negate}),
        "assign_interval": ((case.m, case.x), moved),
        "unary": ((np.empty(2 * starts[-1], case.dtype), case.m), {"starts": 2 * starts}),
        "select": ((case.other, case.m, variables), some),
        "place": ((case.other, case.m, variables), some),
        "minimal": ((np.zeros(len(case.m), np.bool_), case.m), {}),
    }
    for name, (given_arrays, options) in calls.items():
        arrays = [array.copy() for array in given_arrays]
        found = getattr(minplus, name)(*arrays, offsets=cut, **options)
        assert found is None or len(found) == n_octagons
        for t, n in enumerate(case.sizes.tolist()):
            if not n:
                continue
            one = [array.copy() for array in given_arrays]
            parts = [_part(case, array, t, options.get("starts"), n) for array in one]
            own = {
                key: array[t] for key, array in options.items() if key in ("up", "down", "negate")
            }
            flag = getattr(minplus, name)(*parts, **own)
            assert flag is None or flag == found[t]
            for here, array in zip(parts, arrays, strict=True):
                whole = _part(case, array, t, options.get("starts"), n)
                assert np.array_equal(here, whole), name


def _part(case, array, t, starts, n):
    """Return what octagon t has of an argument of a batch."""
    if len(array) == len(case.m) and len(case.m) != len(case.sizes):
        return array[case.offsets[t] : case.offsets[t + 1]]
    if starts is not None:
        return array[starts[t] : starts[t + 1]]
    return array[t]
