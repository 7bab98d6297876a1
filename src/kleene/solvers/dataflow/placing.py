"""The loop that puts names in the order in which they are evaluated."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kleene.base.arrays import I32, I64, U8
from kleene.kernels.compiled import CompilationUnit

UNIT = CompilationUnit(Path(__file__))


@UNIT.entry_point
def placed(
    post: I32, component: I32, n_components: int, offsets: I64, operands: I32
) -> tuple[I32, I32, I64, U8, I64, I32]:
    """Return names by component, and within one by falling `post`: the columns of a `Schedule`.

    These are the name at each place, the place of each name, where components begin, which of them
    are cyclic (of several names, or of one that is its own operand), and the operands of each place
    as places, with their offsets.
    """
    n = len(post)
    order, place_of = np.empty(n, np.int32), np.empty(n, np.int32)
    before = np.empty(n, np.int32)
    for name in range(n):
        before[n - 1 - post[name]] = name
    starts = np.zeros(n_components + 1, np.int64)
    for name in range(n):
        starts[component[name] + 1] += 1
    is_cyclic = np.zeros(n_components, np.uint8)
    for one in range(n_components):
        is_cyclic[one] = starts[one + 1] > 1
        starts[one + 1] += starts[one]
    free = starts.copy()
    for first in before:
        place = free[component[first]]
        free[component[first]] += 1
        order[place], place_of[first] = first, place
    ends, places = np.zeros(n + 1, np.int64), np.empty(len(operands), np.int32)
    at = 0
    for place in range(n):
        name = order[place]
        for edge in range(offsets[name], offsets[name + 1]):
            places[at] = place_of[operands[edge]]
            if places[at] == place:
                is_cyclic[component[name]] = 1
            at += 1
        ends[place + 1] = at
    return order, place_of, starts, is_cyclic, ends, places
