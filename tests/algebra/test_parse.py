"""Text is read as it is meant, or refused at its column."""

from fractions import Fraction
from math import inf

import pytest

from kleene import SourceError
from kleene.algebra import Linear, constraints, expression, variables

X, Y = variables("x y")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x", X),
        ("2x - y", 2 * X - Y),
        ("2*x - 3y/4 + 1/2", 2 * X - Y * Fraction(3, 4) + Fraction(1, 2)),
        ("-(x + 1) * 2", -2 * X - 2),
        ("x*2 - x*2", Linear()),
        ("0.1x", X * Fraction(1, 10)),
        ("1e3 - x", 1000 - X),
        ("+x - -y", X + Y),
        ("x + [1, 3/2]", X + Linear((), Fraction(1), Fraction(3, 2))),
        ("[-inf, 0] - [0, 1]", Linear((), -inf, Fraction(0))),
        ("`a b` + main.x'", Linear((("a b", Fraction(1)), ("main.x'", Fraction(1))))),
    ],
)
def test_expressions(text, wanted):
    assert expression(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x - y <= 3", (X - Y <= 3,)),
        ("x < y", (X < Y,)),
        ("0 <= x < y == 3", (X >= 0, X < Y, *Y.equals(3))),
        ("x >= 1, y > 2", (X >= 1, Y > 2)),
        ("x = 1 and y ≤ 2; y ≥ x && x <= 5", (*X.equals(1), Y <= 2, Y >= X, X <= 5)),
    ],
)
def test_constraints(text, wanted):
    assert constraints(text) == wanted


@pytest.mark.parametrize(
    ("text", "id", "column", "words"),
    [
        ("x - y", "bad-syntax", 6, "a comparison"),
        ("x <= ", "bad-syntax", 6, "a number or a variable"),
        ("x <= y +", "bad-syntax", 9, "a number or a variable"),
        ("x ? y <= 3", "bad-syntax", 3, "unexpected '?'"),
        ("(x <= 3", "bad-syntax", 4, "expected ')'"),
        ("x <= 3 )", "bad-syntax", 8, "should end here"),
        ("x / 0 <= 1", "bad-syntax", 3, "division by zero"),
        ("x <= [2, 1]", "bad-syntax", 6, "two numbers in order"),
        ("x <= [y, 1]", "bad-syntax", 6, "two numbers in order"),
        ("x * y <= 1", "not-linear", 3, "only multiples"),
        ("1 / x <= 1", "not-linear", 3, "only multiples"),
        ("1 / [1, 2] <= x", "not-linear", 3, "only multiples"),
        ("", "bad-syntax", 1, "a number or a variable"),
    ],
)
def test_faults_are_named_at_their_column(text, id, column, words):
    with pytest.raises(SourceError) as caught:
        constraints(text)
    assert caught.value.id == f"algebra/{id}"
    assert words in caught.value.message
    assert caught.value.span.column == column
    assert caught.value.notes[1].index("^") == 4 + column - 1
    assert caught.value.notes[0] == f"in: {text}"


def test_an_expression_is_no_constraint():
    with pytest.raises(SourceError) as caught:
        expression("x <= 3")
    assert caught.value.span.column == 3


@pytest.mark.parametrize("value", [float("nan"), "x", None, 1j])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(SourceError) as caught:
        Linear.of(value)
    assert caught.value.id == "algebra/bad-number"
    assert caught.value.message == f"{value!r} is not a number"


def test_infinite_factors_are_refused():
    for operation, message in (
        (lambda: X * inf, "a coefficient must be finite"),
        (lambda: X / 0, "cannot divide by 0"),
        (lambda: X / inf, "cannot divide by inf"),
    ):
        with pytest.raises(SourceError, match=message) as caught:
            operation()
        assert caught.value.id == "algebra/bad-number"


def test_floats_are_taken_exactly():
    assert (X * 0.1).terms[0][1] == Fraction(3602879701896397, 36028797018963968)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("x<5 y", 5),
        ("x < 5 (y)", 7),
        ("2 x <= 3", 3),
        ("x<=inf", 4),
        ("x <= -inf", 7),
        ("x < nan", 5),
        ("inf <= x", 1),
        ("[0, inf]*inf <= x", 10),
        ("[2 - inf, 3] <= x", 6),
        ("x <= 1e99999999", 6),
        ("x <= " + "1e100*" * 20 + "1", 23),
        ("(" * 5000 + "x <= 1", 81),
    ],
)
def test_text_that_says_something_else_than_it_seems_to_is_refused(text: str, column: int) -> None:
    with pytest.raises(SourceError) as caught:
        constraints(text)
    assert caught.value.id == "algebra/bad-syntax"
    assert caught.value.span is not None
    assert caught.value.span.column == column


@pytest.mark.parametrize("name", ["inf", "nan", "and"])
def test_names_that_are_words_of_the_grammar_come_back(name: str) -> None:
    (found,) = constraints(f"`{name}` <= 1")
    assert str(found) == f"`{name}` <= 1"
    assert constraints(str(found)) == (found,)


def test_infinite_ends_of_intervals() -> None:
    assert str(constraints("[-inf, + inf] <= x")[0]) == "-x <= [-inf, inf]"
    assert str(constraints("x <= [-5 + 3, 2]")[0]) == "x <= [-2, 2]"
    assert len(constraints("-" * 5001 + "x <= 2")) == 1
