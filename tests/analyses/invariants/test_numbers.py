"""The product of domains keeps its points: under assignments, guards, joins, with templates.

A state is followed together with a few of the points that it stands for. Whatever is done to it is
done to these, and each has to be in it afterwards: guards that name it leave something.
"""

from __future__ import annotations

from random import Random

import pytest

from kleene.analyses.invariants.expressions import (
    Both,
    Compared,
    Condition,
    Congruent,
    Either,
    Form,
    Kind,
    Relation,
    only,
)
from kleene.analyses.invariants.layout import Layout
from kleene.analyses.invariants.numbers import Numbers
from kleene.analyses.invariants.operations import Wrap
from kleene.analyses.invariants.transfer import always, assume, forget, set_all, set_range
from tests.seeds import seeds

_WIDTH = 6
_KINDS = [Kind(_WIDTH, True), Kind(_WIDTH, True), Kind(_WIDTH, False), Kind(_WIDTH, True)]
_VARIABLES = range(len(_KINDS))
_MOST_POINTS = 8
Point = tuple[int, ...]


def form(random: Random, n_most: int = 3, most: int = 3) -> Form:
    keys = random.sample(_VARIABLES, random.randint(1, n_most))
    factors = {key: random.choice([1, 1, -1, -1, random.randint(-most, most)]) for key in keys}
    return Form.of(factors, random.choice([0, 0, random.randint(-9, 9)]))


def value(form: Form, point: Point) -> int:
    return form.constant + sum(factor * point[key] for key, factor in form.terms)


def condition(random: Random) -> Condition:
    what, one = random.randrange(8), form(random)
    if what == 0:
        modulus = random.choice([2, 3, 4])
        return Congruent(one, modulus, random.randrange(modulus), random.random() < 0.6)
    if what == 1:
        left, right = random.sample([key for key in _VARIABLES if _KINDS[key].is_unsigned], 2)
        return Compared(random.choice(["slt", "sle"]), only(left), only(right), _KINDS[left])
    if what == 2:
        left, right = only(2), Form((), random.randint(-9, 9))
        left, right = random.choice([(left, right), (right, left)])
        return Compared(random.choice(["ult", "uge"]), left, right, _KINDS[2])
    if what == 3:
        return random.choice([Both, Either])(condition(random), condition(random))
    return Relation(one, random.choice(["le", "eq", "ne"]))


def holds(condition: Condition, point: Point) -> bool:
    if isinstance(condition, Relation):
        number = value(condition.form, point)
        return {"le": number <= 0, "eq": number == 0, "ne": number != 0}[condition.sign]
    if isinstance(condition, Congruent):
        rest = value(condition.form, point) % condition.modulus
        return (rest == condition.rest) is condition.holds
    if isinstance(condition, Compared):
        read = Kind(_WIDTH, not condition.kind.is_unsigned)
        left, right = (
            wrapped(value(one, point), read) for one in (condition.left, condition.right)
        )
        order = condition.predicate[1:]
        return {"lt": left < right, "le": left <= right, "ge": left >= right}[order]
    assert isinstance(condition, (Both, Either))
    both = holds(condition.left, point), holds(condition.right, point)
    return all(both) if isinstance(condition, Both) else any(both)


def layout(random: Random) -> Layout:
    kinds, templates = list(_KINDS), dict[int, Form]()
    n_packs = random.choice([1, 1, 1, 2])
    place = {key: random.randrange(n_packs) for key in _VARIABLES if random.random() < 0.9}
    for _ in range(random.randint(0, 3)):
        one = Form(form(random, most=8).terms)
        places = {place.get(key) for key in one.keys}
        is_new = len(one.terms) > 1 and one not in templates.values()
        if is_new and len(places) == 1 and None not in places:
            templates[len(kinds)], place[len(kinds)] = one, places.pop() or 0
            kinds.append(Kind(2 * _WIDTH, False))
    packs = [tuple(key for key in place if place[key] == one) for one in range(n_packs)]
    bits = random.choice([0, _WIDTH])
    return Layout(kinds, [""] * len(kinds), packs, templates, True, True, bits)


def has(state: Numbers, point: Point) -> bool:
    """Return whether a point, templates included, is one of a state."""
    left = state.copy()
    templates = [value(one, point) for one in state.layout.templates.values()]
    for key, number in enumerate((*point, *templates)):
        if not left.is_empty:
            left = assume(left, Relation(only(key).shifted(-number), "eq"))
    return not left.is_empty


def wrapped(number: int, kind: Kind) -> int:
    return (number - kind.low) % (1 << kind.width) + kind.low


def step(random: Random, state: Numbers, points: list[Point]) -> tuple[Numbers, list[Point]]:
    """Return what is made of a state and points in it by one random operation."""
    key, one = random.choice(_VARIABLES), form(random)
    kind, what = _KINDS[key], random.randrange(7)
    if what == 0:
        asked = condition(random)
        if always(state, asked):
            assert all(holds(asked, p) for p in points)
        return assume(state, asked), [p for p in points if holds(asked, p)]
    if what == 1:
        after = [(*p[:key], random.randint(kind.low, kind.high), *p[key + 1 :]) for p in points]
        forget(state, [key])
        return state, after
    if what == 2:
        low = random.randint(kind.low, kind.high)
        high = random.randint(low, kind.high)
        set_range(state, key, (low, high))
        return state, [(*p[:key], random.randint(low, high), *p[key + 1 :]) for p in points]
    if what == 3:
        made = Wrap(key, one, kind).apply(state, None)
        return made, [(*p[:key], wrapped(value(one, p), kind), *p[key + 1 :]) for p in points]
    if what == 4:
        other, there = step(random, state.copy(), points)
        both = there + points
        if other.is_empty or random.random() < 0.2:
            return (state, points) if other.is_empty else (state.widen(other, (0, 7)), both)
        return state.join(other), both
    others = [other for other in _VARIABLES if other != key]
    second = random.choice(others)  # whose form does not name what is set before
    forms = {key: one}
    if what == 5:
        terms = [term for term in form(random).terms if term[0] != key]
        forms[second] = Form(tuple(terms), random.randint(-3, 3))
    set_all(state, tuple(forms.items()))
    after = []
    for p in points:
        new = list(p)
        for target, given in forms.items():
            new[target] = value(given, p)
        if all(k.low <= n <= k.high for k, n in zip(_KINDS, new, strict=True)):
            after.append(tuple(new))
    return state, after


@pytest.mark.parametrize("seed", seeds(150, 20_000))
def test_states_keep_their_points(seed: int) -> None:
    random = Random(seed)
    state = Numbers(layout(random))
    points = [
        tuple(random.randint(kind.low, kind.high) for kind in _KINDS) for _ in range(_MOST_POINTS)
    ]
    for n in range(40):
        state, points = step(random, state, points)
        points = random.sample(points, min(len(points), _MOST_POINTS))
        if state.is_empty or not points:
            break
        assert all(has(state, point) for point in points), f"step {n}"
    assert not (state.is_empty and points)
