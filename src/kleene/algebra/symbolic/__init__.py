"""Symbolic integers: expressions in normal form, their signs and order, ranges and equations."""

from kleene.algebra.symbolic.equations import Solution, solve
from kleene.algebra.symbolic.ranges import ANYTHING, UNDEFINED, UNREACHABLE, Arithmetic, Range
from kleene.algebra.symbolic.signs import Direction, Sign, Signs
from kleene.base.expression import (
    Atom,
    Expression,
    Floor,
    Maximum,
    Operation,
    Quotient,
    Symbol,
    maximum,
    minimum,
    of,
    symbols,
)

__all__ = [
    "ANYTHING", "UNDEFINED", "UNREACHABLE", "Arithmetic", "Atom", "Direction", "Expression",
    "Floor", "Maximum", "Operation", "Quotient", "Range", "Sign", "Signs", "Solution", "Symbol",
    "maximum", "minimum", "of", "solve", "symbols",
]  # fmt: skip
