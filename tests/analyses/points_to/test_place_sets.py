"""Sets of places as bits say what sets of numbers say."""

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
def _asked(n_places: Any, left: Any, right: Any) -> Any:
    """Return the places of two sets, of both together, of all, and which are in the first."""
    rows = np.zeros((4, n_words(n_places)), np.uint64)
    for i in range(len(left)):
        put(rows[0], left[i])
    for i in range(len(right)):
        put(rows[1], right[i])
    join(rows[2], rows[0])
    join(rows[2], rows[1])
    put_all(rows[3], n_places)
    places, ends = np.empty(4 * n_places, np.int32), np.empty(4, np.int64)
    n_used = 0
    for row in range(4):
        n_used = pack(rows[row], places, n_used)
        ends[row] = n_used
    behind, is_there = np.empty(n_places, np.int64), np.empty(n_places, np.bool_)
    for place in range(n_places):
        behind[place], is_there[place] = following(rows[0], place), has(rows[0], place)
    return places[:n_used], ends, behind, is_there


@given(st.data(), st.integers(1, 200))
def test_as_sets_of_numbers(data: st.DataObject, n_places: int) -> None:
    some = st.sets(st.integers(0, n_places - 1))
    left, right = data.draw(some), data.draw(some)
    columns = (np.array(sorted(chosen), np.int64) for chosen in (left, right))
    places, ends, behind, is_there = _asked(n_places, *columns)
    found = [part.tolist() for part in np.split(places, ends[:-1])]
    assert found == [sorted(s) for s in (left, right, left | right, set(range(n_places)))]
    for place in range(n_places):
        assert behind[place] == min((p for p in left if p >= place), default=-1)
        assert is_there[place] == (place in left)
