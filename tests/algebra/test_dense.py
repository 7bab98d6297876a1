"""Components are an economy, no approximation: operations equal those on one whole matrix."""

from fractions import Fraction
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene import Octagon
from kleene.kernels.minplus import n_variables
from tests.algebra.dense import (
    NAMES,
    Dense,
    apply,
    apply_in_place,
    facts,
    meet_both,
    run,
    steps,
    widen_raw,
)

N = 4
SMALL = st.integers(-6, 9)
RATIONAL = st.builds(Fraction, st.integers(-9, 12), st.sampled_from([1, 2, 3, 4]))
WIDE = st.builds(
    lambda bits, low, sign: sign * ((1 << bits) + low),
    st.integers(0, 90),
    SMALL,
    st.sampled_from([-1, 1, 1]),
)


def programs(bounds, max_size=10):
    return st.lists(steps(N, bounds), max_size=max_size)


def kinds(draw_size=10):
    """Programs over integers and over reals, with bounds of every size."""
    return st.one_of(
        st.tuples(programs(SMALL, draw_size), st.just(False)),
        st.tuples(programs(RATIONAL, draw_size), st.just(True)),
        st.tuples(programs(WIDE, draw_size), st.booleans()),
    )


def pairs():
    return st.one_of(
        st.tuples(programs(SMALL), programs(SMALL), st.just(False)),
        st.tuples(programs(RATIONAL), programs(RATIONAL), st.just(True)),
        st.tuples(programs(WIDE), programs(WIDE), st.booleans()),
    )


def agree(octagon, dense):
    assert octagon.is_bottom() == (dense.square is None)
    assert octagon.to_matrix() == dense.matrix()


@given(kinds())
def test_guards_and_assignments(kind):
    program, reals = kind
    agree(*run(program, N, reals=reals))


@given(pairs())
def test_join(both):
    a, b, reals = both
    (x, dense), (y, other) = run(a, N, reals=reals), run(b, N, reals=reals)
    agree(x.join(y), dense.join(other))
    assert x <= x.join(y) >= y
    assert x.join(y) == y.join(x)
    loose = x.join(y, relate=False)
    assert x.join(y) <= loose


@given(kinds(), st.lists(steps(N, SMALL), max_size=3), st.lists(steps(N, SMALL), max_size=3))
def test_join_of_two_branches_that_share_components(kind, left, right):
    program, reals = kind
    one, other = run(program + left, N, reals=reals), run(program + right, N, reals=reals)
    agree(one[0].join(other[0]), one[1].join(other[1]))


@given(pairs())
def test_meet_of_two(both):
    a, b, reals = both
    (x, dense), (y, other) = run(a, N, reals=reals), run(b, N, reals=reals)
    agree(x.meet(y), meet_both(dense, other))


@given(pairs())
def test_inclusion_and_equality(both):
    a, b, reals = both
    (x, dense), (y, other) = run(a, N, reals=reals), run(b, N, reals=reals)
    included = dense.square is None or (
        other.square is not None
        and all(
            p <= q
            for r, s in zip(dense.square, other.square, strict=True)
            for p, q in zip(r, s, strict=True)
        )
    )
    assert (x <= y) == included
    assert (x == y) == (dense.matrix() == other.matrix())
    if x == y:
        assert hash(x) == hash(y)


@given(st.lists(programs(SMALL), min_size=2, max_size=5), st.booleans())
def test_widening(chain, reals):
    """Widening is that of the strengthened matrices, without thresholds."""
    (octagon, dense), *others = [run(program, N, reals=reals) for program in chain]
    raw = dense.square
    for other, oracle in others:
        octagon = octagon.widen(other)
        if raw is None:
            raw = oracle.square
        elif oracle.square is not None:
            raw = widen_raw(raw, oracle.square)
        agree(octagon, dense.closed(raw) if raw is not None else dense)


@given(kinds())
def test_smallest_constraints_say_all(kind):
    program, reals = kind
    octagon, _ = run(program, N, reals=reals)
    for minimal in (True, False):
        again = Octagon.top(**octagon.options()).meet(octagon.constraints(minimal=minimal))
        assert again == octagon


@given(programs(RATIONAL))
def test_smallest_constraints_have_none_to_spare(program):
    octagon, _ = run(program, N, reals=True)
    kept = octagon.constraints()
    for at in range(len(kept)):
        again = Octagon.top(**octagon.options()).meet(kept[:at] + kept[at + 1 :])
        assert again != octagon


@given(kinds())
def test_a_matrix_is_read_as_it_was_written(kind):
    program, reals = kind
    octagon, _ = run(program, N, reals=reals)
    if not octagon.is_bottom():
        names = NAMES[:N]
        again = Octagon.of_matrix(names, octagon.to_matrix(), reals=names if reals else ())
        assert again == octagon


@given(st.lists(facts(N, SMALL), max_size=20), st.booleans())
def test_many_constraints_at_once(rows, reals):
    """More constraints than variables are closed together."""
    from tests.algebra.dense import constraint

    names = NAMES[:N]
    dense = Dense(N, not reals)
    for row in rows:
        dense = dense.meet(*row)
    start = Octagon.top(() if reals else names, reals=names if reals else ())
    builder = start.builder()
    builder.impose([(row.terms, row.bound) for row in (constraint(*one).row for one in rows)])
    agree(builder.build(), dense)


@pytest.mark.parametrize("bits", [5, 20, 50, 200])
def test_elements_are_as_wide_as_they_must_be(bits):
    octagon = Octagon.of_constraints(f"x <= {1 << bits}, y - x <= {1 << bits}, x + z <= 3")
    assert octagon.bound("x + y").high == 3 << bits
    (component,) = octagon.partition
    assert n_variables(len(component.cells)) == 3
    wanted = {5: "int16", 20: "int32", 50: "int64", 200: "object"}[bits]
    assert component.cells.dtype.name == wanted
    if wanted == "object":  # of machine's integers no component is made narrower
        assert octagon.assign("x", 0).assign("y", 0).partition.get("x").cells.dtype.name == "int16"


@given(kinds(), st.lists(steps(N, SMALL), max_size=8))
def test_a_builder_is_what_the_values_are(kind, more):
    """Components of a builder change in place; variables that it forgot stay in them a while."""
    program, reals = kind
    octagon, dense = run(program, N, reals=reals)
    builder = octagon.builder(strict=True)
    for name, arguments in more:
        octagon, dense = apply(octagon, dense, name, arguments)
        apply_in_place(builder, name, arguments)
    made = builder.build()
    agree(made, dense)
    assert made == octagon
    assert hash(made) == hash(octagon)
    assert made.constraints() == octagon.constraints()


def test_states_of_every_width_are_read_together():
    """A value that is joined with wider and wider ones is read in their types, time and again."""
    small = Octagon.of_constraints("x - y <= 1, x >= 0", "v - w <= 2, w >= 0")
    for bits in (10, 20, 50, 200):
        wide = Octagon.of_constraints(f"x - y <= {1 << bits}, x >= 0, w - v <= 3, w >= 1")
        joined = small.join(wide)
        assert joined.bound("x - y").high == 1 << bits
        assert joined.bound("v - w") == (-inf, inf)
        assert joined.bound("w").low == 0
        assert small <= joined >= wide
    assert small == Octagon.of_constraints("x - y <= 1, x >= 0", "v - w <= 2, w >= 0")
