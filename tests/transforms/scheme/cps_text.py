"""Problems of binary CPS as Scheme text: formals of lambda n are called a<n> and b<n>."""

from __future__ import annotations

from kleene.solvers.inclusion.problem import NONE


def text_of(problem):
    """Return the program of a problem made by `solvers.inclusion.generate`, as Scheme.

    A place that the problem leaves empty is given a 0, so that every call has two arguments.
    """
    n = problem.n_functions
    parts = zip(problem.call_callee, problem.actuals[::2], problem.actuals[1::2], strict=True)
    calls = [tuple(map(int, call)) for call in parts]

    def expression(node):
        if node == NONE:
            return "0"
        if node >= n:
            return f"{'ab'[node // n - 1]}{node % n}"
        return f"(lambda (a{node} b{node}) {call(node)})"

    def call(number):
        return f"({' '.join(map(expression, calls[number]))})"

    return call(n)


def number_of(name):
    """Return the number of the lambda whose formal has that name."""
    return int(name[1:])
