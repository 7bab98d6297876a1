"""Values by the points they hold: small boxes of integers, looked through one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import strategies as st

from kleene import Interval, Octagon, Zone
from kleene.algebra import Linear

NAMES = ("x", "y", "z")
SIDE = range(-2, 3)
DOMAINS = (Interval, Zone, Octagon)
BOX = ", ".join(f"-2 <= {name} <= 2" for name in NAMES)
POINTS = [dict(zip(NAMES, values, strict=True)) for values in product(SIDE, repeat=len(NAMES))]

FACTORS = st.sampled_from([0, 0, 1, -1, 1, -1, 2, -3])


@st.composite
def expressions(draw, factors=FACTORS):
    """Linear expressions with whole coefficients, some with several constants."""
    terms = {name: Fraction(draw(factors)) for name in NAMES}
    low = draw(st.integers(-3, 3))
    high = low + draw(st.sampled_from([0, 0, 1]))
    kept = tuple((name, factor) for name, factor in terms.items() if factor)
    return Linear(kept, Fraction(low), Fraction(high))


@st.composite
def values(draw, domain):
    """Values within the box, some empty."""
    start = domain.of_constraints(BOX)
    given = draw(st.lists(expressions(), max_size=4))
    return start.meet([one <= 0 for one in given])


def member(value):
    """Return a function that says whether a point is in the value."""
    rows = [one.row for one in value.constraints()]

    def holds(point):
        return all(sum(f * point[name] for name, f in row.terms) <= row.bound for row in rows)

    return holds


def points_of(value):
    return list(filter(member(value), POINTS))


def results(expression, point):
    """Return the values of an expression at a point."""
    start = sum(factor * point[name] for name, factor in expression.terms)
    return [start + step for step in range(int(expression.low), int(expression.high) + 1)]
