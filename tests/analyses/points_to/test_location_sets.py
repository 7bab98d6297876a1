"""Sets of locations as bits say what sets of numbers say."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kleene.analyses.points_to.images import layout_arrays as sets
from kleene.kernels.compiled import CompilationUnit

_UNIT = CompilationUnit(__file__, sets.__file__)
put, put_all, has = sets.put, sets.put_all, sets.has
following, join, pack, n_words = sets.following, sets.join, sets.pack, sets.n_words


@_UNIT.entry_point
def _asked(n_locations: Any, left: Any, right: Any) -> Any:
    """Return the locations of two sets, of both together, of all, and which are in the first."""
    rows = np.zeros((4, n_words(n_locations)), np.uint64)
    for i in range(len(left)):
        put(rows[0], left[i])
    for i in range(len(right)):
        put(rows[1], right[i])
    join(rows[2], rows[0])
    join(rows[2], rows[1])
    put_all(rows[3], n_locations)
    locations, ends = np.empty(4 * n_locations, np.int32), np.empty(4, np.int64)
    n_used = 0
    for row in range(4):
        n_used = pack(rows[row], locations, n_used)
        ends[row] = n_used
    behind, is_there = np.empty(n_locations, np.int64), np.empty(n_locations, np.bool_)
    for location in range(n_locations):
        behind[location], is_there[location] = following(rows[0], location), has(rows[0], location)
    return locations[:n_used], ends, behind, is_there


@given(st.data(), st.integers(1, 200))
def test_as_sets_of_numbers(data: st.DataObject, n_locations: int) -> None:
    some = st.sets(st.integers(0, n_locations - 1))
    left, right = data.draw(some), data.draw(some)
    columns = (np.array(sorted(chosen), np.int64) for chosen in (left, right))
    locations, ends, behind, is_there = _asked(n_locations, *columns)
    found = [part.tolist() for part in np.split(locations, ends[:-1])]
    assert found == [sorted(s) for s in (left, right, left | right, set(range(n_locations)))]
    for location in range(n_locations):
        assert behind[location] == min((p for p in left if p >= location), default=-1)
        assert is_there[location] == (location in left)
