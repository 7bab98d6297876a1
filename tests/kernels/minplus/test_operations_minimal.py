"""The fewest constraints that say what an octagon says, on every back end and type."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.kernels import minplus
from kleene.kernels.minplus import reference
from tests.kernels.minplus.octagon_inputs import DTYPES, closed_octagons, random_octagon
from tests.kernels.minplus.operation_inputs import SEEDS, is_empty


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
