"""Equalities hold at the points that they were made from, and know what follows from them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kleene.analyses.invariants.equalities import Equalities
from kleene.analyses.invariants.expressions import Form, only

POINTS = st.lists(st.tuples(*[st.integers(-5, 5)] * 4), min_size=1, max_size=3)
FORMS = st.builds(
    lambda factors, constant: Form.of(dict(enumerate(factors)), constant),
    st.tuples(*[st.integers(-3, 3)] * 4),
    st.integers(-5, 5),
)


def of_point(point: tuple[int, ...], is_modular: bool) -> Equalities:
    made = Equalities(is_modular=is_modular)
    for key, value in enumerate(point):
        made = made.with_zero(only(key).shifted(-value)) or made
    return made


def value(form: Form, point: tuple[int, ...]) -> int:
    return form.constant + sum(factor * point[key] for key, factor in form.terms)


def holds(equalities: Equalities, point: tuple[int, ...]) -> bool:
    modulus = 16 if equalities.is_modular else 0
    values = [value(row, point) for row in equalities.rows.values()]
    return not any(one % modulus if modulus else one for one in values)


@given(points=POINTS, form=FORMS, key=st.integers(0, 3), is_modular=st.booleans())
def test_operations_keep_their_points(
    points: list[tuple[int, ...]], form: Form, key: int, is_modular: bool
) -> None:
    """Modulo 16, a point may be wrapped around after every assignment."""
    hull = of_point(points[0], is_modular)
    for point in points[1:]:
        hull = hull.join(of_point(point, is_modular))
    assert all(holds(hull, point) for point in points)
    assigned, forgotten = hull.assigned(key, form), hull.without((key,))
    for point in points:
        after = value(form, point) % 16 if is_modular else value(form, point)
        assert holds(assigned, (*point[:key], after, *point[key + 1 :]))
        assert holds(forgotten, (*point[:key], 77, *point[key + 1 :]))
        if value(form, point) == 0:
            met = hull.with_zero(form)
            assert met is not None
            assert holds(met, point)
        if hull.implies(form):
            assert value(form, point) % (16 if is_modular else 1 << 30) == 0


@given(points=POINTS, is_modular=st.booleans())
def test_pivots_occur_once_and_a_hull_is_around_its_parts(
    points: list[tuple[int, ...]], is_modular: bool
) -> None:
    hull = of_point(points[0], is_modular)
    for point in points[1:]:
        larger = hull.join(of_point(point, is_modular))
        assert hull <= larger
        assert of_point(point, is_modular) <= larger
        hull = larger
    for pivot, row in hull.rows.items():
        assert [one for one, other in hull.rows.items() if pivot in other.keys] == [pivot]
        assert is_modular or row.terms[-1][0] == pivot


def test_a_line_through_two_points_is_found() -> None:
    hull = of_point((0, 0, 5, 1), False).join(of_point((1, 2, 5, 1), False))
    assert hull.implies(Form.of({0: 2, 1: -1}))
    assert hull.implies(only(2).shifted(-5))
    assert not hull.implies(only(0))


def test_half_of_an_even_form_does_not_follow_where_integers_wrap() -> None:
    twice = Equalities(is_modular=True).with_zero(only(0).scaled(2))
    assert twice is not None
    assert not twice.implies(only(0))
