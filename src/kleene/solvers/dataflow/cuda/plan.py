"""Which components are solved side by side, and in which steps a large one is narrowed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kleene.base.arrays import I32, I64, csr, offsets_of
from kleene.kernels.compiled import CompilationUnit
from kleene.solvers.dataflow.codes import Operator
from kleene.solvers.dataflow.constraints import Constraints

UNIT = CompilationUnit(Path(__file__))
LARGE = 256  # names of a component from which on it is a block's, and not a thread's
_SPREAD = 2048  # groups that a level is spread over before threads of a warp share one


@dataclass(frozen=True, eq=False)
class Plan:
    """The order of work: the groups of the first part, its large components, those of the next.

    A *group* is small components of one level, which do not read each other. Groups come level by
    level, so that all that a group reads is in groups before it or in parts before it.

    Attributes:
        n_levels: how many components are one behind the other on the longest path.
        group_offsets: where each group begins in `small`.
        small: components, by group.
        part_groups: where each part begins among the groups.
        part_large: where each part begins in `large`.
        large: components, by level.
        step_begins: where the steps of each large component begin in `step_offsets`.
        step_offsets: where the places of each step begin in `step_places`.
        step_places: places, by step.
    """

    n_levels: int
    group_offsets: I64
    small: I32
    part_groups: I64
    part_large: I64
    large: I32
    step_begins: I64
    step_offsets: I64
    step_places: I32

    @classmethod
    def of(cls, constraints: Constraints) -> Plan:
        """Return the plan for some constraints."""
        schedule = constraints.schedule
        level = _levels(schedule.component_offsets, schedule.offsets, schedule.operands)
        n_levels = int(level.max(initial=-1)) + 1
        is_large = np.diff(schedule.component_offsets) >= LARGE
        # In a level, components of one operator stand together, as threads of a warp do the same
        # then; cycles come first, as they take longest.
        first = schedule.order[schedule.component_offsets[:-1]]
        kind = np.where(schedule.is_cyclic, 0, constraints.operator[first] + 1)
        n_kinds = len(Operator) + 1
        chosen = np.flatnonzero(~is_large)
        _, order = csr((level * n_kinds + kind)[chosen], n_levels * n_kinds)
        small = chosen if order is None else chosen[order]
        sizes = np.bincount(level[chosen], minlength=n_levels)
        n_lanes = np.clip(-(-sizes // _SPREAD), 1, 32)
        n_groups = -(-sizes // n_lanes)
        nth = np.arange(n_groups.sum()) - np.repeat(np.cumsum(n_groups) - n_groups, n_groups)
        begins = np.repeat(np.cumsum(sizes) - sizes, n_groups) + nth * np.repeat(n_lanes, n_groups)
        large = np.flatnonzero(is_large)
        large = large[np.argsort(level[large], kind="stable")]
        # A part ends with a level that has large components, or with the last level.
        ends = np.unique(np.append(level[large] + 1, n_levels))
        return cls(
            n_levels,
            np.append(begins, len(small)),
            small.astype(np.int32),
            np.append(0, np.cumsum(n_groups)[ends - 1] if n_levels else 0),
            np.append(0, np.searchsorted(level[large], ends)),
            large.astype(np.int32),
            *_narrowing(constraints, large),
        )


def _narrowing(constraints: Constraints, large: I64) -> tuple[I64, I64, I32]:
    """Return the steps of large components: where each one's begin, theirs, and their places."""
    schedule = constraints.schedule
    begins, step_sizes, places = [0], [], []
    for component in large.tolist():
        start, end = schedule.component_offsets[component : component + 2].tolist()
        step = _steps(start, end, schedule.offsets, schedule.operands)
        places.append(start + np.argsort(step, kind="stable"))
        step_sizes.append(np.bincount(step))
        begins.append(begins[-1] + len(step_sizes[-1]))
    none = np.empty(0, np.int64)
    return (
        np.array(begins, np.int64),
        offsets_of(np.concatenate([none, *step_sizes])),
        np.concatenate([none, *places]).astype(np.int32),
    )


@UNIT.entry_point
def _levels(component_offsets: I64, offsets: I64, operands: I32) -> I64:
    """Return the longest path to each component, which come after those that they read."""
    level = np.zeros(len(component_offsets) - 1, np.int64)
    level_at = np.zeros(len(offsets) - 1, np.int32)  # of the component that each place belongs to
    for component in range(len(level)):
        start, end = component_offsets[component], component_offsets[component + 1]
        found = 0
        for at in range(offsets[start], offsets[end]):
            if operands[at] < start:
                found = max(found, level_at[operands[at]] + 1)
        level[component] = found
        for place in range(start, end):
            level_at[place] = found
    return level


@UNIT.entry_point
def _steps(start: int, end: int, offsets: I64, operands: I32) -> I64:
    """Return the step of each place of a component, so that steps do what one after another does.

    A place reads the new facts of operands at earlier ones: it comes in a later step. It reads the
    old facts of those at later ones: they come in no earlier step, and in one step all places are
    evaluated before any fact is replaced.
    """
    step = np.zeros(end - start, np.int64)
    for place in range(start, end):
        for at in range(offsets[place], offsets[place + 1]):
            other = operands[at]
            if start <= other < place:
                step[place - start] = max(step[place - start], step[other - start] + 1)
        # All operands at earlier places have raised this one: it can raise later ones now.
        for at in range(offsets[place], offsets[place + 1]):
            other = operands[at]
            if place < other < end:
                step[other - start] = max(step[other - start], step[place - start])
    return step
