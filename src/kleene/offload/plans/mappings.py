"""In which order are the axes of a kernel on x, y and z? The fastest, as it is predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from kleene.codegen import runtime
from kleene.codegen.plan import HostIf, HostLoop, Kernel, Plan, Step
from kleene.ir.loops.tree import Symbol
from kleene.offload.plans.kernel_cost import Model
from kleene.offload.plans.machine import H200, Machine
from kleene.offload.plans.work import value_of

_NOMINAL = 2000.0  # of a size that is not known


def ranked_mappings(
    plan: Plan,
    kernel: Kernel,
    counts: Sequence[int],
    values: Mapping[Symbol, float],
    machine: Machine | None = None,
) -> list[tuple[float, tuple[int, ...]]]:
    """Return the orders of a kernel's axes on x, y, z with their seconds, fastest first.

    `counts` are the threads along each axis, in the order of the axes.
    """
    found = []
    blocks = dict(runtime.BLOCKS)
    for order in permutations(range(len(kernel.axes))):
        model = Model(plan, replace(kernel, mapping=order), machine or H200, {}, blocks)
        shape = tuple(counts[position] for position in order)
        found.append((model.cost("grid", shape, values).seconds, order))
    return sorted(found)


def chosen(plan: Plan) -> Plan:
    """Return a plan whose kernels have their axes in the order that is predicted to be fastest.

    Sizes are not known yet: each counts as 2000, and variables of the host's loops as half of that.
    A change must promise a tenth: else the order stays.
    """
    sizes = {one: _NOMINAL for one in plan.parameters if one.type.kind == "int"}

    def changed(step: Step, env: Mapping[Symbol, float]) -> Step:
        match step:
            case Kernel() if len(step.axes) > 1:
                return _reordered(plan, step, env)
            case HostLoop(steps=steps):
                names = {
                    one.target.symbol: _NOMINAL / 2
                    for one in step.init
                    if hasattr(one, "target") and hasattr(one.target, "symbol")
                }
                return replace(step, steps=tuple(changed(s, {**env, **names}) for s in steps))
            case HostIf(then=then, otherwise=otherwise):
                parts = (tuple(changed(s, env) for s in part) for part in (then, otherwise))
                then, otherwise = parts
                return replace(step, then=then, otherwise=otherwise)
        return step

    return replace(plan, steps=tuple(changed(step, sizes) for step in plan.steps))


def _reordered(plan: Plan, kernel: Kernel, env: Mapping[Symbol, float]) -> Kernel:
    counts = []
    for axis in kernel.axes:
        trips = (value_of(axis.high, env) - value_of(axis.low, env)) / axis.step
        counts.append(max(int(np.max(trips)), 1))
    ranked = ranked_mappings(plan, kernel, counts, env)
    now = next(seconds for seconds, order in ranked if order == kernel.mapping)
    best, order = ranked[0]
    return replace(kernel, mapping=order) if best < 0.9 * now else kernel
