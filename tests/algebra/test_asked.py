"""What users may write: several at once, intervals as coefficients, thresholds, builders."""

from fractions import Fraction
from itertools import product
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene import Interval, Octagon, SourceError, Zone
from kleene.algebra import Constraint, Linear, Precision, constraints, expression
from tests.algebra.points import (
    DOMAINS,
    NAMES,
    POINTS,
    expressions,
    member,
    points_of,
    values,
)

COEFFICIENTS = st.tuples(st.integers(-2, 2), st.integers(0, 2))


@st.composite
def spread(draw):
    """Expressions with intervals as coefficients, as text, and all plain ones they stand for."""
    ends = {name: draw(COEFFICIENTS) for name in NAMES[:2]}
    low = draw(st.integers(-2, 2))
    text = " + ".join(f"[{a}, {a + more}]*{name}" for name, (a, more) in ends.items())
    choices = product(*(range(a, a + more + 1) for a, more in ends.values()))
    plain = [dict(zip(ends, chosen, strict=True)) for chosen in choices]
    return f"{text} + {low}", plain, low


def value_at(factors, point):
    return sum(factor * point[name] for name, factor in factors.items())


@pytest.mark.parametrize("domain", DOMAINS)
@given(data=st.data(), form=spread())
def test_intervals_as_coefficients_hold_all_choices(domain, data, form):
    value = data.draw(values(domain))
    text, choices, step = form
    after, kept, bounds = value.assign("z", text), value.meet(f"{text} <= 1"), value.bound(text)
    inside, is_after, is_kept = points_of(value), member(after), member(kept)
    for point in inside:
        for factors in choices:
            result = value_at(factors, point) + step
            assert bounds.low <= result <= bounds.high
            assert is_after({**point, "z": result})
            assert result > 1 or is_kept(point)
    if value.satisfies(f"{text} <= 1"):
        assert all(value_at(f, point) + step <= 1 for point in inside for f in choices)
    if value.bound("x") != (inf, -inf):
        assert after.exactness.precision is Precision.OVER or "[" not in str(expression(text))


@given(data=st.data(), form=spread())
def test_intervals_as_coefficients_are_as_good_as_their_ends(data, form):
    """Over a box nothing is lost: the greatest value is at ends of coefficients and bounds."""
    value = data.draw(values(Interval))
    text, choices, step = form
    ends = [value.bound(Linear(tuple(chosen.items()), step, step)) for chosen in choices]
    expected = min(e.low for e in ends), max(e.high for e in ends)
    assert value.bound(text) == expected
    assert value.is_bottom() or value.assign("z", text).bound("z") == expected


def test_intervals_as_coefficients_keep_order():
    value = Octagon.top("x y").meet("0 <= y <= 4").assign("x", "[1, 2]*y + 1")
    assert value.satisfies("x - y >= 1", "x <= 9")
    assert Octagon.of_constraints("y >= 0, [1, 2]*y <= 4").bound("y") == (0, 4)
    assert Octagon.of_constraints("y <= 0, [1, 2]*y <= -4").bound("y") == (-inf, -2)
    free = Octagon.top("x y").assign("x", "[1, 2]*y")
    assert free == Octagon.top("x y")
    before = Octagon.of_constraints("x >= 6, 0 <= y").substitute("x", "[1, 2]*y")
    assert before.bound("y") == (3, inf)


@pytest.mark.parametrize("domain", DOMAINS)
@given(data=st.data(), x=expressions(), y=expressions())
def test_substituting_several_at_once_loses_no_point(domain, data, x, y):
    value = data.draw(values(domain))
    is_in, is_before = member(value), member(value.substitute({"x": x, "y": y}))
    for point in POINTS:
        ends = [sum(factor * point[name] for name, factor in one.terms) + one.low for one in (x, y)]
        after = {**point, "x": int(ends[0]), "y": int(ends[1])}
        assert not is_in(after) or is_before(point)


def test_substituting_is_undoing_a_swap():
    value = Octagon.of_constraints("0 <= x <= 5, x - y <= 2")
    assert value.assign({"x": "y", "y": "x"}).substitute({"x": "y", "y": "x"}) == value


@given(st.sampled_from(DOMAINS), st.data())
def test_strict_order(domain, data):
    a, b = data.draw(values(domain)), data.draw(values(domain))
    assert (a < b) == (a <= b and a != b)
    assert (a > b) == (b < a)


@given(expressions(), st.booleans())
def test_constraints_are_written_as_they_are_read(value, is_strict):
    one = Constraint(value, is_strict)
    assert expression(str(value)) == value
    (again,) = constraints(str(one))
    assert again == one


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x - y <= 3", "x - y <= 3"),
        ("`a b` < 1/2", "`a b` < 1/2"),
        ("2x + [1, 2] <= y", "2*x - y <= [-2, -1]"),
        ("[1, 2]*x >= 0", "[-2, -1]*x <= 0"),
        ("0 <= -1", "1 <= 0"),
    ],
)
def test_constraints_as_text(text, shown):
    (one,) = constraints(text)
    (again,) = constraints(str(one))
    assert again == one
    assert str(one) == shown or not one.linear.terms


