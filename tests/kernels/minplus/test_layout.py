"""How octagons lie in memory, and which type holds what."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.kernels import minplus
from kleene.kernels.minplus import reference
from tests.kernels.minplus.octagon_inputs import octagons


@given(n=st.integers(0, 5000))
def test_sizes_tell_variables(n):
    assert minplus.n_variables(minplus.size(n)) == n


@pytest.mark.parametrize("n_elements", [1, 3, 5, 11, 13, 23])
def test_other_sizes_are_refused(n_elements):
    with pytest.raises(ValueError, match=f"no octagon has {n_elements} elements"):
        minplus.n_variables(n_elements)


@given(n=st.integers(1, 6))
def test_each_cell_and_its_dual_have_one_place(n):
    places = {}
    for i in range(2 * n):
        for j in range(2 * n):
            if i != j:
                assert minplus.cell(i, j) == minplus.cell(j ^ 1, i ^ 1)
            places.setdefault(minplus.cell(i, j), set()).add((i, j))
    assert sorted(places) == list(range(minplus.size(n)))


@given(m=octagons())
def test_whole_and_halve_are_inverse(m):
    square, out = reference.whole(m), np.empty_like(m)
    i = np.arange(len(square))
    assert np.array_equal(square, square[np.ix_(i ^ 1, i ^ 1)].T)
    reference.halve(square, out)
    assert np.array_equal(out, m)


def test_the_narrowest_exact_type():
    assert minplus.exact_dtype(1, 0) == np.int16
    assert minplus.exact_dtype(16, 127) == np.int16
    assert minplus.exact_dtype(16, 128) == np.int32
    assert minplus.exact_dtype(1024, 2**20) == np.int64
    assert minplus.exact_dtype(1024, 2**62) is None
