"""Expressions mean what their operators say, and one value has one form."""

from __future__ import annotations

import random

import pytest

from kleene.algebra.symbolic import Signs
from kleene.base.expression import Operation, Symbol, maximum, minimum, of, quotient, symbols
from tests.algebra.symbolic.arithmetic_of_c import random_expression

a, b, k, n, x, y = symbols("a b k n x y")


def test_values_survive_the_normal_form() -> None:
    random_ = random.Random(1)
    for _ in range(1000):
        values = {name: random_.randint(-9, 9) for name in "xyn"}
        expression, value = random_expression(random_, random_.randint(1, 4), values, Signs())
        assert expression.evaluate(values) == value, expression


def test_values_survive_substitution() -> None:
    random_ = random.Random(2)
    for _ in range(500):
        values = {name: random_.randint(-9, 9) for name in "xy"}
        values["n"] = values["y"] + 3
        expression, value = random_expression(random_, 3, values, Signs())
        without = expression.substitute({Symbol("x"): values["x"], Symbol("n"): y + 3})
        assert without.evaluate({"y": values["y"]}) == value


def test_equal_sums_have_one_form() -> None:
    assert (1 + a) + (3 * a + b) == 1 + 4 * a + b
    assert len((5 * a + k * a + k * b).terms) == 3
    assert a - a == 0
    assert hash((a + b) ** 2) == hash(a * a + 2 * a * b + b * b)


def test_division_is_of_integers() -> None:
    assert a // 2 + a // 2 != a
    assert (a // 2 + a // 2).evaluate({"a": 7}) == 6
    assert (a // 2 + a // 2).evaluate({"a": 8}) == 8
    assert (6 * a + 4) // 2 == 3 * a + 2
    assert (a // 2) // 3 == a // 6
    assert (2 * a + 1) // 4 == a // 2
    assert (a + 4) // 4 == a // 4 + 1


def test_extrema_have_one_form() -> None:
    top = maximum([a, b])
    assert top + 1 == maximum([a + 1, b + 1])
    assert -top == minimum([-a, -b])
    assert maximum([a, top]) == top
    assert maximum([a, a + 2, a - 1]) == a + 2


def test_the_greater_of_one_and_a_lesser_is_the_one() -> None:
    """The printed rule says max(a, min(a, b)) = b, which 3 and 5 refute."""
    absorbed = maximum([a, minimum([a, b])])
    assert absorbed == a
    assert absorbed.evaluate({"a": 3, "b": 5}) == max(3, min(3, 5)) != 5


def test_coefficients() -> None:
    access = 4 * n * x + 4 * y + 8
    assert access.coefficient(Symbol("x")) == 4 * n
    assert access.coefficient(Symbol("k")) == 0
    assert (x * x).coefficient(Symbol("x")) is None
    assert (x + x // 2).coefficient(Symbol("x")) is None


def test_texts_are_those_of_c() -> None:
    assert str(4 * n * n - 4) == "4*n*n - 4"
    assert str(-a + b) == "b - a"
    assert str((a + 1) // 2) == "floor((a + 1) / 2)"
    assert str(minimum([a, b]) * n) == "min(a, b)*n"
    assert str(of(0)) == "0"


def test_unknown_operations_have_no_value() -> None:
    with pytest.raises(ValueError, match="load"):
        of(Operation("load", (a,))).evaluate({"a": 1})
    with pytest.raises(KeyError):
        a.evaluate({})


def test_symbols_of_one_name_are_told_apart() -> None:
    first, second = of(Symbol("x", 1)), of(Symbol("x", 2))
    assert first != second
    assert first * second == second * first
    halves = [quotient(first - second, of(2)), quotient(second - first, of(2))]
    assert halves[0] * halves[1] == halves[1] * halves[0]
    assert halves[0] != halves[1]
    values = {Symbol("x", 1): 7, Symbol("x", 2): 2}
    assert [one.evaluate(values) for one in halves] == [2, -2]
