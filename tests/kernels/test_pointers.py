"""Named tuples of arrays become pointers, whatever the types of the arrays, and stay held."""

import sys
from typing import NamedTuple

import numpy as np
import pytest

from kleene.kernels import pointers
from kleene.kernels.compiled import CompilationUnit

UNIT = CompilationUnit(__file__, pointers.__file__)


class Two(NamedTuple):
    a: np.ndarray
    b: np.ndarray


@UNIT.device_function
def add_to_first(two, n):
    for i in range(n):
        two.a[i] += two.b[i]


@UNIT.entry_point
def add(two, n):
    add_to_first(pointers.as_pointers(two), n)


@pytest.mark.parametrize("other", [np.int64, np.int32])
def test_arrays_are_written_and_held(other):
    """Arrays of one type make another kind of tuple for Numba; unchanged, it was freed twice."""
    two = Two(np.zeros(5, np.int64), np.arange(5, dtype=other))
    before = [sys.getrefcount(array) for array in two]
    for _ in range(100):
        add(two, 5)
    assert two.a.tolist() == [0, 100, 200, 300, 400]
    assert [sys.getrefcount(array) for array in two] == before
