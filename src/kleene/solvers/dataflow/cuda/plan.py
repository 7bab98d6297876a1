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


@dataclass(frozen=True, eq=False)
class Plan:
    """The order of work.

    Attributes:
        level_offsets: where the small components of each level begin in `small`.
        small: components, by level.
        large_offsets: where the large components of each level begin in `large`.
        large: components, by level.
        step_begins: where the steps of each large component begin in `step_offsets`.
        step_offsets: where the places of each step begin in `step_places`.
        step_places: places of names in the order of the schedule.
    """

    level_offsets: I64
    small: I32
    large_offsets: I64
    large: I32
    step_begins: I64
    step_offsets: I64
    step_places: I32

    @classmethod
    def of(cls, constraints: Constraints) -> Plan:
        """Return the plan for some constraints."""
        schedule = constraints.schedule
        component_of = schedule.component_of
        level = _levels(
            schedule.order, schedule.component_offsets, constraints.offsets, constraints.operands,
            component_of,
        )  # fmt: skip
        n_levels = int(level.max(initial=-1)) + 1
        is_large = np.diff(schedule.component_offsets) >= LARGE
        # In a level, components of one operator stand together: threads side by side do the same.
        first = schedule.order[schedule.component_offsets[:-1]]
        kind = np.where(schedule.is_cyclic, len(Operator), constraints.operator[first])
        n_kinds = len(Operator) + 1
        parts = []
        for chosen in (np.flatnonzero(~is_large), np.flatnonzero(is_large)):
            _, order = csr(level[chosen] * n_kinds + kind[chosen], n_levels * n_kinds)
            ordered = chosen if order is None else chosen[order]
            offsets = offsets_of(np.bincount(level[chosen], minlength=n_levels))
            parts.append((offsets, ordered.astype(np.int32)))
        (level_offsets, small), (large_offsets, large) = parts
        begins, step_sizes, places = [0], [], []
        for component in large.tolist():
            start, end = schedule.component_offsets[component : component + 2].tolist()
            step = _steps(
                start, end, schedule.order, schedule.place_of, constraints.offsets,
                constraints.operands,
            )  # fmt: skip
            places.append(start + np.argsort(step, kind="stable"))
            step_sizes.append(np.bincount(step))
            begins.append(begins[-1] + len(step_sizes[-1]))
        none = np.empty(0, np.int64)
        return cls(
            level_offsets, small, large_offsets, large, np.array(begins, np.int64),
            offsets_of(np.concatenate([none, *step_sizes])),
            np.concatenate([none, *places]).astype(np.int32),
        )  # fmt: skip


@UNIT.entry_point
def _levels(
    order: I32, component_offsets: I64, offsets: I64, operands: I32, component_of: I64
) -> I64:
    """Return the longest path to each component, which come after those that they read."""
    level = np.zeros(len(component_offsets) - 1, np.int64)
    for component in range(len(level)):
        found = 0
        for place in range(component_offsets[component], component_offsets[component + 1]):
            name = order[place]
            for at in range(offsets[name], offsets[name + 1]):
                other = component_of[operands[at]]
                if other != component and level[other] >= found:
                    found = level[other] + 1
        level[component] = found
    return level


@UNIT.entry_point
def _steps(start: int, end: int, order: I32, place_of: I32, offsets: I64, operands: I32) -> I64:
    """Return the step of each place of a component, so that steps do what one after another does.

    A name reads the new facts of operands at earlier places: it comes in a later step. It reads the
    old facts of those at later places: they come in no earlier step, and in one step all names are
    evaluated before any fact is replaced.
    """
    step = np.zeros(end - start, np.int64)
    for place in range(start, end):
        name = order[place]
        for at in range(offsets[name], offsets[name + 1]):
            other = place_of[operands[at]]
            if start <= other < place:
                step[place - start] = max(step[place - start], step[other - start] + 1)
        # All operands at earlier places have raised this one: it can raise later ones now.
        for at in range(offsets[name], offsets[name + 1]):
            other = place_of[operands[at]]
            if place < other < end:
                step[other - start] = max(step[other - start], step[place - start])
    return step
