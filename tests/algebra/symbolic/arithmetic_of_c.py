"""C's division on Python's integers, and random expressions beside their values."""

from __future__ import annotations

import random

from kleene.algebra.symbolic import Expression, Signs, maximum, of


def quotient(above: int, below: int) -> int:
    """Return the quotient, rounded to zero."""
    magnitude = abs(above) // abs(below)
    return magnitude if (above < 0) == (below < 0) else -magnitude


def remainder(above: int, below: int) -> int:
    """Return what C's division leaves."""
    return above - below * quotient(above, below)


def random_expression(
    random_: random.Random, depth: int, values: dict[str, int], signs: Signs
) -> tuple[Expression, int]:
    """Return an expression in the symbols of `values` and its value, each computed on its own."""
    if depth == 0:
        name = random_.choice([*values, ""])
        number = values[name] if name else random_.randint(-5, 5)
        return (of(name) if name else of(number)), number
    left, i = random_expression(random_, depth - 1, values, signs)
    right, j = random_expression(random_, random_.randrange(depth), values, signs)
    divisor = random_.randint(1, 6)
    match random_.randrange(9):
        case 0 | 1:
            return left + right, i + j
        case 2:
            return left - right, i - j
        case 3:
            return left * right, i * j
        case 4:
            return left // divisor, i // divisor
        case 5:
            return maximum([left, right]), max(i, j)
        case 6:
            return signs.minimum(left, right, left - right), min(i, j, i - j)
        case 7 if j:
            return signs.quotient(left, right), quotient(i, j)
    divisor *= random_.choice([-1, 1])
    return signs.remainder(left, of(divisor)), remainder(i, divisor)
