"""Octagons in components are read, joined, compared and split as whole ones are."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.kernels import minplus
from kleene.kernels.minplus import reference
from kleene.kernels.minplus.cpu import components, operations
from kleene.kernels.minplus.cpu.components import ALONE, COMPONENTS, MOVING
from kleene.kernels.minplus.cpu.partition import table_of
from tests.kernels.minplus.octagon_inputs import converted, random_octagon

KINDS = st.sampled_from(["int16", "int32", "int64", "float64"])
WIDTHS = st.sampled_from([("int16", "int32"), ("int16", "int64"), ("int32", "int64")])


@dataclass
class State:
    """Closed components of some of n variables: as a table, and as one octagon."""

    table: np.ndarray
    cells: list[np.ndarray]  # whose addresses are in the table
    whole: np.ndarray


@st.composite
def states(draw, dtype, n):
    """States with components of any variables, in order or scattered, some variables in none."""
    slots = np.array(draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)), np.int64)
    if draw(st.booleans()):
        slots.sort()
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    members = [np.flatnonzero(slots == slot) for slot in range(4)]
    cells = [closed(len(one), dtype, random) for one in members]
    places = np.zeros(n, np.int64)
    whole = minplus.top(n, dtype)
    for one, component in zip(members, cells, strict=True):
        places[one] = np.arange(len(one))
        reference.place(whole, component, one)
    reference.strengthen(whole, tighten=True)
    return State(table_of(list(map(operations.address, cells)), slots, places), cells, whole)


def closed(n, dtype, random):
    """Return a closed octagon of integers that has a point."""
    while True:
        m = random_octagon(n, np.dtype(dtype), random, 0.4)
        if reference.close(m, True):
            return m


@st.composite
def pairs(draw):
    dtype, n = np.dtype(draw(KINDS)), draw(st.integers(1, 9))
    return draw(states(dtype, n)), draw(states(dtype, n))


@given(pairs())
def test_blocks_are_one_octagon(two):
    a, b = two
    out = np.empty_like(a.whole)
    components.assemble(out, a.table)
    assert np.array_equal(out, a.whole)
    assert components.covers(np.maximum(a.whole, b.whole), a.table)
    assert components.covers(a.whole, b.table) == (a.whole >= b.whole).all()


@given(pairs(), st.sampled_from([ALONE, COMPONENTS, MOVING]))
def test_a_join_is_that_of_each_group(two, related):
    a, b = two
    n, whole = a.table[0], np.maximum(a.whole, b.whole)
    out, labels, expected = np.empty_like(whole), np.empty(n, np.int64), np.empty(n, np.int64)
    n_groups = components.join(out, labels, a.table, b.table, related)
    if related == ALONE:
        expected = np.arange(n)
    elif related == COMPONENTS:
        components.group(expected, a.table, b.table, np.zeros(0, np.int64))
    else:
        components.group_moving(expected, a.table, b.table, whole)
    assert np.array_equal(labels, expected)
    members = [np.flatnonzero(labels == label) for label in dict.fromkeys(labels.tolist())]
    assert n_groups == len(members)
    start = 0
    for one in members:
        part = np.empty(minplus.size(len(one)), whole.dtype)
        reference.select(part, whole, one)
        assert np.array_equal(out[start : start + len(part)], part)
        start += len(part)


@given(pairs(), st.data())
def test_one_bound_less_is_not_covered(two, data):
    a, _ = two
    less = a.whole.copy()
    less[
        data.draw(st.sampled_from(np.flatnonzero(less != minplus.infinity(a.whole.dtype)).tolist()))
    ] -= 1
    assert components.covers(a.whole, a.table)
    assert not components.covers(less, a.table)


@given(pairs(), st.booleans())
def test_related_variables_have_one_label(two, exactly):
    a, b = two
    for m in (a.whole, np.maximum(a.whole, b.whole)):
        n = len(m) and minplus.n_variables(len(m))
        expected = labels_of(m, n)
        found = np.empty(n, np.int64)
        n_cells = components.split(found, m, exactly)
        sizes = [expected.count(label) for label in set(expected)]
        wanted = sum(map(minplus.size, sizes))
        if exactly or 4 * wanted < 3 * minplus.size(n):
            assert n_cells == wanted
        else:
            assert 4 * n_cells >= 3 * minplus.size(n)
        if n_cells == wanted and len(sizes) > 1:
            assert all(
                (found[x] == found[y]) == (expected[x] == expected[y])
                for x in range(n)
                for y in range(n)
            )


def labels_of(m, n):
    """Return the least variable of each one's group, by comparing with a box."""
    square = reference.whole(m).astype(float)
    square[reference.whole(m) == minplus.infinity(m.dtype)] = np.inf
    i = np.arange(2 * n)
    unary = square[i, i ^ 1]
    labels = list(range(n))
    for p, q in np.argwhere(2 * square < unary[:, None] + unary[i ^ 1]).tolist():
        old, new = labels[p >> 1], labels[q >> 1]
        labels = [min(old, new) if label in (old, new) else label for label in labels]
    return labels


