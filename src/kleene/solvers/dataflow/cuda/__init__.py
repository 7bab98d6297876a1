"""Constraints on values on a GPU: many components at once, and large ones by a block each.

The facts are those of the CPU, bit for bit: the evaluation of a name is the same code (see
`translate`), the least solution does not depend on the order, and narrowing goes in the order of
the schedule.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kleene.base.arrays import I64
from kleene.kernels import launch
from kleene.solvers.dataflow.codes import STRIDE
from kleene.solvers.dataflow.constraints import Constraints
from kleene.solvers.dataflow.cuda.plan import Plan

__all__ = ["Plan", "needed_bytes", "solve"]

HERE = Path(__file__).parent
_WARP, _LARGE_BLOCK = 32, 384
_MOST_WARPS = 132 * 16  # that a device holds at once, and no more are of use


def needed_bytes(constraints: Constraints) -> int:
    """Return about how much memory of the device solving takes."""
    n = constraints.n_names
    return n * (3 * STRIDE * 8 + 80) + 12 * len(constraints.operands)


def solve(constraints: Constraints, narrowing: int, plan: Plan | None = None) -> tuple[I64, I64]:
    """Return the rows of all names, and how often constraints were evaluated up and down."""
    plan = plan or Plan.of(constraints)
    place = launch.current()
    xp, module = place.xp, launch.load(HERE / "solve.cu", STRIDE=STRIDE)
    c, schedule, n = constraints, constraints.schedule, constraints.n_names
    rows: I64 = np.empty((n, STRIDE), np.int64)
    if not n:
        return rows, np.zeros(2, np.int64)

    def sent(column: Any) -> Any:
        return xp.asarray(column if len(column) else np.zeros(1, column.dtype))

    threshold_set, *thresholds = c.thresholds
    columns = (
        *map(sent, c.by_place), sent(schedule.user_offsets), sent(schedule.users),
        sent(schedule.component_offsets), sent(threshold_set[schedule.order]),
        *map(sent, thresholds), np.int32(n), np.int32(narrowing),
    )  # fmt: skip
    facts = xp.zeros(2 * n * STRIDE, np.int64)
    counts = xp.zeros(2 * len(schedule.is_cyclic), np.int64)
    is_due, due = xp.zeros(2 * n, np.uint8), xp.zeros(n if len(plan.large) else 1, np.int32)
    lists = [xp.zeros(len(due), np.int32) for _ in range(2)]
    is_done, next_group = xp.zeros(n, np.int32), xp.zeros(len(plan.part_groups), np.int32)
    small = sent(plan.group_offsets), sent(plan.small), sent(schedule.is_cyclic)
    large, steps = sent(plan.large), (sent(plan.step_offsets), sent(plan.step_places))
    step_begins = sent(plan.step_begins)
    groups, larges = plan.part_groups.tolist(), plan.part_large.tolist()
    for part in range(len(groups) - 1):
        first, last = groups[part : part + 2]
        n_warps = min(last - first, _MOST_WARPS)
        args = (*small, np.int32(first), np.int32(last), *columns, facts, is_due, counts, is_done)
        module.launch("small", (n_warps,), (_WARP,), (*args, next_group[part : part + 1]))
        begin, end = larges[part : part + 2]
        args = (large[begin:end], step_begins[begin : end + 1], *steps, *columns, facts, due)
        module.launch("large", (end - begin,), (_LARGE_BLOCK,), (*args, is_due, *lists, counts,
                                                                  is_done))  # fmt: skip
    place.to_host(facts[: n * STRIDE].reshape(n, STRIDE)[sent(schedule.place_of)], rows)
    total = counts.reshape(-1, 2).sum(axis=0)
    n_evaluated: I64 = np.zeros(2, np.int64)
    place.to_host(total, n_evaluated)
    return rows, n_evaluated
