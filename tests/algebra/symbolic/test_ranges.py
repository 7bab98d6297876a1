"""Ranges hold every value: exhaustively for numbers, by chance for symbols."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product

import pytest

from kleene.algebra.symbolic import (
    ANYTHING,
    UNDEFINED,
    UNREACHABLE,
    Arithmetic,
    Range,
    Sign,
    Signs,
    maximum,
    minimum,
    symbols,
)
from tests.algebra.symbolic.arithmetic_of_c import quotient, remainder

plain = Arithmetic()
m, n, i, w = symbols("m n i w")
OPERATORS: dict[str, Callable[[int, int], int | None]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: quotient(x, y) if y else None,
    "remainder": lambda x, y: remainder(x, y) if y else None,
}
ENDS = [-20, -7, -3, -1, 0, 1, 2, 5, 20]
INTERVALS = [(low, high) for low, high in product(ENDS, repeat=2) if low <= high]


@pytest.mark.parametrize("name", OPERATORS)
def test_numbers_are_held_exhaustively(name: str) -> None:
    operator, operation = OPERATORS[name], getattr(plain, name)
    for first, second in product(INTERVALS, repeat=2):
        found = operation(Range.of(*first), Range.of(*second))
        results = [
            value
            for x in range(first[0], first[1] + 1)
            for y in range(second[0], second[1] + 1)
            if (value := operator(x, y)) is not None
        ]
        if results:
            assert found.holds(min(results), {})
            assert found.holds(max(results), {})
        if name in ("add", "subtract", "multiply") or (
            not second[0] <= 0 <= second[1] and name == "divide"
        ):
            assert found == Range.of(min(results), max(results))


@pytest.mark.parametrize("name", OPERATORS)
def test_values_without_bounds_are_held(name: str) -> None:
    operator, operation = OPERATORS[name], getattr(plain, name)
    halves = [
        (None, -2),
        (None, 0),
        (None, 3),
        (-3, None),
        (0, None),
        (2, None),
        (None, None),
        (-1, 4),
    ]
    for first, second in product(halves, repeat=2):
        found = operation(Range.of(*first), Range.of(*second))
        for x, y in product(range(-12, 13), repeat=2):
            if Range.of(*first).holds(x, {}) and Range.of(*second).holds(y, {}):
                value = operator(x, y)
                assert value is None or found.holds(value, {}), (first, second, x, y)


@pytest.mark.parametrize("name", OPERATORS)
def test_symbols_are_held_under_their_signs(name: str) -> None:
    operator, operation = OPERATORS[name], name
    random_ = random.Random(name)
    bounds = [m, n, n - 1, -n, 2 * m, m + n, m * n, m - n, n // 2]
    signs = [Sign.POSITIVE, Sign.NOT_NEGATIVE, Sign.NEGATIVE, Sign.ANY]
    n_held = 0
    for _ in range(300):
        known = {"m": random_.choice(signs), "n": random_.choice(signs)}
        arithmetic = Arithmetic(Signs(known))
        first, second = (Range.of(random_.choice(bounds), random_.choice(bounds)) for _ in "12")
        found = getattr(arithmetic, operation)(first, second)
        for _ in range(10):
            values = {name: random_.randint(*_LIMITS[sign]) for name, sign in known.items()}
            pair = [_inside(random_, one, values) for one in (first, second)]
            if pair[0] is None or pair[1] is None:
                continue
            value = operator(pair[0], pair[1])
            if value is not None:
                n_held += 1
                assert found.holds(value, values), (name, str(first), str(second), values, pair)
    assert n_held > 400


_LIMITS = {
    Sign.POSITIVE: (1, 9),
    Sign.NOT_NEGATIVE: (0, 9),
    Sign.NEGATIVE: (-9, -1),
    Sign.ANY: (-9, 9),
}


def _inside(random_: random.Random, one: Range, values: dict[str, int]) -> int | None:
    assert one.low is not None
    assert one.high is not None
    low, high = one.low.evaluate(values), one.high.evaluate(values)
    return random_.randint(int(low), int(high)) if low <= high else None


def test_remainder_of_a_lesser_is_itself() -> None:
    """The printed rule gives the divisor's range: 3 % 5 = 3 is not in [5, 5]."""
    assert plain.remainder(Range.of(3, 3), Range.of(5, 5)) == Range.of(3, 3)
    assert plain.remainder(Range.of(0, 100), Range.of(8, 8)) == Range.of(0, 7)
    assert plain.remainder(Range.of(-100, 3), Range.of(-8, -8)) == Range.of(-7, 3)


def test_division_by_what_may_be_zero_says_nothing() -> None:
    assert plain.divide(Range.of(1, 5), Range.of(-1, 1)) == ANYTHING


def test_less_refines_each_side_by_the_far_end_of_the_other() -> None:
    """The printed rule takes the near ends: for b in [3, 9] it would drop a = 5."""
    left, right = plain.less(Range.of(0, 20), Range.of(3, 9))
    assert (left, right) == (Range.of(0, 8), Range.of(3, 9))
    above, _ = plain.at_most(Range.of(3, 9), Range.of(0, 20))
    assert above.holds(5, {})
    for x, y in product(range(21), range(3, 10)):
        assert left.holds(x, {}) or not x < y


def test_contradiction_is_not_the_lack_of_a_value() -> None:
    assert plain.meet(Range.of(0, 1), Range.of(2, 3)) == UNREACHABLE
    assert plain.meet(UNDEFINED, Range.of(2, 3)) == UNDEFINED
    assert plain.join(UNDEFINED, Range.of(2, 3)) == Range.of(2, 3)
    assert plain.join(UNREACHABLE, UNDEFINED) == UNDEFINED
    assert plain.join(UNREACHABLE, Range.of(2, 3)) == Range.of(2, 3)
    assert plain.add(UNREACHABLE, UNDEFINED) == UNREACHABLE


def test_a_loop_widens_and_narrows_to_its_bound() -> None:
    """for (i = 0; i < n; i++): [0, inf] after widening, [0, n - 1] in the body."""
    header = Range.of(0, 0)
    for _ in range(3):
        body, _ = plain.less(header, Range.single(n))
        step = plain.join(Range.of(0, 0), plain.add(body, Range.single(1 + 0 * n)))
        header = plain.widen(header, step)
    assert header == Range.of(0, None)
    body, _ = plain.less(header, Range.single(n))
    assert body == Range.of(0, n - 1)
    step = plain.join(Range.of(0, 0), plain.add(body, Range.of(1, 1)))
    assert plain.narrow(header, step) == Range.of(0, maximum([n, n * 0]))


def test_ranges_of_the_printed_example() -> None:
    positive = Arithmetic(Signs({"n": Sign.POSITIVE, "m": Sign.POSITIVE}))
    index = Range.of(0, n - 1)
    assert positive.multiply(index, index) == Range.of(0, (n - 1) * (n - 1))
    either = positive.join(Range.single(n), Range.single(m))
    assert either == Range.of(minimum([m, n]), maximum([m, n]))
    total = positive.add(either, index)
    assert total.high == maximum([m, n]) + n - 1
    below, _ = positive.less(index, Range.single(m))
    assert below == Range.of(0, minimum([m, n]) - 1)
