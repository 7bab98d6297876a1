"""Control-flow problems of binary CPS programs: addresses, functions and calls alone.

Lambda n is object n and function n. With L lambdas there are 3·L nodes: node n is lambda n as an
expression, nodes n + L and n + 2·L are its formals. Call n is the body of lambda n, call L the
program. A unary lambda or call leaves its second place empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32
from kleene.solvers.inclusion.problem import NONE, Problem


def van_horn_mairson(m: int, inner_first: bool = True) -> Problem:
    """Return the Van Horn-Mairson program with m levels: 31·m + 49 terms, 6·m + 10 lambdas.

    Each level binds f, calls it with two different lambdas, and nests the next level in its body:

        level i    ((λ (f k) (f T (λ (r q) (f F k)))) (λ (x j) level i + 1) j of level i - 1)
        T and F    (λ (t) (halt t))
        innermost  ((λ (z kz) (z x1 (λ (z1) (z1 x2 … (λ (zm) (kz xm)))))) (λ (y ky) (ky y)) jm)

    Continuations nest, so that all sets together grow with the square of m. Lambdas are numbered
    innermost first or outermost first, which decides how often a solver that walks through the
    calls in order has to pass over them.
    """
    assert m >= 1, "a program has a level"
    name = _inner_first(m) if inner_first else _outer_first(m)
    program = _Program.of_size(6 * m + 10)
    first, second, call = program.first, program.second, program.call
    halt = first(name.halt)
    call(program.n_lambdas, name.halt, name.h)
    call(name.halt, name.ap, name.b)
    call(name.ap, name.id, name.a)
    call(name.id, name.j0, name.v0)
    call(name.h, first(name.h), first(name.h))
    call(name.b, first(name.b), first(name.b), second(name.b))
    call(name.a, second(name.a), first(name.a))
    call(name.v0, halt, first(name.v0))
    call(name.j0, name.f[0], name.x[0], first(name.j0))
    call(name.f, first(name.f), name.t, name.r)
    call(name.r, first(name.f), name.u, second(name.f))
    call(name.t, halt, first(name.t))
    call(name.u, halt, first(name.u))
    call(name.x[:-1], name.f[1:], name.x[1:], second(name.x[:-1]))
    call(name.x[-1], name.z[0], name.y, second(name.x[-1]))
    call(name.y, second(name.y), first(name.y))
    call(name.z[:-1], first(name.z[:-1]), first(name.x), name.z[1:])
    call(name.z[-1], second(name.z[0]), first(name.x[-1]))
    return program.problem()


@dataclass(frozen=True, slots=True)
class _Names:
    """The numbers of the lambdas, called after their first formal; arrays have one per level."""

    f: I32
    t: I32
    u: I32  # the second of the two lambdas that f is called with
    r: I32
    x: I32
    z: I32  # m + 1
    halt: int
    h: int
    ap: int
    b: int
    id: int
    a: int
    j0: int
    v0: int
    y: int


def _inner_first(m: int) -> _Names:
    i = np.arange(m, dtype=np.int32)
    halt, h, ap, b, id, a, j0, v0 = (6 * m + k for k in (8, 9, 6, 7, 4, 5, 2, 3))
    z = 5 * m - np.arange(m + 1, dtype=np.int32)
    t, u, r, f, x = 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3, 6 * m + 1 - i
    return _Names(f, t, u, r, x, z, halt, h, ap, b, id, a, j0, v0, 5 * m + 1)


def _outer_first(m: int) -> _Names:
    i = np.arange(m, dtype=np.int32)
    halt, h, ap, b, id, a, j0, v0 = 0, 6 * m + 9, 1, 6 * m + 8, 2, 6 * m + 7, 3, 6 * m + 6
    z = 4 + 5 * m + np.arange(m + 1, dtype=np.int32)
    f, t, r, u, x = (4 + 5 * i + k for k in range(5))
    return _Names(f, t, u, r, x, z, halt, h, ap, b, id, a, j0, v0, 6 * m + 5)


@dataclass(frozen=True, slots=True)
class _Program:
    """Calls (callee, first actual, second actual) by the lambda whose body they are."""

    n_lambdas: int
    calls: I32

    @classmethod
    def of_size(cls, n_lambdas: int) -> _Program:
        return cls(n_lambdas, np.full((n_lambdas + 1, 3), NONE, np.int32))

    def first(self, of: I32 | int) -> I32:
        return np.asarray(of, np.int32) + np.int32(self.n_lambdas)

    def second(self, of: I32 | int) -> I32:
        return np.asarray(of, np.int32) + np.int32(2 * self.n_lambdas)

    def call(
        self, body_of: I32 | int, callee: I32 | int, first: I32 | int, second: I32 | int = NONE
    ) -> None:
        for place, expression in enumerate((callee, first, second)):
            self.calls[body_of, place] = expression

    def problem(self) -> Problem:
        n = self.n_lambdas
        lambdas = np.arange(n, dtype=np.int32)
        formals = np.stack([self.first(lambdas), self.second(lambdas)], axis=1)
        none = np.full(n, NONE, np.int32)
        return Problem(
            3 * n,
            contents=none,
            allocation_offsets=np.arange(n + 1, dtype=np.int32),
            address_node=lambdas,
            address_object=lambdas,
            function_object=lambdas,
            function_result=none,
            function_rest=none,
            formal_offsets=2 * np.arange(n + 1, dtype=np.int32),
            formals=formals.ravel(),
            call_callee=self.calls[:, 0].copy(),
            call_result=np.full(n + 1, NONE, np.int32),
            actual_offsets=2 * np.arange(n + 2, dtype=np.int32),
            actuals=self.calls[:, 1:].ravel(),
        )


def random_cps(n_lambdas: int, seed: int) -> Problem:
    """Return a random program of binary CPS whose variables are all bound.

    Lambdas are put one after the other into a place of a call chosen among those still free, which
    gives a random tree; they are numbered in that order, outer before inner. Each place that stays
    free refers to a formal of a lambda around it, chosen evenly among them.

    Flows merge: at every size measured, 500 to 16,000 lambdas, a formal holds 8 to 18 % of all
    lambdas (13 % at 8,000), and all sets are found within ten passes over the calls.
    """
    rng = np.random.default_rng(seed)
    program = _Program.of_size(n_lambdas)
    body_of = _random_tree(program.calls, rng.random(n_lambdas))
    depth = np.zeros(n_lambdas, np.int64)  # lambdas around this one's body, itself included
    for lam in range(n_lambdas):  # the program itself, called n_lambdas, is in no lambda
        depth[lam] = 1 if body_of[lam] == n_lambdas else depth[body_of[lam]] + 1
    call, place = np.nonzero(program.calls[:-1] == NONE)
    climb = (rng.random(len(call)) * depth[call]).astype(np.int64)
    binder = call.copy()
    while climb.any():
        binder = np.where(climb > 0, body_of[binder], binder)
        climb -= climb > 0
    formal = rng.integers(1, 3, len(call))
    program.calls[call, place] = binder + n_lambdas * formal
    program.calls[-1, program.calls[-1] == NONE] = 0  # the program has no variables to refer to
    return program.problem()


def _random_tree(calls: I32, chance: NDArray[np.float64]) -> NDArray[np.int64]:
    """Put every lambda into a free place of `calls`; return the lambda whose body that is."""
    n_lambdas = len(chance)
    free = [3 * n_lambdas, 3 * n_lambdas + 1, 3 * n_lambdas + 2]  # the places of the program's call
    body_of = np.empty(n_lambdas, np.int64)
    for lam in range(n_lambdas):
        k = int(chance[lam] * len(free))
        free[k], free[-1] = free[-1], free[k]
        body_of[lam], place = divmod(free.pop(), 3)
        calls[body_of[lam], place] = lam
        free += (3 * lam, 3 * lam + 1, 3 * lam + 2)
    return body_of
