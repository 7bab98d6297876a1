"""CSR: offsets, grouping by key, ranges."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kleene.base.arrays import csr, distinct, offsets_of, ragged

KEYS = st.lists(st.integers(0, 70_000), max_size=40)


@given(st.lists(st.integers(0, 9), max_size=20))
def test_offsets_cut_rows_of_these_lengths(lengths: list[int]) -> None:
    offsets = offsets_of(lengths)
    assert offsets.dtype == np.int64
    assert offsets[0] == 0
    assert np.diff(offsets).tolist() == lengths


def test_offsets_count_truths() -> None:
    assert offsets_of(np.array([True, False, True])).tolist() == [0, 1, 1, 2]


@given(KEYS, st.sampled_from([70_001, 100_000]))
def test_rows_of_a_key_keep_their_order(keys: list[int], n_keys: int) -> None:
    offsets, order = csr(np.array(keys, np.int32), n_keys)
    assert (order is None) == (keys == sorted(keys))
    rows = np.arange(len(keys)) if order is None else order
    for key in {*keys, 0, n_keys - 1}:
        found = rows[offsets[key] : offsets[key + 1]].tolist()
        assert found == [row for row, other in enumerate(keys) if other == key]


def test_few_keys_are_sorted_in_one_pass() -> None:
    offsets, order = csr(np.array([2, 0, 2, 1], np.int32), 3)
    assert order is not None
    assert (offsets.tolist(), order.tolist()) == ([0, 1, 2, 4], [1, 3, 0, 2])


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 5)), max_size=12))
def test_ranges_become_their_indices(ranges: list[tuple[int, int]]) -> None:
    starts = np.array([start for start, _ in ranges], np.int32)
    owner, index = ragged(starts, starts + np.array([n for _, n in ranges], np.int32))
    expected = [(i, start + k) for i, (start, n) in enumerate(ranges) for k in range(n)]
    assert list(zip(owner.tolist(), index.tolist(), strict=True)) == expected


@given(st.lists(st.integers(-5, 5)))
def test_distinct_values_are_those_of_a_set(values: list[int]) -> None:
    found = distinct(np.array(values, np.int32))
    assert found.dtype == np.int32
    assert found.tolist() == sorted(set(values))
