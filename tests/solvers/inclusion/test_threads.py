"""Threads change how long a solve takes, never its answer; nor does who shares a class."""

from __future__ import annotations

import numpy as np
import pytest

from kleene.solvers.inclusion import Problem, cpu, difference, reference
from kleene.solvers.inclusion.generate import points_to_like


@pytest.mark.parametrize("seed", [1, 3])
def test_two_threads_find_what_one_finds(seed: int) -> None:
    problem = points_to_like(100_000, 200_000, seed)
    one, two = cpu.solve(problem, threads=1), cpu.solve(problem, threads=2)
    assert difference(one, two) is None


def test_who_left_a_class_does_not_grow_with_it() -> None:
    """A and B hold S; A becomes like C, which holds S and x; later B alone gains y."""
    s1, s2, s3, x, y, z, q, r, t = range(9)
    contents = np.arange(9, dtype=np.int32)  # node n is what object n contains
    a, b, c, in_a, in_b, in_c, p, u, v = range(9, 18)
    same = [(node, o) for node in (a, b, c) for o in (s1, s2, s3)]
    addresses = [*same, (c, x), (y, z), (p, q), (q, x), (u, r), (r, t), (t, y)]
    loads = [(in_a, a), (in_b, b), (in_c, c), (a, p), (v, u), (b, v)]
    node, o = np.array(addresses, np.int32).T
    to, pointer = np.array(loads, np.int32).T
    problem = Problem(
        18,
        contents=contents,
        allocation_offsets=np.arange(10, dtype=np.int32),
        address_node=np.ascontiguousarray(node),
        address_object=np.ascontiguousarray(o),
        load_destination=np.ascontiguousarray(to),
        load_pointer=np.ascontiguousarray(pointer),
    )
    found = cpu.solve(problem)
    assert difference(found, reference.solve(problem)) is None
    assert z in found.of(in_b)
    assert z not in found.of(in_a)