@given(pairs(), st.booleans())
def test_growing_and_shrinking_variables_are_grouped(two, given_signs):
    a, b = two
    n = a.table[0]
    twice = [np.empty(2 * n, a.whole.dtype) for _ in range(2)]
    for out, m in zip(twice, (a.whole, b.whole), strict=True):
        reference.unary(out, m)
    x, y = twice
    is_bound = (x != minplus.infinity(a.whole.dtype)) & (y != minplus.infinity(a.whole.dtype))
    signs = np.where(is_bound, (x < y).astype(np.int64) - (y < x), 0)
    labels = np.empty(n, np.int64)
    if given_signs:
        n_groups = components.group(labels, a.table, b.table, signs)
    else:
        n_groups = components.group_moving(labels, a.table, b.table, a.whole)
    assert len(set(labels.tolist())) == n_groups
    for table in (a.table, b.table):
        slots = table[6 : 6 + n]
        assert all(len(set(labels[slots == slot].tolist())) <= 1 for slot in range(4))
    if (signs > 0).any() and (signs < 0).any():
        assert len(set(labels[np.flatnonzero(signs) >> 1].tolist())) == 1
    elif (a.table[6 : 6 + n] == b.table[6 : 6 + n]).all():
        slots = a.table[6 : 6 + n].tolist()
        assert n_groups == len(set(slots) - {-1}) + slots.count(-1)


@given(WIDTHS, st.data(), st.integers(1, 9))
def test_wider_blocks_say_the_same(widths, data, n):
    narrow, wide = map(np.dtype, widths)
    state = data.draw(states(narrow, n))
    sizes = np.array([len(m) for m in state.cells])
    cells, table = np.empty(sizes.sum(), wide), state.table.copy()
    components.widen(cells, table, sizes, state.whole)
    out = np.empty(len(state.whole), wide)
    components.assemble(out, table)
    assert np.array_equal(out, converted(state.whole, wide))


@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_large_blocks(dtype):
    """Rows longer than vectors, stretches of many lengths."""
    random, dtype = np.random.default_rng(1), np.dtype(dtype)
    tables, wholes, kept = [], [], []
    for cut in (30, 41):
        members = [np.r_[0:cut, 60:70], np.r_[cut:60]]
        cells = [closed(len(one), dtype, random) for one in members]
        slots, places, whole = np.zeros(70, int), np.zeros(70, int), minplus.top(70, dtype)
        for slot, (one, component) in enumerate(zip(members, cells, strict=True)):
            slots[one], places[one] = slot, np.arange(len(one))
            reference.place(whole, component, one)
        reference.strengthen(whole, tighten=True)
        tables.append(table_of(list(map(operations.address, cells)), slots, places))
        wholes.append(whole)
        kept.append(cells)
    out, labels = np.empty_like(wholes[0]), np.empty(70, np.int64)
    assert components.join(out, labels, *tables, COMPONENTS) == 1
    assert np.array_equal(out, np.maximum(*wholes))
    assert not components.covers(wholes[0], tables[1])
