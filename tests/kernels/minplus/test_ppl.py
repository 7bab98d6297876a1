"""The Parma Polyhedra Library closes octagons to the same bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import ppl
from kleene.kernels import minplus
from tests.kernels.minplus.octagon_inputs import octagons, random_octagon

PROBLEM = ppl.problem()
pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(PROBLEM is not None, reason=str(PROBLEM)),
]
KINDS = ("double", "mpq_class")


def agree(m, kind, backend):
    n = minplus.n_variables(len(m))
    theirs = ppl.Octagon.of(m, kind)
    assert backend.close(m, False) == theirs.close()
    if len(m) and m[0] < 0:
        return
    for i in range(2 * n):
        for j in range((i | 1) + 1):
            if i != j:
                assert theirs.bound(i, j) == m[minplus.cell(i, j)]


@pytest.mark.parametrize("kind", KINDS)
@given(m=octagons(st.just(np.dtype(np.float64)), max_n=4))
def test_small_octagons(kind, m, backend):
    agree(m, kind, backend)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("density", [0.01, 0.1, 1.0])
def test_larger_octagons(kind, density, backend):
    agree(random_octagon(20, np.float64, np.random.default_rng(3), density), kind, backend)
    agree(random_octagon(34, np.float64, np.random.default_rng(4), density), kind, backend)


def test_the_rounding_of_this_process_is_left_alone():
    theirs = ppl.Octagon.of(random_octagon(3, np.float64, np.random.default_rng(5), 1.0), "double")
    theirs.close()
    one, three = (float(text) for text in ("1", "3"))  # so that nothing is computed beforehand
    assert one / three == 0.3333333333333333
    assert -one / three == -0.3333333333333333
