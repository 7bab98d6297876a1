"""What the tests of operations share: pairs of octagons, points, what is empty."""

import numpy as np
from hypothesis import strategies as st

from kleene.kernels import minplus
from tests.kernels.minplus.octagon_inputs import closed_like, closed_octagons

SEEDS = st.integers(0, 2**32)


def empty_like(m):
    return np.full_like(m, minplus.lowest(m.dtype))


def is_empty(m):
    return len(m) > 0 and bool((m == minplus.lowest(m.dtype)).all())


@st.composite
def pairs(draw, tighten=False):
    """Two closed octagons of one size, either of them empty at times."""
    a = draw(closed_octagons(tighten=tighten))
    b = closed_like(a, np.random.default_rng(draw(SEEDS)), tighten=tighten)
    return a, (empty_like(b) if draw(st.integers(0, 9)) == 0 else b)


def points_of(n, seed, count=40):
    return np.random.default_rng(seed).integers(-8, 9, (count, n))
