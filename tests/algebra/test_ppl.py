"""The Parma Polyhedra Library gives the same octagons."""

from fractions import Fraction
from itertools import chain
from math import inf

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks import ppl
from benchmarks.ppl_operations import Rival
from kleene import Octagon
from kleene.algebra import Linear
from tests.algebra.dense import NAMES, constraint, run, steps

PROBLEM = ppl.problem()
pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(PROBLEM is not None, reason=str(PROBLEM)),
]

N = 4
BOUNDS = st.integers(-6, 9)
PROGRAMS = st.lists(steps(N, BOUNDS), max_size=10)
FAR = st.lists(steps(N, st.integers(-20, 30).map(lambda bound: 100 * bound + 50)), max_size=10)


def rivals(program):
    octagon, _ = run(program, N, reals=True)
    return octagon, Rival.of(octagon, "mpq_class")


def agree(octagon, rival):
    assert octagon.is_bottom() == (not rival.close())
    if not octagon.is_bottom():
        ours = [
            [bound if bound == inf else float(bound) for bound in row]
            for row in octagon.to_matrix()
        ]
        assert ours == rival.matrix()


@given(PROGRAMS, PROGRAMS)
def test_join_meet_and_inclusion(a, b):
    (x, theirs), (y, others) = rivals(a), rivals(b)
    agree(x, theirs)
    assert (x <= y) == others.includes(theirs)
    joined, met = theirs.copy(), theirs.copy()
    joined.join(others)
    met.meet(others)
    agree(x | y, joined)
    agree(x & y, met)


@given(PROGRAMS, st.data())
def test_guard_forget_and_assignments(program, data):
    octagon, theirs = rivals(program)
    variable = st.sampled_from(NAMES[:N])
    name, source = data.draw(variable), data.draw(variable)
    sign, step = data.draw(st.sampled_from([1, -1])), data.draw(BOUNDS)
    value = Linear(((source, Fraction(sign)),)) + step
    for mine, operation in (
        (octagon.forget(name), lambda rival: rival.forget(name)),
        (octagon.assign(name, value), lambda rival: rival.assign(name, value)),
        (octagon.assign(name, step), lambda rival: rival.assign(name, Linear.of(step))),
        (octagon.meet([value <= 0]), lambda rival: rival.guard(value)),
    ):
        rival = theirs.copy()
        operation(rival)
        agree(mine, rival)
    theirs.substitute(name, value)
    mine = octagon.substitute(name, value)
    if source == name:
        agree(mine, theirs)
    else:  # PPL forgets the variable, and what it was equal to
        assert theirs.includes(Rival.of(mine, "mpq_class"))


@given(FAR, FAR)
def test_widening(a, b):
    """The same where no bound grows to one of PPL's stop points, which are from -2 to 2."""
    (small, theirs), (other, _) = rivals(a), rivals(b)
    large = small | other
    cells = zip(chain(*small.to_matrix()), chain(*large.to_matrix()), strict=True)
    assume(not small.is_bottom() and all(x == y or y > 2 for x, y in cells))
    wide = Rival.of(large, "mpq_class")
    wide.widen(theirs)
    agree(small.widen(large), wide)
    careful = Rival.of(large, "mpq_class")
    careful.widen(theirs, "BHMZ05_widening_assign")
    assert careful.includes(Rival.of(large, "mpq_class"))


@given(PROGRAMS)
def test_integers_are_never_looser(program):
    """PPL rounds bounds between integers and does not tighten them."""
    octagon, _ = run(program, N)
    theirs = Rival.of(Octagon.top(NAMES[:N]), "mpz_class")
    for name, arguments in program:
        if name == "meet":
            theirs.guard(constraint(*arguments).linear)
        elif name == "forget":
            theirs.forget(NAMES[arguments[0]])
        else:
            k, source, negate, step = arguments
            value = Linear(((NAMES[source], Fraction(-1 if negate else 1)),)) + step
            theirs.assign(NAMES[k], value)
    if octagon.is_bottom():
        return
    assert theirs.close()
    for mine, row in zip(octagon.to_matrix(), theirs.matrix(), strict=True):
        assert all(x <= y for x, y in zip(mine, row, strict=True))


def random_octagon(kind, n, seed):
    """Return an octagon around a random point: dense, sparse, or in components of four."""
    random = np.random.default_rng(seed)
    point = random.integers(-20, 21, n)
    ends = np.stack([point, -point], axis=1).reshape(-1)
    names = [f"x{k}" for k in range(n)]
    found = []
    for i in range(2 * n):
        for j in range((i | 1) + 1):
            chance = {"dense": 1.0, "sparse": 1 / n, "components": (i >> 3) == (j >> 3)}[kind]
            if i != j and random.random() < chance:
                bound = int(ends[j] - ends[i]) + int(random.integers(0, 20))
                found.append((i, j, bound))
    return names, found


@pytest.mark.parametrize("kind", ["dense", "sparse", "components"])
@pytest.mark.parametrize("seed", [1, 2])
def test_larger_octagons(kind, seed):
    names, found = random_octagon(kind, 12, seed)
    _, more = random_octagon(kind, 12, seed + 10)
    mine, theirs = [], []
    for facts in (found, more):
        terms = [Linear.of(-bound) + _end(names, j) - _end(names, i) for i, j, bound in facts]
        start = Octagon.top(reals=names)
        rival = Rival.of(start, "mpq_class")
        for one in terms:
            rival.guard(one)
        mine.append(start.meet([one <= 0 for one in terms]))
        theirs.append(rival)
        agree(mine[-1], rival)
    joined = theirs[0].copy()
    joined.join(theirs[1])
    agree(mine[0] | mine[1], joined)
    theirs[0].meet(theirs[1])
    agree(mine[0] & mine[1], theirs[0])


def _end(names, end):
    return Linear(((names[end >> 1], Fraction(-1 if end & 1 else 1)),))
