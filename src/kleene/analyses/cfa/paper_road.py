"""The road of the paper on EigenCFA: binary CPS and abstract encodings, then calls alone.

`transforms.scheme` turns a program into lambdas with two formals and calls with two arguments. To
the engine a lambda is an object and a function, a variable is a node, and so is a lambda as an
expression: there are addresses, functions and calls, which is what the paper's own algorithm takes.
"""

from __future__ import annotations

import numpy as np

from kleene.solvers.inclusion import Problem
from kleene.solvers.inclusion.problem import NONE
from kleene.transforms.scheme import Terms


def problem_of(terms: Terms) -> Problem:
    """Return the inclusion problem of a program in binary CPS; nodes are its expressions."""
    lambdas = np.arange(terms.n_lambdas, dtype=np.int32)
    none = np.full(len(lambdas), NONE, np.int32)
    return Problem(
        terms.n_variables + terms.n_lambdas,
        contents=none,
        allocation_offsets=np.arange(len(lambdas) + 1, dtype=np.int32),
        address_node=terms.n_variables + lambdas,
        address_object=lambdas,
        function_object=lambdas,
        function_result=none,
        function_rest=none,
        formal_offsets=2 * np.arange(len(lambdas) + 1, dtype=np.int32),
        formals=np.stack([terms.var1, terms.var2], axis=1).ravel(),
        call_callee=terms.fun,
        call_result=np.full(len(terms.fun), NONE, np.int32),
        actual_offsets=2 * np.arange(len(terms.fun) + 1, dtype=np.int32),
        actuals=np.stack([terms.arg1, terms.arg2], axis=1).ravel(),
    )
