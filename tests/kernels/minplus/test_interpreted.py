"""Every operation also runs as the plain Python it is: no code is compiled, and answers agree."""

import os
import subprocess
import sys

OPERATIONS = """
import numpy as np
from kleene.kernels import minplus
from kleene.kernels.minplus import reference
from kleene.kernels.minplus.cpu import closure
from tests.kernels.minplus.octagon_inputs import closed_like, random_octagon

def same(found, expected, what):
    assert np.array_equal(found, expected), what

def ask(name, m, *arguments, **options):
    here, there = m.copy(), m.copy()
    found = getattr(minplus, name)(here, *arguments, **options)
    expected = getattr(reference, name)(there, *arguments, *options.values())
    assert found is None or found == expected, name
    same(here, there, name)

for dtype in minplus.DTYPES:
    for n, tighten in ((0, False), (1, True), (3, False), (3, True), (4, False), (34, True)):
        random = np.random.default_rng(n)
        m = random_octagon(n, dtype, random, 0.4)
        ask("close", m, tighten=tighten)
        ask("strengthen", m, tighten=tighten)
        reference.close(m, tighten)
        other = closed_like(m, random, tighten=tighten)
        for name in ("join", "meet", "narrow"):
            out, expected = np.empty_like(m), np.empty_like(m)
            getattr(minplus, name)(out, m, other)
            getattr(reference, name)(expected, m, other)
            same(out, expected, name)
        for steps in (np.zeros(0, dtype), np.array([1, 5], dtype)):
            minplus.widen(out, m, other, steps)
            reference.widen(expected, m, other, steps)
            same(out, expected, "widen")
        assert minplus.includes(m, other) == reference.includes(m, other)
        assert minplus.equals(m, m.copy())
        assert minplus.equals(m, other) == reference.equals(m, other)
        kept, marked = np.empty(len(m), np.bool_), np.empty(len(m), np.bool_)
        if n:
            rows, columns = random.integers(0, 2 * n, (2, 2))
            bounds = np.array([2, 5], dtype)
            ask("close_after", m, rows, columns, bounds, tighten=tighten)
            ask("add", m, rows, columns, bounds)
            up, down = dtype.type(4), dtype.type(-3)
            ask("forget", m, n - 1)
            for negate in (False, True):
                here, there = m.copy(), m.copy()
                minplus.assign(here, 0, n - 1, up=up, down=down, negate=negate)
                reference.assign(there, 0, n - 1, negate, up, down)
                same(here, there, "assign")
            here, there = m.copy(), m.copy()
            minplus.assign_interval(here, 0, up=up, down=down)
            reference.assign_interval(there, 0, up, down)
            same(here, there, "assign_interval")
            form = np.array([0]), np.array([1], dtype), np.array([2], dtype), up, down
            minplus.assign_linear(here, n - 1, minplus.Forms(*form), tighten=tighten)
            reference.assign_linear(there, n - 1, *form, tighten)
            same(here, there, "assign_linear")
            bounds, expected = np.empty(2 * n, dtype), np.empty(2 * n, dtype)
            minplus.unary(bounds, m)
            reference.unary(expected, m)
            same(bounds, expected, "unary")
            chosen = np.arange(n)[::-1].copy()
            for name in ("select", "place"):
                out, expected = other.copy(), other.copy()
                getattr(minplus, name)(out, m, chosen)
                getattr(reference, name)(expected, m, chosen)
                same(out, expected, name)
        minplus.minimal(kept, m)
        reference.minimal(marked, m)
        same(kept, marked, "minimal")
m = np.concatenate([random_octagon(n, np.int16, np.random.default_rng(n), 0.5) for n in (2, 0, 3)])
offsets = minplus.offsets_of([2, 0, 3])
parts = [m[a:b].copy() for a, b in zip(offsets, offsets[1:])]
assert minplus.close(m, offsets).tolist() == [reference.close(part, False) for part in parts]
same(m, np.concatenate(parts), "batch")
print("agrees")
"""

LIBRARY = """
from kleene import Octagon, Zone
for domain in (Octagon, Zone):
    for options in ({}, {"reals": "x y z"}, {"reals": "x y z", "floats": True}):
        a = domain.of_constraints("0 <= x <= 4, y - x == 1, z <= 9", **options)
        b = a.assign("x", "x + 3").assign("y", "y + 3").assign("z", 2)
        assert a <= a.join(b) and b <= a.join(b)
        assert a.join(b).satisfies("y - x == 1, 0 <= x <= 7")
        assert a.meet(b).satisfies("z <= 2") and a.meet("x >= 5").is_bottom()
        assert a.forget("x").bound("x").high == float("inf")
        assert a.widen(a.join(b)).satisfies("y - x == 1") and a.narrow(a.meet("x <= 3")) <= a
        assert domain.of_json(a.to_json()) == a and str(a)
large = Octagon.of_constraints("x <= 100000000000000000000, y - x <= 1", integers="x y")
assert large.bound("y").high == 100000000000000000001
print("agrees")
"""


def interpreted(program: str) -> str:
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return done.stdout + done.stderr


def test_operations_agree_with_the_reference():
    assert interpreted(OPERATIONS) == "agrees\n"


def test_the_library_answers():
    assert interpreted(LIBRARY) == "agrees\n"
