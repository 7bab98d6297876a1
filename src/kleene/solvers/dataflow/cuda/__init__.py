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
_BLOCK, _LARGE_BLOCK = 256, 384
_MOST_BLOCKS = 132 * 8
_WARPS = _BLOCK // 32
_NARROW = 2 * _WARPS  # components of a level up to which one block takes it, and the next ones too


def needed_bytes(constraints: Constraints) -> int:
    """Return about how much memory of the device solving takes."""
    n = constraints.n_names
    return n * (2 * STRIDE * 8 + 80) + 12 * len(constraints.operands)


def solve(constraints: Constraints, narrowing: int, plan: Plan | None = None) -> tuple[I64, I64]:
    """Return the rows of all names, and how often constraints were evaluated up and down."""
    plan = plan or Plan.of(constraints)
    place = launch.current()
    xp, module = place.xp, launch.load(HERE / "solve.cu", STRIDE=STRIDE)
    c, schedule, n = constraints, constraints.schedule, constraints.n_names
    rows: I64 = np.zeros((n, STRIDE), np.int64)
    if not n:
        return rows, np.zeros(2, np.int64)

    def sent(column: Any) -> Any:
        return xp.asarray(column if len(column) else np.zeros(1, column.dtype))

    columns = (
        *map(sent, (c.operator, c.width, c.attribute, c.offsets, c.operands, c.given)),
        *map(sent, (schedule.user_offsets, schedule.users, schedule.order, schedule.place_of)),
        sent(schedule.component_offsets), *map(sent, c.thresholds),
        np.int32(n), np.int32(narrowing),
    )  # fmt: skip
    facts = xp.zeros(2 * n * STRIDE, np.int64)
    counts = xp.zeros(2 * len(schedule.is_cyclic), np.int64)
    is_due, due = xp.zeros(n, np.uint8), xp.zeros(n if len(plan.large) else 1, np.int32)
    lists = [xp.zeros(len(due), np.int32) for _ in range(2)]
    small = sent(plan.level_offsets), sent(plan.small), sent(schedule.is_cyclic)
    steps = sent(plan.step_begins), sent(plan.step_offsets), sent(plan.step_places)
    sizes, n_large = np.diff(plan.level_offsets), np.diff(plan.large_offsets)
    first, n_levels = 0, len(sizes)
    while first < n_levels:
        last, n_blocks = first + 1, min(-(-int(sizes[first]) // _WARPS), _MOST_BLOCKS)
        if sizes[first] <= _NARROW:
            n_blocks = 1
            while last < n_levels and sizes[last] <= _NARROW and not n_large[last - 1]:
                last += 1
        ends = np.int32(first), np.int32(last)
        module.launch("small", (n_blocks,), (_BLOCK,), (*small, *ends, *columns, facts, is_due,
                                                        counts))  # fmt: skip
        begin, end = plan.large_offsets[last - 1 : last + 1].tolist()
        if end > begin:
            begins = steps[0][begin : end + 1]
            args = (sent(plan.large[begin:end]), begins, *steps[1:], *columns, facts, due, is_due)
            module.launch("large", (end - begin,), (_LARGE_BLOCK,), (*args, *lists, counts))
        first = last
    place.to_host(facts[: n * STRIDE].reshape(n, STRIDE), rows)
    total = counts.reshape(-1, 2).sum(axis=0)
    n_evaluated: I64 = np.zeros(2, np.int64)
    place.to_host(total, n_evaluated)
    return rows, n_evaluated
