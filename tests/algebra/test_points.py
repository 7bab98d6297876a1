"""No operation loses a point; those that claim to be exact gain none either."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.algebra import Precision
from tests.algebra.points import (
    BOX,
    DOMAINS,
    NAMES,
    POINTS,
    SIDE,
    expressions,
    member,
    points_of,
    results,
    values,
)

pytestmark = pytest.mark.parametrize("domain", DOMAINS)


@given(data=st.data())
def test_guard(domain, data):
    value, asked = data.draw(values(domain)), data.draw(expressions())
    kept = value.meet([asked <= 0])
    wanted = [point for point in points_of(value) if min(results(asked, point)) <= 0]
    found = points_of(kept)
    assert all(point in found for point in wanted)
    assert kept <= value
    if kept.exactness.precision is Precision.EXACT:
        assert found == wanted
    is_certain = all(max(results(asked, point)) <= 0 for point in points_of(value))
    assert is_certain or not value.satisfies([asked <= 0])


@given(data=st.data())
def test_assignment(domain, data):
    value, asked = data.draw(values(domain)), data.draw(expressions())
    after = value.assign("x", asked)
    reached = [point | {"x": x} for point in points_of(value) for x in results(asked, point)]
    assert all(map(member(after), reached))
    if after.exactness.precision is Precision.EXACT:
        assert all(point in reached for point in points_of(after))


@given(data=st.data())
def test_assignments_at_once(domain, data):
    value = data.draw(values(domain))
    first, second = data.draw(expressions()), data.draw(expressions())
    after = member(value.assign({"x": first, "y": second}))
    for point in points_of(value):
        for x in results(first, point):
            for y in results(second, point):
                assert after(point | {"x": x, "y": y})


@given(data=st.data())
def test_substitution(domain, data):
    value, asked = data.draw(values(domain)), data.draw(expressions())
    before = value.substitute("x", asked)
    is_exact = before.exactness.precision is Precision.EXACT
    was, came = member(value), member(before)
    for point in POINTS:
        leads_here = any(was(point | {"x": x}) for x in results(asked, point))
        assert came(point) or not leads_here
        assert leads_here or not (is_exact and came(point))


@given(data=st.data())
def test_join_and_meet(domain, data):
    a, b = data.draw(values(domain)), data.draw(values(domain))
    in_a, in_b = points_of(a), points_of(b)
    joined = points_of(a | b)
    assert all(point in joined for point in in_a + in_b)
    assert points_of(a & b) == [point for point in in_a if point in in_b]
    assert (a <= b) <= all(point in in_b for point in in_a)
    assert a <= a | b
    assert a & b <= a


@given(data=st.data())
def test_forget_expand_and_fold(domain, data):
    value = data.draw(values(domain))
    held = points_of(value)
    without = value.forget("y")
    assert points_of(without) == [p for p in POINTS if any(p | {"y": y} in held for y in SIDE)]
    more = member(value.expand("x", "u"))
    for point in held:
        for x in SIDE:
            assert more(point | {"u": x}) == (point | {"x": x} in held)
    folded = value.fold("x y")
    assert set(folded.variables) == {"x", "z"}
    holds = member(folded)
    for point in held:
        assert holds({"x": point["x"], "z": point["z"]})
        assert holds({"x": point["y"], "z": point["z"]})


@given(data=st.data())
def test_bounds(domain, data):
    value, asked = data.draw(values(domain)), data.draw(expressions())
    low, high = value.bound(asked)
    seen = [result for point in points_of(value) for result in results(asked, point)]
    assert all(low <= result <= high for result in seen)
    if seen and len(asked.terms) == 1 and abs(asked.terms[0][1]) == 1:
        assert (low, high) == (min(seen), max(seen))


@given(data=st.data())
def test_chains_of_widenings_end(domain, data):
    """Loops of assignments end: each bound is given up once, after a step for each threshold."""
    thresholds = data.draw(st.lists(st.integers(-4, 40), max_size=2))
    body = data.draw(st.lists(st.tuples(st.sampled_from(NAMES), expressions()), max_size=3))
    value = data.draw(values(domain))
    most = 2 * 4 * len(NAMES) ** 2 * (1 + len(thresholds))
    for _ in range(most):
        after = value
        for name, expression in body:
            after = after.assign(name, expression)
        wider = value.widen(value | after, thresholds=thresholds)
        assert value <= wider >= after
        if wider == value:
            return
        value = wider
    raise AssertionError(f"not stable after {most} steps")


@given(data=st.data())
def test_narrowing_lies_between_and_ends(domain, data):
    value = data.draw(values(domain)).forget(data.draw(st.sampled_from(NAMES)))
    smaller = value & data.draw(values(domain))
    for _ in range(4 * len(NAMES) ** 2 + 1):
        narrower = value.narrow(smaller)
        assert smaller <= narrower <= value
        if narrower == value:
            break
        value = narrower
    else:
        raise AssertionError("narrowing goes on")


@given(data=st.data())
def test_floats_hold_what_exact_bounds_hold(domain, data):
    given_ = data.draw(st.lists(expressions(), max_size=4))
    asked, reals = data.draw(expressions()), "x y z"
    exact = domain.top(reals=reals).meet(BOX).meet([one / 3 <= 0 for one in given_])
    rounded = domain.top(reals=reals, floats=True).meet(BOX).meet([one / 3 <= 0 for one in given_])
    for a, b in ((exact, rounded), (exact.assign("x", asked / 7), rounded.assign("x", asked / 7))):
        if not a.is_bottom():
            again = domain.top(reals=reals).meet(b.constraints())
            assert a <= again


@given(data=st.data())
def test_integers_and_reals_together(domain, data):
    """x and y are integers, z is a real."""
    start = domain.top("x y", reals="z").meet(BOX)
    value = start.meet([one <= 0 for one in data.draw(st.lists(expressions(), max_size=3))])
    asked, name = data.draw(expressions()), data.draw(st.sampled_from(NAMES))
    steps = [Fraction(k, 2) for k in range(-4, 5)]
    points = [p | {"z": z} for p in POINTS if p["z"] == 0 for z in steps]
    held = list(filter(member(value), points))
    kept, after = member(value.meet([asked < 0])), member(value.assign(name, asked))
    free, joined = member(value.forget(name)), member(value | start.meet([asked <= 0]))
    for point in held:
        found = results(asked, point)
        assert min(found) >= 0 or kept(point)
        assert free(point)
        assert joined(point)
        for x in found:
            if name == "z" or x == int(x):
                assert after(point | {name: x})
