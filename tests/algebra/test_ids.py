"""Variables by integer ids: every operation gives what the same one by names gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene import Interval, Octagon, SourceError, Zone
from kleene.algebra import Linear, variable, variables

N = 12  # ids of two digits would sort otherwise than their texts
NAMES = [f"x{k:02}" for k in range(N)]


def by_names(value: Linear) -> Linear:
    """Return the expression with names for ids."""
    total = Linear((), value.low, value.high)
    for k, factor in value.terms:
        total = total + variable(NAMES[k]) * factor
    return total


@st.composite
def expressions(draw):
    chosen = draw(st.lists(st.integers(0, N - 1), max_size=2, unique=True))
    total = Linear.of(draw(st.integers(-5, 5)))
    for k in chosen:
        total = total + variable(k) * draw(st.sampled_from([1, -1, 1, 2]))
    return total


@st.composite
def steps(draw):
    kind = draw(st.sampled_from(["guard", "assign", "forget", "several"]))
    if kind == "guard":
        return kind, None, draw(expressions())
    return kind, draw(st.integers(0, N - 1)), draw(expressions())


def stepped(value, step, convert):
    kind, target, expression = step
    name = convert(target)
    if kind == "guard":
        return value.meet(expression <= 0)
    if kind == "forget":
        return value.forget([name])
    if kind == "several":
        other = convert((target + 1) % N)
        return value.assign({name: expression, other: variable(name)})
    return value.assign(name, expression)


def run(domain, start, given_steps, convert, rewrite):
    value = start
    for kind, target, expression in given_steps:
        value = stepped(value, (kind, target, rewrite(expression)), convert)
    return value


@pytest.mark.parametrize("domain", [Interval, Zone, Octagon])
@given(one=st.lists(steps(), max_size=6), other=st.lists(steps(), max_size=6))
def test_ids_do_what_names_do(domain, one, other):
    by_id = [run(domain, domain.top(N), s, lambda k: k, lambda e: e) for s in (one, other)]
    named = [
        run(domain, domain.top(NAMES), s, lambda k: NAMES[k] if k is not None else None, by_names)
        for s in (one, other)
    ]
    renamed = dict(enumerate(NAMES))
    for operation in ("join", "meet", "widen"):
        found = getattr(by_id[0], operation)(by_id[1])
        expected = getattr(named[0], operation)(named[1])
        assert found.is_bottom() == expected.is_bottom()
        for k, name in renamed.items():
            assert found.bound(variable(k)) == expected.bound(variable(name))
            pair = variable(k) - variable((k + 1) % N)
            assert found.bound(pair) == expected.bound(by_names(pair))
    assert (by_id[0] <= by_id[1]) == (named[0] <= named[1])
    assert len(by_id[0].constraints()) == len(named[0].constraints())


def test_texts_and_files_of_ids():
    value = Octagon.top(3).meet(variable(0) - variable(2) <= 3, variable(1) <= 5)
    assert str(value) == "{v1 <= 5, v0 - v2 <= 3}"
    assert Octagon.of_json(value.to_json()) == value
    assert Octagon.of_bytes(value.to_bytes()) == value
    assert "v0" in value.picture(0, 2)
    assert value.rename({0: 7}).bound(variable(7) - variable(2)).high == 3


def test_names_and_ids_do_not_mix():
    with pytest.raises(SourceError, match="some variables have names, some ids"):
        Octagon.top(["x", 0])
    with pytest.raises(SourceError, match="some variables have names, some ids"):
        Octagon.top(2).join(Octagon.top("x y"))
    with pytest.raises(SourceError, match="counted from 0"):
        Octagon.top([-1, 0])
    with pytest.raises(SourceError, match="there is no variable 2"):
        Octagon.top(2).meet(variable(2) <= 0)


def test_several_expressions_at_once():
    x, y = variables([0, 1])
    assert str(x - y <= 3) == "v0 - v1 <= 3"
