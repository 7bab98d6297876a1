"""Inclusion constraints: one Boolean engine for points-to analysis and control flow."""

from kleene.solvers.inclusion.engine import Plan, plan, solve
from kleene.solvers.inclusion.problem import ANY, BY_LAYOUT, FROM_OUTSIDE, NONE, TO_OUTSIDE, Problem
from kleene.solvers.inclusion.solution import Rows, Solution, difference

__all__ = [
    "ANY",
    "BY_LAYOUT",
    "FROM_OUTSIDE",
    "NONE",
    "TO_OUTSIDE",
    "Plan",
    "Problem",
    "Rows",
    "Solution",
    "difference",
    "plan",
    "solve",
]
