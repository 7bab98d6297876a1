"""Equations between symbolic integers."""

from __future__ import annotations

from kleene.algebra.symbolic import (
    Expression,
    Solution,
    Symbol,
    maximum,
    of,
    solve,
    symbols,
)

m, n, x, y = symbols("m n x y")


def numbers(solutions: list[Solution]) -> list[dict[str, Expression]]:
    return [{symbol.name: value for symbol, value in s.values.items()} for s in solutions]


def test_linear_equations() -> None:
    assert numbers(solve([(x + y, 3), (x - y, 1)])) == [{"x": of(2), "y": of(1)}]


def test_a_product_becomes_linear() -> None:
    assert numbers(solve([(n * m, 12), (n, 4)])) == [{"n": of(4), "m": of(3)}]


def test_no_integer_fits() -> None:
    assert solve([(2 * x, 3)]) == []
    assert solve([(x, 1), (x, 2)]) == []


def test_a_trip_count_may_come_from_two_sizes() -> None:
    """for (i = -n; i < n; i += 4) runs max(0, ceil(2n / 4)) times: 100 for 199 and for 200."""
    trips = maximum([of(0), (2 * n + 3) // 4])
    assert numbers(solve([(trips, 100)])) == [{"n": of(199)}, {"n": of(200)}]


def test_what_is_not_linear_is_left() -> None:
    (solution,) = solve([(x * y, 6), (m, 1)])
    assert solution.values == {Symbol("m"): of(1)}
    assert solution.unsolved == (x * y - 6,)
