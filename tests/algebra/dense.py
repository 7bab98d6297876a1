"""The oracle: an octagon as one matrix of fractions, with plain loops, and programs to run."""

from __future__ import annotations

from fractions import Fraction
from math import floor, inf

from hypothesis import strategies as st

from kleene import Octagon
from kleene.algebra import Constraint, Linear

ZERO = Fraction(0)
NAMES = ("v", "w", "x", "y", "z")


def exact_closure(square, tighten):
    """Return the strong closure of a square of fractions, or None if it is empty."""
    ends = range(len(square))
    for k in ends:
        for i in ends:
            for j in ends:
                square[i][j] = min(square[i][j], square[i][k] + square[k][j])
    if tighten:
        for i in ends:
            if square[i][i ^ 1] != inf:
                square[i][i ^ 1] = Fraction(2 * floor(square[i][i ^ 1] / 2))
    unary = [square[i][i ^ 1] for i in ends]
    if any(square[i][i] < 0 or unary[i] + unary[i ^ 1] < 0 for i in ends):
        return None
    return [
        [min(square[i][j], (unary[i] + unary[j ^ 1]) / 2) if i != j else ZERO for j in ends]
        for i in ends
    ]


class Dense:
    """A closed square matrix, or None if there is no point."""

    def __init__(self, n: int, tighten: bool, square=None) -> None:
        self.n, self.tighten = n, tighten
        self.square = square or [
            [ZERO if i == j else inf for j in range(2 * n)] for i in range(2 * n)
        ]

    def made(self, square) -> Dense:
        out = Dense(self.n, self.tighten)
        out.square = square
        return out

    def closed(self, square) -> Dense:
        return self.made(exact_closure([list(row) for row in square], self.tighten))

    def meet(self, i, j, bound) -> Dense:
        if self.square is None:
            return self
        bound = Fraction(floor(bound) if self.tighten else bound)
        square = [list(row) for row in self.square]
        for row, column in ((i, j), (j ^ 1, i ^ 1)):
            square[row][column] = min(square[row][column], bound)
        return self.closed(square)

    def forget(self, k) -> Dense:
        if self.square is None:
            return self
        gone = (2 * k, 2 * k + 1)
        return self.made(
            [
                [
                    0 if i == j else inf if i in gone or j in gone else bound
                    for j, bound in enumerate(row)
                ]
                for i, row in enumerate(self.square)
            ]
        )

    def assign(self, k, source, negate, step) -> Dense:
        """Assign variable k := ±source + step."""
        if self.square is None:
            return self
        order = list(range(2 * self.n))
        order[2 * k], order[2 * k + 1] = 2 * source + negate, 2 * source + (not negate)
        moved = {2 * k: step, 2 * k + 1: -step}
        return self.made(
            [
                [
                    0 if i == j else self.square[a][b] + moved.get(j, 0) - moved.get(i, 0)
                    for j, b in enumerate(order)
                ]
                for i, a in enumerate(order)
            ]
        )

    def join(self, other) -> Dense:
        if self.square is None or other.square is None:
            return other if self.square is None else self
        return self.made(_each(max, self.square, other.square))

    def matrix(self):
        return [[-inf] * (2 * self.n)] * (2 * self.n) if self.square is None else self.square


def _each(function, a, b):
    return [
        [function(x, y) for x, y in zip(one, other, strict=True)]
        for one, other in zip(a, b, strict=True)
    ]


def meet_both(a, b):
    if a.square is None or b.square is None:
        return a if a.square is None else b
    return a.closed(_each(min, a.square, b.square))


def widen_raw(raw, b):
    """Return the widened matrix, strengthened but not closed."""
    square = _each(lambda x, y: x if y <= x else inf, raw, b)
    unary = [square[i][i ^ 1] for i in range(len(square))]
    return [
        [0 if i == j else min(bound, (unary[i] + unary[j ^ 1]) / 2) for j, bound in enumerate(row)]
        for i, row in enumerate(square)
    ]


def constraint(i, j, bound):
    """Return V'[j] - V'[i] <= bound as a constraint on NAMES; one on both ends of one bounds 2x."""
    ends = ((j, 1), (i, -1))
    total = Linear.of(-bound)
    for end, sign in ends:
        total += Linear(((NAMES[end >> 1], Fraction(-sign if end & 1 else sign)),))
    return Constraint(total)


def facts(n, bounds):
    end = st.integers(0, 2 * n - 1)
    return st.tuples(end, end, bounds).filter(lambda fact: fact[0] != fact[1])


def steps(n, bounds):
    """One operation: its name, and its arguments."""
    variable = st.integers(0, n - 1)
    moves = st.tuples(variable, variable, st.booleans(), bounds)
    return st.one_of(
        st.tuples(st.just("meet"), facts(n, bounds)),
        st.tuples(st.just("meet"), facts(n, bounds)),
        st.tuples(st.just("forget"), st.tuples(variable)),
        st.tuples(st.just("assign"), moves),
    )


def run(program, n, *, reals=False):
    """Return the octagon and the dense oracle after the steps of a program."""
    names = NAMES[:n]
    octagon = Octagon.top(() if reals else names, reals=names if reals else ())
    dense = Dense(n, not reals)
    for name, arguments in program:
        octagon, dense = apply(octagon, dense, name, arguments)
    return octagon, dense


def apply(octagon, dense, name, arguments):
    if name == "meet":
        return octagon.meet([constraint(*arguments)], strict=True), dense.meet(*arguments)
    if name == "forget":
        return octagon.forget(NAMES[arguments[0]]), dense.forget(*arguments)
    return octagon.assign(*assignment(*arguments), strict=True), dense.assign(*arguments)


def apply_in_place(builder, name, arguments):
    if name == "meet":
        builder.meet([constraint(*arguments)])
    elif name == "forget":
        builder.forget(NAMES[arguments[0]])
    else:
        builder.set(*assignment(*arguments))


def assignment(k, source, negate, step):
    return NAMES[k], Linear(((NAMES[source], Fraction(-1 if negate else 1)),)) + step
