"""Binary CPS and nothing else: lambdas with two formals, calls with two arguments.

    call = (f e e)      f, e = v | lambda      lambda = (λ (v v) call)

The paper's selectors are index vectors here: `fun`, `arg1` and `arg2` give the parts of a call,
`var1` and `var2` the formals of a lambda. Expressions are numbered variables first, then lambdas.
The body of lambda n is call n; the program is the last call. A variable may be a formal of several
lambdas, which is what the abstract encodings rest on: so the formals are a look-up table, and do
not follow from a lambda's number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.base.arrays import I32


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """A program of binary CPS; origins are rows and variables of the core it was made from."""

    n_variables: int
    fun: I32
    arg1: I32
    arg2: I32
    var1: I32
    var2: I32
    lambda_origin: I32  # NONE for lambdas that the program does not have; the next two likewise
    call_origin: I32
    variable_origin: I32

    @property
    def n_lambdas(self) -> int:
        """How many lambdas there are."""
        return len(self.var1)

    @property
    def n_terms(self) -> int:
        """How many lambdas, formals, calls and references to variables there are."""
        parts = np.concatenate([self.fun, self.arg1, self.arg2])
        n_references = int((parts < self.n_variables).sum())
        return 3 * self.n_lambdas + len(self.fun) + n_references