def test_thresholds_that_are_constraints():
    small = Octagon.of_constraints("0 <= x <= 1, y == 2x - x")
    grown = small.join(small.assign({"x": "x + 1", "y": "y + 1"}))
    wide = small.widen(grown, thresholds=["x <= 10", "x + y <= 3", 100])
    assert wide.bound("x") == (0, 10)
    assert wide.satisfies("x == y")
    assert not small.widen(grown).satisfies("x <= 10")


def test_chains_with_such_thresholds_end():
    value = Zone.of_constraints("0 <= x <= 1")
    seen = [value]
    for _ in range(8):
        value = value.widen(value.assign("x", "x + 4"), thresholds=["x <= 7", "x <= 20"])
        seen.append(value)
    assert seen[-1] == seen[-2] == Zone.of_constraints("x >= 0")


@pytest.mark.parametrize("domain", DOMAINS)
def test_builders_answer_and_join(domain):
    value = domain.of_constraints("0 <= x <= 5, y == 2")
    builder = value.builder()
    builder.set("x", "x + 1")
    assert builder.bound("x") == (1, 6)
    assert builder.satisfies("y == 2")
    assert not builder.is_bottom()
    assert builder.to_box() == value.assign("x", "x + 1").to_box()
    builder.join(value)
    builder.narrow(value)
    assert builder.build() == value.assign("x", "x + 1").join(value).narrow(value)


@given(st.data(), st.booleans())
def test_joining_in_place(data, again):
    a, b = data.draw(values(Octagon)), data.draw(values(Octagon))
    builder = a.builder()
    builder.set("x", "x")
    builder.join(b)
    if again:
        builder.join(a)
    assert builder.build() == a.join(b)


NO_Q = "there is no variable 'q'"
FINITE = "coefficients are finite, and in order"
SCALED = "with intervals as coefficients: the domain has no bounds on 1/2*y"
FAULTS = [
    (lambda value: value.meet(3), "bad-syntax", "3 is no constraint"),
    (lambda value: value.meet([3]), "bad-syntax", "3 is no constraint"),
    (lambda value: value.join(3), "mixed-domains", "3 is no value of a numeric domain"),
    (lambda value: value.fold(""), "bad-variables", "fold takes a variable or more"),
    (lambda value: value.contains({"x": 1}), "bad-variables", "the point has no value for 'y'"),
    (lambda value: value.assign("x", "[1, 2]*q"), "unknown-variable", NO_Q),
    (lambda value: value.bound("[1, 2]*q"), "unknown-variable", NO_Q),
    (lambda value: value.satisfies("[1, 2]*q <= 1"), "unknown-variable", NO_Q),
    (lambda value: value.assign("x", "[1, inf]*y"), "bad-number", FINITE),
    (
        lambda value: value.assign("x", "[1, 2]*y", strict=True),
        "not-representable",
        f"assignment to x {SCALED}",
    ),
    (
        lambda value: value.meet("[1, 2]*y <= 1", strict=True),
        "not-representable",
        f"constraint {SCALED}",
    ),
    (
        lambda value: type(value).of_box({"x": (1, 2, 3)}),
        "bad-number",
        "'x' takes a least and a greatest value, not 3 numbers",
    ),
    (
        lambda _: Octagon.of_matrix("x", 3),
        "bad-matrix",
        "1 variables take a matrix of 2 rows and columns",
    ),
    (lambda _: Linear().times(2, 1), "bad-number", FINITE),
]


@pytest.mark.parametrize(("ask", "id", "message"), FAULTS)
@pytest.mark.parametrize("domain", [Interval, Octagon])
def test_faults_are_named(domain, ask, id, message):
    with pytest.raises(SourceError) as caught:
        ask(domain.of_constraints("0 <= x <= 5, y >= x"))
    assert (caught.value.id, caught.value.message) == (f"algebra/{id}", message)


def test_other_things_are_not_compared():
    with pytest.raises(TypeError, match="not supported between"):
        _ = Octagon.top("x") <= 3  # type: ignore[operator]
    assert Octagon.top("x") != 3


def test_products_of_intervals():
    assert expression("[1, 2]*(x + [0, 3])") == Linear(
        (("x", Fraction(3, 2)),), Fraction(0), Fraction(6), (("x", Fraction(1, 2)),)
    )
    assert expression("[-1, 2]*[3, 4]") == Linear((), Fraction(-4), Fraction(8))
    assert expression("0*[1, inf]") == Linear()
