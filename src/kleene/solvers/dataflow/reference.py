"""The same solution as `engine.solve`, as plainly as it can be said: the definition."""

from __future__ import annotations

from kleene.solvers.dataflow import rows
from kleene.solvers.dataflow.codes import STRIDE
from kleene.solvers.dataflow.constraints import Constraints
from kleene.solvers.dataflow.transfer import evaluate


def solve(constraints: Constraints, narrowing: int = 2) -> list[list[int]]:
    """Return the row of each name: of every component first up, then down."""
    c, order = constraints, constraints.schedule.order.tolist()
    chosen, starts, signed, unsigned = (column.tolist() for column in c.thresholds)
    columns = [x.tolist() for x in (c.operator, c.width, c.attribute, c.offsets, c.operands)]
    facts, width, bounds = [0] * (len(order) + 1) * STRIDE, columns[1], c.schedule.component_offsets
    result = len(order) * STRIDE

    def changes(name: int, *, upwards: bool) -> bool:
        evaluate(facts, result, name, *columns, c.given.tolist())  # type: ignore[call-arg, arg-type]
        if not upwards:
            rows.meet(facts, result, name * STRIDE, width[name])  # type: ignore[arg-type]
        elif chosen[name] >= 0:
            ends = starts[chosen[name]], starts[chosen[name] + 1]
            rows.round_up(facts, result, width[name], signed, unsigned, *ends)  # type: ignore[arg-type]
        before = facts[name * STRIDE : name * STRIDE + STRIDE]
        facts[name * STRIDE : name * STRIDE + STRIDE] = facts[result : result + STRIDE]
        return before != facts[result : result + STRIDE]

    for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        while any(changes(name, upwards=True) for name in order[start:end]):
            pass
        for _ in range(narrowing if end - start > 1 or c.schedule.is_cyclic.any() else 0):
            for name in order[start:end]:
                changes(name, upwards=False)
    return [facts[i : i + STRIDE] for i in range(0, result, STRIDE)]
