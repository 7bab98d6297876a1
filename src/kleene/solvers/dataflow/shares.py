"""Which components threads solve side by side: islands, which read nothing of each other.

A *leaf* is a name without operands, which is evaluated first. An *island* is names that operands
join, but for leaves: of `a = 1; b = a + a; c = a * 2` the leaf is a, and b and c are two islands.
Functions that are looked at alone are islands; of whole programs nearly all is one. A *share* is
whole islands, in the order of the schedule, so that a thread goes through memory as one alone does.
Where one island has more than half of the work, threads would wait for the one that has it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kleene.base.arrays import I32, I64, U8, csr
from kleene.kernels.compiled import CompilationUnit
from kleene.solvers.dataflow.constraints import Schedule

UNIT = CompilationUnit(Path(__file__))
_CYCLE = 4  # evaluations of a name in a cycle, about


def parts_of(schedule: Schedule, n_shares: int) -> list[I32] | None:
    """Return the leaves, then at most so many shares of about the same work, as components.

    A part's components are in the order of the schedule. None: one share is asked for, or one
    island has most of the work.
    """
    if n_shares <= 1:
        return None
    share = _shares(
        schedule.component_offsets, schedule.is_cyclic, schedule.offsets, schedule.operands,
        n_shares,
    )  # fmt: skip
    if not len(share):
        return None
    offsets, order = csr(share, n_shares + 1)
    components = np.arange(len(share)) if order is None else order
    leaves, *parts = np.split(components.astype(np.int32), offsets[1:-1])
    return [leaves, *(part for part in parts if len(part))]


@UNIT.entry_point
def _shares(
    component_offsets: I64, is_cyclic: U8, offsets: I64, operands: I32, n_shares: int
) -> I64:
    """Return the share of each component, from 1 on, and 0 for leaves.

    Where an island has most of the work, or there is none, the result is empty.
    """
    n_components = len(component_offsets) - 1
    work, total, most = np.zeros(len(offsets) - 1, np.int64), 0, 0  # of the component that begins
    for component in range(n_components):
        start, end = component_offsets[component], component_offsets[component + 1]
        if offsets[start] != offsets[end]:
            work[start] = (end - start) * (_CYCLE if is_cyclic[component] else 1)
            total += work[start]
            most = max(most, work[start])
    if total == 0 or 2 * most > total:
        return np.empty(0, np.int64)
    first = _islands(offsets, operands)
    for place in range(len(work)):
        if first[place] != place:
            work[first[place]] += work[place]
            work[place] = 0
            most = max(most, work[first[place]])
    if 2 * most > total:
        return np.empty(0, np.int64)
    before = 0
    for place in range(len(work)):  # of those that begin an island: now its share
        before += work[place]
        work[place] = 1 + (before - work[place]) * n_shares // total
    share = np.zeros(n_components, np.int64)
    for component in range(n_components):
        start = component_offsets[component]
        if offsets[start] != offsets[start + 1]:
            share[component] = work[first[start]]
    return share


@UNIT.device_function
def _islands(offsets: I64, operands: I32) -> I32:
    """Return for each place the first of its island."""
    first = np.arange(len(offsets) - 1).astype(np.int32)  # or one on the way to it: never a later
    for place in range(len(first)):
        mine = place
        while first[mine] != mine:
            first[mine] = first[first[mine]]
            mine = first[mine]
        for at in range(offsets[place], offsets[place + 1]):
            other = operands[at]
            if offsets[other] == offsets[other + 1]:
                continue
            while first[other] != other:
                first[other] = first[first[other]]
                other = first[other]
            if other < mine:
                first[mine] = other
                mine = other
            else:
                first[other] = mine
    for place in range(len(first)):  # those before have theirs
        first[place] = first[first[place]]
    return first
